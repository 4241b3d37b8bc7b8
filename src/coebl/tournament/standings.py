"""The standings: learners ranked by mean advantage, with other measures, and the uncertainty of all of it.

How sure is found by the bootstrap: games are drawn again, and for each of them its seeds, the same for all pairs. The
intervals so say how the ranking would be with other games of this sort and other seeds. The tests head to head
(`coebl.tournament.duels`) are about these very games.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats
from coebl.learners.base import KINDS, Kind
from coebl.tournament.duels import OVERALL, Cycle, Duel, beaten, cycles, duels
from coebl.tournament.measured import Measured
from coebl.tournament.nash import nash_average, nash_masses

RESAMPLES = 2000
_SEED = 0  # of the bootstrap, so that a tournament has one result
_PLAYED = 1e-6  # a mass below this is rounding


class Estimate(NamedTuple):
    """A number with its 95 % interval, by percentiles of the bootstrap."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Standing:
    """A learner in the ranking. Amounts are per round, in units of the payoff range."""

    learner: str
    kind: Kind
    rank: int
    rank_low: int  # the best rank within its 95 % interval
    rank_high: int
    advantage: Estimate  # mean over all opponents, both seats and all games
    kind_rank: int | None  # among its kind, by the mean over opponents of its kind; None if it is alone
    kind_size: int
    kind_advantage: Estimate | None
    kind_nash_mass: float | None  # in the meta-game of its kind alone
    nash_mass: float
    nash_score: float  # advantage over the Nash mixture
    nash_mass_mean: float  # over resamples
    nash_support: float  # share of resamples in which it has a mass
    regret: Estimate  # against best-response
    exploitability: Estimate  # in self-play, of the last policies
    microseconds: float  # per run and round
    beats: int  # how many others, over all games, after Holm
    loses_to: int


@dataclass(frozen=True)
class Standings:
    """The results of a tournament: the ranking, the head-to-heads, and the cycles among them."""

    standings: list[Standing]  # by rank
    duels: list[Duel]
    cycles: list[Cycle]  # over all games
    cycles_by_game: dict[str, list[Cycle]]  # of the games that have any
    nash_unique: bool
    games: dict[str, int]  # to rounds
    seeds: int
    resamples: int
    missing: tuple[str, ...] = field(default=())

    def of(self, learner: str) -> Standing:
        """The standing of a learner."""
        return next(one for one in self.standings if one.learner == learner)

    def as_dict(self) -> dict[str, Any]:
        """All of it but the duels on single games, as plain values."""
        whole = asdict(self)
        whole["standings"] = [asdict(one) | _estimates(one) for one in self.standings]
        whole["duels"] = [asdict(duel) | {"winner": duel.winner} for duel in self.duels if duel.game == OVERALL]
        return whole


def standings(measured: Measured, resamples: int = RESAMPLES) -> Standings:
    """Rank the learners of a tournament."""
    found = duels(measured)
    graphs = {game: beaten(found, game) for game in (OVERALL, *measured.games)}
    by_game = {game: cycles(graph) for game, graph in graphs.items() if game != OVERALL}
    average = nash_average(measured.against)
    kind_masses = _kind_masses(measured)
    rows = _Rows(measured, resamples)
    wins = graphs[OVERALL]
    table = [
        rows.standing(
            place,
            nash_mass=float(average.mass[place]),
            nash_score=float(average.score[place]),
            kind_nash_mass=kind_masses.get(place),
            beats=len(wins[learner]),
            loses_to=sum(learner in losers for losers in wins.values()),
        )
        for place, learner in enumerate(measured.learners)
    ]
    return Standings(
        standings=sorted(table, key=lambda one: one.rank),
        duels=found,
        cycles=cycles(wins),
        cycles_by_game={game: cycle for game, cycle in by_game.items() if cycle},
        nash_unique=average.unique,
        games=dict(zip(measured.games, measured.rounds, strict=True)),
        seeds=len(measured.seeds),
        resamples=resamples,
        missing=measured.missing,
    )


def _kind_masses(measured: Measured) -> dict[int, float]:
    """By place, the Nash mass of each learner in the meta-game of its kind, if it has company there."""
    masses: dict[int, float] = {}
    for kind in KINDS:
        places = [place for place, its in enumerate(measured.kinds) if its == kind]
        if len(places) > 1:
            mass = nash_average(measured.against[np.ix_(places, places)]).mass
            masses |= dict(zip(places, mass.tolist(), strict=True))
    return masses


