"""The ranking of a study: learners by how often they beat others.

Learners are ranked by their wins minus their losses, per pairing: wins can be counted over games whose payoffs have
different units. In a study in which not all learners met, such as one against all, no ranking is fair: a learner that
met weak opponents alone looks strong. The number of pairings of each learner is then reported too. Learners that see
more than a bandit does are left out, since they cannot be compared with the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coebl.core.modules import require
from coebl.core.specs import files_in, without_folder
from coebl.core.text import counted
from coebl.evidence.pairwise import SETTING, Pairing, pairwise
from coebl.learners import LEARNERS, REFERENCES
from coebl.naming import NOTHING, Known, known_to, spelled_out
from coebl.study.cell import is_file

if TYPE_CHECKING:
    import polars

    from coebl.study import Results, Study

DECISIVE = ("pseudo_regret", "regret")  # the first of these that was recorded decides


@dataclass(frozen=True)
class Ranked:
    """A learner in the ranking."""

    rank: int
    learner: str
    won: int
    level: int
    lost: int
    taken: float  # per round, from those that it met: the mean over its pairings

    @property
    def met(self) -> int:
        """The number of its pairings."""
        return self.won + self.level + self.lost

    @property
    def score(self) -> float:
        """Wins minus losses, per pairing."""
        return (self.won - self.lost) / self.met


@dataclass(frozen=True)
class Ranking:
    """The learners of a study by how often they won; printed, it is one sentence."""

    metric: str
    learners: list[Ranked]
    pairings: list[Pairing]  # all corrected in one family
    left_out: list[str]  # learners that see more
    known: Known = NOTHING  # what the results store about the learners

    @property
    def family(self) -> str:
        """The tests over which the p values are corrected, in words."""
        return f"Holm's correction over all {counted(len(self.pairings), 'pairing')}"

    @property
    def names(self) -> dict[str, str]:
        """The names of the learners by their specs, with a default spelled out where names would be equal."""
        return spelled_out([*(entry.learner for entry in self.learners), *self.left_out], self.known)

    @property
    def most(self) -> int:
        """The number of pairings of a learner that has met every other one on every game."""
        settings = {(pairing.game, pairing.noise, pairing.rounds) for pairing in self.pairings}
        return (len(self.learners) - 1) * len(settings)

    @property
    def everybody_met(self) -> bool:
        """True if all have met all, on all games."""
        return all(entry.met == self.most for entry in self.learners)

    def __str__(self) -> str:
        return self.sentence(self.names)

    def sentence(self, names: dict[str, str]) -> str:
        """Return who comes first, with these names of the learners by their specs."""
        first = [entry for entry in self.learners if entry.rank == 1]
        best = first[0]
        if not best.won:
            return f"None of the {len(self.learners)} learners is shown to beat another one."
        if len(first) > 1:
            *others, last = (names[entry.learner] for entry in first)
            return f"{', '.join(others)} and {last} share the first place of {len(self.learners)} learners."
        return (
            f"{names[best.learner]} comes first of {len(self.learners)} learners: of its "
            f"{counted(best.met, 'pairing')} it wins {best.won} and loses {best.lost}."
        )


def rank(results: Results, study: Study | None = None) -> Ranking | None:
    """Rank the learners of a study; None if no two of them met, or nothing was recorded that shows who is ahead.

    Args:
        results: a folder.
        study: only what it asks for; by default everything, also what an earlier file of the study asked for.
    """
    asked = {without_folder(metric) for cell in study.cells for metric in cell.metrics} if study else None
    recorded = results.metrics if asked is None else asked.intersection(results.metrics)
    metric = next((name for name in DECISIVE if name in recorded), None)
    if metric is None:
        return None
    table = results.last([metric])
    if study is not None:
        table = asked_for(table, study, metric)
    specs = sorted(set(table["players"].explode().drop_nulls()), key=LEARNERS.order)
    kinds = results.kinds()
    left_out = [spec for spec in specs if kinds.get(spec) in REFERENCES]
    contenders = [spec for spec in specs if spec not in left_out]
    pairings = pairwise(table, metric, learners=contenders)
    if not pairings:
        return None
    return Ranking(metric, ranked(contenders, pairings), pairings, left_out, known_to(results))


def ranked(learners: Iterable[str], pairings: Iterable[Pairing]) -> list[Ranked]:
    """The learners that met any other, the first one first; those with the same score have the same rank."""
    signs: dict[str, list[int]] = {learner: [] for learner in learners}  # of its pairings: 1 won, 0 level, -1 lost
    taken: dict[str, list[float]] = {learner: [] for learner in signs}
    for pairing in pairings:
        for learner, side in ((pairing.first, 1), (pairing.second, -1)):
            signs[learner].append(side * pairing.advantage.sign)
            taken[learner].append(side * pairing.advantage.mean / pairing.rounds)
    score = {learner: sum(found) / len(found) for learner, found in signs.items() if found}
    return [
        Ranked(
            rank=1 + sum(other > score[learner] for other in score.values()),
            learner=learner,
            won=signs[learner].count(1),
            level=signs[learner].count(0),
            lost=signs[learner].count(-1),
            taken=sum(taken[learner]) / len(taken[learner]),
        )
        for learner in sorted(score, key=lambda learner: -score[learner])
    ]


def asked_for(table: polars.DataFrame, study: Study, metric: str) -> polars.DataFrame:
    """Return the rows of a table that a study asks for by this metric: a folder may hold more."""
    pl = require("polars")
    seeds: dict[tuple[object, ...], set[int]] = {}
    for cell in study.cells:
        if metric in map(without_folder, cell.metrics):
            game = label(cell.game)
            noise = study.noises.get(game) if cell.noise is None else without_folder(cell.noise)
            seeds.setdefault((game, noise, cell.rounds, *map(label, cell.players)), set()).update(cell.seeds)
    on = [*SETTING, "row", "column"]
    wanted = pl.DataFrame(
        [(*match, sorted(of_match)) for match, of_match in seeds.items()],
        schema={
            **dict(zip(on, (pl.String, pl.String, pl.Int64, pl.String, pl.String), strict=True)),
            "seed": pl.List(pl.Int64),
        },
        orient="row",
    ).explode("seed")
    two = table.with_columns(row=pl.col("players").list.first(), column=pl.col("players").list.last())
    return two.join(wanted, on=[*on, "seed"], how="semi", maintain_order="left").drop("row", "column")


def label(spec: str) -> str:
    """Return the name of a game or a learner in results: files by their names alone."""
    if files_in(spec):
        return without_folder(spec)
    return Path(spec).name if Path(spec).suffix and is_file(spec) else spec
