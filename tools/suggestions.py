"""The ablation study of the suggestions in the paper's conclusion: variants paired with plain learners.

The comparisons were fixed before the run, in studies/ablation.toml; `comparisons` repeats them in code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import polars as pl

from coebl.core.text import few_digits, finite
from coebl.evidence.pairwise import ALL_GAMES, SETTING, by_seat, differences, pooled, tests_of
from coebl.evidence.statistics import Estimate, correct
from coebl.learners import Learner, parse_learner
from coebl.learners.coebl import Coebl
from coebl.learners.kin import Kin
from coebl.study import Results, Study

SUGGESTIONS = ("mutation", "recombination", "selection", "population")  # by the parameters of COEBL
KIN = "kin"  # the group of its comparisons
SELF_PLAY = "self-play"
OUTCOMES = ("best-response", "ucb", "exp3", SELF_PLAY)  # the opponents; lower is better in all of them
NUMBERS = ("mean", "low", "high", "p", "p_holm")  # of a difference in the files
ROUNDS = 100  # regrets are per this many rounds

# A second base, where the question needs it: the same learner except for one parameter.
_SECOND = {
    ("mutation", "adaptive"): "gaussian",
    ("selection", "comma"): "elitist:judge=means",
    ("selection", "tournament"): "elitist:judge=means",
    ("selection", "dominance"): "elitist:judge=means",
    ("population", "pool:size=4,mutants=4,play=draw"): "pool:size=4,mutants=4",
}


class Comparison(NamedTuple):
    """A variant and the learner that it is compared with, by their specs."""

    suggestion: str
    learner: str
    base: str


class Difference(NamedTuple):
    """The difference between a variant and its base in an outcome, on a game or over all games."""

    suggestion: str
    learner: str
    base: str
    outcome: str
    game: str
    estimate: Estimate  # corrected over all tests of the study; on single games, which are not tested, not at all

    def row(self) -> dict[str, Any]:
        """Return a row of a table."""
        labels = self._asdict()
        return labels | plain_values(labels.pop("estimate"), NUMBERS)


def plain(spec: str) -> str:
    """Return the learner of which this one is a variant.

    >>> plain("coebl:c=2,recombination=row"), plain("kin:c=0")
    ('coebl:c=2', 'kin')
    """
    learner = parse_learner(spec)
    return str(Coebl(c=learner.c)) if isinstance(learner, Coebl) else str(type(learner)())


def label(spec: str) -> str:
    """Return the changed parameters of a variant, in short.

    >>> label("coebl:c=2,selection=comma,population=pool:mutants=4"), label("kin:c=0")
    ('comma, pool:mutants=4', 'c=0')
    """
    learner = parse_learner(spec)
    changed = _changed(learner)
    if isinstance(learner, Coebl):
        return ", ".join(changed.values())
    return ", ".join(f"{name}={few_digits(float(value), 6)}" for name, value in changed.items())


def comparisons(learners: Iterable[str]) -> list[Comparison]:
    """Return the comparisons of each variant with the plain learner, then those with a second base."""
    first, second = [], []
    for spec in learners:
        if spec == plain(spec):
            continue
        learner = parse_learner(spec)
        changed = _changed(learner)
        suggestion = KIN if isinstance(learner, Kin) else next(name for name in SUGGESTIONS if name in changed)
        first.append(Comparison(suggestion, spec, plain(spec)))
        for (name, value), instead in _SECOND.items():
            if changed.get(name) == value:
                second.append(Comparison(suggestion, spec, str(replace(learner, **{name: instead}))))
    return first + second


def _changed(learner: Learner) -> dict[str, str]:
    """Return the parameters that are not at their defaults, without COEBL's c."""
    names = [field.name for field in fields(learner) if not (isinstance(learner, Coebl) and field.name == "c")]
    usual = type(learner)()
    return {name: str(getattr(learner, name)) for name in names if getattr(learner, name) != getattr(usual, name)}


class Outcomes:
    """The outcomes of the learners of a study, by seed. The study has to be finished."""

    def __init__(self, results: Results, study: Study) -> None:
        matches = study.matches()
        self.learners = list(dict.fromkeys(row for _, row, _ in matches))
        table = results.last(["pseudo_regret", "exploitability"])
        lengths = dict(table.select("game", "rounds").iter_rows())
        self.games = {game: lengths[game] for game in dict.fromkeys(game for game, _, _ in matches)}
        self.seeds = table["seed"].n_unique()
        alone = by_seat(table, "exploitability", signed=False).filter("alone")
        alone = alone.with_columns(opponent=pl.lit(SELF_PLAY))
        others = by_seat(table, "pseudo_regret").filter(~pl.col("alone"))
        others = others.with_columns(value=pl.col("value") * ROUNDS / pl.col("rounds"))
        sides = pl.concat([alone, others]).filter(pl.col("learner").is_in(self.learners), seat="row")
        self._sides = sides.with_columns(outcome=pl.col("opponent").cast(pl.Enum(OUTCOMES), strict=False))

    def _tests(self, samples: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[str, ...], Estimate]:
        """Return the mean of `value` by these keys, the outcome and the game, over all games first."""
        keys = [*keys, "outcome"]
        whole = pooled(samples, keys, SETTING).with_columns(game=pl.lit(ALL_GAMES))
        every = pl.concat([whole, samples.select(whole.columns)]).drop_nulls(["value", "outcome"])
        every = every.with_columns(pl.col("game").cast(pl.Enum([ALL_GAMES, *self.games])))
        return tests_of(every, [*keys, "game"], family="")

    def means(self) -> Iterator[dict[str, Any]]:
        """Yield the mean of each outcome of each learner, over all games and per game, with its interval."""
        sides = self._sides.with_columns(pl.col("learner").cast(pl.Enum(self.learners)))
        for (learner, outcome, game), estimate in self._tests(sides, ["learner"]).items():
            yield {"learner": learner, "outcome": outcome, "game": game} | plain_values(estimate, NUMBERS[:3])

    def differences(self) -> list[Difference]:
        """Return all comparisons, over all games and per game; Holm corrects over all tests over all games together."""
        chosen = comparisons(self.learners)
        bases = [comparison.base for comparison in chosen]
        ordered = sorted(self.learners, key=bases.count)  # each before the learners that it is compared with
        wanted = pl.DataFrame(chosen, Comparison._fields, orient="row").select(first="learner", second="base")
        paired = differences(self._sides, ordered, "common opponents")
        paired = paired.join(wanted.cast(pl.Enum(ordered)), on=["first", "second"], how="semi")
        tests = self._tests(paired, ["first", "second"])
        whole = [key for key in tests if key[-1] == ALL_GAMES]
        rounded = [replace(tests[key], p=float(f"{tests[key].p:.6g}")) for key in whole]
        tests |= dict(zip(whole, correct(rounded, "all tests of the study"), strict=True))
        return [
            Difference(*comparison, outcome, game, tests[comparison.learner, comparison.base, outcome, game])
            for comparison in chosen
            for outcome in OUTCOMES
            for game in (ALL_GAMES, *self.games)
        ]


def plain_values(estimate: Estimate, names: Sequence[str]) -> dict[str, float | None]:
    """Return numbers of an estimate, with six digits: without the noise of the last bit in a committed file."""
    plain: dict[str, float | None] = finite({name: float(f"{getattr(estimate, name):.6g}") for name in names})
    return plain
