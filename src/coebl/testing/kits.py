"""The points of a contract, the report on them, and the conformance kits for games and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, UserCodeError, printable, reason_of, where
from coebl.core.text import counted
from coebl.engine import Match, simulate
from coebl.games import Game, GenomeGame, TensorGame, ZeroSumGame, parse_game
from coebl.games.game import SEATS
from coebl.learners import parse_learner
from coebl.metrics import Block, Metric
from coebl.testing.strict import OF_BLOCK, OF_REWARD, StrictArray, StrictBackend

Points = Iterator[tuple[str, Callable[[], str | bool | None]]]  # a statement, and a test: a complaint, or nothing


class UntriedError(Exception):
    """A point that cannot be tried, because of a fault that another point reports."""


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
    tried: bool = True  # False if a fault that another point reports prevents it


@dataclass(frozen=True)
class Report:
    """All points of a contract.

    A point that fails by the same error as an earlier one is not tried.

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
    """Try the points, and report the outcome of each.

    An error that a point raises is its complaint, with the line of custom code; one that was raised before is reported
    once.
    """
    tried: list[Point] = []
    raised: set[tuple[str, str]] = set()
    for name, find_fault in points:
        try:
            complaint = find_fault()
        except (Exception, SystemExit) as error:
            if isinstance(error, UntriedError) or _root(error) in raised:
                tried.append(Point(name, passed=False, tried=False))
                continue
            raised.add(_root(error))
            line = where(error)
            complaint = printable(reason_of(error)) + (f" ({line})" if line else "")
        tried.append(Point(name, not complaint, str(complaint or "")))
    return Report(subject, tuple(tried))


def _root(error: BaseException) -> tuple[str, str]:
    """Return the message of an error and its place, which are the same for all seats and rounds."""
    if isinstance(error, UserCodeError) and error.__cause__ is not None:
        error = error.__cause__
    return reason_of(error).replace("column seat", "row seat"), where(error)


def check_game(game: str | ZeroSumGame | TensorGame) -> Report:
    """Check a game against its contract.

    >>> print(check_game("matching-pennies"))
    <Game 'matching-pennies', 2 x 2, gaussian>
      ok    its spec reads back
      ok    its payoffs are read-only
      ok    its equilibrium is certified
      ok    what one player wins the other loses
      ok    its noise has mean zero
      ok    its noise works on arrays of any library
    6 points, no failures
    """
    subject = parse_game(game)
    if isinstance(subject, GenomeGame):
        return report_on(repr(subject), _points_of_genome_game(subject))
    assert isinstance(subject, (Game, TensorGame))
    return report_on(repr(subject), _points_of_table(subject))


def _read_back(game: ZeroSumGame | TensorGame) -> str | bool:
    spec = game.spec
    return spec is not None and parse_game(spec, game.noise) != game and f"{spec!r} reads back as another game"


def _points_of_table(game: Game | TensorGame) -> Points:
    tables = [game.payoff] if isinstance(game, Game) else game.payoffs

    def noise() -> str | bool:
        actions = [np.zeros(100_000, np.int64)] * len(game.shape)
        draws = getattr(game, "draws", 1)
        draw = game.noise.draw(np.random.default_rng(0), (100_000, draws) if draws > 1 else 100_000)
        for seat, payoff, rewards in zip(game.seats, tables, game.rewards(actions, draw), strict=False):
            error = abs(float(rewards.mean() - payoff.flat[0]))
            if error > 5 * float(rewards.std()) / np.sqrt(rewards.size) + 1e-12:
                return f"the mean reward of {seat} is {error:.3g} away from the payoff"
        return False

    yield "its spec reads back", lambda: _read_back(game)
    yield (
        "its payoffs are read-only",
        lambda: any(table.flags.writeable for table in tables) and "its payoffs can be written to",
    )
    if isinstance(game, Game):
        yield "its equilibrium is certified", lambda: _gap(game)
        yield "what one player wins the other loses", lambda: _zero_sum(game)
    else:
        yield "security strategies are certified", lambda: _insecure(game)
    yield "its noise has mean zero", noise
    if isinstance(game, Game):
        yield "its noise works on arrays of any library", lambda: _rewards_on_strict_arrays(game)