class _Rows:
    """The numbers of all learners, with those of every resample."""

    def __init__(self, measured: Measured, resamples: int) -> None:
        self.measured = measured
        count = len(measured.learners)
        random = np.random.default_rng(_SEED)
        weights = resample_weights(len(measured.games), len(measured.seeds), resamples, random)
        against = _resampled(measured.advantage, weights)  # (1 + resamples, n, n), the data themselves first
        self.mass = nash_masses(against[1:], random)
        everyone = np.ones((count, count), dtype=bool)
        kin = np.array([[one == other for other in measured.kinds] for one in measured.kinds])
        self.advantage = _mean_over(against, everyone)
        self.kind_advantage = _mean_over(against, kin)
        self.ranks = _ranks(self.advantage, everyone)
        self.kind_ranks = _ranks(self.kind_advantage, kin)
        self.kind_sizes = kin.sum(axis=1)
        self.regret = _resampled(measured.regret, weights)
        self.exploitability = _resampled(measured.exploitability, weights)

    def standing(self, place: int, **more: Any) -> Standing:
        """The row of a learner."""
        low, high = np.percentile(self.ranks[1:, place], [2.5, 97.5], method="nearest")
        alone = self.kind_sizes[place] == 1
        return Standing(
            learner=self.measured.learners[place],
            kind=self.measured.kinds[place],
            rank=int(self.ranks[0, place]),
            rank_low=int(low),
            rank_high=int(high),
            advantage=_estimate(self.advantage[:, place]),
            kind_rank=None if alone else int(self.kind_ranks[0, place]),
            kind_size=int(self.kind_sizes[place]),
            kind_advantage=None if alone else _estimate(self.kind_advantage[:, place]),
            nash_mass_mean=float(self.mass[:, place].mean()),
            nash_support=float((self.mass[:, place] > _PLAYED).mean()),
            regret=_estimate(self.regret[:, place]),
            exploitability=_estimate(self.exploitability[:, place]),
            microseconds=float(self.measured.microseconds[place]),
            **more,
        )


def resample_weights(games: int, seeds: int, resamples: int, random: np.random.Generator) -> Floats:
    """How much each run counts, (1 + resamples, games * seeds): evenly first, then as often as it is drawn.

    Games are drawn with replacement, and for each that is drawn its seeds.
    """
    drawn_games = random.integers(games, size=(resamples, games, 1))
    drawn = drawn_games * seeds + random.integers(seeds, size=(resamples, games, seeds))
    places = drawn.reshape(resamples, -1) + np.arange(resamples)[:, None] * games * seeds
    counts = np.bincount(places.ravel(), minlength=resamples * games * seeds).reshape(resamples, -1)
    return np.concatenate([np.ones((1, games * seeds)), counts]) / (games * seeds)


def _resampled(values: Floats, weights: Floats) -> Floats:
    """The weighted means of values (games, seeds, ...): (1 + resamples, ...)."""
    flat = values.reshape(weights.shape[1], -1)
    means: Floats = (weights @ flat).reshape(len(weights), *values.shape[2:])
    return means


def _mean_over(against: Floats, opponents: NDArray[np.bool_]) -> Floats:
    """The mean advantage of each learner over its opponents; a learner has none over itself."""
    mean: Floats = (against * opponents).sum(axis=2) / np.maximum(opponents.sum(axis=1) - 1, 1)
    return mean


def _ranks(advantage: Floats, opponents: NDArray[np.bool_]) -> Floats:
    """The rank of each learner among its opponents: one more than those that are ahead of it."""
    ahead = (advantage[:, None, :] > advantage[:, :, None]) & opponents
    ranks: Floats = 1 + ahead.sum(axis=2)
    return ranks


def _estimate(values: Floats) -> Estimate:
    """The first value, with the interval that the others give."""
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return Estimate(float(values[0]), float(low), float(high))


def _estimates(one: Standing) -> dict[str, Any]:
    """The estimates of a standing, which are tuples, by their names."""
    return {key: value._asdict() for key, value in vars(one).items() if isinstance(value, Estimate)}


def kinds_in(rows: Sequence[Standing]) -> list[Kind]:
    """The kinds of these learners, from the least that is seen to the most."""
    return [kind for kind in KINDS if any(row.kind == kind for row in rows)]
