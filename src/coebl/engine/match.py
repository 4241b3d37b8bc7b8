"""A match: a game, a row learner, a column learner, a number of rounds."""

from __future__ import annotations

from dataclasses import dataclass

from coebl.core.errors import InputError, check_whole, shorten
from coebl.games import Game, Noise, parse_game
from coebl.games.registry import GameLike
from coebl.learners import Learner, Responder, parse_learner

MOST_ROUNDS = 10**9
_MOST_PAYOFF = 1e100  # beyond it, sums over rounds and squares are no longer floats


@dataclass(frozen=True)
class Match:
    """Who plays what against whom, and for how long. `Match.of` makes one from specs.

    >>> from coebl.learners import Exp3, Ucb
    >>> print(Match(Game([[3, 0], [1, 2]], name="mine"), Ucb(), Exp3(), rounds=100))
    mine, ucb v exp3, 100 rounds
    """

    game: Game  # what is played
    row: Learner  # who plays the rows
    column: Learner  # who plays the columns
    rounds: int  # of every run

    def __post_init__(self) -> None:
        if not isinstance(self.game, Game):
            raise InputError(f"game is {shorten(self.game)}; accepted: a Game. For specs and files: Match.of(...).")
        for seat, learner in (("row", self.row), ("column", self.column)):
            if not isinstance(learner, Learner):
                raise InputError(f"{seat} is {shorten(learner)}; accepted: a Learner. For specs: Match.of(...).")
        check_whole("rounds", self.rounds, 1, MOST_ROUNDS)
        largest = max(map(abs, self.game.payoff_range))
        if largest > _MOST_PAYOFF:
            raise InputError(
                f"{self.game.name} has payoffs or a payoff range up to {largest:.3g}; accepted in a match: at most "
                f"{_MOST_PAYOFF:g}, so that they can be added up. Divide the payoffs by a constant."
            )
        if all(isinstance(learner, Responder) for learner in self.learners):
            raise InputError(
                f"{self.row} v {self.column}: each would have to see the other's policy first; let one of them learn."
            )

    @classmethod
    def of(
        cls,
        game: GameLike,
        row: str | Learner,
        column: str | Learner,
        rounds: int = 3000,
        noise: str | Noise | None = None,
    ) -> Match:
        """A match from specs.

        Args:
            game: a spec, a file, a `Game`, or a matrix of payoffs to the row player.
            row: the spec of the row player's learner, or a `Learner`.
            column: that of the column player.
            rounds: how many are played.
            noise: a spec or a `Noise`; by default the game's own.

        >>> match = Match.of("diagonal:2", "ucb", "coebl:c=2", rounds=100)
        >>> print(match)
        diagonal:n=2, ucb v coebl:c=2, 100 rounds
        """
        return cls(parse_game(game, noise), parse_learner(row), parse_learner(column), rounds)

    @property
    def learners(self) -> tuple[Learner, Learner]:
        """Who plays, seat by seat."""
        return self.row, self.column

    def __str__(self) -> str:
        rounds = f"{self.rounds} round{'s' * (self.rounds != 1)}"
        return f"{self.game.spec or self.game.name}, {self.row} v {self.column}, {rounds}"
