"""Simulating a match: a game, its players, a batch of runs."""

from __future__ import annotations

import operator
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal

import numpy as np

from coebl.backend import Backend, Device, backend_for, is_out_of_memory
from coebl.core.arrays import Ints
from coebl.core.errors import InputError, check_whole, shorten
from coebl.engine.match import Match
from coebl.engine.result import Keep, Recorder, Result, check_keep
from coebl.engine.table import Table
from coebl.games import Noise
from coebl.games.registry import GameLike
from coebl.learners import Learner
from coebl.metrics import Metric, parse_metrics

Record = Literal["all", "log", "last"] | int  # the rounds at which metrics are kept; an int k: every k-th

_MOST_BLOCK_ROUNDS = 256
_BLOCK_MICROSECONDS = 1e6
_MOST_AGAIN = 0.1  # of the runs, that are played again one by one: if there are more, all are
MOST_SEEDS = 10**6

DEFAULT_METRICS = ("regret", "pseudo_regret", "exploitability")


def simulate(
    match: Match | GameLike,
    *more: Learner | str | int | Sequence[int],
    seeds: int | Sequence[int] | None = None,
    rounds: int | None = None,
    noise: Noise | str | None = None,
    record: Record = "all",
    metrics: Sequence[str | type[Metric]] = DEFAULT_METRICS,
    keep: Collection[Keep] = (),
    block_rounds: int | None = None,
    progress: Callable[[int], None] | None = None,
    device: Device = "cpu",
) -> Result:
    """Play a match once per seed, all at the same time.

    Args:
        match: who plays what against whom: `simulate(match, 50)`. Or a game, which a row learner and a column learner
            follow, each as a spec or an object: `simulate("rps", "ucb", "exp3", seeds=50)`. A game may also be a
            file, or a matrix of payoffs to the row player.
        *more: the seeds after a match, the two learners after a game.
        seeds: the seeds of the runs; a number n stands for 0 .. n - 1. A run is a function of the match, the seed and
            the device.
        rounds: the number of rounds, if no `Match` is given; 3000 by default.
        noise: the noise, if no `Match` is given; the game's own by default.
        record: at which rounds metrics are kept: "all", every k-th (an int), about a hundred spaced evenly in
            the logarithm ("log"), or the "last". The last round is always kept.
        metrics: names of metrics, or classes of your own; "all" stands for all that the game allows.
        keep: what else to keep, out of "actions", "rewards" and "policies" of every round, and "counts", how often each
            pair of actions was played: see `Result.kept`.
        block_rounds: how many rounds are handed to the metrics at a time; by default what fits into 16 MiB and takes
            about a second, or fits into 256 MiB on a GPU.
        progress: called with the number of rounds done, after every block.
        device: where to compute: "cpu", or "cuda" for a graphics processor, which pays for large games and many runs.
            The noise of a seed is the same on both; a learner's own random numbers differ.

    >>> result = simulate(Match.of("matching-pennies", "exp3", "uniform", rounds=50), seeds=4, keep=["actions"])
    >>> result.metrics["pseudo_regret"].shape
    (50, 4)
    >>> row_actions, column_actions = result.kept["actions"]
    >>> row_actions.shape
    (50, 4)
    >>> simulate("rps", "ucb", "exp3", rounds=100, seeds=5)
    <Result of rps, ucb v exp3, 100 rounds, 5 runs: regret, pseudo_regret, exploitability>
    """
    match, seed_list = _read_arguments(match, more, seeds, rounds, noise)
    backend = backend_for(device)
    kinds = [type(metric) for metric in parse_metrics(metrics, match.game, len(seed_list))]
    check_keep(match, len(seed_list), count_recorded(record, match.rounds), len(kinds), keep)
    recorded = recorded_rounds(record, match.rounds)
    if block_rounds is None:
        block_rounds = _fitting_rounds(match, len(seed_list), backend)
    block_rounds = check_whole("block_rounds", block_rounds, 1)

    def recorder(runs: int) -> Recorder:  # not kept here, so that its arrays are gone when memory runs out
        return Recorder([kind(match.game, runs) for kind in kinds], recorded, keep)

    with backend.computing(), _memory_told(match, seed_list, backend):
        backend.defer_failures(len(seed_list))
        result, again = _play(Table(match, seed_list, backend), recorder(len(seed_list)), block_rounds, progress)
        if len(again):
            some = [seed_list[run] for run in again]
            replayed, _ = _play(Table(match, some, backend_for(device)), recorder(len(some)), block_rounds)
            result = result.with_runs(again, replayed)
    return result


