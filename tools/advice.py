"""The text and the figure of docs/which-learner.md, from the files of a tournament: no number is typed by hand.

Run in the root of a checkout, where the files are in results/tournament: python -m tools.advice
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from coebl.core.files import write_whole
from coebl.evidence import Estimate
from coebl.learners import KINDS, REFERENCES
from coebl.naming import learner_titles
from coebl.plots import save
from coebl.tournament.figures import plot_standings
from coebl.tournament.standings import Cycle, Standing, Standings
from tools.templates import read_csv, read_json, render

OWN = ("kin", "strain")  # the learners of this project
CONTENDERS = tuple(kind for kind in KINDS if kind not in REFERENCES)


class TournamentFiles:
    """The files of a tournament, with the numbers of the advice. Amounts are per round, in units of the range."""

    def __init__(self, folder: Path) -> None:
        self.summary: dict[str, Any] = read_json(folder / "summary.json")
        self.standings: dict[str, dict[str, Any]] = {row["learner"]: row for row in self.summary["standings"]}
        self._advantage: dict[str, dict[tuple[str, str], float]] = {}
        self._winner: dict[tuple[str, str], str] = {}  # over all games, after Holm
        for duel in read_csv(folder / "head-to-head.csv"):
            pair, number = (duel["first"], duel["second"]), float(duel["advantage"])
            on_game = self._advantage.setdefault(duel["game"], {})
            on_game[pair], on_game[pair[::-1]] = number, -number
            if duel["game"] == "all games":
                self._winner[pair] = self._winner[pair[::-1]] = duel["winner"]

    def of_kinds(self, kinds: Collection[str]) -> list[str]:
        """Return the learners of these kinds, by rank."""
        return [learner for learner, row in self.standings.items() if row["kind"] in kinds]

    def ahead(self, kind: str) -> str:
        """Return the learner with the largest advantage over its kind."""
        return min(self.of_kinds([kind]), key=lambda learner: self.standings[learner]["kind_rank"])

    def published(self) -> str:
        """Return the informed bandit with the largest advantage over its kind that is not of this project."""
        others = [learner for learner in self.of_kinds(["informed bandit"]) if learner not in OWN]
        return min(others, key=lambda learner: self.standings[learner]["kind_rank"])

    def leaders(self) -> dict[str, list[str]]:
        """Return the games on which each learner has the largest advantage over the other contenders."""
        by_learner: dict[str, list[str]] = {learner: [] for learner in self.of_kinds(CONTENDERS)}
        for game in self.summary["games"]:
            by_learner[next(iter(self.ranking(game)))].append(game)
        return by_learner

    def least(self, key: str, kinds: Collection[str]) -> str:
        """Return the learner of these kinds with the least regret, or exploitability."""
        return min(self.of_kinds(kinds), key=lambda learner: self.standings[learner][key]["value"])

    def beaten_by(self, learner: str, kinds: Collection[str] = CONTENDERS) -> list[str]:
        """Return the learners of these kinds that a learner beats over all games, after Holm."""
        return [rival for rival in self.of_kinds(kinds) if rival != learner and self._winner[learner, rival] == learner]

    def duel(self, learner: str, rival: str) -> float:
        """Return the advantage of a learner over another, over all games."""
        return self._advantage["all games"][learner, rival]

    def ranking(self, game: str, kinds: Collection[str] = CONTENDERS) -> dict[str, float]:
        """Return the learners of these kinds on a game by their mean advantage over each other, the best first."""
        learners, on_game = self.of_kinds(kinds), self._advantage[game]
        means = {
            learner: sum(on_game[learner, rival] for rival in learners if rival != learner) / (len(learners) - 1)
            for learner in learners
        }
        return dict(sorted(means.items(), key=lambda item: -item[1]))

    def share_of(self, game: str, learner: str, opponent: str) -> float:
        """Return the contribution of one opponent to a learner's mean in `ranking`."""
        return self._advantage[game][learner, opponent] / (len(self.of_kinds(CONTENDERS)) - 1)


def document(folder: Path) -> str:
    """Return the text of docs/which-learner.md, from the folder of a tournament's files."""
    files = TournamentFiles(folder)
    filters: dict[str, Callable[..., str]] = {
        "percent": lambda number, signed=True: f"{100 * number:{'+' if signed else ''}.2f} %",
        "interval": lambda numbers: f"[{100 * numbers['low']:.2f}, {100 * numbers['high']:.2f}]",
    }
    titles = learner_titles(files.standings)
    return render("advice", filters, files=files, of=files.standings, summary=files.summary, title=titles.__getitem__)


def read_standings(folder: Path) -> Standings:
    """Return the standings of a tournament from its summary, without the duels."""
    summary = read_json(folder / "summary.json")
    rows = [Standing(**{key: _estimate(value) for key, value in row.items()}) for row in summary["standings"]]
    cycles = [Cycle(**cycle) for cycle in summary["cycles"]]
    kept = {key: summary[key] for key in ("cycles_by_game", "nash_unique", "games", "seeds", "resamples")}
    return Standings(rows, [], cycles, **kept)


def _estimate(value: Any) -> Any:
    """Convert the fields of an estimate to an `Estimate`; return other values unchanged."""
    if not isinstance(value, dict):
        return value
    return Estimate(value["value"], value["low"], value["high"], sd=math.nan, n=0)


if __name__ == "__main__":
    RESULTS = Path("results", "tournament")
    write_whole(Path("docs", "which-learner.md"), document(RESULTS))
    save(plot_standings(read_standings(RESULTS)), RESULTS, "figure", ["svg", "png"])
