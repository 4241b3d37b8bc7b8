"""The built-in metrics. To add one, extend `Metric` here and put ``@METRICS.add("its_name")`` above it.

Notation: A the payoffs to the row player, V the value of the game, x_t and y_t the policies of round t, a_t and b_t the
actions, r_t the reward as observed, x* and y* the equilibrium. In the metrics of a seat, A is the payoff matrix of that
seat, a_t is its action and b_t the joint action of the others.
"""

from __future__ import annotations

from math import inf, log
from typing import Any

import numpy as np

from coebl.backend import rel_entr
from coebl.core.arrays import Floats
from coebl.games import AnyGame
from coebl.metrics.base import Block, Mean, Metric, RunningSum, Total, contiguous
from coebl.metrics.registry import METRICS

_NOT_PLAYED = 1e-9  # an equilibrium probability up to here is a rounded zero; see coebl.games.equilibria


@METRICS.add("regret")
class Regret(Total):
    """The row player's shortfall below the game's value, as observed; noise included."""

    needs = frozenset({"value"})
    title = "Regret"
    definition = "sum of V - r_t"
    in_payoffs = True
    formula = r"$\Sigma\,(V - r_t)$"
    signed = True

    def terms(self, block: Block) -> Floats:
        return block.game.value - block.reward


@METRICS.add("pseudo_regret")
class PseudoRegret(Regret):
    """The row player's shortfall below the game's value, without the noise of rewards and actions."""

    needs = frozenset({"value", "expected"})
    title = "Pseudo-regret"
    definition = "sum of V - x_t' A y_t"
    formula = r"$\Sigma\,(V - x_t^\top\! A y_t)$"

    def terms(self, block: Block) -> Floats:
        return block.game.value - block.outcomes.expected


@METRICS.add("absolute_regret")
class AbsoluteRegret(Regret):
    """The sum of absolute regrets of single rounds, as the paper defines it. Noise alone makes it grow."""

    title = "Absolute regret"
    definition = "sum of abs(V - r_t)"
    formula = r"$\Sigma\,|V - r_t|$"
    bounds = (0, inf)
    signed = False

    def terms(self, block: Block) -> Floats:
        return np.abs(super().terms(block))


@METRICS.add("regret_magnitude")
class RegretMagnitude(Regret):
    """The absolute value of the summed regret, as the paper's program computes it."""

    title = "Regret magnitude"
    definition = "abs(sum of V - r_t)"
    formula = r"$|\Sigma\,(V - r_t)|$"
    bounds = (0, inf)
    signed = False

    def __call__(self, block: Block) -> Floats:
        return np.abs(super().__call__(block))


@METRICS.add("absolute_pseudo_regret")
class AbsolutePseudoRegret(PseudoRegret):
    """The distance of play from the game's value, without noise (O'Donoghue, Lattimore and Osband 2021)."""

    title = "Absolute pseudo-regret"
    definition = "sum of abs(V - x_t' A y_t)"
    formula = r"$\Sigma\,|V - x_t^\top\! A y_t|$"
    bounds = (0, inf)
    signed = False

    def terms(self, block: Block) -> Floats:
        return np.abs(super().terms(block))


class _Distance(Metric):
    """The distance of both policies from the equilibrium, which must be unique."""

    needs = frozenset({"equilibrium"})

    def __init__(self, game: AnyGame, runs: int) -> None:
        super().__init__(game, runs)
        strategies = self.game.solution.row, self.game.solution.column
        # KL distinguishes 1e-17 from 0.
        self._equilibrium = [np.where(strategy > _NOT_PLAYED, strategy, 0.0) for strategy in strategies]

    @classmethod
    def reason_undefined(cls, game: Any) -> str | None:
        reason = super().reason_undefined(game)
        if reason is None and (unique := game.unique_equilibrium).answer != "yes":
            state = "has more than one" if unique.answer == "no" else "may have more than one"
            needed = f"{cls.name} needs a unique equilibrium, but {game.name} {state}"
            reason = f"{needed}: {unique.reason}. Use exploitability instead."
        return reason

    def distance(self, policy: Floats, equilibrium: Floats) -> Floats:
        """Return the distance of policies, (rounds, runs, actions), from a strategy, (actions,): (rounds, runs)."""
        raise NotImplementedError

    def __call__(self, block: Block) -> Floats:
        row, column = (
            self.distance(contiguous(policy), np.asarray(strategy, like=block.reward))
            for policy, strategy in zip(block.policies, self._equilibrium, strict=True)
        )
        return row + column


