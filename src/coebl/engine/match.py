"""A match: a game, a learner for each seat, a number of rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coebl.core.errors import InputError, check_integer, shorten
from coebl.games import AnyGame, Noise, parse_game
from coebl.games.game import NamedGame
from coebl.games.registry import GameLike
from coebl.learners import Learner, Responder, parse_learner
from coebl.search import Search

MOST_ROUNDS = 10**9
_MOST_PAYOFF = 1e100  # beyond it, squares and sums over rounds are no longer finite


class MatchName(tuple[str, ...]):
    """The specs of a game and of the learners in its seats. It compares equal to a tuple of these.

    >>> match = MatchName("rps", "ucb", "coebl:c=2")
    >>> print(match)
    ucb v coebl:c=2 on rps
    >>> match.game, match.players
    ('rps', ('ucb', 'coebl:c=2'))
    """

    __slots__ = ()

    def __new__(cls, game: str, *players: str) -> MatchName:
        return super().__new__(cls, (game, *players))

    def __getnewargs__(self) -> tuple[str, ...]:
        return tuple(self)

    @property
    def game(self) -> str:
        """The game."""
        return self[0]

    @property
    def players(self) -> tuple[str, ...]:
        """The learners, in the order of the seats."""
        return self[1:]

    @property
    def row(self) -> str:
        """The learner in the first seat."""
        return self[1]

    @property
    def column(self) -> str:
        """The learner in the second seat."""
        return self[2]

    def __str__(self) -> str:
        return f"{' v '.join(self.players)} on {self.game}"


class MatchKey(NamedTuple):
    """The labels of a match in tables. It compares equal to a tuple of its fields.

    >>> print(MatchKey("rps", ("ucb", "exp3"), "gaussian", 3000))
    rps, ucb v exp3
    """

    game: str
    players: tuple[str, ...]
    noise: str
    rounds: int

    @property
    def apart(self) -> tuple[str, ...]:
        """The players, or only the first if all are equal."""
        return self.players if len({*self.players}) > 1 else self.players[:1]

    def __repr__(self) -> str:
        return tuple.__repr__(self)

    def __str__(self) -> str:
        return f"{self.game}, {' v '.join(self.players)}"


def game_of(given: GameLike | AnyGame, noise: str | Noise | None = None) -> AnyGame:
    """Return the given game, or the game of a spec, a file or a matrix; with another noise if it is given."""
    if not isinstance(given, AnyGame) or isinstance(given, NamedGame):
        return parse_game(given, noise)
    if noise is not None:
        raise InputError(f"noise is {shorten(noise)}, and that of {given.name} cannot be replaced. Leave it out.")
    return given


def declared_cost(players: Sequence[Learner], widths: Sequence[int]) -> float:
    """Return the microseconds that a round takes per run, by the learners' declared costs and the policies' widths."""
    pairs = math.prod(widths)
    return sum(player.cost(own, pairs // own) for player, own in zip(players, widths, strict=True))


@dataclass(frozen=True)
class Match:
    """A game, its players and the number of rounds. `Match.of` makes one from specs.

    >>> from coebl import Game
    >>> from coebl.learners import Exp3, Ucb
    >>> print(Match(Game([[3, 0], [1, 2]], name="mine"), (Ucb(), Exp3()), rounds=100))
    mine, ucb v exp3, 100 rounds
    """

    game: AnyGame
    players: tuple[Learner, ...]  # one per seat
    rounds: int  # of every run

    def __post_init__(self) -> None:
        if not isinstance(self.game, AnyGame):
            raise InputError(f"game is {shorten(self.game)}; accepted: a Game. For specs and files: Match.of(...).")
        if not isinstance(self.players, tuple) or len(self.players) != len(self.game.seats):
            raise InputError(
                f"players is {shorten(self.players)}; accepted: a tuple with a Learner for each seat of "
                f"{self.game.name}, ({', '.join(self.game.seats)})."
            )
        for seat, learner in zip(self.game.seats, self.players, strict=True):
            if not isinstance(learner, Learner):
                raise InputError(f"{seat} is {shorten(learner)}; accepted: a Learner. For specs: Match.of(...).")
        check_integer("rounds", self.rounds, 1, MOST_ROUNDS)
        if (largest := max(abs(end) for ends in self.game.ranges for end in ends)) > _MOST_PAYOFF:
            raise InputError(
                f"{self.game.name} has payoffs or a payoff range up to {largest:.3g}; accepted in a match: at most "
                f"{_MOST_PAYOFF:g}, so that sums stay finite. Divide the payoffs by a constant."
            )
        responders = [learner for learner in self.players if isinstance(learner, Responder)]
        if responders and len(self.players) != 2:
            raise InputError(
                f"{responders[0]} answers the policy of one opponent, and {self.game.name} has {len(self.players)} "
                "seats; pick another learner."
            )
        searches = [player for player in self.players if isinstance(player, Search)]
        if searches and any(player != searches[0] for player in self.players):
            raise InputError(
                f"{self._pairing}: {searches[0]} chooses the actions of both players; put it in both seats."
            )
        if len(responders) == 2:
            raise InputError(
                f"{self._pairing}: each would have to see the other's policy first; let one of them learn."
            )

    @classmethod
    def of(
        cls,
        game: GameLike | AnyGame,
        *players: str | Learner,
        rounds: int = 3000,
        noise: str | Noise | None = None,
    ) -> Match:
        """Return a match from specs.

        Args:
            game: a spec, a file, a `Game` or another `AnyGame`, a matrix of payoffs to the row player, or a pair of
                matrices, the payoffs of each of two players.
            *players: a spec or a `Learner` for each seat.
            rounds: the number of rounds.
            noise: a spec or a `Noise`; by default that of the game.

        >>> print(Match.of("diagonal:2", "ucb", "coebl:c=2", rounds=100))
        diagonal:n=2, ucb v coebl:c=2, 100 rounds
        >>> print(Match.of("jordan", "exp3", "ucb", "hedge", rounds=100))
        jordan, exp3 v ucb v hedge, 100 rounds
        """
        return cls(game_of(game, noise), tuple(map(parse_learner, players)), rounds)

    @property
    def row(self) -> Learner:
        """The player in the first seat."""
        return self.players[0]

    @property
    def column(self) -> Learner:
        """The player in the second seat."""
        return self.players[1]

    def cost(self) -> float:
        """Return an estimate of the microseconds that a round takes per run, from the learners' declared costs."""
        return declared_cost(self.players, [space.width for space in self.game.spaces])

    @property
    def _pairing(self) -> str:
        return " v ".join(map(str, self.players))

    def __str__(self) -> str:
        rounds = f"{self.rounds} round{'s' * (self.rounds != 1)}"
        return f"{self.game.spec or self.game.name}, {self._pairing}, {rounds}"
