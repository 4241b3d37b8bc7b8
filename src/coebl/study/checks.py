"""What a run would stumble over, looked for before it: games are built, metrics and learners asked whether they fit."""

from __future__ import annotations

from pathlib import Path

from coebl.core.specs import split_spec
from coebl.engine.seated import build_seat
from coebl.games import SUFFIXES, Game, parse_game, read_game
from coebl.games.game import SeatName
from coebl.learners import Learner
from coebl.metrics import METRICS, metric_class
from coebl.study.cell import is_file
from coebl.study.match_ups import MatchUps
from coebl.study.reading import Files, Mistakes, SpecAt, reason_of


class GameChecks:
    """The games of a study, checked one at a time: there may be many large ones.

    What was found about a game in one part is kept for the others: to find out whether an equilibrium is unique takes
    time.
    """

    def __init__(self, mistakes: Mistakes, files: Files) -> None:
        self._mistakes = mistakes
        self._files = files
        self._reasons: dict[tuple[str, str], str | None] = {}  # why a game does not allow a metric

    def check(
        self, games: list[SpecAt], metrics: list[SpecAt], match_ups: MatchUps, rounds: int
    ) -> dict[str, tuple[str, ...]]:
        """The metrics to take of every game, by its canonical spec or its path."""
        allowed: dict[str, tuple[str, ...]] = {}
        for place, spec in games:
            try:
                key, game = self._game(spec)
                if key in allowed:
                    continue
                allowed[key] = self._allowed(metrics, key, game)
            except Exception as error:  # of a file, whatever the system has to say about its name
                self._mistakes.add(place, reason_of(error))
                continue
            self._seat_everybody(match_ups, key, game, rounds)
        return allowed

    def _game(self, spec: str) -> tuple[str, Game]:
        suffix = Path(spec).suffix.lower()
        if suffix in SUFFIXES or (suffix and is_file(str(self._files.path(spec)))):
            path = self._files.checked(spec)
            return path.as_posix(), read_game(path)
        if file := split_spec(spec).file:
            spec = self._files.checked(file).as_posix() + spec.removeprefix(file)
        game = parse_game(spec)
        return game.spec or spec, game

    def _allowed(self, metrics: list[SpecAt], key: str, game: Game) -> tuple[str, ...]:
        """The metrics to take of a game, in the order of the register: a set has one digest."""
        chosen = set()
        for place, name in metrics:
            for each in METRICS.names if name == "all" else [name]:
                if (key, each) not in self._reasons:
                    self._reasons[key, each] = metric_class(each).refusal(game)
                reason = self._reasons[key, each]
                if reason is None:
                    chosen.add(each)
                elif name != "all":
                    self._mistakes.add(place, f"not for the game {key}: {reason}")
        return tuple(name for name in METRICS.names if name in chosen)

    def _seat_everybody(self, match_ups: MatchUps, key: str, game: Game, rounds: int) -> None:
        """Ask every learner about every seat that it takes; of both seats the first that it refuses is told."""
        seatings: list[tuple[SeatName, str]] = []
        for row, column in match_ups.pairs:
            seatings += [("row", row), ("column", column)]
        refused = set()
        for name, spec in dict.fromkeys(seatings):
            learner, place = match_ups.learners[spec]
            reason = _refusal(learner, name, game, rounds) if spec not in refused else None
            if reason is not None:
                refused.add(spec)
                self._mistakes.add(place, f"{spec} cannot take the {name} seat of {key}: {reason}")


def _refusal(learner: Learner, name: SeatName, game: Game, rounds: int) -> str | None:
    """Why a learner cannot take a seat of a game; None if it can."""
    payoff, payoff_range = game.own_view(name)
    shape = payoff.shape[0], payoff.shape[1]
    try:
        return learner.refusal(build_seat(learner, [0], shape, rounds, payoff_range, name=name, payoff=payoff))
    except Exception as error:  # a learner in a file is anybody's code
        return reason_of(error)