@METRICS.add("kl")
class KullbackLeibler(_Distance):
    """The divergence of both policies from the equilibrium, in nats; infinite outside its support."""

    title = "KL divergence"
    definition = "KL(x_t, x*) + KL(y_t, y*), where KL(a, b) = sum of a ln(a / b)"
    formula = r"$\mathrm{KL}(x_t, x^*) + \mathrm{KL}(y_t, y^*)$"
    bounds = (0, inf)

    def distance(self, policy: Floats, equilibrium: Floats) -> Floats:
        divergence: Floats = rel_entr(policy, equilibrium).sum(axis=-1)
        return np.maximum(divergence, 0.0)  # at the equilibrium itself, rounding can make it negative


@METRICS.add("tv")
class TotalVariation(_Distance):
    """Total variation: the distance of both policies from the equilibrium, 0 there and 2 at most."""

    title = "TV distance"
    definition = "TV(x_t, x*) + TV(y_t, y*), where TV(a, b) = half the sum of abs(a - b)"
    formula = r"$\mathrm{TV}(x_t, x^*) + \mathrm{TV}(y_t, y^*)$"
    bounds = (0, 2)

    def distance(self, policy: Floats, equilibrium: Floats) -> Floats:
        return np.abs(policy - equilibrium).sum(axis=-1) / 2


class _Gap(Metric):
    """The gain of best responses, in units of the payoffs and at most the width of their range."""

    in_payoffs = True
    within_range = True
    bounds = (0, inf)


@METRICS.add("exploitability")
class Exploitability(_Gap):
    """The gain of best responses against both policies; 0 at an equilibrium."""

    needs = frozenset({"response", "zero-sum"})
    title = "Exploitability"
    definition = "max_i (A y_t)_i - min_j (x_t' A)_j"
    formula = r"of $(x_t, y_t)$"

    def __call__(self, block: Block) -> Floats:
        return block.outcomes.best(0) + block.outcomes.best(1)


@METRICS.add("average_exploitability")
class AverageExploitability(_Gap):
    """The exploitability of the policies averaged over the rounds so far."""

    needs = frozenset({"response", "mean", "zero-sum"})
    title = "Average exploitability"
    definition = "exploitability of the means of x_1, ..., x_t and of y_1, ..., y_t"

    def __init__(self, game: AnyGame, runs: int) -> None:
        super().__init__(game, runs)
        self._sums = RunningSum(runs), RunningSum(runs)  # per seat

    def __call__(self, block: Block) -> Floats:
        t = block.numbers
        if hasattr(block.game, "response"):  # a best response to the mean marginals
            sums = [add_up(block, policy) for add_up, policy in zip(self._sums, block.policies, strict=True)]
            return sum(block.game.response(1 - seat, sums[seat] / t[..., None]) for seat in (0, 1))
        # A times the mean policy is the mean of A times the policy, which other metrics have computed already.
        row, column = (self._sums[seat](block, block.outcomes.payoffs(seat)).max(axis=-1) for seat in (0, 1))
        return (row + column) / t


@METRICS.add("nash_conv")
class NashConv(Metric):
    """The total gain of the players from best responses to the others' policies; 0 at a Nash equilibrium.

    In a two-player zero-sum game it is the exploitability, since the payoffs of the policies sum to zero.
    """

    needs = frozenset({"response"})
    title = "NashConv"
    definition = "sum over the players of max_i u(i, the others' policies) - u(all policies)"
    in_payoffs = True
    bounds = (0, inf)

    def __call__(self, block: Block) -> Floats:
        outcomes = block.outcomes
        if outcomes.zero_sum:
            return outcomes.best(0) + outcomes.best(1)
        gains: Floats = np.zeros_like(block.reward)
        for seat in range(len(block.policies)):
            gains = gains + np.maximum(outcomes.best(seat) - outcomes.expected_by(seat), 0.0)
        return gains


