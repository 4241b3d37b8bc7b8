"""Pairwise tests of learners that met, paired by seed and corrected in one named family; and the ranking by them.

All functions read a Polars frame with the columns of `coebl.study.Results.last`, from the side of each learner. For a
signed metric, such as the regret, the number of the column player is the negative of the row player's; for a metric
with a twin for the column seat, such as external_regret, it is the twin. A metric about both players, such as tv, has
one number for both.

Learners are ranked by their wins minus their losses, per pairing: wins can be counted over games whose payoffs have
different units. If not all learners met, no ranking is fair: a learner that met only weak opponents looks strong. The
number of pairings of each learner is then reported too. Learners that see more than a bandit does are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from coebl.core.frames import pl
from coebl.core.specs import split_spec
from coebl.core.text import counted
from coebl.evidence.statistics import Estimate, correct, zero_tests
from coebl.games.game import SEATS
from coebl.learners import LEARNERS, REFERENCES
from coebl.metrics import registered_metric
from coebl.naming import NOTHING, Known, known_to, metric_words, spelled_out

if TYPE_CHECKING:
    from coebl.study import Results, Study

ALL_GAMES = "all games"
"""The name that takes the place of a game's for the mean over all games."""

SETTING = ["game", "noise", "rounds"]
DECISIVE = ("pseudo_regret", "regret")  # the first recorded one decides
_PAIRING = [*SETTING, "first", "second", "own"]
OWN = "payoff"  # decides in games that are not zero-sum
Families = Literal["all pairings", "the pairings of a game"]
Way = Literal["head to head", "common opponents", "self-play"]


@dataclass(frozen=True)
class Pairing:
    """Two learners in a setting, in one seat or in several.

    >>> pairing = Pairing("rps", "none", 9, "ucb", "exp3", Estimate(2.0, 1.0, 3.0, 1.0, 9, p_holm=0.01))
    >>> pairing.winner, pairing.loser
    ('ucb', 'exp3')
    """

    game: str  # or ALL_GAMES
    noise: str  # its spec
    rounds: int  # of the match
    first: str  # a learner
    second: str  # another one
    advantage: Estimate  # of the first over the second: half the difference of their numbers, or all of it if own
    own: bool = False  # True if each has a number of its own, against the same opponents in the same seat

    @property
    def winner(self) -> str:
        """The learner that beats the other one after correction, or ""."""
        return {1: self.first, 0: "", -1: self.second}[self.advantage.sign]

    @property
    def loser(self) -> str:
        """The learner that is beaten, or ""."""
        return {1: self.second, 0: "", -1: self.first}[self.advantage.sign]


def pairwise(
    table: pl.DataFrame,
    metric: str | Sequence[str] = "pseudo_regret",
    *,
    learners: Sequence[str] | None = None,
    family: Families = "all pairings",
    overall: bool = False,
) -> list[Pairing]:
    """Test each pair of learners for a difference by seed, with all seats pooled.

    Two that met in a zero-sum game are compared with each other. If the game is not zero-sum, and the metric has a
    number for each seat, such as payoff, they are compared in the same seat against all opponents that both have met.
    Pairs with fewer than two seeds in common, and numbers that are not finite, are left out.

    Args:
        table: a row per match and seed, as `Results.last` returns it.
        metric: a column of it; of several, the first that a match has recorded decides.
        learners: only these; the first of a pair is the earlier one. By default all, in the order of their names.
        family: the tests over which Holm corrects together.
        overall: also test the mean over all games, first and in a separate family.

    >>> import polars
    >>> seeds = {"game": "rps", "noise": "none", "rounds": 9, "seed": [0, 1, 2]}
    >>> table = polars.DataFrame({"players": [["ucb", "exp3"]] * 3, "pseudo_regret": [-3.0, -4.0, -3.5], **seeds})
    >>> [pairing] = pairwise(table, learners=["exp3", "ucb"])
    >>> print(pairing.winner, pairing.advantage, round(pairing.advantage.p_holm, 4))
    ucb -3.5 [-4.742, -2.258] 0.0067
    """
    settings = table.select(SETTING).unique(maintain_order=True)
    every = table["players"].explode().drop_nulls().unique()
    names = sorted(every, key=LEARNERS.order) if learners is None else list(learners)
    parts: list[pl.DataFrame] = []
    for name in [metric] if isinstance(metric, str) else metric:
        rows, own = by_seat(table, name).filter(pl.col("value").is_finite()), is_own(name, table.columns)
        values = differences(rows, names, "common opponents" if own else "head to head")
        share = -0.5 if not own else 1.0 if metric_words(name).better == "higher" else -1.0
        values = values.with_columns(pl.col("value") * share, own=pl.lit(own))
        parts.append(values.select(*_PAIRING, "seed", "seat", "opponent", "value"))
        table = table.filter(pl.col(name).is_null())
    samples = pooled(pl.concat(parts), _PAIRING, ["seat", "opponent"])
    families = [(samples, str(family))]
    if family == "the pairings of a game":
        families = [(samples.join(game, on=SETTING, how="semi"), family) for game in settings.iter_slices(1)]
    if overall:
        means = pooled(samples, _PAIRING[len(SETTING) :], SETTING)
        whole = means.with_columns(game=pl.lit(ALL_GAMES), noise=pl.lit(""), rounds=pl.lit(0))
        families.insert(0, (whole, "all pairings over all games"))
    return [
        Pairing(game, noise, rounds, first, second, estimate, own)
        for part, tested in families
        for (game, noise, rounds, first, second, own), estimate in tests_of(part, _PAIRING, tested).items()
        if estimate.n > 1
    ]