def _gap(game: Game) -> str | bool:
    row, column, payoff = game.solution.row, game.solution.column, game.payoff
    gap = ((payoff @ column).max() - (row @ payoff).min()) / (np.ptp(payoff) or 1.0)
    return bool(gap > 1e-8) and f"its equilibrium has a gap of {gap:.1e}"


def _insecure(game: TensorGame) -> str | bool:
    for seat in game.seats:
        view, solution = game.own_view(seat), game.security(seat)
        gap = (solution.value - (solution.row @ view.payoff).min()) / (np.ptp(view.payoff) or 1.0)
        if abs(gap) > 1e-8:
            return f"the security strategy of {seat} has a gap of {gap:.1e}"
    return False


def _zero_sum(game: Game) -> str | bool:
    row, column = (game.own_view(name).payoff for name in SEATS)
    return not np.array_equal(row, 0.0 - column.T) and "what one player wins the other does not lose"


def _rewards_on_strict_arrays(game: Game) -> str | bool:
    random = np.random.default_rng(0)
    actions = [random.integers(count, size=20) for count in game.shape]
    draw = game.noise.draw(random, 20)  # by NumPy, on every device
    *strict, strict_draw, payoff = (StrictArray(array.copy(), OF_REWARD) for array in (*actions, draw, game.payoff))
    placed: Any = copy(game)
    placed.payoff = payoff
    rewards = placed.rewards(strict, strict_draw)  # as the engine calls it
    if not all(isinstance(reward, StrictArray) for reward in rewards):
        return "its noise returns one of NumPy's arrays; compute the reward from the arguments of reward"
    equal = np.array_equal(rewards[0].plain, game.rewards(actions, draw)[0])
    return not equal and "its noise gives other rewards on arrays of another library"