@METRICS.add("external_regret")
class ExternalRegret(Metric):
    """The additional payoff of the best fixed action, in hindsight; external_regret:2 for seat 2."""

    needs = frozenset({"payoffs"})
    title = "External regret"
    definition = "max_i sum of A[i, b_t] - sum of A[a_t, b_t]"
    in_payoffs = True
    cumulative = True
    by_seat = True

    def __init__(self, game: AnyGame, runs: int) -> None:
        super().__init__(game, runs)
        self._hindsight, self._earned = RunningSum(runs), RunningSum(runs)

    def __call__(self, block: Block) -> Floats:
        best: Floats = self._hindsight(block, block.outcomes.hindsight(self.seat)).max(axis=-1)
        return best - self._earned(block, block.outcomes.earned_by(self.seat))


@METRICS.add("column_external_regret")
class ColumnExternalRegret(ExternalRegret):
    """The additional payoff of the best fixed column to the column player, in hindsight."""

    needs = frozenset({"payoffs", "zero-sum"})
    instead = "external_regret:2"
    title = "Column external regret"
    definition = "sum of A[a_t, b_t] - min_j sum of A[a_t, j]"
    seat = 1
    by_seat = False


@METRICS.add("swap_regret")
class SwapRegret(Metric):
    """The additional payoff of the best swap of each action for another, in hindsight; swap_regret:2 for seat 2.

    If it is small for every player, compared with the number of rounds, joint play is near a correlated equilibrium.
    """

    needs = frozenset({"payoffs"})
    title = "Swap regret"
    definition = "sum over k of max_i sum over a_t = k of A[i, b_t] - A[k, b_t]"
    in_payoffs = True
    cumulative = True
    bounds = (0, inf)
    by_seat = True

    def __init__(self, game: AnyGame, runs: int) -> None:
        super().__init__(game, runs)
        self._order = RunningSum(runs)  # only checks that no block is missing
        self._sums: Any = None  # (runs, m, m): what each action would have earned, by the action that was played
        self._gains: Any = None  # (runs, m): the gain of the best swap of each action

    def __call__(self, block: Block) -> Floats:
        self._order.check(block)
        hindsight, actions = block.outcomes.hindsight(self.seat), block.actions[self.seat]
        if self._sums is None:
            m = hindsight.shape[-1]
            self._sums = np.zeros((self.runs, m, m), like=block.reward)
            self._gains = np.zeros((self.runs, m), like=block.reward)
        regret, run = np.zeros_like(block.reward), np.arange(self.runs, like=actions)
        for t in range(block.rounds):  # only one row of sums changes per run: the sums of all rounds would not fit
            played = run, actions[t]
            sums = self._sums[played] + hindsight[t]
            self._sums[played] = sums
            self._gains[played] = sums.max(axis=-1) - sums[played]
            regret[t] = self._gains.sum(axis=-1)
        return regret


@METRICS.add("payoff")
class Payoff(Mean):
    """The mean payoff of the player per round, without noise; payoff:2 for seat 2."""

    needs = frozenset({"expected"})
    title = "Payoff"
    definition = "mean over the rounds of x_t' A y_t"
    better = "higher"
    in_payoffs = True
    by_seat = True

    def terms(self, block: Block) -> Floats:
        return block.outcomes.expected_by(self.seat)


@METRICS.add("welfare")
class Welfare(Mean):
    """The mean payoff of all players together per round, without noise."""

    needs = frozenset({"welfare"})
    title = "Welfare"
    definition = "mean over the rounds of the sum over the players of u(a_t, b_t)"
    better = "higher"
    in_payoffs = True

    def terms(self, block: Block) -> Floats:
        return np.asarray(block.game.welfare, like=block.reward)[tuple(block.actions)]