def differences(sides: pl.DataFrame, learners: Sequence[str], way: Way) -> pl.DataFrame:
    """Return the numbers of a learner minus those of a later one, by seat and seed; null if the later one has none.

    They meet each other, or the same opponents in the same seat, or each meets itself. `first` and `second` are the
    two, and are sorted in the order of the list.
    """
    ordered = pl.Enum(list(dict.fromkeys(learners)))
    first = sides.with_columns(first=pl.col("learner").cast(ordered, strict=False))
    if way == "head to head":
        met = first.filter(pl.col("other").is_not_null())
        second = pl.col("opponent").cast(ordered, strict=False)
        pairs = met.with_columns(value=pl.col("value") - pl.col("other"), second=second)
    else:
        keys = [*SETTING, "seat", *(["opponent"] if way == "common opponents" else [])]
        first = first if way == "common opponents" else first.filter("alone")
        later = first.select(*keys, "seed", subtracted="value", second="first")
        both = first.join(later.select(*keys, "second").unique(), on=keys, maintain_order="left")
        both = both.filter(pl.col("first") < pl.col("second"))
        pairs = both.join(later, on=[*keys, "second", "seed"], how="left", maintain_order="left")
        pairs = pairs.with_columns(value=pl.col("value") - pl.col("subtracted"))
    return pairs.filter(pl.col("first") < pl.col("second"))


def by_seat(table: pl.DataFrame, metric: str, signed: bool = True, keep: Sequence[str] = ()) -> pl.DataFrame:
    """Return a row per match, seed and seat, with the numbers of the learner (value) and of its opponent (other).

    The other columns are learner, opponent, seat, alone (True in self-play), and those to keep. In a game with more
    than two seats the opponent is all others, such as "ucb v exp3", and `other` is null.
    """
    players = pl.col("players").list
    sides, seats = [], max([2, *table["players"].list.len().unique()])
    for seat in range(seats):
        value, other = _numbers(table, metric, signed, seat)
        others = pl.concat_list(players.head(seat), players.slice(seat + 1)).list.join(" v ")
        sides.append(
            table.filter(players.len() > seat).select(
                *SETTING,
                *keep,
                "seed",
                learner=players.get(seat),
                opponent=players.get(1 - seat) if seats == 2 else others,  # many times faster
                seat=pl.when(players.len() == 2).then(pl.lit(SEATS[seat % 2])).otherwise(pl.lit(seat_name(seat, 3))),
                alone=players.n_unique() == 1,
                value=value,
                other=pl.when(players.len() == 2).then(other),
            )
        )
    return pl.concat(sides).filter(pl.col("value").is_not_null())


def _numbers(table: pl.DataFrame, metric: str, signed: bool, seat: int) -> tuple[Any, Any]:
    """Return the expressions of a learner's number in a seat, and of its opponent's; null where there is none."""

    def column(*names: str) -> Any:
        return pl.coalesce(*(pl.col(name) for name in names if name in table.columns), pl.lit(None, pl.Float64))

    row = pl.col(metric)
    if has_a_number_per_seat(metric):
        second = column(f"{metric}:2", f"column_{metric}")
        return [(row, second), (second, row)][seat] if seat < 2 else (column(f"{metric}:{seat + 1}"), row)
    if signed:
        return (row, -row) if seat == 0 else (-row, row)
    return row, row


def seat_name(seat: int, players: int) -> str:
    """Return the name of a seat, counted from 0, in a match with this number of players."""
    return SEATS[seat] if players == 2 else f"player{seat + 1}"


