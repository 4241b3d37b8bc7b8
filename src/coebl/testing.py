"""Conformance kits: does a learner, a game or a metric keep its contract? For your own, and for ours.

>>> from coebl.testing import check_learner
>>> check_learner("exp3").passed
True
"""

from __future__ import annotations

import pickle
import random as python_random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import shorten
from coebl.engine import Match, simulate
from coebl.engine.streams import BatchRandom
from coebl.games import Game, parse_game
from coebl.learners import LEARNERS, Learner, Seat, parse_learner
from coebl.metrics import Block, Metric

SHAPES = {"square": (3, 3), "wide": (2, 5), "tall": (5, 2), "one row": (1, 4), "one column": (4, 1)}

# Row 1 is better than row 0 whatever the column player does, and column 2 is the column player's best; no symmetry.
DOMINANCE = np.array([[0.2, -0.4, -1.0], [1.0, 0.6, 0.1]])


@dataclass(frozen=True)
class Check:
    """One point of a contract, and how it went."""

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True)
class Report:
    """All points of a contract."""

    subject: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every point holds."""
        return all(check.passed for check in self.checks)

    def __str__(self) -> str:
        lines = [self.subject]
        for check in self.checks:
            lines.append(f"  {'ok  ' if check.passed else 'FAIL'}  {check.name}")
            if check.detail:
                lines.append(f"        {check.detail}")
        failures = sum(not check.passed for check in self.checks)
        lines.append(f"{len(self.checks)} checks, {failures or 'no'} failure{'s' if failures != 1 else ''}")
        return "\n".join(lines)

    def require(self) -> None:
        """Raise an AssertionError with the whole report unless every point holds."""
        assert self.passed, f"\n{self}"


Points = Iterator[tuple[str, Callable[[], str | None]]]


def _report(subject: str, points: Points) -> Report:
    """Run the points; each returns nothing when it holds, and says what is wrong when it does not."""
    checks = []
    for name, point in points:
        try:
            complaint = point()
        except Exception as error:
            complaint = f"{type(error).__name__}: {error}"
        checks.append(Check(name, complaint is None, complaint or ""))
    return Report(subject, tuple(checks))


def check_learner(learner: str | Learner | type[Learner]) -> Report:
    """Hold a learner to the contract of `coebl.learners.base`: a spec, an instance, or a class with defaults."""
    subject = learner() if isinstance(learner, type) else parse_learner(learner)
    return _report(str(subject), _learner_points(subject))


def _learner_points(learner: Learner) -> Points:
    def play(payoff: Floats, seat: str, rounds: int, seeds: list[int]) -> Floats:
        """The policies of the learner against the uniform opponent, all rounds: (rounds, runs, actions)."""
        game = Game(payoff, payoff_range=(-1.0, 1.0))
        if seat == "row":
            return _policies(Match.of(game, learner, "uniform", rounds), seeds, seat)
        return _policies(Match.of(game, "uniform", learner, rounds), seeds, seat)

    def shapes(seat: str) -> str | None:
        for name, (m, n) in SHAPES.items():
            payoff = np.random.default_rng([m, n]).uniform(-1, 1, size=(m, n))
            policies = play(payoff, seat, 12, [0, 1])
            if not np.isfinite(policies).all():
                return f"{name} game: a policy is not finite"
        return None

    def batch() -> str | None:
        payoff = np.random.default_rng(5).uniform(-1, 1, size=(3, 4))
        for seat in ("row", "column"):
            together = play(payoff, seat, 60, [4, 7, 1, 9, 2])
            alone = play(payoff, seat, 60, [7])
            differing = np.flatnonzero((together[:, 1] != alone[:, 0]).any(axis=1))
            if len(differing):
                return f"{seat} seat: seed 7 alone and in a batch of five part in round {differing[0] + 1}"
        return None

    def sight() -> str | None:
        if learner.sees in ("game", "policy"):
            return None
        seat = Seat(2, 3, 4, None if not learner.needs_horizon else 50, (-1.0, 1.0), BatchRandom([0, 1], "row learner"))
        learner.start(seat)
        for t in range(1, 6):
            learner.policy(t)
            opponent = None if learner.sees == "reward" else np.array([t % 4, 1])
            learner.observe(t, np.array([t % 3, 0]), opponent, np.array([0.5, -0.5]))
        return None

    def spec() -> str | None:
        entry = LEARNERS.entry_of(learner)
        again = entry.make(**entry.read(str(learner).removeprefix(entry.name).removeprefix(":")))
        return None if again == learner and str(again) == str(learner) else f"{str(learner)!r} reads back as {again!r}"

    def dominance() -> str | None:
        for seat, best in (("row", 1), ("column", 2)):
            policies = play(DOMINANCE, seat, 1500, [0, 1, 2, 3])
            share, chance = float(policies[750:, :, best].mean()), 1 / policies.shape[2]
            if share < chance + 0.1:  # the slowest of the built-in ones, exp3-ix, is at chance + 0.2
                return f"{seat} seat: the dominant action has a mean probability of {share:.2f}, chance is {chance:.2f}"
        return None

    def global_state() -> str | None:
        payoff = np.random.default_rng(6).uniform(-1, 1, size=(3, 4))
        outcomes = []
        for seed in (1, 2):
            np.random.seed(seed)  # noqa: NPY002 - it is the global state that is being watched
            python_random.seed(seed)
            before = repr(np.random.get_state()), python_random.getstate()  # noqa: NPY002
            outcomes.append(play(payoff, "row", 20, [0, 1]))
            if before != (repr(np.random.get_state()), python_random.getstate()):  # noqa: NPY002
                return "it draws from a global random state; draw from seat.random"
        same = np.array_equal(outcomes[0], outcomes[1])
        return None if same else "it depends on a global random state; draw from seat.random"

    def pickles() -> str | None:
        again = pickle.loads(pickle.dumps(type(learner)(**learner.hyper_parameters())))
        return None if again == learner else f"it comes back from pickle as {shorten(again)}"

    yield "plays square, wide, tall, one-row and one-column games in the row seat", lambda: shapes("row")
    yield "plays them in the column seat", lambda: shapes("column")
    yield "a run does not depend on its batch, to the last bit", batch
    yield "needs no more than it declares to see", sight
    yield "its spec reads back", spec
    if learner.learns:
        yield "learns a dominant action in both seats", dominance
    yield "leaves the global random state alone", global_state
    yield "pickles", pickles


def _policies(match: Match, seeds: list[int], seat: str) -> Floats:
    """All policies of one seat, by a simulation one round at a time."""
    kept: list[Floats] = []

    class Watch(Metric):
        name = "watch"
        definition = "keeps the policies"
        cumulative = False

        def __call__(self, block: Block) -> Floats:
            kept.append((block.row_policy if seat == "row" else block.column_policy).copy())
            return np.zeros((block.rounds, block.runs))

    simulate(match, seeds, record="last", metrics=[Watch])
    return np.concatenate(kept)


def check_game(game: str | Game) -> Report:
    """Hold a game to its contract."""
    subject = parse_game(game)
    return _report(repr(subject), _game_points(subject))


def _game_points(game: Game) -> Points:
    def spec() -> str | None:
        if game.spec is None:
            return None
        return None if parse_game(game.spec, game.noise) == game else f"{game.spec!r} reads back as another game"

    def read_only() -> str | None:
        return "its payoffs can be written to" if game.payoff.flags.writeable else None

    def certified() -> str | None:
        row, column, payoff = game.solution.row, game.solution.column, game.payoff
        spread = float(np.ptp(payoff)) or 1.0
        gap = ((payoff @ column).max() - (row @ payoff).min()) / spread
        return None if gap <= 1e-8 else f"its equilibrium has a gap of {gap:.1e}"

    def views() -> str | None:
        back = game.own_view("column").own_view("column")
        return None if np.array_equal(back.payoff, game.payoff) else "the column's view of the column's view differs"

    def noise() -> str | None:
        draws = game.noise.draw(np.random.default_rng(0), 100_000)
        payoff = np.full(100_000, game.payoff[0, 0])
        rewards = game.noise.reward(payoff, draws, game.payoff_range)
        error = abs(float(rewards.mean()) - float(game.payoff[0, 0]))
        allowed = 5 * float(rewards.std()) / np.sqrt(100_000) + 1e-12
        return None if error <= allowed else f"the mean reward is {error:.3g} away from the payoff"

    yield "its spec reads back", spec
    yield "its payoffs are read-only", read_only
    yield "its equilibrium is certified", certified
    yield "the column's view is an involution", views
    yield "its noise has mean zero", noise


def check_metric(metric: type[Metric]) -> Report:
    """Hold a metric to its contract: one number per round and run, whatever the blocks and the batch."""
    return _report(metric.name, _metric_points(metric))


def _metric_points(metric: type[Metric]) -> Points:
    match = Match.of(Game([[0.5, -1.0, 0.2], [-0.3, 0.8, 0.1]]), "ucb", "exp3", rounds=40)

    def record(seeds: list[int], block_rounds: int) -> Floats:
        return simulate(match, seeds, metrics=[metric], block_rounds=block_rounds).metrics[metric.name]

    def shape() -> str | None:
        found = record([0, 1, 2], 16).shape
        return None if found == (40, 3) else f"40 rounds and 3 runs gave {found}"

    def blocks() -> str | None:
        same = np.array_equal(record([0, 1, 2], 40), record([0, 1, 2], 7), equal_nan=True)
        return None if same else "blocks of 7 rounds give other numbers than one of 40"

    def batch() -> str | None:
        same = np.array_equal(record([0, 1, 2], 40)[:, 1], record([1], 40)[:, 0], equal_nan=True)
        return None if same else "seed 1 alone gives other numbers than in a batch of three"

    yield "one number per round and run", shape
    yield "does not depend on how rounds are cut into blocks", blocks
    yield "does not depend on the batch", batch
