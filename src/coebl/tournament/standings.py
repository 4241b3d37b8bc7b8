"""The standings of a tournament: learners ranked by mean advantage, with other measures and their uncertainty.

Intervals of means are Student's, with one number per game: they are about other games of this kind and other seeds.
Ranks and Nash masses are resampled: games are drawn again, and for each of them its seeds, the same for all pairs. The
tests head to head, by `coebl.evidence.pairwise`, are about these games only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError
from coebl.core.frames import pl
from coebl.evidence.pairwise import ALL_GAMES, Pairing, asked_for, by_seat, pairwise, seat_columns
from coebl.evidence.statistics import Estimate, mean_interval
from coebl.games import AnyGame, parse_game
from coebl.games.game import SEATS
from coebl.learners.base import KINDS, Kind
from coebl.naming import known_to, metric_words
from coebl.solver import maximin
from coebl.study import Results, Study
from coebl.tournament.suite import GENERAL_METRICS, TOURNAMENT_METRICS, YARDSTICK

_RESAMPLES = 2000
_SEED = 0  # of the bootstrap, so that a tournament has one result
_PLAYED = 1e-6  # a mass below this is a rounding error
_ALIKE = 1e-6  # equilibria that differ by less count as one


# Measurements


@dataclass(frozen=True)
class Measured:
    """Measurements of a tournament, per round in units of the payoff range, on the same games and seeds for all."""

    learners: tuple[str, ...]
    kinds: tuple[Kind, ...]
    games: dict[str, int]  # rounds by game
    table: pl.DataFrame  # of these games, learners and seeds, with the columns of `Results.last`
    seeds: tuple[int, ...]
    advantage: Floats  # (games, seeds, learners, learners): earnings of the first above the value against the second;
    # if general, its earnings among copies of the second, the mean of all seats
    regret: Floats  # (games, seeds, learners): its losses to best-response, the mean of both seats; or swap regret
    exploitability: Floats  # (games, seeds, learners): of the last policies in self-play; if general, NashConv
    microseconds: Floats  # (learners,): per run and round, the median over matches
    missing: tuple[str, ...] = ()  # a sentence for each learner, game or number of seeds that is left out
    general: bool = False  # True if the games are not zero-sum

    @property
    def against(self) -> Floats:
        """The meta-game: the mean advantage over games and seeds, (learners, learners)."""
        return self.advantage.mean(axis=(0, 1))

    def duels(self) -> list[Pairing]:
        """Return the tests of all pairs, over all games and then on each, with Holm's correction within each."""
        metric = GENERAL_METRICS[0] if self.general else TOURNAMENT_METRICS[0]
        return pairwise(self.table, metric, learners=self.learners, family="the pairings of a game", overall=True)


