"""Simulation of a match in a batch of runs: block by block, or by the queries of a search."""

from __future__ import annotations

import operator
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Literal

import numpy as np

from coebl.backend import CPU, Backend, Device, backend_class, backend_for, is_out_of_memory
from coebl.backend.streams import NATURE
from coebl.core.arrays import Booleans, Ints
from coebl.core.errors import InputError, check_integer, shorten
from coebl.core.modules import name_of
from coebl.engine.match import Match, game_of
from coebl.engine.result import Ends, Keep, Recorder, Result, check_keep
from coebl.engine.table import Table, blame, deal, seat_at
from coebl.engine.until import HittingTime, Until
from coebl.games import AnyGame, Noise
from coebl.games.registry import GameLike
from coebl.learners import Learner
from coebl.metrics import Block, Metric, all_metrics
from coebl.metrics.registry import metric_classes
from coebl.search import Pairs, Search

Record = Literal["all", "log", "last"] | int  # the recorded rounds; an int k: every k-th

_MOST_BLOCK_ROUNDS = 256
_MOST_REPLAYED = 0.1  # if more than this share of the runs need a replay, all are replayed
_ROUNDING = 1e-6  # of metrics, for payoffs up to 1
_REPORTS = 200  # of the progress of a search
MOST_SEEDS = 10**6

DEFAULT_METRICS = ("regret", "pseudo_regret", "exploitability")
_GENERAL_SUM_METRICS = ("nash_conv", "swap_regret", "welfare")


def simulate(
    match: Match | GameLike | AnyGame,
    *more: Learner | str | int | Sequence[int],
    seeds: int | Sequence[int] | None = None,
    rounds: int | None = None,
    noise: Noise | str | None = None,
    record: Record | None = None,
    metrics: Sequence[str | type[Metric]] | None = None,
    keep: Collection[Keep] = (),
    block_rounds: int | None = None,
    progress: Callable[[int], None] | None = None,
    device: Device = "cpu",
    until: str | Until | None = None,
) -> Result:
    """Play a match once per seed, all at the same time.

    Args:
        match: a match: `simulate(match, 50)`. Or a game, followed by a learner for each seat, as a spec or an object:
            `simulate("rps", "ucb", "exp3", seeds=50)`. A game may also be a file, a matrix of payoffs to the row
            player, a pair of matrices, the payoffs of each player, or any object that is an `AnyGame`.
        *more: the seeds after a match, the learners after a game.
        seeds: the seeds of the runs; a number n means 0 .. n - 1. A run is a function of the match, the seed and the
            device.
        rounds: the number of rounds, if no `Match` is given; 3000 by default.
        noise: the noise, if no `Match` is given; that of the game by default.
        record: the rounds at which metrics are recorded: "all", every k-th (an int), about a hundred with evenly spaced
            logarithms ("log"), or the "last". The last round is always recorded. By default "all"; with `until`, and
            for a search, only "last", the end of each run.
        metrics: names of metrics, or custom classes; "all" means all that the game allows. By default regret,
            pseudo_regret and exploitability, as far as the game allows them; for a search, only exploitability; for a
            game that is not zero-sum, nash_conv, the swap_regret of every seat and welfare.
        keep: further data to keep: "actions", "rewards" and "policies" of every round; "counts", the number of times
            that each pair of actions was played; "beliefs" at the recorded rounds, of learners that estimate payoffs:
            by seat, `mean` and `count`, (recorded, runs, m, k), from the seat's point of view. See `Result.kept`.
        block_rounds: the number of rounds that metrics receive at a time; by default as many as fit into 16 MiB and
            take about a second, or fit into 256 MiB on a GPU.
        progress: called with the number of rounds done, after every block.
        device: "cpu", or "cuda" for a GPU, which is faster for large games and many runs. The noise of a seed is the
            same on both; the private random numbers of learners differ.
        until: a condition that ends a run, such as "exploitability < 0.1", or "optimum": both players play an optimal
            action. The metric `hitting_time` is the round in which it is first met; NaN if that is after `rounds`.
            All metrics are those at the end of each run; the simulation ends when no run is left.

    >>> result = simulate(Match.of("matching-pennies", "exp3", "uniform", rounds=50), seeds=4, keep=["actions"])
    >>> result.metrics["pseudo_regret"].shape, result.kept["actions"][0].shape
    ((50, 4), (50, 4))
    >>> simulate("rps", "ucb", "exp3", rounds=100, seeds=5)
    <Result of rps, ucb v exp3, 100 rounds, 5 runs: regret, pseudo_regret, exploitability>
    """
    match, seed_list = _read_arguments(match, more, seeds, rounds, noise)
    search = match.players[0] if isinstance(match.players[0], Search) else None
    if reason := backend_class(device).reason_not_to_run(match.game, search, keep):
        raise InputError(f"device is {device}, and {reason}; accepted: cpu.")
    backend = backend_for(device)
    if metrics is None:
        metrics = ("exploitability",) if search else default_metrics(match.game)
    kinds = metric_classes(metrics, match.game)
    condition = until if until is None or isinstance(until, Until) else Until.parse(until)
    record = _check_record(record, match, condition, keep)
    check_keep(match, len(seed_list), count_recorded(record, match.rounds), len(kinds), keep)
    if search:
        return _checked(_Search(match, search, seed_list, kinds).play(condition, progress), kinds)
    if block_rounds is None:
        block_rounds = _fitting_rounds(match, len(seed_list), backend)
    block_rounds = check_integer("block_rounds", block_rounds, 1)
    recorder: Callable[[int], Recorder] = partial(Recorder, match, kinds, recorded_rounds(record, match.rounds), keep)
    if condition is not None:
        recorder = partial(Ends, match, kinds, condition)
    with backend.computing(), _report_memory(match, seed_list, backend):
        backend.defer_failures(len(seed_list))
        # No reference to recorders and tables here: their arrays are freed if memory runs out.
        result, unsolved = _play(recorder(len(seed_list)), Table(match, seed_list, backend), block_rounds, progress)
        if len(unsolved):
            some = [seed_list[run] for run in unsolved]
            replayed, _ = _play(recorder(len(some)), Table(match, some, backend_for(device)), block_rounds)
            result = _replace_runs(result, unsolved, replayed)
    return _checked(result, kinds)


