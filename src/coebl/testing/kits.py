"""The report on the points of a contract, and the conformance kits for games and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import CoeblError, InputError, UserCodeError, printable, reason_of, where
from coebl.core.text import counted
from coebl.engine import Match, simulate
from coebl.games import Game, GenomeGame, Noise, TensorGame, ZeroSumGame, parse_game, solve
from coebl.learners import parse_learner
from coebl.metrics import Block, Metric
from coebl.metrics.base import need_of
from coebl.testing.strict import StrictArray, StrictBackend, to_strict

Points = Iterator[tuple[str, Callable[[], None]]]  # a statement, and a test that raises an error unless it holds


class ContractError(CoeblError):
    """A statement of a contract that does not hold. The message says how to repair it."""


def demand(holds: object, complaint: str) -> None:
    """Raise a `ContractError` unless a statement holds."""
    if not holds:
        raise ContractError(complaint)


@dataclass(frozen=True)
class Point:
    """One point of a contract, and its outcome.

    >>> from coebl.testing import check_game
    >>> check_game("rps").points[0].name
    'its spec reads back'
    """

    name: str  # the statement that should hold
    passed: bool  # True if it does
    detail: str = ""  # the complaint, if it does not
    tried: bool = True  # False if a fault that another point reports prevents the test


@dataclass(frozen=True)
class Report:
    """All points of a contract.

    A point that fails with the same error as an earlier one counts as not tried.

    >>> points = Point("reads back", True), Point("plays", False, "no policy"), Point("pickles", False, tried=False)
    >>> print(Report("mine", points))
    mine
      ok    reads back
      FAIL  plays
            no policy
      -     pickles (not tried)
    3 points, 1 failure, 1 not tried
    """

    subject: str  # the object that was checked
    points: tuple[Point, ...]  # in the order in which they were tried

    @property
    def passed(self) -> bool:
        """True if every point holds."""
        return all(point.passed for point in self.points)

    def __str__(self) -> str:
        lines = [self.subject]
        for point in self.points:
            mark = "ok  " if point.passed else "FAIL" if point.tried else "-   "
            lines.append(f"  {mark}  {point.name}{'' if point.tried else ' (not tried)'}")
            if point.detail:
                lines.append(f"        {point.detail}")
        untried = sum(not point.tried for point in self.points)
        failures = sum(not point.passed for point in self.points) - untried
        summary = [counted(len(self.points), "point"), counted(failures, "failure") if failures else "no failures"]
        lines.append(", ".join(summary + [f"{untried} not tried"] * bool(untried)))
        return "\n".join(lines)

    def require(self) -> None:
        """Raise an AssertionError with the whole report unless every point holds."""
        assert self.passed, f"\n{self}"


def report_on(subject: str, points: Points) -> Report:
    """Test the points, and report the outcome of each.

    An error in custom code is reported with its line, and every error only once.
    """
    outcomes: list[Point] = []
    raised: set[tuple[str, str]] = set()
    for name, test in points:
        try:
            test()
            outcomes.append(Point(name, True))
        except (Exception, SystemExit) as error:
            tried, line = _root(error) not in raised, where(error)
            raised.add(_root(error))
            complaint = printable(reason_of(error)) + (f" ({line})" if line else "")
            outcomes.append(Point(name, False, complaint * tried, tried))
    return Report(subject, tuple(outcomes))


def _root(error: BaseException) -> tuple[str, str]:
    """Return the message and the place of an error, which are the same for all seats and rounds."""
    if isinstance(error, UserCodeError) and error.__cause__ is not None:
        error = error.__cause__
    return reason_of(error).replace("column seat", "row seat"), where(error)


def check_game(game: str | ZeroSumGame | TensorGame) -> Report:
    """Check a game against its contract.

    >>> print(check_game("matching-pennies"))
    <Game 'matching-pennies', 2 x 2, gaussian>
      ok    its spec reads back
      ok    its maximin strategies are certified
      ok    its noise has mean zero
      ok    its noise comes from the generator alone
      ok    its noise works on arrays of any library
    5 points, no failures
    """
    subject = parse_game(game)
    if isinstance(subject, GenomeGame):
        return report_on(repr(subject), _points_of_genome_game(subject))
    assert isinstance(subject, (Game, TensorGame))
    return report_on(repr(subject), _points_of_table(subject))


def _read_back(game: ZeroSumGame | TensorGame) -> None:
    same = game.spec is None or parse_game(game.spec, game.noise) == game
    demand(same, f"{game.spec!r} reads back as another game")


def _points_of_table(game: Game | TensorGame) -> Points:
    def maximin() -> None:
        for seat in game.seats:
            view = game.own_view(seat)
            solution = solve(view)
            gap = (solution.value - (solution.row @ view).min()) / (np.ptp(view) or 1.0)
            demand(abs(gap) <= 1e-8, f"the maximin strategy of {seat} has a gap of {gap:.1e}")

    def noise() -> None:
        draws = getattr(game, "draws", 1)
        draw = game.noise.drawn(np.random.default_rng(0), (100_000, draws) if draws > 1 else 100_000)
        first = game.payoffs[0]
        for cell in sorted({0, int(first.argmin()), int(first.argmax())}):  # some noises are unbiased at 0 alone
            actions = [np.full(100_000, action) for action in np.unravel_index(cell, game.shape)]
            for seat, payoff, rewards in zip(game.seats, game.payoffs, game.rewards(actions, draw), strict=True):
                error = abs(float(rewards.mean() - payoff.flat[cell]))
                allowed = 5 * float(rewards.std()) / np.sqrt(rewards.size) + 1e-12
                off = f"{error:.3g} away from the payoff {payoff.flat[cell]:g}"
                demand(error <= allowed, f"the mean reward of {seat} is {off}; accepted: a reward of that mean")

    yield "its spec reads back", lambda: _read_back(game)
    yield "its maximin strategies are certified", maximin
    yield "its noise has mean zero", noise
    yield "its noise comes from the generator alone", lambda: _noise_of_generator(game.noise)
    if isinstance(game, Game):
        yield "its noise works on arrays of any library", lambda: _rewards_on_strict_arrays(game)


def _noise_of_generator(noise: Noise) -> None:
    first, again = (noise.drawn(np.random.default_rng(0), 20) for _ in range(2))
    demand(np.array_equal(first, again), "equal generators give other numbers; draw from the argument random alone")


def _rewards_on_strict_arrays(game: Game) -> None:
    random = np.random.default_rng(0)
    actions = [random.integers(count, size=20) for count in game.shape]
    draw = game.noise.drawn(random, 20)  # by NumPy, on every device
    rewards = game.placed(StrictBackend()).rewards(*to_strict(deepcopy([actions, draw])))  # as the engine calls it
    _compare("its noise", rewards[0], game.rewards(actions, draw)[0])


def _compare(subject: str, values: Any, expected: Floats) -> None:
    """Require strict arrays with the same numbers as NumPy's arrays gave."""
    is_strict = isinstance(values, StrictArray)
    demand(is_strict, f"{subject} returns one of NumPy's arrays; compute it from the given arrays")
    same = np.array_equal(values.plain, expected, equal_nan=True)
    demand(same, f"{subject} gives other numbers on arrays of another library")


