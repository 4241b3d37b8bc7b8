"""Head to head: who beats whom on a game or over all of them, corrected for how many pairs are tested."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coebl.core.arrays import Floats
from coebl.evidence.statistics import ALPHA, Estimate, holm, paired_difference
from coebl.tournament.measured import Measured

OVERALL = ""  # in the place of a game: all of them


@dataclass(frozen=True)
class Duel:
    """Two learners on a game: the advantage of the first over the second, both seats pooled, paired by seed."""

    game: str  # or OVERALL, the mean over all games
    first: str
    second: str
    advantage: Estimate  # Student's, over seeds
    p: float  # that there is no difference, two-sided
    p_holm: float  # after Holm's correction over all pairs on this game, or over all pairs overall

    @property
    def winner(self) -> str:
        """Who beats whom after the correction, or nothing."""
        if self.p_holm > ALPHA or self.advantage.mean == 0:
            return ""
        return self.first if self.advantage.mean > 0 else self.second


def duels(measured: Measured) -> list[Duel]:
    """All pairs: over all games, then on each of them."""
    found = _family(measured, OVERALL, measured.advantage.mean(axis=0))
    for place, game in enumerate(measured.games):
        found += _family(measured, game, measured.advantage[place])
    return found


def _family(measured: Measured, game: str, advantage: Floats) -> list[Duel]:
    """The duels on a game: advantage is (seeds, learners, learners)."""
    seeds = measured.seeds.tolist()
    nothing = np.zeros(len(seeds))
    pairs = list(combinations(range(len(measured.learners)), 2))
    tests = [paired_difference(advantage[:, one, other], nothing, seeds=seeds) for one, other in pairs]
    corrected = holm([test.p for test in tests])
    names = measured.learners
    return [
        Duel(game, names[one], names[other], test, test.p, p)
        for (one, other), test, p in zip(pairs, tests, corrected, strict=True)
    ]


def beaten(found: Sequence[Duel], game: str = OVERALL) -> dict[str, list[str]]:
    """By learner, whom it beats on a game after the correction."""
    graph: dict[str, list[str]] = {}
    for duel in found:
        if duel.game == game:
            graph.setdefault(duel.first, [])
            graph.setdefault(duel.second, [])
            if duel.winner:
                graph[duel.winner].append(duel.second if duel.winner == duel.first else duel.first)
    return graph


@dataclass(frozen=True)
class Cycle:
    """Learners each of whom leads, by a chain of wins, to each other one: no order can rank them."""

    members: tuple[str, ...]
    example: tuple[str, ...]  # a shortest cycle: each beats the next, and the last the first


def cycles(graph: Mapping[str, Sequence[str]]) -> list[Cycle]:
    """The strongly connected parts of who beats whom, of three or more learners.

    >>> cycles({"rock": ["scissors"], "scissors": ["paper"], "paper": ["rock"], "spectator": []})
    [Cycle(members=('rock', 'scissors', 'paper'), example=('rock', 'scissors', 'paper'))]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    names = list(graph)
    wins = np.array([[other in graph[one] for other in names] for one in names], dtype=np.int8).reshape(len(names), -1)
    _, part = connected_components(csr_array(wins), connection="strong")
    groups = [[name for name, its in zip(names, part, strict=True) if its == one] for one in dict.fromkeys(part)]
    return [Cycle(tuple(group), _shortest_cycle(graph, group)) for group in groups if len(group) > 2]


def _shortest_cycle(graph: Mapping[str, Sequence[str]], group: Sequence[str]) -> tuple[str, ...]:
    return min((_cycle_through(graph, name) for name in group), key=len)


def _cycle_through(graph: Mapping[str, Sequence[str]], start: str) -> tuple[str, ...]:
    """A shortest chain of wins from a learner back to itself, by breadth-first search; there is one."""
    before: dict[str, str] = {}
    queue = deque([start])
    while start not in before:
        one = queue.popleft()
        for other in graph[one]:
            if other not in before:
                before[other] = one
                queue.append(other)
    chain = [start]
    while (previous := before[chain[0]]) != start:
        chain.insert(0, previous)
    return (start, *chain[:-1])