def measure(study: Study, results: Results) -> Measured:
    """Read the results of a tournament.

    Unfinished parts are left out so that the rest stays comparable: first learners without any match, then games on
    which any match of the others is missing. Other cells of the folder are not read.
    """
    general = any(GENERAL_METRICS[0] in cell.metrics for cell in study.cells)
    metrics = GENERAL_METRICS if general else TOURNAMENT_METRICS
    matches = list(dict.fromkeys(cell.labels() for cell in study.cells))
    columns = [column for metric in metrics for column in seat_columns(metric, results.metrics)]
    table = asked_for(results.last(columns), study, metrics[0]).drop_nulls(metrics)
    by_match = table.group_by("game", "players").agg("seed").iter_rows()
    seeds_of: dict[tuple[str, ...], set[int]] = {(game, *players): set(seeds) for game, players, seeds in by_match}
    present = {learner for _, *players in seeds_of for learner in players}
    first = dict.fromkeys(match.players[0] for match in matches if match.players[0] != YARDSTICK)
    absent = [spec for spec in first if spec not in present]
    learners = [spec for spec in first if spec in present]
    needed = [match for match in matches if {*learners, YARDSTICK}.issuperset(match.players)]
    unfinished = dict.fromkeys(match.game for match in needed if (match.game, *match.players) not in seeds_of)
    needed = [match for match in needed if match.game not in unfinished]
    games = {match.game: match.rounds for match in needed}
    folder = results.store.folder
    if not games or len(learners) < 2:
        raise InputError(f"{folder}: no game has been played by all learners yet; run the tournament again.")
    seeds = sorted(set.intersection(*(seeds_of[match.game, *match.players] for match in needed)))
    if len(seeds) < 2:
        raise InputError(f"{folder}: the matches have fewer than two seeds in common; run it again.")
    missing = [f"{spec} is left out: none of its matches is finished" for spec in absent]
    missing += [f"{game} is left out: not all matches on it are finished" for game in unfinished]
    planned = {seed for cell in study.cells for seed in cell.seeds}
    if len(seeds) < len(planned):
        missing.append(f"only {len(seeds)} of {len(planned)} seeds are counted: the others are not finished everywhere")
    table = pl.concat([table.filter(pl.col("seed").is_in(seeds), game=game) for game in games])  # in the suite's order
    width = pl.col("game").replace_strict(payoff_widths(study, results), return_dtype=pl.Float64)
    units = {name: width * pl.col("rounds") if metric_words(name).cumulative else width for name in columns}
    table = table.with_columns(pl.col(name) / unit for name, unit in units.items())
    if general:
        advantage, regret, gaps = (_by_opponent(table, metric, games, learners, learners) for metric in metrics)
        regret = regret.mean(axis=3)
    else:
        lost = _by_opponent(table, metrics[0], games, learners, [*learners, YARDSTICK])
        gaps = _by_opponent(table, metrics[-1], games, learners, learners)
        advantage, regret = 0.0 - lost[..., :-1], lost[..., -1]
    return Measured(
        learners=tuple(learners),
        kinds=tuple(map(results.kinds().__getitem__, learners)),
        games=games,
        table=table,
        seeds=tuple(seeds),
        advantage=advantage,
        regret=regret,
        exploitability=np.diagonal(gaps, axis1=2, axis2=3),
        microseconds=_microseconds(results, learners, seeds_of),
        missing=tuple(missing),
        general=general,
    )


def payoff_width(game: AnyGame) -> float:
    """Return the width of the range of payoffs, the widest of any player, or 1 if they are all equal."""
    return max(high - low for low, high in game.ranges) or 1.0


def payoff_widths(study: Study, results: Results) -> dict[str, float]:
    """Return the width of the range of payoffs of each game of a study; it is made if its results do not store it."""
    stored = known_to(results).widths
    specs = {cell.labels().game: cell.game for cell in study.cells}
    return {
        game: (stored[game] or 1.0) if game in stored else payoff_width(parse_game(spec))
        for game, spec in specs.items()
    }


def _by_opponent(
    table: pl.DataFrame, metric: str, games: Iterable[str], learners: Sequence[str], opponents: Sequence[str]
) -> Floats:
    """Return a metric of each learner among copies of each opponent, the mean of all seats, by game and seed."""
    sides = by_seat(table, metric, signed=metric == TOURNAMENT_METRICS[0])
    most = max(1, *table["players"].list.len().unique() - 1)
    copies = {" v ".join([opponent] * count): opponent for opponent in opponents for count in range(1, most + 1)}
    axes = ["game", "seed", "learner", "opponent"]
    rows = sides.select(
        "seed",
        "value",
        pl.col("game").cast(pl.Enum([*games])),  # sorted in this order
        pl.col("learner").cast(pl.Enum(learners), strict=False),
        pl.col("opponent").replace_strict(copies, default=None, return_dtype=pl.Enum(opponents)),
    ).drop_nulls()
    means = rows.group_by(axes).agg(pl.col("value").mean()).sort(axes)
    return means["value"].to_numpy().reshape(means["game"].n_unique(), -1, len(learners), len(opponents))