def has_a_number_per_seat(metric: str) -> bool:
    """Return True for a metric with a number for each seat, such as payoff."""
    registered = registered_metric(metric)
    return registered is not None and registered.by_seat


def is_own(metric: str, columns: Collection[str]) -> bool:
    """Return True if each seat has a number, and the columns are not those of a zero-sum game."""
    return has_a_number_per_seat(metric) and f"column_{metric}" not in columns


def seat_columns(metric: str, present: Iterable[str]) -> list[str]:
    """Return the columns of a metric, for any seat.

    >>> seat_columns("payoff", ["payoff", "payoff:2", "welfare"])
    ['payoff', 'payoff:2']
    """
    return [name for name in present if name in (metric, f"column_{metric}") or name.startswith(f"{metric}:")]


def pooled(samples: pl.DataFrame, by: Sequence[str], over: Sequence[str]) -> pl.DataFrame:
    """Return the mean of `value` over some columns, for the seeds that every combination of them has."""
    counts = samples.group_by(by).agg(wanted=pl.struct(over).n_unique())
    # Lists, as the last bit of a mean of groups depends on the number of threads.
    groups = samples.group_by([*by, "seed"], maintain_order=True).agg("value", met=pl.col("value").count())
    means = groups.with_columns(pl.col("value").list.mean())
    kept = means.join(counts, on=list(by), maintain_order="left").filter(pl.col("met") == pl.col("wanted"))
    return kept.drop("met", "wanted")


def tests_of(samples: pl.DataFrame, by: Sequence[str], family: str) -> dict[tuple[Any, ...], Estimate]:
    """Return the mean of `value` over seeds, tested for zero, by key; corrected over the keys if a family is named."""
    groups = samples.sort("seed").group_by(by).agg("value").sort(by)
    estimates = zero_tests(groups["value"])
    return dict(zip(groups.select(by).iter_rows(), correct(estimates, family) if family else estimates, strict=True))


# The ranking of a study


@dataclass(frozen=True)
class Ranked:
    """A learner in the ranking."""

    rank: int
    learner: str
    won: int
    undecided: int
    lost: int
    taken: float  # its gain per round, the mean over its pairings

    @property
    def met(self) -> int:
        """The number of pairings."""
        return self.won + self.undecided + self.lost

    @property
    def score(self) -> float:
        """Wins minus losses, per pairing."""
        return (self.won - self.lost) / self.met


@dataclass(frozen=True)
class Ranking:
    """The learners of a study by their wins and losses; printed, it is one sentence."""

    metric: str
    learners: list[Ranked]
    pairings: list[Pairing]  # all corrected in one family
    left_out: list[str]  # learners that see more
    known: Known = NOTHING  # what the results store about the learners

    @property
    def names(self) -> dict[str, str]:
        """The names of the learners by their specs; defaults are written out where names would be equal."""
        return spelled_out([*(entry.learner for entry in self.learners), *self.left_out], self.known)

    @cached_property
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
        if any(not entry.rank for entry in self.learners):
            warning += " A learner that met only other settings of itself is not ranked."
        return "" if self.all_met else f"{warning} Use coebl compare to compare two learners against common ones."

    def table(self, names: Mapping[str, str]) -> list[dict[str, str]]:
        """Return the learners under these names with their wins and scores; with their pairings, if these differ."""
        return [
            {"rank": str(entry.rank or "-"), "learner": names[entry.learner]}
            | {"won": str(entry.won), "undecided": str(entry.undecided), "lost": str(entry.lost)}
            | ({} if self.all_met else {"pairings": f"{entry.met} of {self.most}"})
            | {"score": f"{entry.score:+z.2f}"}
            for entry in self.learners
        ]

    def caption(self, names: Mapping[str, str]) -> str:
        """Return how pairings are won and counted, and the learners that are left out, under these names."""
        own = {pairing.own for pairing in self.pairings}
        same = f"by {OWN} against the same opponents in the same seat"
        won = f"by {metric_words(self.metric, self.known).in_a_sentence} after the last round"
        won = same if own == {True} else won + f"; in a game that is not zero-sum, {same}" * (True in own)
        seats, count = "all" if True in own else "both", counted(len(self.pairings), "pairing")
        every = "all " * (len(self.pairings) > 1)
        left_out = ", ".join(names[spec] for spec in self.left_out)
        return (
            f"Score: wins minus losses, per pairing. A pairing is two learners on a game, {seats} seats together, "
            f"won {won}, paired by seed, at 5 % with Holm's correction over {every}{count}."
            + (f" Left out, since they see more than a bandit does: {left_out}." if left_out else "")
        )

    def __str__(self) -> str:
        return self.sentence(self.names)

    def sentence(self, names: dict[str, str]) -> str:
        """Return a sentence about the first place, with these names of the learners by their specs."""
        first = [entry for entry in self.learners if entry.rank == 1]
        best = first[0]
        if not any(entry.won for entry in self.learners):
            return f"None of the {len(self.learners)} learners is shown to beat another one."
        ranked = f"{sum(entry.rank > 0 for entry in self.learners)} learners"
        if len(first) > 1:
            *others, last = (names[entry.learner] for entry in first)
            unmet = "" if self.all_met else "; not all learners have met"
            return f"{', '.join(others)} and {last} share first place among {ranked}{unmet}."
        place = f"ranks first among {ranked}"
        if not self.all_met:
            place = f"has the best score of {ranked}, but not all learners have met"
        return (
            f"{names[best.learner]} {place}: of its {counted(best.met, 'pairing')} it wins {best.won} and loses "
            f"{best.lost}"
            + f"; {best.undecided} {'is' if best.undecided == 1 else 'are'} undecided" * bool(best.undecided)
            + "."
        )