def _points_of_genome_game(game: GenomeGame) -> Points:
    random = np.random.default_rng(0)
    dealt = game.dealt([3])
    genomes = random.integers(0, 2, (2, 20, game.n), np.int8)
    policies = random.uniform(size=(2, 20, game.n))

    def arrays() -> None:
        strict: Any = game.dealt(range(20), StrictBackend())
        plain: Any = game.dealt(range(20))
        calls: list[tuple[str, tuple[Any, ...]]] = [("payoffs", (*genomes,))]
        calls += [("expected", (*policies,))] * ("expected" not in game.unknown)
        calls += [("response", (seat, policies[seat])) for seat in (0, 1) if "response" not in game.unknown]
        for name, given in calls:
            expected = getattr(plain, name)(*given)
            _compare(name, getattr(strict, name)(*to_strict(given)), expected)
        known = "value" not in game.unknown
        demand(not known or strict.value == game.value, "its value changes when it is dealt")

    def payoffs() -> None:
        payoff, (low, high) = dealt.payoffs(*genomes), game.payoff_range
        demand(payoff.shape == (20,), f"the payoffs of 20 pairs of genomes have shape {payoff.shape}")
        slack = 1e-9 * (high - low)
        outside = payoff[~((payoff >= low - slack) & (payoff <= high + slack))]
        demand(not len(outside), f"the payoffs {outside[:1]} lie outside their range {low:g} .. {high:g}")

    def batch() -> None:
        alone = np.concatenate([dealt.payoffs(*genomes[:, pair : pair + 1]) for pair in range(20)])
        demand(np.array_equal(dealt.payoffs(*genomes), alone), "a pair alone has another payoff")

    def expected() -> None:
        drawn = [(random.random((4000, game.n)) < policy[0]).astype(np.int8) for policy in policies]
        payoff = dealt.payoffs(*drawn)
        error = abs(float(payoff.mean()) - float(dealt.expected(*policies[:, :1])[0]))
        allowed = 5 * float(payoff.std()) / np.sqrt(4000) + 1e-9
        demand(error <= allowed, f"the mean payoff of 4000 draws is {error:.3g} away from expected(...)")

    def responses() -> None:
        for seat in (0, 1):
            policy = policies[1 - seat]
            best = dealt.response(seat, policy)
            answer, *others = (
                dealt.expected(genome, policy) if seat == 0 else -dealt.expected(policy, genome)
                for genome in (dealt.answer(seat, policy).astype(np.float64), *genomes.astype(np.float64))
            )
            demand(np.allclose(answer, best), f"seat {seat}: answer(...) does not earn response(...)")
            most = np.maximum.reduce([answer, *others])
            demand((most <= best + 1e-9).all(), f"seat {seat}: a random genome earns more than response(...)")

    def value() -> None:
        row, column = policies
        enough = (dealt.response(0, column) >= game.value - 1e-9) & (-dealt.response(1, row) <= game.value + 1e-9)
        demand(enough.all(), "best responses to a policy earn less than the value")

    yield "works on arrays of any library", arrays
    yield "its spec reads back", lambda: _read_back(game)
    yield "a payoff per pair of genomes, within its range", payoffs
    yield "a payoff does not depend on the batch", batch
    if "expected" not in game.unknown:
        yield "expected payoffs are those of drawn genomes", expected
    if not {"expected", "response"} & game.unknown:
        yield "no genome earns more than its best response", responses
    if not {"value", "response"} & game.unknown:
        yield "best responses earn at least the value", value


