"""The runs of a search: it asks for pairs of genomes and receives noisy payoffs, until it has found an optimum."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coebl.backend import CPU
from coebl.backend.streams import NATURE
from coebl.core.arrays import Booleans, Floats, Ints
from coebl.core.errors import InputError
from coebl.engine.match import Match
from coebl.engine.result import Ends, Result
from coebl.engine.table import blame, seat_at
from coebl.engine.until import HITS, Until
from coebl.metrics import Block, Metric
from coebl.search import Pairs, Search

_REPORTS = 200  # of the progress of a search


class _Batch:
    """The runs of a search that have not ended, with their random numbers, their game and their noise."""

    def __init__(self, match: Match, seeds: Sequence[int]) -> None:
        self.match, self.seeds = match, list(seeds)
        game, search = match.game, match.players[0]
        assert isinstance(search, Search)
        self.seat = seat_at(game, 0, search, seeds, match.rounds)
        self.noise = CPU.stream(
            seeds, NATURE, "noise", lambda random, out: np.copyto(out, game.noise.draw(random, out.size))
        )
        self.game: Any = _deal(game, self.seeds)
        try:
            self.search = search.seated(self.seat)
        except (Exception, SystemExit) as error:
            blame(error, search, f"{search}, before the first query")

    def step(self, done: int) -> int:
        """Let the search ask once, and return the number of queries; 0 if these would be too many rounds."""
        search, place = self.search, f"{self.search}, after {done:,} queries"
        try:
            pairs = Pairs(*search.ask())
        except (Exception, SystemExit) as error:
            blame(error, search, place)
        queries = self._check(pairs)
        if done + queries > self.match.rounds:
            return 0
        payoff = self.game.payoffs_of_pairs(*pairs)
        values = self.game.noise.reward(payoff, self.noise.take(queries), self.game.ranges[0])
        try:
            search.tell(values)
        except (Exception, SystemExit) as error:
            blame(error, search, place)
        return queries

    def _check(self, pairs: Pairs) -> int:
        """Return the number of queries of every run."""
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
                f"{seat.opponent_actions}), with one query at least."
            )
        return pairs.number

    def found(self, until: Until) -> Booleans:
        """Return which runs meet a condition: (runs,)."""
        if until.sign:
            held: Booleans = until.condition(self.game, len(self.seeds))(self.block())[0]
            return held
        optimal = [
            self.game.is_target(seat, genomes.swapaxes(0, 1)).any(axis=0)
            for seat, genomes in enumerate(self.search.candidates())
        ]
        both: Booleans = optimal[0] & optimal[1]
        return both

    def block(self) -> Block:
        """Return the recommended policies as a round in which they were played."""
        policies = [policy[None] for policy in self.search.recommend()]
        nothing = np.zeros((1, len(self.seeds)))
        actions: list[Any] = [(policy > 0.5).astype(np.int8) for policy in policies]
        return Block(self.game, 1, policies, actions, [nothing, nothing])

    def drop(self, kept: Ints) -> None:
        """Keep only the runs with these indices."""
        self.seeds = [self.seeds[run] for run in kept]
        random: Any = self.seat.random  # a backend's, which can drop runs
        random.select(kept)
        self.noise.select(kept)
        self.seat = replace(self.seat, runs=len(kept))
        self.search.drop(kept, self.seat)
        self.game = _deal(self.match.game, self.seeds)


def _deal(game: Any, seeds: Sequence[int]) -> Any:
    return game.dealt(seeds) if hasattr(game, "dealt") else game


def play_search(
    match: Match,
    seeds: Sequence[int],
    metrics: Sequence[type[Metric]],
    until: Until | None,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Run a search once per seed; a query is a round."""
    for metric in metrics:
        if metric.cumulative:
            raise InputError(
                f"{metric.name} adds up over the rounds, and {match.players[0]} is a search, which plays none; "
                "accepted: metrics of policies, such as exploitability."
            )
    started = time.perf_counter()
    ends, batch, number = Ends(len(seeds)), _Batch(match, seeds), np.arange(len(seeds))
    if until is not None and (reason := until.reason_undefined(match.game)):
        raise InputError(reason)
    done, reported = 0, 0
    while len(number) and (queries := batch.step(done)):
        done += queries
        if until is not None and (found := batch.found(until)).any():
            _note(ends, batch, metrics, number, np.flatnonzero(found), float(done))
            kept = np.flatnonzero(~found)
            number = number[kept]
            if len(kept):
                batch.drop(kept)
        if progress is not None and done - reported > match.rounds // _REPORTS:
            reported = done
            progress(done)
    if len(number):
        _note(ends, batch, metrics, number, np.arange(len(number)), np.nan)
    return Result(
        match=match,
        seeds=np.array(seeds),
        rounds=np.array([match.rounds]),
        metrics=ends.columns(hits=until is not None),
        policies=ends.policies,
        kept={},
        seconds={"search": time.perf_counter() - started},
        classes={metric.name: metric for metric in metrics} | (HITS if until else {}),
    )


def _note(ends: Ends, batch: _Batch, metrics: Sequence[type[Metric]], number: Ints, runs: Ints, done: float) -> None:
    """Note the ends of some runs of a batch, whose runs have these numbers among all."""
    block = batch.block()
    values: dict[str, Floats] = {
        metric.name: metric(batch.game, len(batch.seeds))(block)[0][runs] for metric in metrics
    }
    ends.put(number[runs], values, [policy[0][runs] for policy in block.policies], np.full(len(runs), done))
