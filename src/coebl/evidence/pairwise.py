"""Who beats whom: every two learners that met, paired by seed, tested, and corrected in one named family.

All functions read a Polars frame with the columns of `coebl.study.Results.last`, and see its numbers from the side of
each learner. Of a signed metric, such as the regret, the number of the column player is the negative of the row
player's. Of a metric with a twin for the column seat, such as external_regret, it is the twin. A metric that is about
both players, such as tv, has one number for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from coebl.core.modules import require
from coebl.evidence.statistics import Estimate, correct, zero_tests
from coebl.learners import LEARNERS
from coebl.metrics import METRICS

if TYPE_CHECKING:
    import polars

ALL_GAMES = "all games"
"""The name in the place of a game for the mean over all games."""

SETTING = ["game", "noise", "rounds"]
_PAIR = ["first", "second"]
Families = Literal["all pairings", "the pairings of a game"]


@dataclass(frozen=True)
class Pairing:
    """Two learners that met in a setting, in one seat or in both.

    >>> pairing = Pairing("rps", "none", 9, "ucb", "exp3", Estimate(2.0, 1.0, 3.0, 1.0, 9, p_holm=0.01))
    >>> pairing.winner, pairing.loser
    ('ucb', 'exp3')
    """

    game: str  # or ALL_GAMES
    noise: str  # its spec
    rounds: int  # of the match
    first: str  # a learner
    second: str  # another one
    advantage: Estimate  # of the first over the second: half of what its number is lower by

    @property
    def winner(self) -> str:
        """The learner that beats the other one after correction, or nothing."""
        return {1: self.first, 0: "", -1: self.second}[self.advantage.sign]

    @property
    def loser(self) -> str:
        """The learner that is beaten, or nothing."""
        return {1: self.second, 0: "", -1: self.first}[self.advantage.sign]


def pairwise(
    table: polars.DataFrame,
    metric: str = "pseudo_regret",
    *,
    learners: Sequence[str] | None = None,
    units: Mapping[str, float] | None = None,
    family: Families = "all pairings",
    overall: bool = False,
    signed: bool = True,
) -> list[Pairing]:
    """Test every two learners that met for a difference by seed, both seats pooled.

    Pairs with fewer than two seeds in common, and numbers that are not finite, are left out.

    Args:
        table: a row per match and seed, as `Results.last` returns it.
        metric: a column of it; lower is better.
        learners: only these; the first of a pair is the earlier one. By default all, in the order of their names.
        units: by game, what to divide the numbers by.
        family: the tests over which Holm corrects together.
        overall: also test the mean over all games, first and in a family of its own.
        signed: False if the metric's sign does not say who is ahead.

    >>> import polars
    >>> seeds = {"game": "rps", "noise": "none", "rounds": 9, "seed": [0, 1, 2]}
    >>> table = polars.DataFrame({"players": [["ucb", "exp3"]] * 3, "pseudo_regret": [-3.0, -4.0, -3.5], **seeds})
    >>> [pairing] = pairwise(table, learners=["exp3", "ucb"])
    >>> print(pairing.winner, pairing.advantage, round(pairing.advantage.p_holm, 4))
    ucb -3.5 [-4.742, -2.258] 0.0067
    """
    pl = require("polars")
    sides = by_seat(table, metric, signed).filter(pl.col("value").is_finite(), pl.col("learner") != pl.col("opponent"))
    names = sorted(sides["learner"].unique(), key=LEARNERS.order) if learners is None else list(learners)
    places = {learner: place for place, learner in enumerate(names)}
    sides = sides.with_columns(
        ((pl.col("other") - pl.col("value")) / 2).alias("value"),
        first=pl.col("learner").replace_strict(places, default=None, return_dtype=pl.Int64),
        second=pl.col("opponent").replace_strict(places, default=None, return_dtype=pl.Int64),
    ).filter(pl.col("first") < pl.col("second"))
    if units is not None:
        sides = sides.with_columns(
            pl.col("value") / pl.col("game").replace_strict(dict(units), return_dtype=pl.Float64)
        )
    samples = pooled(sides, [*SETTING, *_PAIR], ["seat"])
    parts: dict[Any, polars.DataFrame] = {"": samples}
    if family == "the pairings of a game":
        order = {key: place for place, key in enumerate(table.select(SETTING).unique(maintain_order=True).iter_rows())}
        parts = dict(sorted(samples.partition_by(SETTING, as_dict=True).items(), key=lambda part: order[part[0]]))
    if overall:
        means = pooled(samples, _PAIR, SETTING)
        parts = {ALL_GAMES: means.with_columns(game=pl.lit(ALL_GAMES), noise=pl.lit(""), rounds=pl.lit(0)), **parts}
    found: list[Pairing] = []
    for key, part in parts.items():
        tests = {key: test for key, test in tests_of(part, [*SETTING, *_PAIR]).items() if test.n > 1}
        corrected = correct(list(tests.values()), "all pairings over all games" if key == ALL_GAMES else family)
        for (game, noise, rounds, first, second), estimate in zip(tests, corrected, strict=True):
            found.append(Pairing(game, noise, rounds, names[first], names[second], estimate))
    return found


def by_seat(table: polars.DataFrame, metric: str, signed: bool = True, keep: Sequence[str] = ()) -> polars.DataFrame:
    """Return a row per match, seed and seat: learner, opponent, seat, both their numbers, and the columns to keep."""
    pl = require("polars")
    twin = f"column_{metric}"
    row = pl.col(metric)
    if signed:
        column = -row
    elif twin in METRICS:
        column = pl.col(twin) if twin in table.columns else pl.lit(None, pl.Float64)
    else:
        column = row
    players = [pl.col("players").list.get(place) for place in (0, 1)]
    two = table.filter(pl.col("players").list.len() == 2)
    sides = [
        two.select(*SETTING, *keep, "seed", learner=own, opponent=opponent, seat=pl.lit(seat), value=value, other=other)
        for seat, own, opponent, value, other in (
            ("row", players[0], players[1], row, column),
            ("column", players[1], players[0], column, row),
        )
    ]
    found: polars.DataFrame = pl.concat(sides).filter(pl.col("value").is_not_null())
    return found


def about_both(metric: str, signed: bool) -> bool:
    """Return True for a metric with one number for both players, which cannot tell them apart."""
    return not signed and f"column_{metric}" not in METRICS


def pooled(samples: polars.DataFrame, by: Sequence[str], over: Sequence[str]) -> polars.DataFrame:
    """Return the mean of `value` over some columns, for the seeds that every combination of these has."""
    pl = require("polars")
    wanted = samples.group_by(by).agg(wanted=pl.struct(over).n_unique())
    means = samples.group_by([*by, "seed"]).agg(pl.col("value").mean(), met=pl.col("value").count())
    kept = means.join(wanted, on=list(by)).filter(pl.col("met") == pl.col("wanted"))
    return kept.drop("met", "wanted").sort("seed")


def tests_of(samples: polars.DataFrame, by: Sequence[str]) -> dict[tuple[Any, ...], Estimate]:
    """Return the mean of `value` over seeds by key, with the test that it is zero, not yet corrected; sorted by key."""
    pl = require("polars")
    groups = samples.sort("seed").group_by(by).agg("value").with_columns(n=pl.col("value").list.len()).sort(by)
    found: dict[int, Estimate] = {}
    for n in groups["n"].unique():
        places = (groups["n"] == n).arg_true().to_list()
        values = groups[places]["value"].explode().to_numpy().reshape(-1, n)
        found |= dict(zip(places, zero_tests(values), strict=True))
    return {key: found[place] for place, key in enumerate(groups.select(by).iter_rows())}
