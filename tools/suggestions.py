"""The ablation study of the suggestions in the paper's conclusion: variants paired with plain learners.

The comparisons were fixed before the run, in studies/ablation.toml; `comparisons` repeats them in code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, NamedTuple

import polars as pl

from coebl.core.text import few_digits
from coebl.evidence.pairwise import ALL_GAMES, pooled, tests_of
from coebl.evidence.statistics import ALPHA, correct
from coebl.learners import Learner, parse_learner
from coebl.learners.coebl import Coebl
from coebl.learners.kin import Kin
from coebl.study import Results, Study

SUGGESTIONS = ("mutation", "recombination", "selection", "population")  # by the parameters of COEBL
KIN = "kin"  # the group of its comparisons
SELF_PLAY = "self-play"
OUTCOMES = ("best-response", "ucb", "exp3", SELF_PLAY)  # the opponents; lower is better in all of them
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

    wish: str
    learner: str
    base: str


class Difference(NamedTuple):
    """The difference between a variant and its base, with its 95 % interval over the seeds."""

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
        """True if the difference is significant at 5 %, after Holm."""
        return self.p_holm is not None and self.p_holm <= ALPHA


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
        wish = KIN if isinstance(learner, Kin) else next(name for name in SUGGESTIONS if name in changed)
        first.append(Comparison(wish, spec, plain(spec)))
        for (name, value), instead in _SECOND.items():
            if changed.get(name) == value:
                second.append(Comparison(wish, spec, str(replace(learner, **{name: instead}))))
    return first + second


def _changed(learner: Learner) -> dict[str, str]:
    """Return the parameters that are not at their defaults, without COEBL's c."""
    names = [field.name for field in fields(learner) if not (isinstance(learner, Coebl) and field.name == "c")]
    usual = type(learner)()
    return {name: str(getattr(learner, name)) for name in names if getattr(learner, name) != getattr(usual, name)}


class OutcomesBySeed:
    """The outcomes of the learners of a study, by seed. The study has to be finished."""

    def __init__(self, results: Results, study: Study) -> None:
        matches = study.matches()
        self.learners = list(dict.fromkeys(row for _, row, _ in matches))
        table = results.last(["pseudo_regret", "exploitability"])
        lengths = dict(table.select("game", "rounds").iter_rows())
        self.games = {game: lengths[game] for game in dict.fromkeys(game for game, _, _ in matches)}
        row, column = (pl.col("players").list.get(seat) for seat in (0, 1))
        alone = row == column
        regret = pl.col("pseudo_regret") * ROUNDS / pl.col("rounds")  # per hundred rounds
        by_game = table.select(
            "game",
            "seed",
            learner=row.cast(pl.Enum(self.learners), strict=False),
            outcome=pl.when(alone).then(pl.lit(SELF_PLAY)).otherwise(column).cast(pl.Enum(OUTCOMES), strict=False),
            value=pl.when(alone).then(pl.col("exploitability")).otherwise(regret),
        ).drop_nulls(["learner", "outcome"])
        over_all = pooled(by_game, ["learner", "outcome"], ["game"]).with_columns(game=pl.lit(ALL_GAMES))
        values = pl.concat([over_all.select(by_game.columns), by_game])  # game, seed, learner, outcome, value
        self.values = values.with_columns(pl.col("game").cast(pl.Enum([ALL_GAMES, *self.games])))
        self.seeds = over_all["seed"].n_unique()

    def means(self) -> Iterator[dict[str, Any]]:
        """Yield the mean of each outcome of each learner, over all games and per game, with its interval."""
        keys = ["learner", "outcome", "game"]
        for labels, test in tests_of(self.values, keys, family="").items():
            numbers = {name: _six(getattr(test, name)) for name in ("mean", "low", "high")}
            yield dict(zip(keys, labels, strict=True)) | numbers

    def differences(self) -> list[Difference]:
        """Return all comparisons, over all games and per game; Holm corrects over all tests over all games together."""
        specs = pl.Enum(self.learners)
        pairs = pl.DataFrame(comparisons(self.learners), Comparison._fields, orient="row").with_row_index("place")
        bases = self.values.rename({"learner": "base", "value": "subtracted"})
        typed = pairs.cast({"learner": specs, "base": specs})
        paired = typed.join(self.values, on="learner").join(bases, on=["base", "outcome", "game", "seed"])
        paired = paired.with_columns(value=pl.col("value") - pl.col("subtracted"))
        tests = tests_of(paired, ["place", *Difference._fields[:5]], family="")
        whole = [key for key in tests if key[-1] == ALL_GAMES]
        family = correct([replace(tests[key], p=_six(tests[key].p)) for key in whole], "all tests of the study")
        corrected = {key: _six(test.p_holm) for key, test in zip(whole, family, strict=True)}
        numbers = Difference._fields[5:9]
        return [
            Difference._make([*key[1:], *(_six(getattr(test, name)) for name in numbers), corrected.get(key)])
            for key, test in tests.items()
        ]


def _six(number: float) -> float:
    """Round to six digits: enough for a document, and without the noise of the last bit in a committed file."""
    return float(f"{number:.6g}")