def default_metrics(game: AnyGame) -> list[str]:
    """Return the metrics that are recorded by default: the usual ones that a game allows, else all that it allows.

    >>> from coebl import parse_game
    >>> default_metrics(parse_game("chicken"))
    ['nash_conv', 'swap_regret', 'swap_regret:2', 'welfare']
    """
    return _allowed(game, DEFAULT_METRICS) or _allowed(game, _GENERAL_SUM_METRICS) or _allowed(game, None)


def _allowed(game: AnyGame, names: Collection[str] | None) -> list[str]:
    return [metric.name for metric in all_metrics(game, names) if metric.reason_undefined(game) is None]


def _checked(result: Result, metrics: Sequence[type[Metric]]) -> Result:
    """Return the result; raise an InputError if a recorded number is NaN or outside the bounds of its metric."""
    slack = _ROUNDING * max(1.0, *np.abs(result.match.game.ranges).flat)
    for metric in metrics:
        numbers, (low, high) = result.metrics[metric.name], metric.bounds
        good = (numbers >= low - slack) & (numbers <= high + slack)  # false for NaN
        if not good.all():
            index, run = np.argwhere(~good)[0]
            number, seed = numbers[index, run], result.seeds[run]
            place = "at the end" if HittingTime.name in result.metrics else f"in round {result.rounds[index]}"
            accepted = "a number" if np.isnan(number) else f"{low:g} .. {high:g}, its bounds"
            raise InputError(f"{name_of(metric)} is {number:g} {place}, seed {seed}; accepted: {accepted}.")
    return result


