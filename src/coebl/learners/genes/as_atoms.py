"""A learner of numbered actions in a seat of genomes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.games.genomes import MOST_LISTED, genomes
from coebl.games.spaces import Indices
from coebl.learners.base import Learner, Seat, Seen


@dataclass
class AsAtoms(Learner):
    """A learner of matrix games that takes each of the 2^n genomes for an action of its own: at most 10 genes.

    This lets it play against learners of genomes. Its mixture over genomes is not one of independent genes, so it draws
    the genome itself and plays it with certainty: metrics of its policies are those of single genomes. To measure it
    in self-play, use the matrix game, such as diagonal:n=4.

        each round: draw a genome from the learner's mixture over all 2^n; play it
          let the learner observe the number of its genome, of the opponent's, and the reward

    Args:
        learner: the learner, which sees at most the opponent's action.
    """

    name = "as-atoms"
    title = "as atoms"
    sees = frozenset({"opponent"})
    plays = frozenset({"bits"})
    example = "as-atoms:learner=exp3"
    cites = "This library: docs/large-games.md."

    learner: Learner

    def reason_not_to_play(self, seat: Seat) -> str | None:
        """Return a reason also if there are too many genes, or if the learner sees too much or cannot play."""
        reason = super().reason_not_to_play(seat)
        if reason is not None:
            return reason
        if seat.actions > MOST_LISTED:
            return f"as-atoms lists 2^n genomes, and n is {seat.actions}; accepted: at most {MOST_LISTED} genes."
        if not set(self.learner.sees) <= {"opponent"}:
            return f"as-atoms: {self.learner} sees more than the opponent's action; pick another learner."
        return self.learner.reason_not_to_play(_listed(seat))

    def start(self, seat: Seat) -> None:
        n = seat.actions
        self.seat = seat
        self._space = Indices(2**n)
        self._genomes = seat.array(genomes(n))  # (2^n, n)
        self._places = seat.array(2.0 ** np.arange(n)[::-1])  # of the bits in the number of a genome
        self.inner = self.learner.seated(_listed(seat))
        self.mixture = seat.zeros(2**n)  # (runs, 2^n)

    def policy(self, t: int) -> Floats:
        self.mixture = self.inner.policy(t)
        number = self.seat.backend.draw(self._space, self.mixture, self.seat.random.uniform(1))
        policy: Floats = self._genomes[number]
        return policy

    def observe(self, t: int, seen: Seen) -> None:
        action, sees = self._number(seen.action), "opponent" in self.inner.sees
        weighted = self.inner.importance_weighted
        self.inner.observe(
            t,
            replace(
                seen,
                action=action,
                shown_opponent=self._number(seen.opponent) if sees else None,
                shown_probability=self.mixture[self.seat.at(action)] if weighted else None,
            ),
        )

    def _number(self, genome: Ints) -> Ints:
        """Return the number that each genome writes: (runs,)."""
        number: Ints = (genome * self._places).sum(axis=-1).astype(np.int64)
        return number

    def cost(self, actions: int, opponent_actions: int) -> float:
        """Return the approximate microseconds of a round per run: those of the learner, on all genomes."""
        return 1.0 + self.learner.cost(2**actions, 2**opponent_actions)


def _listed(seat: Seat) -> Seat:
    """Return the seat of the matrix game."""
    return replace(seat, actions=2**seat.actions, opponent_actions=2**seat.opponent_actions, space=None)