def _microseconds(results: Results, learners: Sequence[str], played: Collection[tuple[str, ...]]) -> Floats:
    """Return the time per run and round of each learner: the median over cells and seats."""
    times: dict[str, list[float]] = {}
    for record in results.records():
        if (record.game, *record.players) in played:
            runs = len(record.description.seeds) * record.rounds
            for seat, learner in zip(record.seats or SEATS, record.players, strict=True):
                times.setdefault(learner, []).append(1e6 * record.seconds.get(f"{seat} learner", np.nan) / runs)
    return np.array([np.median(times[spec]) for spec in learners])


# Cycles


@dataclass(frozen=True)
class Cycle:
    """Learners that beat each other in a circle, by chains of wins, so that no order can rank them."""

    members: tuple[str, ...]
    example: tuple[str, ...]  # a shortest cycle: each beats the next, and the last the first


def beaten(duels: Sequence[Pairing], game: str = ALL_GAMES) -> dict[str, list[str]]:
    """Return the learners that each learner beats on a game, after the correction."""
    graph: dict[str, list[str]] = {}
    for duel in duels:
        if duel.game == game:
            graph.setdefault(duel.first, [])
            graph.setdefault(duel.second, [])
            if duel.winner:
                graph[duel.winner].append(duel.loser)
    return graph


def cycles(graph: Mapping[str, Sequence[str]]) -> list[Cycle]:
    """Return the strongly connected parts of the graph of wins that have three or more learners.

    >>> cycles({"rock": ["scissors"], "scissors": ["paper"], "paper": ["rock"], "spectator": []})
    [Cycle(members=('rock', 'scissors', 'paper'), example=('rock', 'scissors', 'paper'))]
    """
    from scipy.sparse.csgraph import connected_components

    names = np.array(list(graph), dtype=object)
    wins = np.array([[loser in graph[name] for loser in names] for name in names], dtype=np.int8)
    wins = wins.reshape(len(names), -1)
    count, part = connected_components(wins, connection="strong")
    groups = [np.flatnonzero(part == number).tolist() for number in range(count)]
    return [
        Cycle(tuple(names[group]), tuple(names[min((_cycle_through(wins, start) for start in group), key=len)]))
        for group in sorted(groups)
        if len(group) > 2
    ]


def _cycle_through(wins: NDArray[np.int8], start: int) -> list[int]:
    """Return a shortest chain of wins from a learner back to itself; there is one."""
    from scipy.sparse.csgraph import breadth_first_order

    order, before = (nodes.tolist() for nodes in breadth_first_order(wins, start))
    chain = [next(learner for learner in order if wins[learner, start])]
    while chain[0] != start:
        chain.insert(0, before[chain[0]])
    return chain


# Nash averaging: learners weighted by an equilibrium of the meta-game, in which a player picks a learner to play for it
# (Balduzzi et al., Re-evaluating Evaluation, 2018). Neither copies of a learner nor opponents that all others beat
# change it. If the meta-game has several equilibria, the one of largest entropy is taken, as in the paper.


def nash_average(against: Floats) -> tuple[Floats, bool]:
    """Return the equilibrium of largest entropy of an antisymmetric meta-game, and True if there is no other."""
    count = len(against)
    # For each learner the equilibrium that plays it most often: if all are the same, there is only one.
    favourites = maximin(np.repeat(against[None], count, axis=0), ties=1.0 - np.eye(count)).strategy
    unique = bool(np.ptp(favourites, axis=0).max() < _ALIKE)
    return favourites[0] if unique else _largest_entropy(against, favourites.mean(axis=0)), unique


