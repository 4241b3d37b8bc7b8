"""Sources of things of a user's own, for tests that write them to a file."""

SURPRISE = """\
from coebl.metrics import Metric

class Surprise(Metric):
    name = "surprise"
    title = "Surprise"
    definition = "abs(r_t - A[a_t, b_t])"
    def __call__(self, block):
        return abs(block.reward - block.outcomes.earned)

class Half(Surprise):
    name = "half"
    def __call__(self, block):
        return super().__call__(block) / 2
"""