def rank(results: Results, study: Study | None = None) -> Ranking | None:
    """Rank the learners of a study; None if no two of them met, or no recorded metric shows who is ahead.

    Args:
        results: a folder.
        study: only the matches of this study; by default all, including those of an earlier file of the study.
    """
    requested = {metric for cell in study.cells for metric in cell.metrics} if study else None
    recorded = results.metrics if requested is None else requested.intersection(results.metrics)
    metrics = [name for name in DECISIVE if name in recorded][:1] + [OWN] * (OWN in recorded)
    if not metrics:
        return None
    table = results.last([column for name in metrics for column in seat_columns(name, results.metrics)])
    if study is not None:
        table = asked_for(table, study, *metrics)
    specs = sorted(set(table["players"].explode().drop_nulls()), key=LEARNERS.order)
    kinds = results.kinds()
    left_out = [spec for spec in specs if kinds.get(spec) in REFERENCES]
    contenders = [spec for spec in specs if spec not in left_out]
    pairings = pairwise(table, metrics, learners=contenders)
    if not pairings:
        return None
    metric = OWN if all(pairing.own for pairing in pairings) else metrics[0]
    return Ranking(metric, ranked(contenders, pairings), pairings, left_out, known_to(results))


def ranked(learners: Iterable[str], pairings: Iterable[Pairing]) -> list[Ranked]:
    """Return the learners that met any other, best first; equal scores share a rank.

    If others met different learners, a learner that met only other settings of itself has rank 0, and comes last.
    """
    signs: dict[str, list[int]] = {learner: [] for learner in learners}  # of its pairings: 1 won, 0 undecided, -1 lost
    gains: dict[str, list[float]] = {learner: [] for learner in signs}
    rivals: set[str] = set()  # those that met a different learner
    for pairing in pairings:
        if split_spec(pairing.first).name != split_spec(pairing.second).name:
            rivals |= {pairing.first, pairing.second}
        for learner, side in ((pairing.first, 1), (pairing.second, -1)):
            signs[learner].append(side * pairing.advantage.sign)
            gains[learner].append(side * pairing.advantage.mean / (1 if pairing.own else pairing.rounds))
    score = {learner: sum(outcomes) / len(outcomes) for learner, outcomes in signs.items() if outcomes}
    rivals = rivals or {*score}
    return [
        Ranked(
            rank=1 + sum(score[other] > score[learner] for other in rivals) if learner in rivals else 0,
            learner=learner,
            won=signs[learner].count(1),
            undecided=signs[learner].count(0),
            lost=signs[learner].count(-1),
            taken=sum(gains[learner]) / len(gains[learner]),
        )
        for learner in sorted(score, key=lambda learner: (learner not in rivals, -score[learner]))
    ]


def asked_for(table: pl.DataFrame, study: Study, *metrics: str) -> pl.DataFrame:
    """Return the rows of a table that belong to a study with any of these metrics: a folder may hold more."""
    rows: list[tuple[Any, ...]] = []
    for cell in study.cells:
        if not {*metrics}.isdisjoint(cell.metrics):
            game, players, noise, rounds = cell.labels()
            rows.append((game, noise, rounds, " v ".join(players), cell.seeds))
    labels = {"game": pl.String, "noise": pl.String, "rounds": pl.Int64, "names": pl.String}
    requested = pl.DataFrame(rows, {**labels, "seed": pl.List(pl.Int64)}, orient="row").explode("seed")
    named = table.with_columns(names=pl.col("players").list.join(" v "))
    return named.join(requested, on=[*SETTING, "names", "seed"], how="semi", maintain_order="left").drop("names")