def _fitting_rounds(match: Match, runs: int, backend: Backend) -> int:
    """Return how many rounds a block has: what fits into memory, and on the CPU, what takes about a second at most.

    So `progress` is called every few seconds, also where a round takes long. The time goes by the learners' costs.
    """
    fitting = min(
        _MOST_BLOCK_ROUNDS, backend.block_bytes // (8 * runs * sum(space.width for space in match.game.spaces))
    )
    if backend.device == "cpu":
        with suppress(Exception):  # a custom learner may have any cost
            fitting = min(fitting, int(_BLOCK_MICROSECONDS / (runs * match.cost())))
    return max(1, fitting)


def _play(
    table: Table, recorder: Recorder, block_rounds: int, progress: Callable[[int], None] | None = None
) -> tuple[Result, Ints]:
    """Return the result of a table, and the runs that have to be played again: all, if they become too many."""
    rounds, runs = table.match.rounds, len(table.seeds)
    for first in range(1, rounds + 1, block_rounds):
        length = min(block_rounds, rounds + 1 - first)
        recorder.take(table.play(first, length))
        again = table.backend.unsolved()
        if len(again) > _MOST_AGAIN * runs:
            again = np.arange(runs)
            break
        if progress is not None:
            progress(first + length - 1)
    return recorder.result(table), again


@contextmanager
def _memory_told(match: Match, seeds: list[int], backend: Backend) -> Iterator[None]:
    """Report in one line how many seeds would fit, if a GPU has too little memory for these."""
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        traceback.clear_frames(error.__traceback__)  # which hold arrays of the table that did not fit
        fit = backend.runs_that_fit(lambda runs: _play_a_round(match, runs, backend))
        raise InputError(
            f"{match}: {len(seeds):,} seeds do not fit into the memory of the graphics processor; accepted: "
            f"{fit} at a time. Take fewer seeds, or set seeds_per_cell in a study."
        ) from None


def _play_a_round(match: Match, runs: int, backend: Backend) -> None:
    backend.defer_failures(runs)
    Table(match, range(runs), backend).play(1, 1)


def _read_arguments(
    match: Match | GameLike,
    more: Sequence[Any],
    seeds: int | Sequence[int] | None,
    rounds: int | None,
    noise: Noise | str | None,
) -> tuple[Match, list[int]]:
    """The match and the seeds, in either way of giving them."""
    if isinstance(match, Match):
        if rounds is not None or noise is not None:
            raise InputError("rounds and noise are those of the match; leave them out, or make another match.")
        if len(more) + (seeds is not None) != 1:
            raise InputError("with a match simulate takes the seeds and nothing else by position: simulate(match, 50).")
        return match, check_seeds(more[0] if more else seeds)
    if len(more) != 2:
        raise InputError(
            f"simulate got {1 + len(more)} of game, row and column; accepted: a game and two learners, "
            'simulate("rps", "ucb", "exp3", seeds=50), or simulate(match, 50).'
        )
    row, column = more
    return Match.of(match, row, column, 3000 if rounds is None else rounds, noise), check_seeds(seeds)


def check_seeds(seeds: int | Sequence[int] | None) -> list[int]:
    """The seeds as a list, each once and none negative."""
    try:
        listed = seeds if isinstance(seeds, Iterable) else range(min(operator.index(seeds), MOST_SEEDS + 1))  # type: ignore[arg-type]
        numbers = [operator.index(seed) for seed in listed]
    except TypeError:
        numbers = []
    if not numbers or min(numbers) < 0 or len(set(numbers)) != len(numbers):
        raise InputError(f"seeds is {shorten(seeds)}; accepted: a number of seeds >= 1, or distinct seeds >= 0.")
    if len(numbers) > MOST_SEEDS:
        raise InputError(f"seeds is {shorten(seeds)}; accepted: at most {MOST_SEEDS:,} at a time.")
    return numbers


def count_recorded(record: Record, rounds: int) -> int:
    """At most how many rounds are recorded, without listing them."""
    if isinstance(record, int) and record >= 1:
        return rounds // record + 1
    return {"last": 1, "log": min(rounds, 100)}.get(str(record), rounds)


def recorded_rounds(record: str | int, rounds: int) -> Ints:
    """The rounds at which metrics are kept, increasing; the last is always among them."""
    if record == "all":
        return np.arange(1, rounds + 1)
    if record == "last":
        return np.array([rounds])
    if record == "log":
        return np.unique(np.geomspace(1, rounds, 100).round().astype(np.int64))
    if isinstance(record, int) and not isinstance(record, bool) and record >= 1:
        return np.unique(np.append(np.arange(record, rounds + 1, record), rounds))
    raise InputError(f'record is {record!r}; accepted: "all", "log", "last", or a number k >= 1, for every k-th round.')
