"""Strain, replicator selection with memory, inheritance and an elite on trial."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated

import numpy as np

from coebl.backend import exp, log
from coebl.core.arrays import Floats, Ints
from coebl.core.specs import Nonnegative, PositiveShare, Share
from coebl.learners.base import Seat, Seen
from coebl.learners.evolution.selection import renewed
from coebl.learners.parts import EVERY_PAIR, BeliefLearner, Tally, inherited_share, shrunk_mean, softmax

_MOST = 500.0  # the largest exponent, so that exp stays finite
_FORGOTTEN = 1e-100  # the least number of visits; so few have no weight
_ROUNDS_PER_PAIR = 0.3  # after which the effects of rows and columns are halved
_MOST_RARE = 50.0  # the largest 1 / (m s_i) - 1, so that no strain gains without limit


@dataclass
class Strain(BeliefLearner):
    """Strain, replicator selection with memory, inheritance and an elite on trial (of this project).

    The actions are strains of a population, whose shares are the policy. Selection is the replicator's, which is Hedge,
    by fitness against the opponent's actions met so far: partly as believed when they were met, partly recomputed with
    the current beliefs. An elite descends from solutions of the believed game, and competes with the rest for its
    share. A pair of actions that was not tried inherits from those that were: the mean and the variance of all payoffs
    are estimated and, while there are few rounds per pair, the effects of rows and columns as well. A regret bound for
    other settings is in docs/strain-bound.md, with games on which the default gets stuck.

        in units of the noise, with h half the width of the payoff range:
        v = h², mu = 0; r_i = q_j = 0; N_j = 0, S_i = 0; e, x uniform; D = 0
        each round t, with n_ij the visits of a pair and mean_ij its mean reward less the middle of the range:
          g = 1 / (1 + n v);  mu' = mu + hope max(0, -mu);  f = 1 / (1 + t' / (0.3 m k))
          P = (1 - g) mean + g (mu' + f (r_i + q_j))
          B = P + c sqrt(v g (1 + neglect log(1 + N_j g))), kept within the range
          known = sum_ij x_i (1 - g_ij) (N_j + 1/k) / t;  u = sqrt(3 v + 1/2)
          F_i = (1 - memory known) S_i + memory known sum_j N_j B_ij
          s = softmax(rate sqrt(log(m) / (t + m)) F / u);  e = e + turnover (maximin(B) - e)
          a / (1 - a) = A / (1 - A) exp(trial D / (u sqrt(t + m))),  A = elite known
          x = (1 - a) s + a e;  play i ~ x; see j and the reward
          S_i += B_ij + mutation u min(50, 1 / (m s_i) - 1) for every i;  N_j += 1
          update n_ij, mean_ij and P;  D += sum_i (e_i - s_i) P_ij
          mu = sum w mean / (sum w + 4 / h²) over all pairs, w = n / (1 + n v)
          r_i = sum_j w (mean - mu - q_j) / (sum_j w + 1 / (kinship v)), then q_j likewise over i
          v = (3 h² + sum (1 - g)² ((mean - mu')² - 1 / n)) / (3 + sum (1 - g)²), at least h² / 100, at most h²

    mu, r, q and v are estimated again after rounds t', spaced by a twentieth of the rounds so far. A negative mean
    counts less, by `hope`, since an opponent shows the bad pairs first. With `mutation`, as in the replicator-mutator
    equation, the last policies of self-play come near an equilibrium, not only their average (after Abe et al. 2022).
    """

    name = "strain"
    title = "Strain"
    colour = 5
    pair_cost = 0.004
    solve_cost = 0.0008
    cites = "The coebl project; not published elsewhere."

    c: Annotated[Nonnegative, "the amount of optimism"] = 0.6
    memory: Annotated[Share, "the share of fitness that is tested again, where pairs are known"] = 0.3
    elite: Annotated[Share, "the share of the elite before its trial, where pairs are known"] = 0.4
    turnover: Annotated[PositiveShare, "the share of the elite that a round replaces"] = 0.03
    rate: Annotated[Nonnegative, "the pressure of selection"] = 1.2
    trial: Annotated[Nonnegative, "the pressure of selection between the elite and the rest"] = 6.0
    hope: Annotated[Share, "the share of a negative prior mean that is ignored"] = 0.6
    neglect: Annotated[Nonnegative, "the growth of optimism about an untried pair whose column is met"] = 0.2
    mutation: Annotated[Nonnegative, "the fitness that rare strains gain"] = 0.0
    kinship: Annotated[Nonnegative, "the variance of the effects of rows and of columns, relative to v"] = 0.5

    def start(self, seat: Seat) -> None:
        m, k = seat.actions, seat.opponent_actions
        self.belief = EstimatedPrior(seat, self.hope, self.kinship, self.forgetting)
        self.met = seat.zeros(k)  # (runs, k), N, how often each of the opponent's actions was met
        self.fitness = seat.zeros(m)  # (runs, m), S, as believed when the actions were met
        self.elites = seat.full(1 / m, m)  # (runs, m), e
        self.current = seat.full(1 / m, m)  # (runs, m), x
        self.lead = seat.zeros()  # (runs,), D, the earnings of the elite minus those of the rest
        self._solve = seat.maximin()
        self._next = 1  # the round after which the prior is estimated again
        self._imagine()

    def policy(self, t: int) -> Floats:
        """Select the strains, renew the elite, and mix them."""
        m, v = self.seat.actions, self.belief.variance
        known = (self.current * self._known).sum(axis=-1) / t  # (runs,), how well the played pairs are known
        self.scale = scale = np.sqrt(3 * v + 0.5)  # (runs,), u, the scale of a payoff with its noise
        retested = (self.memory * known)[:, None]
        fitness = (1 - retested) * self.fitness + retested * self._again
        self.strains = softmax((self.rate * sqrt(log(m) / (t + m)) / scale)[:, None] * fitness)
        self.elites = renewed(self.elites, self._solve(self.optimistic).strategy, self.turnover)
        share = self.elite * known
        trial = np.clip(self.trial * self.lead / (scale * sqrt(t + m)), -_MOST, _MOST)
        share = (share / (share + (1 - share) * exp(-trial)))[:, None]
        self.current = (1 - share) * self.strains + share * self.elites
        return self.current

    def beliefs(self) -> tuple[Floats, Floats]:
        return self.belief.mean, self.belief.count

    def observe(self, t: int, seen: Seen) -> None:
        seat, belief = self.seat, self.belief
        met = seat.at(seen.opponent)
        column = seat.at(slice(None), seen.opponent)  # all pairs with the opponent's action: (runs, m)
        before, share, count = self.optimistic[column], belief.share[column], self.met[met][:, None]
        self.fitness += before
        if self.mutation:
            rarity = 1 / np.maximum(seat.actions * self.strains, 1 / (1 + _MOST_RARE)) - 1
            self.fitness += self.mutation * self.scale[:, None] * rarity
        self.met[met] += 1
        belief.add(seen.action, seen.opponent, seen.reward)
        after = self._optimism(belief.mean[column], belief.share[column], belief.variance[:, None], count + 1)
        self.optimistic[column] = after
        self._again += (count + 1) * after - count * before
        unmet = 1 / seat.opponent_actions
        self._known += (count + 1 + unmet) * (1 - belief.share[column]) - (count + unmet) * (1 - share)
        self.lead += ((self.elites - self.strains) * belief.mean[column]).sum(axis=-1)
        if t >= self._next:
            self._next = t + max(1, t // 20)
            belief.estimate_prior(t)
            self._imagine()
        elif self.forgetting < 1:
            self._imagine()

    def _imagine(self) -> None:
        """Compute the optimistic matrix of all pairs, and its sums over the opponent's actions."""
        belief, seat = self.belief, self.seat
        variance = belief.variance[:, None, None]
        self.optimistic = self._optimism(belief.mean, belief.share, variance, self.met[:, None])  # (runs, m, k), B
        self._again = seat.einsum("rij,rj->ri", self.optimistic, self.met)  # (runs, m), sum_j N_j B_ij
        weight = self.met + 1 / seat.opponent_actions
        self._known = seat.einsum("rij,rj->ri", 1 - belief.share, weight)  # (runs, m), sum_j (1 - g_ij) (N_j + 1/k)

    def _optimism(self, mean: Floats, share: Floats, variance: Floats, met: Floats) -> Floats:
        """Return B, the estimates with a bonus, clipped to the known range."""
        neglected = 1 + self.neglect * log(1 + met * share)
        most = self.seat.half_width
        return np.clip(mean + self.c * np.sqrt(variance * share * neglected), -most, most)


class EstimatedPrior:
    """A belief in payoffs ~ N(mu + r_i + q_j, v) seen with N(0, 1) noise, where mu, r, q and v are estimated.

    The variance of the effects r and q is kinship v. The pseudo-code of `Strain` has the formulas.
    """

    def __init__(self, seat: Seat, hope: float, kinship: float = 0.0, forgetting: float = 1.0) -> None:
        m, k = seat.actions, seat.opponent_actions
        self._hope, self._kinship, self._most = hope, kinship, seat.half_width**2
        self._enough = _ROUNDS_PER_PAIR * m * k
        self._tally = Tally(seat, forgetting)
        self._row, self._column = seat.zeros(m), seat.zeros(k)  # (runs, m) and (runs, k), r and q
        self._inherited = seat.zeros(m, k)  # (runs, m, k), mu' + f (r_i + q_j)
        self.variance = seat.full(self._most)  # (runs,), v
        self.prior = seat.zeros()  # (runs,), mu'
        self.share = seat.full(1.0, m, k)  # (runs, m, k), g
        self.mean = seat.zeros(m, k)  # (runs, m, k)

    @property
    def count(self) -> Floats:
        """The visits to each pair, n: (runs, m, k)."""
        return self._tally.count

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> None:
        """Learn from one reward per run."""
        index = self._tally.add(action, opponent, reward)
        if index is EVERY_PAIR:
            self._inherit()
        else:
            share = inherited_share(self.count[index], self.variance)
            self.share[index] = share
            self.mean[index] = (1 - share) * self._tally.mean[index] + share * self._inherited[index]

    def estimate_prior(self, t: int) -> None:
        """After round t, estimate mu, r and q by the means of the pairs, and v by their spread beyond the noise."""
        count, mean, most = self.count, self._tally.mean, self._most
        variance = self.variance[:, None, None]
        weight = count / (1 + count * variance)
        known = (weight * variance) ** 2  # (1 - g)²
        spread = known * ((mean - self.prior[:, None, None]) ** 2 - 1 / np.maximum(count, _FORGOTTEN))
        prior = _of_pairs(weight * mean) / (_of_pairs(weight) + 4 / most)
        if self._kinship:
            residual = mean - prior[:, None, None]
            precision = 1 / (self._kinship * self.variance)[:, None]
            self._row = shrunk_mean(residual - self._column[:, None, :], weight, precision)
            # Contiguous copies, so that sums are the same for every batch.
            residual = (residual - self._row[:, :, None]).swapaxes(-1, -2).copy()
            self._column = shrunk_mean(residual, weight.swapaxes(-1, -2).copy(), precision)
        self.variance = np.clip((3 * most + _of_pairs(spread)) / (3 + _of_pairs(known)), most / 100, most)
        self.prior = prior + self._hope * np.maximum(0, -prior)
        fresh = 1 / (1 + t / self._enough)
        effects = self._row[:, :, None] + self._column[:, None, :]
        self._inherited = self.prior[:, None, None] + fresh * effects
        self._inherit()

    def _inherit(self) -> None:
        """Compute the shares and the estimates of all pairs."""
        self.share = inherited_share(self.count, self.variance[:, None, None])
        self.mean = (1 - self.share) * self._tally.mean + self.share * self._inherited


def _of_pairs(numbers: Floats) -> Floats:
    """Return the sums over all pairs: (runs,) from (runs, m, k)."""
    return numbers.sum(axis=-1).sum(axis=-1)
