"""Inputs that several tests share: words of a command, a suite, and custom Python files."""

PLAY = ["match", "--game", "rps", "--row", "ucb", "--column", "ucb"]  # a later --row overrides this one

MINE = """
from dataclasses import dataclass
import numpy as np
from coebl import Learner

@dataclass
class Mine(Learner):
    rate: float = 0.5

    def start(self, seat):
        self.seat, self.score = seat, seat.zeros(seat.actions)

    def policy(self, t):
        weights = np.exp(self.rate * (self.score - self.score.max(axis=1, keepdims=True)) / np.sqrt(t))
        self.played = weights / weights.sum(axis=1, keepdims=True)
        return self.played

    def observe(self, t, seen):
        played = self.seat.at(seen.action)
        self.score[played] += seen.reward / np.maximum(0.05, self.played[played])
"""

FIRST_ACTION = '''
from coebl import Learner

class Mine(Learner):
    """Plays its first action; breaks on games of more than three."""

    name = "mine"

    def start(self, seat):
        self.moves = seat.zeros(seat.actions)
        self.moves[:, 0] = 1
        if seat.actions > 3:
            raise ArithmeticError("too many actions")

    def policy(self, t):
        return self.moves
'''

TINY_SUITE = """
name = "tiny"
version = 1
title = "Tiny"
description = "For tests."
learners = ["uniform", "exp3", "hedge"]
[[parts]]
rounds = 20
games = ["rps", "matching-pennies"]
[[parts]]
rounds = 10
games = ["diagonal:n=2"]
[quick]
rounds = 5
seeds = 3
games = ["rps", "matching-pennies"]
"""

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

WOBBLE = """\
from dataclasses import dataclass
from coebl.games import Noise

@dataclass(frozen=True)
class Wobble(Noise):
    width: float = 1.0
    def draw(self, random, size):
        return random.uniform(-self.width / 2, self.width / 2, size)
"""

OPERATOR = """\
from dataclasses import dataclass
from coebl import Game
from coebl.learners.evolution import Mutation

@dataclass(frozen=True)
class Constant(Mutation):
    size: float = 0.1

    def deviation(self, seat, count):
        return 0 * count + self.size

def game(n: int = 2) -> Game:
    return Game([[1.0, -1.0], [-1.0, 1.0]])
"""
