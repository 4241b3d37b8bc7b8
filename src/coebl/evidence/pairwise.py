"""Pairwise tests: every two learners that met, paired by seed, corrected in one named family, and ranked.

All functions read a Polars frame with the columns of `coebl.study.Results.last`, and see its numbers from the side of
each learner. Of a signed metric, such as the regret, the number of the column player is the negative of the row
player's. Of a metric with a twin for the column seat, such as external_regret, it is the twin. A metric that is about
both players, such as tv, has one number for both.

Learners are ranked by their wins minus their losses, per pairing: wins can be counted over games whose payoffs have
different units. In a study in which not all learners met, such as one against all, no ranking is fair: a learner that
met only weak opponents looks strong. The number of pairings of each learner is then reported too. Learners that see
more than a bandit does are left out, since they cannot be compared with the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from coebl.core.modules import require
from coebl.core.text import counted
from coebl.evidence.statistics import Estimate, correct, zero_tests
from coebl.learners import LEARNERS, REFERENCES
from coebl.metrics import METRICS, registered_metric
from coebl.naming import NOTHING, Known, known_to, spelled_out

if TYPE_CHECKING:
    import polars

    from coebl.study import Results, Study

ALL_GAMES = "all games"
"""The name in the place of a game for the mean over all games."""

SETTING = ["game", "noise", "rounds"]
DECISIVE = ("pseudo_regret", "regret")  # the first recorded one decides
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
    pairings: list[Pairing] = []
    for key, part in parts.items():
        tests = {key: test for key, test in tests_of(part, [*SETTING, *_PAIR]).items() if test.n > 1}
        corrected = correct(list(tests.values()), "all pairings over all games" if key == ALL_GAMES else family)
        for (game, noise, rounds, first, second), estimate in zip(tests, corrected, strict=True):
            pairings.append(Pairing(game, noise, rounds, names[first], names[second], estimate))
    return pairings


def by_seat(table: polars.DataFrame, metric: str, signed: bool = True, keep: Sequence[str] = ()) -> polars.DataFrame:
    """Return a row per match, seed and seat: learner, opponent, seat, both their numbers, and the columns to keep."""
    pl = require("polars")
    twin = column_twin(metric)
    row = pl.col(metric)
    if signed:
        column = -row
    elif twin:
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
    rows: polars.DataFrame = pl.concat(sides).filter(pl.col("value").is_not_null())
    return rows


def column_twin(metric: str) -> str | None:
    """Return the name of a metric of the row player in the column seat; None if it is not about one player.

    >>> column_twin("swap_regret"), column_twin("external_regret"), column_twin("tv")
    ('swap_regret:2', 'column_external_regret', None)
    """
    if f"column_{metric}" in METRICS:  # the name in results of zero-sum games
        return f"column_{metric}"
    known = registered_metric(metric)
    return known.of_seat(2).name if known and known.by_seat else None


def pooled(samples: polars.DataFrame, by: Sequence[str], over: Sequence[str]) -> polars.DataFrame:
    """Return the mean of `value` over some columns, for the seeds that every combination of these has."""
    pl = require("polars")
    counts = samples.group_by(by).agg(wanted=pl.struct(over).n_unique())
    means = samples.group_by([*by, "seed"]).agg(pl.col("value").mean(), met=pl.col("value").count())
    kept = means.join(counts, on=list(by)).filter(pl.col("met") == pl.col("wanted"))
    return kept.drop("met", "wanted").sort("seed")


def tests_of(samples: polars.DataFrame, by: Sequence[str]) -> dict[tuple[Any, ...], Estimate]:
    """Return the mean of `value` over seeds by key, with the test that it is zero, not yet corrected; sorted by key."""
    pl = require("polars")
    groups = samples.sort("seed").group_by(by).agg("value").with_columns(n=pl.col("value").list.len()).sort(by)
    estimates: dict[int, Estimate] = {}
    for n in groups["n"].unique():
        places = (groups["n"] == n).arg_true().to_list()
        values = groups[places]["value"].explode().to_numpy().reshape(-1, n)
        estimates |= dict(zip(places, zero_tests(values), strict=True))
    return {key: estimates[place] for place, key in enumerate(groups.select(by).iter_rows())}


# The ranking of a study


@dataclass(frozen=True)
class Ranked:
    """A learner in the ranking."""

    rank: int
    learner: str
    won: int
    undecided: int
    lost: int
    taken: float  # per round, from those that it met: the mean over its pairings

    @property
    def met(self) -> int:
        """The number of its pairings."""
        return self.won + self.undecided + self.lost

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
    def all_met(self) -> bool:
        """True if all learners have met each other on all games."""
        return all(entry.met == self.most for entry in self.learners)

    @property
    def caveat(self) -> str:
        """A warning if scores are against different opponents."""
        warning = "Not all learners met each other, so the scores are against different opponents."
        return "" if self.all_met else f"{warning} To compare two learners on common ones: coebl compare."

    def table(self, names: Mapping[str, str]) -> list[dict[str, str]]:
        """Return the learners under these names with their wins and scores; with their pairings, if these differ."""
        return [
            {"rank": str(entry.rank), "learner": names[entry.learner]}
            | {"won": str(entry.won), "undecided": str(entry.undecided), "lost": str(entry.lost)}
            | ({} if self.all_met else {"pairings": f"{entry.met} of {self.most}"})
            | {"score": f"{entry.score:+.2f}"}
            for entry in self.learners
        ]

    def __str__(self) -> str:
        return self.sentence(self.names)

    def sentence(self, names: dict[str, str]) -> str:
        """Return a sentence about the first place, with these names of the learners by their specs."""
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
        study: only the matches that it asks for; by default all, also those of an earlier file of the study.
    """
    requested = {metric for cell in study.cells for metric in cell.metrics} if study else None
    recorded = results.metrics if requested is None else requested.intersection(results.metrics)
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
    """The learners that met any other, best first; equal scores share a rank."""
    signs: dict[str, list[int]] = {learner: [] for learner in learners}  # of its pairings: 1 won, 0 undecided, -1 lost
    gains: dict[str, list[float]] = {learner: [] for learner in signs}
    for pairing in pairings:
        for learner, side in ((pairing.first, 1), (pairing.second, -1)):
            signs[learner].append(side * pairing.advantage.sign)
            gains[learner].append(side * pairing.advantage.mean / pairing.rounds)
    score = {learner: sum(outcomes) / len(outcomes) for learner, outcomes in signs.items() if outcomes}
    return [
        Ranked(
            rank=1 + sum(other > score[learner] for other in score.values()),
            learner=learner,
            won=signs[learner].count(1),
            undecided=signs[learner].count(0),
            lost=signs[learner].count(-1),
            taken=sum(gains[learner]) / len(gains[learner]),
        )
        for learner in sorted(score, key=lambda learner: -score[learner])
    ]


def asked_for(table: polars.DataFrame, study: Study, metric: str) -> polars.DataFrame:
    """Return the rows of a table that a study asks for by this built-in metric: a folder may hold more."""
    pl = require("polars")
    seeds: dict[tuple[object, ...], set[int]] = {}
    for cell in study.cells:
        if metric in cell.metrics:
            game, players, noise, rounds = cell.labels(study.noises)
            seeds.setdefault((game, noise, rounds, *players), set()).update(cell.seeds)
    on = [*SETTING, "row", "column"]
    requested = pl.DataFrame(
        [(*match, sorted(of_match)) for match, of_match in seeds.items()],
        schema={
            **dict(zip(on, (pl.String, pl.String, pl.Int64, pl.String, pl.String), strict=True)),
            "seed": pl.List(pl.Int64),
        },
        orient="row",
    ).explode("seed")
    two = table.with_columns(row=pl.col("players").list.first(), column=pl.col("players").list.last())
    return two.join(requested, on=[*on, "seed"], how="semi", maintain_order="left").drop("row", "column")
