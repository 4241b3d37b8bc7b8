"""The wishes of the paper's conclusion, and what the ablation study says of each: variants paired with plain learners.

What is compared with what was fixed before the run, in studies/ablation.toml; `comparisons` says the same in code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, NamedTuple

from coebl.core.text import few_digits
from coebl.evidence.pairwise import ALL_GAMES
from coebl.evidence.statistics import ALPHA, holm, mean_interval, paired_difference
from coebl.learners import Learner, parse_learner
from coebl.learners.coebl import Coebl
from coebl.learners.kin import Kin
from coebl.runs import Runs
from coebl.study import Results, Study

WISHES = ("mutation", "recombination", "selection", "population")  # by the parameters of COEBL
KIN = "kin"  # the group of its comparisons
SELF_PLAY = "self-play"
OUTCOMES = ("best-response", "ucb", "exp3", SELF_PLAY)  # the opponents; lower is better in all of them
ROUNDS = 100  # regrets are per so many

# A second base, where the question needs one: the same learner but for one parameter.
_SECOND = {
    ("mutation", "adaptive"): "gaussian",
    ("selection", "comma"): "elitist:judge=means",
    ("selection", "tournament"): "elitist:judge=means",
    ("selection", "dominance"): "elitist:judge=means",
    ("population", "pool:size=4,mutants=4,play=draw"): "pool:size=4,mutants=4",
}


class Comparison(NamedTuple):
    """A variant and what it is compared with, by their specs."""

    wish: str
    learner: str
    base: str


class Difference(NamedTuple):
    """What a variant has more than its base, with its 95 % interval over the seeds."""

    wish: str
    learner: str
    base: str
    outcome: str
    game: str
    mean: float
    low: float
    high: float
    p: float
    p_holm: float | None  # corrected over all tests of the study; None on single games, which are not tested

    @property
    def significant(self) -> bool:
        """Whether there is a difference, after Holm, at 5 %."""
        return self.p_holm is not None and self.p_holm <= ALPHA


def plain(spec: str) -> str:
    """The learner of which this one is a variant.

    >>> plain("coebl:c=2,recombination=row"), plain("kin:c=0")
    ('coebl:c=2', 'kin')
    """
    learner = parse_learner(spec)
    return str(Coebl(c=learner.c)) if isinstance(learner, Coebl) else str(type(learner)())


def label(spec: str) -> str:
    """What is changed in a variant, in short.

    >>> label("coebl:c=2,selection=comma,population=pool:mutants=4"), label("kin:c=0")
    ('comma, pool:mutants=4', 'c=0')
    """
    learner = parse_learner(spec)
    changed = _changed(learner)
    if isinstance(learner, Coebl):
        return ", ".join(changed.values())
    return ", ".join(f"{name}={few_digits(float(value), 6)}" for name, value in changed.items())


def comparisons(learners: Iterable[str]) -> list[Comparison]:
    """Each variant v the plain learner, then those v a second base."""
    first, second = [], []
    for spec in learners:
        if spec == plain(spec):
            continue
        learner = parse_learner(spec)
        changed = _changed(learner)
        wish = KIN if isinstance(learner, Kin) else next(name for name in WISHES if name in changed)
        first.append(Comparison(wish, spec, plain(spec)))
        for (name, value), instead in _SECOND.items():
            if changed.get(name) == value:
                second.append(Comparison(wish, spec, str(replace(learner, **{name: instead}))))
    return first + second


def _changed(learner: Learner) -> dict[str, str]:
    """The parameters that are not at their defaults, COEBL's c left out."""
    names = [field.name for field in fields(learner) if not (isinstance(learner, Coebl) and field.name == "c")]
    usual = type(learner)()
    return {name: str(getattr(learner, name)) for name in names if getattr(learner, name) != getattr(usual, name)}


class OutcomesBySeed:
    """The outcomes of the learners of a study, by seed. The study has to be finished."""

    def __init__(self, results: Results, study: Study) -> None:
        self._results = results
        matches = study.matches()
        self.learners = list(dict.fromkeys(row for _, row, _ in matches))
        games = dict.fromkeys(game for game, _, _ in matches)
        self.games = {game: self._runs(self.learners[0], OUTCOMES[0], game).horizon for game in games}

    def _runs(self, learner: str, outcome: str, game: str) -> Runs:
        column, metric = (learner, "exploitability") if outcome == SELF_PLAY else (outcome, "pseudo_regret")
        return self._results.runs(game, learner, column, metric)

    def by_seed(self, learner: str, outcome: str, game: str) -> dict[int, float]:
        """After the last round: regret per hundred rounds, or exploitability; over all games, the mean of the games."""
        if game == ALL_GAMES:
            each = [self.by_seed(learner, outcome, one) for one in self.games]
            return {seed: sum(one[seed] for one in each) / len(each) for seed in each[0]}
        runs = self._runs(learner, outcome, game)
        assert runs.horizon is not None
        last = runs.values[-1] * (1 if outcome == SELF_PLAY else ROUNDS / runs.horizon)
        return dict(zip(runs.seeds.tolist(), last.tolist(), strict=True))

    def means(self) -> Iterator[dict[str, Any]]:
        """The mean of each outcome of each learner, per game and over all, with its interval."""
        for learner in self.learners:
            for outcome in OUTCOMES:
                for game in (ALL_GAMES, *self.games):
                    found = mean_interval(list(self.by_seed(learner, outcome, game).values()))
                    labels = {"learner": learner, "outcome": outcome, "game": game}
                    yield {**labels, "mean": _six(found.mean), "low": _six(found.low), "high": _six(found.high)}

    def differences(self) -> list[Difference]:
        """All comparisons, per game and over all games. Holm corrects over all tests together, those over all games."""
        found = [
            self._difference(comparison, outcome, game)
            for comparison in comparisons(self.learners)
            for outcome in OUTCOMES
            for game in (ALL_GAMES, *self.games)
        ]
        corrected = iter(holm([one.p for one in found if one.game == ALL_GAMES]))
        return [one._replace(p_holm=_six(next(corrected))) if one.game == ALL_GAMES else one for one in found]

    def _difference(self, comparison: Comparison, outcome: str, game: str) -> Difference:
        wish, learner, base = comparison
        pair = paired_difference(self.by_seed(learner, outcome, game), self.by_seed(base, outcome, game))
        mean, low, high = (_six(end) for end in (pair.mean, pair.low, pair.high))
        return Difference(wish, learner, base, outcome, game, mean, low, high, _six(pair.p), None)


def _six(number: float) -> float:
    """Six digits: enough for a text, and without the noise of the last bit in a committed file."""
    return float(f"{number:.6g}")
