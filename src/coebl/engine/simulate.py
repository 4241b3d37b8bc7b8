"""The loop over rounds: two learners, a game, a batch of runs."""

from __future__ import annotations

import copy
import operator
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coebl.core.errors import CoeblError, InputError, check_whole, shorten
from coebl.engine.match import Match
from coebl.engine.result import Result
from coebl.engine.streams import AHEAD, BatchRandom, Stream, generator
from coebl.learners import Learner, Seat
from coebl.metrics import Block, Metric, parse_metrics

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Record = Literal["all", "log", "last"] | int  # the rounds at which metrics are kept; an int: every so many

_BLOCK_BYTES = 16 * 2**20  # policies kept before the metrics see them
_MOST_BLOCK_ROUNDS = 256
_SUM_TOLERANCE = 1e-8

DEFAULT_METRICS = ("regret", "pseudo_regret", "exploitability")


class PolicyError(CoeblError, ValueError):
    """A learner returned something that is no policy."""


def simulate(
    match: Match,
    seeds: int | Sequence[int],
    *,
    record: Record = "all",
    metrics: Sequence[str | type[Metric]] = DEFAULT_METRICS,
    block_rounds: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Play a match once per seed, all at the same time.

    Args:
        match: who plays what against whom.
        seeds: the seeds of the runs; a number n stands for 0 .. n - 1. A run is a function of the match and its seed,
            and of nothing else.
        record: at which rounds metrics are kept: "all", every k-th (an int), about a hundred spaced evenly in
            the logarithm ("log"), or the "last". The last round is always kept.
        metrics: names of metrics, or classes of your own; "all" stands for all that the game allows.
        block_rounds: how many rounds are handed to the metrics at a time; by default what fits into 16 MiB.
        progress: called with the number of rounds done, after every block.

    >>> result = simulate(Match.of("matching-pennies", "exp3", "uniform", rounds=50), seeds=4)
    >>> result.metrics["pseudo_regret"].shape
    (50, 4)
    """
    seed_list = _check_seeds(seeds)
    game, runs = match.game, len(seed_list)
    measures = parse_metrics(metrics, game, runs)
    kept = _recorded_rounds(record, match.rounds)
    m, n = game.shape
    if block_rounds is None:
        block_rounds = max(1, min(_MOST_BLOCK_ROUNDS, _BLOCK_BYTES // (8 * runs * (m + n))))
    block_rounds = check_whole("block_rounds", block_rounds, 1)

    nature = [generator(seed, "nature", "noise") for seed in seed_list]
    noise_stream = Stream(nature, lambda random, out: np.copyto(out, game.noise.draw(random, out.size)), ahead=256)
    row_uniform = BatchRandom(seed_list, "row actions", ahead=256)
    column_uniform = BatchRandom(seed_list, "column actions", ahead=256)
    # a match may use one learner object for both seats, and simulate must leave the caller's objects alone
    row, column = copy.deepcopy(match.row), copy.deepcopy(match.column)
    row.start(_seat(match, "row", seed_list))
    column.start(_seat(match, "column", seed_list))

    run_index = np.arange(runs)
    counts = np.zeros((runs, m, n), np.int64)
    recorded = {measure.name: np.empty((len(kept), runs)) for measure in measures}
    seconds = dict.fromkeys(("row learner", "column learner", "actions and rewards", "metrics"), 0.0)
    clock = time.perf_counter

    x = np.empty((block_rounds, runs, m))
    y = np.empty((block_rounds, runs, n))
    actions = np.empty((2, block_rounds, runs), np.int64)
    rewards = np.empty((block_rounds, runs))
    written = 0
    for first in range(1, match.rounds + 1, block_rounds):
        length = min(block_rounds, match.rounds + 1 - first)
        played = 0
        try:
            for at in range(length):
                t = first + at
                started = clock()
                if row.sees == "policy":
                    y[at] = _shaped(column.policy(t), (runs, n), column, "column", t)
                    between = clock()
                    x[at] = _shaped(row.respond(t, y[at]), (runs, m), row, "row", t)
                    policies_done = clock()
                    seconds["column learner"] += between - started
                    seconds["row learner"] += policies_done - between
                else:
                    x[at] = _shaped(row.policy(t), (runs, m), row, "row", t)
                    between = clock()
                    answer = column.respond(t, x[at]) if column.sees == "policy" else column.policy(t)
                    y[at] = _shaped(answer, (runs, n), column, "column", t)
                    policies_done = clock()
                    seconds["row learner"] += between - started
                    seconds["column learner"] += policies_done - between
                played = at + 1
                action = actions[0, at] = sample(x[at], row_uniform.uniform(1))
                opponent = actions[1, at] = sample(y[at], column_uniform.uniform(1))
                payoff = game.payoff[action, opponent]
                reward = rewards[at] = game.noise.reward(payoff, noise_stream.take(1)[:, 0], game.payoff_range)
                counts[run_index, action, opponent] += 1
                acted = clock()
                row.observe(t, action, None if row.sees == "reward" else opponent, reward)
                row_done = clock()
                column.observe(t, opponent, None if column.sees == "reward" else action, -reward)
                seconds["actions and rewards"] += acted - policies_done
                seconds["row learner"] += row_done - acted
                seconds["column learner"] += clock() - row_done
        except PolicyError:
            raise
        except Exception:
            # most likely what a bad policy led to: then say that instead
            _check_policies(x[:played], row, "row", first, seed_list)
            _check_policies(y[:played], column, "column", first, seed_list)
            raise
        started = clock()
        _check_policies(x[:length], row, "row", first, seed_list)
        _check_policies(y[:length], column, "column", first, seed_list)
        block = Block(game, first, x[:length], y[:length], actions[0, :length], actions[1, :length], rewards[:length])
        inside = kept[(kept >= first) & (kept < first + length)] - first
        for measure in measures:
            recorded[measure.name][written : written + len(inside)] = measure(block)[inside]
        written += len(inside)
        seconds["metrics"] += clock() - started
        if progress is not None:
            progress(first + length - 1)
    return Result(
        match=match,
        seeds=np.array(seed_list),
        rounds=kept,
        metrics=recorded,
        row_policy=x[length - 1].copy(),
        column_policy=y[length - 1].copy(),
        counts=counts,
        seconds=seconds,
    )


def _seat(match: Match, name: Literal["row", "column"], seeds: Sequence[int]) -> Seat:
    """What the learner in this seat is told; the payoffs only if it declares that it sees them."""
    learner = match.row if name == "row" else match.column
    view = match.game.own_view(name)
    actions, opponent_actions = view.shape
    return Seat(
        runs=len(seeds),
        actions=actions,
        opponent_actions=opponent_actions,
        horizon=match.rounds,
        payoff_range=view.payoff_range,
        random=BatchRandom(seeds, "row learner" if name == "row" else "column learner", AHEAD),
        payoff=view.payoff if learner.sees in ("game", "policy") else None,
    )


def sample(policy: Floats, uniform: Floats) -> Ints:
    """An action per run: the first whose cumulative probability exceeds the uniform number."""
    cumulative = policy.cumsum(axis=1)
    below: Ints = (cumulative <= uniform * cumulative[:, -1:]).sum(axis=1)
    return below.clip(max=policy.shape[1] - 1)  # only a policy that is about to be refused needs this


def _shaped(policy: Floats, shape: tuple[int, int], learner: Learner, seat: str, t: int) -> Floats:
    if np.shape(policy) != shape:
        raise PolicyError(
            f"{learner} in the {seat} seat returned a policy of shape {np.shape(policy)} in round {t}; "
            f"accepted: (runs, actions) = {shape}."
        )
    return policy


def _check_policies(policies: Floats, learner: Learner, seat: str, first: int, seeds: Sequence[int]) -> None:
    """Refuse the first round and run whose policy is no distribution."""
    good = (policies >= 0).all(axis=2) & (np.abs(policies.sum(axis=2) - 1) <= _SUM_TOLERANCE)
    if good.all():
        return
    at, run = (int(index) for index in np.argwhere(~good)[0])
    policy = policies[at, run]
    if np.isnan(policy).any():
        fault = "has NaN"
    elif (policy < 0).any():
        fault = f"has the negative probability {policy.min():.3g}"
    else:
        fault = f"sums to {policy.sum():.10g}"
    raise PolicyError(
        f"{learner} in the {seat} seat, round {first + at}, seed {seeds[run]}: its policy {fault}; "
        f"accepted: probabilities >= 0 that sum to 1. It was {shorten(policy.tolist())}."
    )


def _check_seeds(seeds: int | Sequence[int]) -> list[int]:
    try:
        listed = range(operator.index(seeds)) if not isinstance(seeds, Iterable) else seeds
        numbers = [operator.index(seed) for seed in listed]
    except TypeError:
        numbers = []
    if not numbers or min(numbers) < 0 or len(set(numbers)) != len(numbers):
        raise InputError(f"seeds is {shorten(seeds)}; accepted: a number of seeds >= 1, or distinct seeds >= 0.")
    return numbers


def _recorded_rounds(record: str | int, rounds: int) -> Ints:
    """The rounds at which metrics are kept, increasing; the last is always among them."""
    if record == "all":
        return np.arange(1, rounds + 1)
    if record == "last":
        return np.array([rounds])
    if record == "log":
        return np.unique(np.geomspace(1, rounds, 100).round().astype(np.int64))
    if isinstance(record, int) and not isinstance(record, bool) and record >= 1:
        return np.unique(np.append(np.arange(record, rounds + 1, record), rounds))
    raise InputError(f'record is {record!r}; accepted: "all", "log", "last", or every how many rounds, >= 1.')