def _check_record(record: Record | None, match: Match, until: Until | None, keep: Collection[Keep]) -> Record:
    """Return the recorded rounds; with a condition, and for a search, only the end of each run."""
    search = isinstance(match.players[0], Search)
    if until is None and not search:
        return "all" if record is None else record
    reason = f"{match.players[0]} is a search" if search else "until is given"
    if record not in (None, "last"):
        raise InputError(f'record is {record!r}, and {reason}; accepted: "last", the end of each run.')
    if keep:
        raise InputError(f"keep is {shorten(keep)}, and {reason}, so that runs differ in length; leave keep out.")
    return "last"


def _fitting_rounds(match: Match, runs: int, backend: Backend) -> int:
    """Return the number of rounds of a block that fits into the memory and the time of the backend's blocks."""
    fitting = min(
        _MOST_BLOCK_ROUNDS, backend.block_bytes // (8 * runs * sum(space.width for space in match.game.spaces))
    )
    with suppress(Exception):  # a custom learner may have any cost
        fitting = int(min(fitting, 1e6 * backend.block_seconds / (runs * match.cost())))
    return max(1, fitting)


def _play(
    recorder: Recorder, table: Table, block_rounds: int, progress: Callable[[int], None] | None = None
) -> tuple[Result, Ints]:
    """Return the result of a table, and the runs to be replayed: all of them, if they become too many."""
    rounds, runs = table.match.rounds, len(table.seeds)
    first, seconds, unsolved = 1, 0.0, np.arange(0)  # the seconds are those of the metrics
    while first <= rounds:
        length = min(block_rounds, rounds + 1 - first, table.steady(first), recorder.block_end(first) + 1 - first)
        block, started = table.play(first, length), time.perf_counter()
        recorder.take(block, table)
        seconds += time.perf_counter() - started
        del block  # its memory is free for the next one
        if table.backend.unsolved is not None:
            unsolved = np.flatnonzero(table.backend.to_host(table.backend.unsolved))
        if len(unsolved) > _MOST_REPLAYED * runs:
            unsolved = np.arange(runs)
            break
        first += length
        if progress is not None:
            progress(first - 1)
        if recorder.done:
            break
    return recorder.result(table.seeds, table.seconds | {"metrics": seconds}, table.backend), unsolved


def _replace_runs(result: Result, runs: Ints, part: Result) -> Result:
    """Return a copy in which the runs with these indices are those of another result."""
    if len(runs) == len(result.seeds):
        return replace(part, replayed=len(runs))

    def merge(whole: Any, replaced: Any, axis: int) -> Any:
        if isinstance(whole, list):
            return [merge(*pair, axis) for pair in zip(whole, replaced, strict=True)]
        merged = whole.copy()
        merged[(slice(None),) * axis + (runs,)] = replaced
        return merged

    return replace(
        result,
        replayed=len(runs),
        metrics={name: merge(whole, part.metrics[name], 1) for name, whole in result.metrics.items()},
        policies=merge(result.policies, part.policies, 0),
        kept={name: merge(whole, part.kept[name], int(name != "counts")) for name, whole in result.kept.items()},
        seconds={phase: seconds + part.seconds[phase] for phase, seconds in result.seconds.items()},
    )


@contextmanager
def _report_memory(match: Match, seeds: list[int], backend: Backend) -> Iterator[None]:
    """If a GPU has too little memory for the seeds, report the number that would fit."""
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        traceback.clear_frames(error.__traceback__)  # they hold arrays of the table that did not fit
        fit = backend.runs_that_fit(lambda runs: _play_a_round(match, runs, backend))
        raise InputError(
            f"{match}: {len(seeds):,} seeds do not fit into the memory of the GPU; accepted: "
            f"{fit} at a time. Take fewer seeds, or set seeds_per_cell in a study."
        ) from None


def _play_a_round(match: Match, runs: int, backend: Backend) -> None:
    backend.defer_failures(runs)
    Table(match, range(runs), backend).play(1, 1)