def _largest_entropy(against: Floats, inside: Floats) -> Floats:
    """Return the equilibrium of largest entropy, starting from one that plays every learner that any of them plays."""
    from scipy.optimize import LinearConstraint, minimize

    used = np.flatnonzero(inside > _ALIKE)
    unit = float(np.abs(against).max()) or 1.0
    gains = -against[:, used] / unit  # of the mixture against each learner: at least the value, which is zero
    solution = minimize(
        lambda mass: float(mass @ np.log(mass)),
        inside[used],
        jac=lambda mass: 1 + np.log(mass),  # type: ignore[call-overload]
        method="SLSQP",
        bounds=[(1e-12, 1.0)] * len(used),
        constraints=[LinearConstraint(np.ones((1, len(used))), 1.0, 1.0), LinearConstraint(gains, 0.0, np.inf)],
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    mass = np.zeros(len(against))
    mass[used] = np.clip(solution.x, 0, None)
    mass /= mass.sum()
    # The result of the optimiser is used only if it is an equilibrium.
    return mass if (against @ mass).max() <= _ALIKE * unit else inside


# The ranking


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
    kind_nash_mass: float | None  # in the meta-game of only its kind
    nash_mass: float
    nash_score: float  # advantage over the Nash mixture
    nash_mass_mean: float  # over resamples
    nash_support: float  # share of resamples in which it has a mass
    regret: Estimate  # against best-response
    exploitability: Estimate  # in self-play, of the last policies
    microseconds: float  # per run and round
    beats: int  # the number of others, over all games, after Holm
    loses_to: int


@dataclass(frozen=True)
class Standings:
    """The results of a tournament: the ranking, the head-to-heads, and the cycles among them."""

    standings: list[Standing]  # sorted by rank
    duels: list[Pairing]
    cycles: list[Cycle]  # over all games
    cycles_by_game: dict[str, list[Cycle]]  # of the games that have any
    nash_unique: bool
    games: dict[str, int]  # rounds by game
    seeds: int
    resamples: int
    missing: tuple[str, ...] = ()
    general: bool = False  # True if the games are not zero-sum


def standings(measured: Measured, resamples: int = _RESAMPLES) -> Standings:
    """Rank the learners of a tournament."""
    duels = measured.duels()
    graphs = {game: beaten(duels, game) for game in (ALL_GAMES, *measured.games)}
    wins = graphs.pop(ALL_GAMES)
    by_game = {game: cycles(graph) for game, graph in graphs.items()}
    learners = len(measured.learners)
    mass, unique = (np.full(learners, np.nan), True) if measured.general else nash_average(measured.against)
    return Standings(
        standings=sorted(_rows(measured, resamples, mass, wins), key=lambda entry: entry.rank),
        duels=duels,
        cycles=cycles(wins),
        cycles_by_game={game: chains for game, chains in by_game.items() if chains},
        nash_unique=unique,
        games=measured.games,
        seeds=len(measured.seeds),
        resamples=resamples,
        missing=measured.missing,
        general=measured.general,
    )


def _rows(measured: Measured, resamples: int, nash: Floats, wins: Mapping[str, Sequence[str]]) -> Iterator[Standing]:
    """Yield the standing of each learner. Arrays have an entry for the data first, then one per resample."""
    random = np.random.default_rng(_SEED)
    weights = resample_weights(len(measured.games), len(measured.seeds), resamples, random)
    against: Floats = np.tensordot(weights, measured.advantage, axes=2)
    if measured.general:  # no meta-game: one learner does not earn what another loses
        mass = np.full(against[1:].shape[:2], np.nan)
    else:
        mass = maximin(against[1:], ties="random", random=random).strategy  # at random, so that copies are equal
    everyone = np.ones(against.shape[1:], dtype=bool)
    kin = np.array([[kind == other for other in measured.kinds] for kind in measured.kinds])
    mean = _above_the_others if measured.general else _mean_advantage
    ranks, kind_ranks = (_ranks(mean(against, opponents), opponents) for opponents in (everyone, kin))
    advantage, kind_advantage = (mean(measured.advantage, opponents) for opponents in (everyone, kin))
    kind_masses = {} if measured.general else _kind_masses(measured)
    scores = measured.against @ nash
    for place, learner in enumerate(measured.learners):
        low, high = np.percentile(ranks[1:, place], [2.5, 97.5], method="nearest")
        alone = kin[place].sum() == 1
        yield Standing(
            learner=learner,
            kind=measured.kinds[place],
            rank=int(ranks[0, place]),
            rank_low=int(low),
            rank_high=int(high),
            advantage=over_games(advantage[..., place]),
            kind_rank=None if alone else int(kind_ranks[0, place]),
            kind_size=int(kin[place].sum()),
            kind_advantage=None if alone else over_games(kind_advantage[..., place]),
            kind_nash_mass=kind_masses.get(place),
            nash_mass=float(nash[place]),
            nash_score=float(scores[place]),
            nash_mass_mean=float(mass[:, place].mean()),
            nash_support=float((mass[:, place] > _PLAYED).mean()),
            regret=over_games(measured.regret[..., place]),
            exploitability=over_games(measured.exploitability[..., place]),
            microseconds=float(measured.microseconds[place]),
            beats=len(wins[learner]),
            loses_to=sum(learner in losers for losers in wins.values()),
        )


def _kind_masses(measured: Measured) -> dict[int, float]:
    """Return the Nash masses in the meta-game of each kind, by index of the learner; one alone in its kind has none."""
    masses: dict[int, float] = {}
    for kind in KINDS:
        places = [place for place, other in enumerate(measured.kinds) if other == kind]
        if len(places) > 1:
            mass, _ = nash_average(measured.against[np.ix_(places, places)])
            masses |= dict(zip(places, mass.tolist(), strict=True))
    return masses


def resample_weights(games: int, seeds: int, resamples: int, random: np.random.Generator) -> Floats:
    """Return the weights of the runs, (1 + resamples, games, seeds): equal weights first, then those of each resample.

    Games are drawn with replacement, and so are the seeds of each drawn game.
    """
    drawn_games = random.integers(games, size=(resamples, games, 1))
    drawn = drawn_games * seeds + random.integers(seeds, size=(resamples, games, seeds))
    places = drawn.reshape(resamples, -1) + np.arange(resamples)[:, None] * games * seeds
    counts = np.bincount(places.ravel(), minlength=resamples * games * seeds).reshape(resamples, games, seeds)
    return np.concatenate([np.ones((1, games, seeds)), counts]) / (games * seeds)


def _mean_advantage(against: Floats, opponents: NDArray[np.bool_]) -> Floats:
    """Return the mean advantage of each learner over its opponents: (..., learners), from (..., learners, learners)."""
    return (against * opponents).sum(axis=-1) / np.maximum(opponents.sum(axis=1) - 1, 1)


def _above_the_others(own: Floats, group: NDArray[np.bool_]) -> Floats:
    """Return the earnings of each learner among copies of the learners of its group, above the mean of the group."""
    sizes = group.sum(axis=1)
    earned = (own * group).sum(axis=-1) / sizes
    return earned - (earned[..., None, :] * group).sum(axis=-1) / sizes


def _ranks(mean: Floats, opponents: NDArray[np.bool_]) -> Ints:
    """Return the rank of each learner among its opponents by mean advantage: one more than those ahead of it."""
    return 1 + ((mean[:, None, :] > mean[:, :, None]) & opponents).sum(axis=2)


def over_games(values: Floats) -> Estimate:
    """Return the mean of values (games, seeds), with Student's interval over games, or over the seeds of one game.

    The bootstrap is too narrow for few games: for four with normal effects, its 95 % interval has a coverage of 83 %.
    """
    return mean_interval(values.mean(axis=1) if len(values) > 1 else values[0])


def kinds_in(rows: Sequence[Standing]) -> list[Kind]:
    """Return the kinds of these learners, from those that see least to those that see most."""
    return [kind for kind in KINDS if any(row.kind == kind for row in rows)]
