"""A seat without a game, for tests of single learners."""

from coebl.backend import CPU
from coebl.backend.streams import learner_key
from coebl.learners import Seat


def build_seat(learner, seeds, shape, horizon, payoff_range, payoff=None):
    """Return a seat of this shape that shows a learner what it declares; range and payoffs are in its units."""
    return Seat(
        runs=len(seeds),
        actions=shape[0],
        opponent_actions=shape[1],
        horizon=horizon,
        payoff_range=payoff_range,
        random=CPU.random(seeds, learner_key(0)),
        shown_payoff=payoff if "game" in learner.sees else None,
    )
