"""Who beats whom in a study: every two learners that met on a game, and the learners by how often they won.

Learners are ranked by their wins minus their losses, per pairing. Wins can be counted over games whose payoffs have
different units. In a study in which not everybody met everybody, such as one against all, no ranking is fair: who met
weak opponents alone looks strong. The number of pairings is then told of each learner. Learners that see more than a
bandit does are left out, since they cannot be compared with the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from coebl.core.text import counted
from coebl.evidence.statistics import ALPHA, holm, paired_difference
from coebl.learners import LEARNERS, REFERENCES
from coebl.naming.described import NOTHING, Known, known_to
from coebl.naming.titles import spelled_out
from coebl.study.plan import Asked
from coebl.study.results import Results
from coebl.study.schema import Study

DECISIVE = ("pseudo_regret", "regret")  # what may decide: the first that was recorded

Setting = tuple[str, str, int]  # game, noise and horizon
BySeed = dict[int, float]


@dataclass(frozen=True)
class Pairing:
    """Two learners that met on a game, in one seat or in both."""

    setting: Setting
    first: str
    second: str
    advantage: float  # of the first over the second: the mean of the metric, from its side
    p_holm: float  # two-sided, by seed, corrected over all pairings of the study

    @property
    def winner(self) -> str:
        """Who beats the other one, or nothing."""
        if self.p_holm > ALPHA or self.advantage == 0:
            return ""
        return self.first if self.advantage > 0 else self.second


@dataclass(frozen=True)
class Ranked:
    """A learner in the ranking."""

    rank: int
    learner: str
    won: int
    level: int
    lost: int

    @property
    def met(self) -> int:
        """How many pairings it has."""
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
    pairings: list[Pairing]
    left_out: list[str]  # learners that see more
    known: Known = NOTHING  # what the results say of the learners

    @property
    def names(self) -> dict[str, str]:
        """What the learners are called here, by their specs: no two alike but for a default that is not named."""
        return spelled_out([*(one.learner for one in self.learners), *self.left_out], self.known)

    @property
    def most(self) -> int:
        """How many pairings a learner has that has met every other one on every game."""
        return (len(self.learners) - 1) * len({pairing.setting for pairing in self.pairings})

    @property
    def everybody_met(self) -> bool:
        """Whether all have met all, on all games."""
        return all(one.met == self.most for one in self.learners)

    def __str__(self) -> str:
        first = [one for one in self.learners if one.rank == 1]
        best = first[0]
        if not best.won:
            return f"None of the {len(self.learners)} learners is shown to beat another one."
        if len(first) > 1:
            sharing = _listed(self.names[one.learner] for one in first)
            return f"{sharing} share the first place of {len(self.learners)} learners."
        return (
            f"{self.names[best.learner]} comes first of {len(self.learners)} learners: of its "
            f"{counted(best.met, 'pairing')} it wins {best.won} and loses {best.lost}."
        )


def rank(results: Results, study: Study | None = None) -> Ranking | None:
    """Rank the learners of a study; None if no two of them met, or nothing was recorded that says who is ahead.

    Args:
        results: a folder.
        study: what counts of it; by default everything, also what an earlier file of the study asked for.
    """
    asked = None if study is None else Asked.by(study)
    recorded = results.metrics if asked is None else asked.metrics().intersection(results.metrics)
    metric = next((name for name in DECISIVE if name in recorded), None)
    if metric is None:
        return None
    kinds = results.kinds()
    met = _met(results, metric, asked)
    specs = sorted({spec for pairs in met.values() for pair in pairs for spec in pair}, key=LEARNERS.order)
    left_out = [spec for spec in specs if kinds.get(spec) in REFERENCES]
    contenders = [spec for spec in specs if spec not in left_out]
    samples = {
        (setting, first, second): sample
        for setting, pairs in met.items()
        for place, first in enumerate(contenders)
        for second in contenders[place + 1 :]
        if len(sample := _advantage(pairs, first, second)) > 1
    }
    if not samples:
        return None
    tests = [paired_difference(sample, dict.fromkeys(sample, 0.0)) for sample in samples.values()]
    corrected = holm([test.p for test in tests])
    pairings = [Pairing(*key, test.interval.mean, p) for key, test, p in zip(samples, tests, corrected, strict=True)]
    return Ranking(metric, _ranked(contenders, pairings), pairings, left_out, known_to(results))


def _met(results: Results, metric: str, asked: Asked | None) -> dict[Setting, dict[tuple[str, str], BySeed]]:
    """By game, and row and column learner, what the row player lost by the last round of each seed."""
    met: dict[Setting, dict[tuple[str, str], BySeed]] = {}
    for digest, about in results.index().cells:
        wanted = None if asked is None else asked.seeds(about["description"], metric)
        if metric in about["metrics"] and wanted != set():
            labels = about["labels"]
            columns, _ = results.store.columns(digest, [metric], last=True)
            setting = labels["game"], labels["noise"], about["description"]["rounds"]
            by_seed = met.setdefault(setting, {}).setdefault((labels["row"], labels["column"]), {})
            by_seed |= {s: value for s, value in _finite(columns, metric).items() if wanted is None or s in wanted}
    results.store.remember()
    return met


def _finite(columns: dict[str, Any], metric: str) -> BySeed:
    last = columns[metric][-1]
    return {
        int(seed): float(value) for seed, value in zip(columns["seed"], last, strict=True) if abs(value) < float("inf")
    }


def _advantage(pairs: dict[tuple[str, str], BySeed], first: str, second: str) -> BySeed:
    """What the first earned more than the value gives it, the mean of the seats in which they met, by seed."""
    sides = [
        {seed: sign * value for seed, value in by_seed.items()}
        for sign, by_seed in ((-1, pairs.get((first, second))), (1, pairs.get((second, first))))
        if by_seed
    ]
    seeds = sorted(set.intersection(*map(set, sides))) if sides else []
    return {seed: sum(side[seed] for side in sides) / len(sides) for seed in seeds}


def _ranked(learners: Iterable[str], pairings: Iterable[Pairing]) -> list[Ranked]:
    """The learners that met anybody, the first one first; those with the same score have the same rank."""
    counts = {learner: [0, 0, 0] for learner in learners}
    for pairing in pairings:
        for learner in (pairing.first, pairing.second):
            counts[learner][1 if not pairing.winner else 0 if pairing.winner == learner else 2] += 1
    unranked = [Ranked(0, learner, *count) for learner, count in counts.items() if any(count)]
    ranked = sorted(unranked, key=lambda one: -one.score)
    return [
        Ranked(1 + sum(other.score > one.score for other in ranked), one.learner, one.won, one.level, one.lost)
        for one in ranked
    ]


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}"
