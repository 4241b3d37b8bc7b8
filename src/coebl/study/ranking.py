"""Who beats whom in a study: every two learners that met on a game, and the learners by how often they won.

Wins can be counted over games whose payoffs have different units, and over studies in which not everybody met
everybody. Learners that see more than a bandit does are left out, since they cannot be compared with the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from coebl.learners import LEARNERS, REFERENCES
from coebl.statistics import ALPHA, holm, paired_difference
from coebl.study.results import Results

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
    def share(self) -> float:
        """Wins minus losses, per pairing."""
        return (self.won - self.lost) / (self.won + self.level + self.lost)


@dataclass(frozen=True)
class Ranking:
    """The learners of a study by how often they won; printed, it is one sentence."""

    metric: str
    learners: list[Ranked]
    pairings: list[Pairing]
    left_out: list[str]  # learners that see more

    def __str__(self) -> str:
        first = [one for one in self.learners if one.rank == 1]
        best = first[0]
        met = best.won + best.level + best.lost
        if not best.won:
            return f"None of the {len(self.learners)} learners is shown to beat another one."
        if len(first) > 1:
            return f"{_listed(one.learner for one in first)} share the first place of {len(self.learners)} learners."
        return (
            f"{best.learner} comes first of {len(self.learners)} learners: of its {met} pairings it wins {best.won} "
            f"and loses {best.lost}."
        )


def rank(results: Results) -> Ranking | None:
    """Rank the learners of a study; None if no two of them met, or nothing was recorded that says who is ahead."""
    metric = next((name for name in DECISIVE if name in results.metrics), None)
    if metric is None:
        return None
    kinds = results.kinds()
    met = _met(results, metric)
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
    return Ranking(metric, _ranked(contenders, pairings), pairings, left_out)


def _met(results: Results, metric: str) -> dict[Setting, dict[tuple[str, str], BySeed]]:
    """By game, and row and column learner, what the row player lost by the last round of each seed."""
    met: dict[Setting, dict[tuple[str, str], BySeed]] = {}
    for digest, about in results.index().cells:
        if metric in about["metrics"]:
            labels = about["labels"]
            columns, _ = results.store.columns(digest, [metric], last=True)
            setting = labels["game"], labels["noise"], about["description"]["rounds"]
            by_seed = met.setdefault(setting, {}).setdefault((labels["row"], labels["column"]), {})
            by_seed |= _finite(columns, metric)
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
    """The learners that met anybody, the first one first; those with the same share have the same rank."""
    counts = {learner: [0, 0, 0] for learner in learners}
    for pairing in pairings:
        for learner in (pairing.first, pairing.second):
            counts[learner][1 if not pairing.winner else 0 if pairing.winner == learner else 2] += 1
    unranked = [Ranked(0, learner, *count) for learner, count in counts.items() if any(count)]
    ranked = sorted(unranked, key=lambda one: -one.share)
    return [
        Ranked(1 + sum(other.share > one.share for other in ranked), one.learner, one.won, one.level, one.lost)
        for one in ranked
    ]


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}"