@METRICS.add("welfare_ratio")
class WelfareRatio(Welfare):
    """The welfare as a share of the largest welfare of a joint action; 1 is the optimum."""

    title = "Welfare ratio"
    definition = "welfare / the largest sum of payoffs of a joint action"
    bounds = (-inf, 1)
    in_payoffs = False

    @classmethod
    def reason_undefined(cls, game: Any) -> str | None:
        reason = super().reason_undefined(game)
        if reason is None and (most := game.welfare.max()) <= 0:
            reason = f"welfare_ratio needs an optimum above 0, but that of {game.name} is {most:g}; use welfare."
        return reason

    def __call__(self, block: Block) -> Floats:
        return super().__call__(block) / float(block.game.welfare.max())


@METRICS.add("exploitability_at_least")
class ExploitabilityAtLeast(_Gap):
    """A lower bound: the gain of the best responses that a search found, against both policies.

    The most likely genome of each player is changed gene by gene until no change earns more against the opponent.
    """

    needs = frozenset({"expected", "genomes"})
    title = "Exploitability, at least"
    definition = "the gain of the best genomes found against x_t and y_t"

    def __call__(self, block: Block) -> Floats:
        gain: Floats = np.zeros_like(block.reward)
        for seat in (0, 1):
            own = _modes(block.policies[seat])
            best = self._earned(block, seat, own)
            improved = True
            while improved:
                improved = False
                for gene in range(own.shape[-1]):
                    other = own.copy()
                    other[..., gene] = 1 - other[..., gene]
                    earned = self._earned(block, seat, other)
                    better = earned > best + 1e-12
                    own, best = np.where(better[..., None], other, own), np.where(better, earned, best)
                    improved = improved or bool(better.any())
            gain = gain + best
        return np.maximum(gain, 0.0)

    def _earned(self, block: Block, seat: int, own: Floats) -> Floats:
        policies = [own, block.policies[1]] if seat == 0 else [block.policies[0], own]
        expected: Floats = block.game.expected(*policies)
        return expected if seat == 0 else -expected


@METRICS.add("mode_exploitability")
class ModeExploitability(_Gap):
    """The gain of best responses against the most likely genome of each player, if it were always played."""

    needs = frozenset({"response", "genomes"})
    title = "Exploitability of the modes"
    definition = "exploitability of the genomes (x_t > 1/2) and (y_t > 1/2)"

    def __call__(self, block: Block) -> Floats:
        row, column = map(_modes, block.policies)
        return block.game.response(0, column) + block.game.response(1, row)


@METRICS.add("disengaged")
class Disengaged(Metric):
    """The share of runs in which one player always wins, so that neither player learns anything.

    The expected payoff is then within 1 % of an end of the payoff range, but the value is not.
    """

    needs = frozenset({"value", "expected", "genomes"})
    title = "Disengaged"
    definition = "1 if x_t' A y_t is within 1 % of an end of the payoff range that is not the value, else 0"
    bounds = (0, 1)

    def __call__(self, block: Block) -> Floats:
        low, high = self.game.payoff_range
        near = 0.01 * (high - low)
        ends = [end for end in (low, high) if abs(end - self.game.value) > near]
        stuck = sum(np.abs(block.outcomes.expected - end) <= near for end in ends)
        return np.asarray(stuck, np.float64, like=block.reward)


@METRICS.add("entropy")
class Entropy(Metric):
    """The mean entropy per gene of both players, in bits: 1 for a fair coin, 0 for a decided gene."""

    needs = frozenset({"genomes"})
    title = "Entropy"
    definition = "mean over the genes of x_t and y_t of - p log2 p - (1 - p) log2(1 - p)"
    better = None
    bounds = (0, 1)

    def __call__(self, block: Block) -> Floats:
        total: Floats = np.zeros_like(block.reward)
        for policy in map(contiguous, block.policies):
            ones = np.ones_like(policy)
            bits = rel_entr(policy, ones) + rel_entr(1 - policy, ones)
            total = total - bits.mean(axis=-1) / (2 * log(2))
        return total


def _modes(policy: Floats) -> Floats:
    """Return the most likely genomes, as policies."""
    return (policy > 0.5).astype(np.float64)