def _points_of_genome_game(game: GenomeGame) -> Points:
    random = np.random.default_rng(0)
    dealt = game.dealt([3])
    genomes = random.integers(0, 2, (2, 20, game.n), np.int8)
    policies = random.uniform(size=(2, 20, game.n))

    def payoffs() -> str | None:
        payoff, (low, high) = dealt.payoffs(*genomes), game.payoff_range
        if payoff.shape != (20,):
            return f"the payoffs of 20 pairs of genomes have shape {payoff.shape}"
        slack = 1e-9 * (high - low)
        outside = payoff[~((payoff >= low - slack) & (payoff <= high + slack))]
        return None if not len(outside) else f"the payoff {outside[0]:g} lies outside its range {low:g} .. {high:g}"

    def batch() -> str | None:
        alone = np.concatenate([dealt.payoffs(*genomes[:, pair : pair + 1]) for pair in range(20)])
        return None if np.array_equal(dealt.payoffs(*genomes), alone) else "a pair alone has another payoff"

    def expected() -> str | None:
        own = [(random.random((4000, game.n)) < policy[0]).astype(np.int8) for policy in policies]
        payoff = dealt.payoffs(*own)
        error = abs(float(payoff.mean()) - float(dealt.expected(*policies[:, :1])[0]))
        allowed = 5 * float(payoff.std()) / np.sqrt(4000) + 1e-9
        return None if error <= allowed else f"the mean payoff of 4000 draws is {error:.3g} away from expected(...)"

    def responses() -> str | None:
        for seat in (0, 1):
            policy = policies[1 - seat]
            best, answer = dealt.response(seat, policy), dealt.answer(seat, policy).astype(np.float64)
            pairs = [(answer, best), *((genome.astype(np.float64), None) for genome in genomes)]
            for genome, promised in pairs:
                earned = dealt.expected(genome, policy) if seat == 0 else -dealt.expected(policy, genome)
                if promised is not None and not np.allclose(earned, promised):
                    return f"seat {seat}: answer(...) does not earn response(...)"
                if (earned > best + 1e-9).any():
                    return f"seat {seat}: a random genome earns more than response(...)"
        return None

    def value() -> str | None:
        row, column = policies
        above = (dealt.response(0, column) < game.value - 1e-9).any()
        below = (-dealt.response(1, row) > game.value + 1e-9).any()
        return "best responses to a policy earn less than the value" if above or below else None

    def arrays() -> str | None:
        strict: Any = game.dealt(range(20), StrictBackend())
        plain: Any = game.dealt(range(20))
        calls: list[tuple[str, tuple[Any, ...]]] = [("payoffs", (*genomes,))]
        calls += [("expected", (*policies,))] * ("expected" not in game.unknown)
        calls += [("response", (seat, policies[seat])) for seat in (0, 1) if "response" not in game.unknown]
        for name, given in calls:
            own = [StrictArray(part.copy(), OF_REWARD) if isinstance(part, np.ndarray) else part for part in given]
            if not np.array_equal(getattr(strict, name)(*own).plain, getattr(plain, name)(*given)):
                return f"{name} gives other numbers on arrays of another library"
        if "value" not in game.unknown and strict.value != game.value:
            return "its value is another one after it was dealt"
        return None

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
        match = Match.of(
            Game(([[0.5, 1.0, 0.2], [0.3, 0.8, 0.1]], [[0.1, 0.7, 2.0], [0.3, -0.8, 0.6]])), "ucb", "exp3", 40
        )
    else:
        match = Match.of(Game([[0.5, -1.0, 0.2], [-0.3, 0.8, 0.1]]), "ucb", "exp3", rounds=40)

    def record(seeds: list[int], block_rounds: int) -> Floats:
        return simulate(match, seeds, metrics=[metric], block_rounds=block_rounds).metrics[metric.name]

    def shape() -> str | bool:
        recorded = record([0, 1, 2], 16).shape
        return recorded != (40, 3) and f"40 rounds and 3 runs gave {recorded}"

    def blocks() -> str | bool:
        same = np.array_equal(record([0, 1, 2], 40), record([0, 1, 2], 7), equal_nan=True)
        return not same and "blocks of 7 rounds give other numbers than one of 40; add up with a RunningSum"

    def batch() -> str | bool:
        same = np.array_equal(record([0, 1, 2], 40)[:, 1], record([1], 40)[:, 0], equal_nan=True)
        return not same and "seed 1 alone gives other numbers than in a batch of three"

    def arrays() -> str | None:
        kept = simulate(match, [0, 1, 2], metrics=[], keep=["policies", "actions", "rewards"]).kept
        plain, strict = metric(match.game, 3), metric(match.game, 3)
        for first, last in ((1, 16), (17, 40)):
            parts: Any = {name: [array[first - 1 : last] for array in both] for name, both in kept.items()}
            expected = plain(Block(match.game, first, **parts))
            strict_parts: Any = {name: [StrictArray(array.copy(), OF_BLOCK) for array in parts[name]] for name in parts}
            values: Any = strict(Block(match.game, first, **strict_parts))
            if not isinstance(values, StrictArray):
                return "it returns one of NumPy's arrays; compute it from arrays of the block"
            if not np.array_equal(values.plain, expected, equal_nan=True):
                return "it gives other numbers on arrays of another library"
        return None

    def others() -> None:
        for game, seats in (("bigger-number:n=4,space=bits", 2), ("cournot:players=3,most=3", 3)):
            other = Match(parse_game(game), (parse_learner("uniform"),) * seats, 5)
            if metric.reason_undefined(other.game) is None:
                try:
                    simulate(other, [0, 1], metrics=[metric])
                except Exception as error:
                    needed = 'name what it uses of a game in needs, "payoffs" for one that reads numbers of actions'
                    raise InputError(f"on {game}: {reason_of(error)}; {needed}.") from error

    yield "one number per round and run", shape
    yield "takes every game that it accepts", others
    yield "does not depend on how rounds are cut into blocks", blocks
    yield "does not depend on the batch", batch
    yield "takes its arrays from the block", arrays
