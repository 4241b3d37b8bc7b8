"""What a run would stumble over, looked for before it: games are built, metrics and learners asked whether they fit."""

from __future__ import annotations

import re
from pathlib import Path

from coebl.core.errors import InputError, reason_of, shorten
from coebl.core.specs import split_spec, without_folder
from coebl.engine.table import build_seat
from coebl.games import SUFFIXES, Game, parse_game, read_game
from coebl.games.game import SeatName
from coebl.learners import Learner
from coebl.metrics import METRICS, Metric, metric_class
from coebl.study.cell import is_file
from coebl.study.cell_file import RESERVED
from coebl.study.match_ups import MatchUps
from coebl.study.reading import Files, Mistakes, SpecAt


class GameChecks:
    """The games of a study, checked one at a time: there may be many large ones.

    What was found about a game in one part is kept for the others: to find out whether an equilibrium is unique takes
    time.
    """

    def __init__(self, mistakes: Mistakes, files: Files) -> None:
        self._mistakes = mistakes
        self._files = files
        self._metrics = FileMetrics(mistakes, files)
        self._reasons: dict[tuple[str, str], str | None] = {}  # why a game does not allow a metric
        self.shapes: dict[str, tuple[int, int]] = {}  # of the games, so that nothing has to build them again
        self.noises: dict[str, str] = {}  # each game's own, by what results call the game

    def check(
        self, games: list[SpecAt], metrics: list[SpecAt], match_ups: MatchUps, rounds: int
    ) -> dict[str, tuple[str, ...]]:
        """The metrics to take of every game, by its canonical spec or its path."""
        allowed: dict[str, tuple[str, ...]] = {}
        metrics = self._metrics.placed(metrics)
        for place, spec in games:
            try:
                key, game = self._game(spec)
                if key in allowed:
                    continue
                self.shapes[key] = game.shape
                allowed[key] = self._allowed(metrics, key, game)
                self.noises[without_folder(game.spec) if game.spec else Path(key).name] = without_folder(
                    str(game.noise)
                )
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
        game = parse_game(self._files.placed(spec))
        return game.spec or spec, game

    def _allowed(self, metrics: list[SpecAt], key: str, game: Game) -> tuple[str, ...]:
        """The metrics to take of a game, in the order of the register, then by file: a set has one digest."""
        chosen = set()
        for place, name in metrics:
            for each in METRICS.names if name == "all" else [name]:
                if (key, each) not in self._reasons:
                    self._reasons[key, each] = metric_class(each).reason_undefined(game)
                reason = self._reasons[key, each]
                if reason is None:
                    chosen.add(each)
                elif name != "all":
                    self._mistakes.add(place, f"not for the game {key}: {reason}")
        own = sorted(chosen.difference(METRICS.names), key=without_folder)
        return (*(name for name in METRICS.names if name in chosen), *own)

    def _seat_everybody(self, match_ups: MatchUps, key: str, game: Game, rounds: int) -> None:
        """Ask every learner about every seat that it takes; only the first refused seat is reported."""
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


class FileMetrics:
    """The metrics of a study that are in users' own files: each must have a column of its own in the results."""

    def __init__(self, mistakes: Mistakes, files: Files) -> None:
        self._mistakes = mistakes
        self._files = files
        self._specs: dict[type[Metric], str] = {}  # by which each is known, however it is spelled
        self._owners: dict[str, type[Metric]] = {}  # of the columns

    def placed(self, metrics: list[SpecAt]) -> list[SpecAt]:
        """The metrics, with the paths of their files; those that cannot be used are noted as mistakes."""
        found: list[SpecAt] = []
        for place, spec in metrics:
            try:
                found.append((place, self._placed(spec) if split_spec(spec).file else spec))
            except Exception as error:  # a metric in a file is anybody's code
                self._mistakes.add(place, reason_of(error))
        return found

    def _placed(self, spec: str) -> str:
        placed = self._files.placed(spec)
        if split_spec(spec).parameters:
            raise InputError(f"{spec}: a metric has no parameters; accepted: file.py:Name.")
        metric = metric_class(placed)
        name = getattr(metric, "name", None)
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
            accepted = 'letters, digits and _, such as name = "surprise"'
            raise InputError(f"{spec}: the class attribute name is {shorten(name)}; accepted: {accepted}.")
        if name in METRICS or name in (*RESERVED, "all") or self._owners.setdefault(name, metric) is not metric:
            raise InputError(f"{spec}: another metric or column is called {name!r}; give it another name.")
        return self._specs.setdefault(metric, placed)


def _refusal(learner: Learner, name: SeatName, game: Game, rounds: int) -> str | None:
    """Why a learner cannot take a seat of a game; None if it can."""
    payoff, payoff_range = game.own_view(name)
    shape = payoff.shape[0], payoff.shape[1]
    try:
        return learner.reason_not_to_play(build_seat(learner, [0], shape, rounds, payoff_range, payoff=payoff))
    except Exception as error:  # a learner in a file is anybody's code
        return reason_of(error)