class _Search:
    """A search with a run per seed: the runs that have not ended, their random numbers, their game and its noise."""

    def __init__(self, match: Match, search: Search, seeds: list[int], metrics: Sequence[type[Metric]]) -> None:
        for metric in metrics:
            if metric.cumulative:
                raise InputError(
                    f"{metric.name} adds up over the rounds, and {search} is a search, which plays none; accepted: "
                    "metrics of policies, such as exploitability."
                )
        self.match, self.metrics = match, metrics
        self.seeds, self.places = seeds, np.arange(len(seeds))  # of the runs, and their indices among all
        self.seat = seat_at(match.game, 0, search, seeds, match.rounds)
        drawn = match.game.noise.drawn
        self.noise = CPU.stream(seeds, NATURE, "noise", lambda random, out: np.copyto(out, drawn(random, out.size)))
        self.game: Any = deal(match.game, seeds)
        try:
            self.search = search.seated(self.seat)
        except (Exception, SystemExit) as error:
            blame(error, search, f"{search}, before the first query")

    def play(self, until: Until | None, progress: Callable[[int], None] | None) -> Result:
        """Search until every run has ended; a query is a round."""
        started, match, seeds = time.perf_counter(), self.match, self.seeds
        ends = Ends(match, self.metrics, until, len(seeds))
        done, reported = 0, 0
        while self.seeds and (queries := self.step(done)):
            done += queries
            if until is not None and (hits := self.found(until)).any():
                self.end(ends, hits, done)
            if progress is not None and done - reported > match.rounds // _REPORTS:
                reported = done
                progress(done)
        if self.seeds:
            self.end(ends, np.ones(len(self.seeds), bool), np.nan)
        return ends.result(seeds, {"search": time.perf_counter() - started})

    def step(self, done: int) -> int:
        """Answer the next queries of the search, and return their number; 0 if they exceed the rounds left."""
        try:
            pairs = Pairs(*self.search.ask())
            self._check(pairs)
            if done + pairs.number > self.match.rounds:
                return 0
            payoff = self.game.payoffs_of_pairs(*pairs)
            self.search.tell(self.game.noise.reward(payoff, self.noise.take(pairs.number), self.game.ranges[0]))
        except (Exception, SystemExit) as error:
            blame(error, self.search, f"{self.search}, after {done:,} queries")
        return pairs.number

    def _check(self, pairs: Pairs) -> None:
        seat, (x, y) = self.seat, (np.shape(pairs.x), np.shape(pairs.y))
        bits = seat.actions, seat.opponent_actions
        fits = len(x) == len(y) == 3 and (x[0], y[0], x[2], y[2]) == (seat.runs, seat.runs, *bits)
        if pairs.i is None or pairs.j is None:
            same = pairs.i is pairs.j and x[1:2] == y[1:2]
        else:
            same = np.shape(pairs.i) == np.shape(pairs.j) and np.ndim(pairs.i) == 2
        if not (fits and same and pairs.number):
            raise InputError(
                f"{self.search} asked for genomes of shapes {x} and {y}; accepted: (runs, queries, "
                f"bits), here ({seat.runs}, queries, {seat.actions}) and ({seat.runs}, queries, "
                f"{seat.opponent_actions}), with at least one query."
            )

    def found(self, until: Until) -> Booleans:
        """Return a mask of the runs that meet a condition: (runs,)."""
        hits: Booleans
        if until.sign:
            hits = until.condition(self.game, len(self.seeds))(self._block())[0]
        else:
            candidates = [genomes.swapaxes(0, 1) for genomes in self.search.candidates()]
            row, column = (self.game.is_target(seat, genomes).any(axis=0) for seat, genomes in enumerate(candidates))
            hits = row & column
        return hits

    def end(self, ends: Ends, ended: Booleans, time: float) -> None:
        """Record the metrics and policies of the runs that have ended, (runs,), and continue with the others."""
        block = self._block()
        metrics = {metric.name: metric(self.game, len(self.seeds)).measure(block)[0][ended] for metric in self.metrics}
        ends.put(self.places[ended], metrics, [policy[0][ended] for policy in block.policies], time)
        kept = np.flatnonzero(~ended)
        self.places, self.seeds = self.places[kept], [self.seeds[run] for run in kept]
        if self.seeds:
            random: Any = self.seat.random  # a backend's, which can drop runs
            random.select(kept)
            self.noise.select(kept)
            self.seat = replace(self.seat, runs=len(kept))
            self.search.drop(kept, self.seat)
            self.game = deal(self.match.game, self.seeds)

    def _block(self) -> Block:
        """Return the recommended policies as a round in which they were played."""
        policies = [policy[None] for policy in self.search.recommend()]
        nothing = np.zeros((1, len(self.seeds)))
        actions: list[Any] = [(policy > 0.5).astype(np.int8) for policy in policies]
        return Block(self.game, 1, policies, actions, [nothing, nothing])