def check_metric(metric: type[Metric]) -> Report:
    """Check a metric against its contract: one number per round and run, for any blocks and any batch.

    >>> from coebl.metrics.measures import PseudoRegret
    >>> check_metric(PseudoRegret).passed
    True
    """
    return report_on(metric.name, _points_of_metric(metric))


def _points_of_metric(metric: type[Metric]) -> Points:
    if "genomes" in metric.needs:
        match = Match.of("bigger-number:n=4,space=bits,mask=false", "uniform", "uniform", rounds=40)
    elif "welfare" in metric.needs:
        pair = [[0.5, 1.0, 0.2], [0.3, 0.8, 0.1]], [[0.1, 0.7, 2.0], [0.3, -0.8, 0.6]]
        match = Match.of(Game(pair), "ucb", "exp3", rounds=40)
    else:
        match = Match.of(Game([[0.5, -1.0, 0.2], [-0.3, 0.8, 0.1]]), "ucb", "exp3", rounds=40)

    def record(seeds: list[int], block_rounds: int) -> Floats:
        return simulate(match, seeds, metrics=[metric], block_rounds=block_rounds).metrics[metric.name]

    def shape() -> None:
        recorded = record([0, 1, 2], 16).shape
        demand(recorded == (40, 3), f"40 rounds and 3 runs gave {recorded}; accepted: (40, 3)")

    def others() -> None:
        for game, seats in (("bigger-number:n=4,space=bits", 2), ("cournot:players=3,most=3", 3)):
            other = Match(parse_game(game), (parse_learner("uniform"),) * seats, 5)
            if metric.reason_undefined(other.game) is None:
                try:
                    simulate(other, [0, 1], metrics=[metric])
                except CoeblError:
                    raise
                except Exception as error:
                    need = need_of(str(error.name)) if isinstance(error, AttributeError) else None
                    reason = "" if need else ", if it is for two players alone"
                    needed = f'declare what it requires of a game in needs: "{need or "zero-sum"}"{reason}'
                    raise InputError(f"on {game}: {reason_of(error)}; {needed}.") from error

    def blocks() -> None:
        same = np.array_equal(record([0, 1, 2], 40), record([0, 1, 2], 7), equal_nan=True)
        kept = "add up with a RunningSum, and keep what later blocks need in attributes"
        demand(same, f"blocks of 7 rounds give other numbers than one of 40; {kept}")

    def batch() -> None:
        same = np.array_equal(record([0, 1, 2], 40)[:, 1], record([1], 40)[:, 0], equal_nan=True)
        demand(same, "seed 1 alone gives other numbers than in a batch of three")

    def arrays() -> None:
        kept = simulate(match, [0, 1, 2], metrics=[], keep=["policies", "actions", "rewards"]).kept
        plain, strict = metric(match.game, 3), metric(match.game, 3)
        for first, last in ((1, 16), (17, 40)):
            given: Any = [[array[first - 1 : last] for array in seats] for seats in kept.values()]
            expected = plain(Block(match.game, first, *given))
            _compare("it", strict(Block(match.game, first, *to_strict(given))), expected)

    yield "one number per round and run, within its bounds", shape
    yield "takes every game that it accepts", others
    yield "does not depend on how rounds are cut into blocks", blocks
    yield "does not depend on the batch", batch
    yield "takes its arrays from the block", arrays
