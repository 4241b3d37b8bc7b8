"""Explore-then-commit (Garivier, Kaufmann and Lattimore 2016, for bandits): a baseline without any adaptation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts import Tally


@dataclass
class ExploreThenCommit(Learner):
    """Explore-then-commit: every action in turn, then the maximin strategy of the mean rewards for good.

    A player cannot choose the opponent's action. So each action is played visits * k times in the first
    visits * m * k rounds, in turns of m rounds in a random order each, and each pair is visited `visits` times on
    average against an opponent who explores alike, and exactly that often against one who holds each of its actions for
    a turn of m rounds. An order that is not drawn would pair two such players in the same actions again and again.

        in rounds 1 .. visits m k: play every action once in m rounds, in a new random order; update mean_ij
        then: play maximin(mean) in every round

    Args:
        visits: to each pair of actions, before it commits.
    """

    name = "explore-then-commit"
    aim = "security"
    title = "Explore-then-commit"
    sees = frozenset({"opponent"})
    cites = (
        "Garivier, Kaufmann and Lattimore (2016). On explore-then-commit strategies. NeurIPS. In games: Yılmaz and "
        "Dimitrakakis (2025). Two-player zero-sum games with bandit feedback. arXiv:2506.14518."
    )

    visits: Annotated[int, Range(1)] = 5

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.tally = Tally(seat)
        self.solve = seat.maximin(many_ties=True)  # unvisited pairs are all equal
        self.exploration = self.visits * seat.actions * seat.opponent_actions  # rounds
        self.committed: Floats | None = None  # (runs, m)

    def policy(self, t: int) -> Floats:
        """The next action of the turn; after exploration, the maximin strategy of the means."""
        place = (t - 1) % self.seat.actions
        if t <= self.exploration:
            if place == 0:
                self.order = np.argsort(self.seat.random.uniform(self.seat.actions), axis=-1)  # (runs, m), of actions
            policy = self.seat.zeros(self.seat.actions)
            policy[self.seat.at(self.order[:, place])] = 1
            return policy
        if self.committed is None:
            self.committed = self.solve(self.tally.mean).strategy
        return self.committed

    def observe(self, t: int, seen: Seen) -> None:
        if t <= self.exploration:
            self.tally.add(seen.action, seen.opponent, seen.reward)