def _read_arguments(
    match: Match | GameLike | AnyGame,
    more: Sequence[Any],
    seeds: int | Sequence[int] | None,
    rounds: int | None,
    noise: Noise | str | None,
) -> tuple[Match, list[int]]:
    """Return the match and the seeds, from either form of the call."""
    if isinstance(match, Match):
        if rounds is not None or noise is not None:
            raise InputError("rounds and noise are those of the match; leave them out, or make another match.")
        if len(more) + (seeds is not None) != 1:
            raise InputError("with a match simulate takes the seeds and nothing else by position: simulate(match, 50).")
        return match, _check_seeds(more[0] if more else seeds)
    game = game_of(match, noise)
    if len(more) != len(game.seats):
        needed = "row and column" if len(game.seats) == 2 else ", ".join(game.seats)
        raise InputError(
            f"simulate got {1 + len(more)} of game, {needed}; accepted: a game and a learner for each of its seats, "
            'simulate("rps", "ucb", "exp3", seeds=50), or simulate(match, 50).'
        )
    return Match.of(game, *more, rounds=3000 if rounds is None else rounds), _check_seeds(seeds)


def _check_seeds(seeds: int | Sequence[int] | None) -> list[int]:
    """Return the seeds as a list; they have to be distinct and >= 0."""
    try:
        listed = islice(seeds if isinstance(seeds, Iterable) else range(operator.index(seeds)), MOST_SEEDS + 1)  # type: ignore[arg-type]
        numbers = [operator.index(seed) for seed in listed]
    except TypeError:
        numbers = []
    if not numbers or min(numbers) < 0 or len(set(numbers)) != len(numbers):
        raise InputError(f"seeds is {shorten(seeds)}; accepted: a number of seeds >= 1, or distinct seeds >= 0.")
    if len(numbers) > MOST_SEEDS:
        raise InputError(f"seeds is {shorten(seeds)}; accepted: at most {MOST_SEEDS:,} at a time.")
    return numbers


def count_recorded(record: Record, rounds: int) -> int:
    """Return the number of recorded rounds, without listing many; any number if `record` is not accepted."""
    if isinstance(record, (int, np.integer)) and record >= 1:
        return -(-rounds // record)
    return len(recorded_rounds(record, rounds)) if record in ("last", "log") else rounds


def recorded_rounds(record: str | int, rounds: int) -> Ints:
    """Return the rounds at which metrics are recorded, increasing; the last is always among them."""
    if record == "all":
        return np.arange(1, rounds + 1)
    if record == "last":
        return np.array([rounds])
    if record == "log":
        return np.unique(np.geomspace(1, rounds, 100).round().astype(np.int64))
    if isinstance(record, (int, np.integer)) and not isinstance(record, bool) and record >= 1:
        return np.unique(np.append(np.arange(record, rounds + 1, record), rounds))
    raise InputError(f'record is {record!r}; accepted: "all", "log", "last", or a number k >= 1, for every k-th round.')
