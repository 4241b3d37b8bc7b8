"""Learners that play genomes: their policies are the probabilities of a 1, one per gene."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Annotated, Literal

import numpy as np

from coebl.backend import exp, log
from coebl.core.arrays import Floats, Ints
from coebl.core.specs import Nonnegative, Positive, PositiveShare, Range, Share
from coebl.games.genomes import MOST_LISTED, genomes
from coebl.games.spaces import Indices
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts import learn_weights

_BASELINE = 0.02  # the weight of a new reward in the running mean
_DRIFT = 0.3  # times 1 / eta²: the rounds after which chance alone has moved a gene without effect


@dataclass
class Pbil(Learner):
    """Population-based incremental learning from one genome a round: the natural gradient of independent bits.

    Large steps are fast, but cause genetic drift, the movement of genes whose effect is hidden. "smart" is the restart
    of Doerr and Zheng: when drift would have moved a gene without effect, it restarts with half the step.

        p = 1/2, b = 0; eta = 0.05 / sqrt(n) (fast) or 0.1 / n (safe)
        each round: play x ~ p; see r, in units of half the known range
          p += eta (r - b) (x - p) + eta magnet (1/2 - p), kept in [0, 1]; b += 0.02 (r - b)
        smart: begin with the fast step; after 0.3 / eta² rounds set p = 1/2, b = 0 and halve eta
    """

    name = "pbil"
    title = "PBIL"
    plays = frozenset({"bits"})
    round_cost, action_cost = 0.3, 0.008
    cites = "Baluja (1994). Population-based incremental learning. Technical report CMU-CS-94-163."

    step: Annotated[Literal["fast", "safe", "smart"], "the rule for eta, by the number of genes"] = "fast"
    magnet: Annotated[Nonnegative, "the pull towards 1/2, which keeps genes from becoming fixed"] = 0.0

    def start(self, seat: Seat) -> None:
        n = seat.actions
        self.eta = 0.1 / n if self.step == "safe" else 0.05 / sqrt(n)
        self._begin(1)

    def _begin(self, t: int) -> None:
        self.current = self.seat.full(0.5, self.seat.actions)  # (runs, n), p
        self.usual = self.seat.zeros()  # (runs,), b
        self._restart_at = t + int(_DRIFT / self.eta**2) if self.step == "smart" else 0

    def policy(self, t: int) -> Floats:
        if t == self._restart_at:
            self.eta /= 2
            self._begin(t)
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        surprise = 2 * self.seat.unit(seen.reward) - 1 - self.usual
        moved = self.current + (self.eta * surprise)[:, None] * (seen.action - self.current)
        if self.magnet:
            moved += self.eta * self.magnet * (0.5 - self.current)
        self.current = np.clip(moved, 0.0, 1.0)
        self.usual = self.usual + _BASELINE * surprise


_INFORMATION = 4.0  # I0, the information before the first round
_LEAST_VARIANCE = 0.02


@dataclass
class GeneLr(Learner):
    """Estimates each gene's effect by regression on x - p, and sets its odds by the likelihood ratio of the sign.

    A gene is decided as fast as the evidence allows, and there is no step size to choose. An undecided gene forgets
    slowly, since its effect depends on the opponent.

        h_i = 0, I_i = I0 = 4, w_i = 0, b = 0, s2 = 2; lam = 1 / (memory n); border = 0.02 / n
        each round: z_i = w_i sqrt(I_i); p_i = 1 / (1 + exp(-z_i |z_i| / 2)), kept in [border, 1 - border]
          play x ~ p; see r, in units of half the known range; d_i = x_i - p_i; e = r - b - sum_i w_i d_i
          f_i = 1 - 4 lam p_i (1 - p_i)
          h_i = f_i h_i + (e + w_i d_i) d_i / s2; I_i = f_i I_i + (1 - f_i) I0 + d_i² / s2; w_i = h_i / I_i
          b += max(0.02, 1/t) e; s2 = max(0.02, s2 + 0.01 (e² - s2))
    """

    name = "gene-lr"
    title = "Gene-LR"
    plays = frozenset({"bits"})
    round_cost, action_cost = 0.5, 0.02
    cites = "This library: docs/large-games.md."

    memory: Annotated[float, Range(1), "the rounds per gene that an undecided gene remembers"] = 50.0
    border: Annotated[Share, "n times the smallest probability of either bit"] = 0.02

    def start(self, seat: Seat) -> None:
        n = seat.actions
        self._forget = 4 / (self.memory * n)
        self._border = min(0.5, self.border / n)
        self.score = seat.zeros(n)  # (runs, n), h
        self.information = seat.full(_INFORMATION, n)  # (runs, n), I
        self.effect = seat.zeros(n)  # (runs, n), w
        self.usual = seat.zeros()  # (runs,), b
        self.variance = seat.full(2.0)  # (runs,), s2: the variance of payoffs and noise, one unit each
        self.current = seat.full(0.5, n)  # (runs, n), p

    def policy(self, t: int) -> Floats:
        # z |z| / 2 in terms of h and w, clipped so that exp stays finite.
        exponent = np.clip(self.score * np.abs(self.effect) / 2, -700.0, 700.0)
        self.current = np.clip(1 / (1 + exp(-exponent)), self._border, 1 - self._border)
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        p = self.current
        deviation = seen.action - p
        predicted = self.effect * deviation
        error = 2 * self.seat.unit(seen.reward) - 1 - self.usual - predicted.sum(axis=-1)
        forgotten = self._forget * p * (1 - p)
        weight = deviation / self.variance[:, None]
        self.score = (1 - forgotten) * self.score + (error[:, None] + predicted) * weight
        self.information = self.information + forgotten * (_INFORMATION - self.information) + deviation * weight
        self.effect = self.score / self.information
        self.usual = self.usual + max(0.02, 1 / t) * error
        self.variance = np.maximum(_LEAST_VARIANCE, self.variance + 0.01 * (error**2 - self.variance))


@dataclass
class Umda(Learner):
    """The univariate marginal distribution algorithm, with rewards as fitness.

    The genomes of a generation are played one after the other.

        p = 1/2; a generation is L = size sqrt(n) ln n rounds, at least 4
        each round: play x ~ p; see r
        after each generation: p = the mean of the L / 2 genomes of largest r, the earlier of equals
    """

    name = "umda"
    title = "UMDA"
    plays = frozenset({"bits"})
    round_cost, action_cost = 0.3, 0.003
    cites = "Mühlenbein and Paass (1996). From recombination of genes to the estimation of distributions. PPSN IV."

    size: Annotated[Positive, "the rounds of a generation, in units of sqrt(n) ln n"] = 8.0

    def start(self, seat: Seat) -> None:
        n = seat.actions
        self.length = max(4, round(self.size * sqrt(n) * log(n)))
        self.current = seat.full(0.5, n)  # (runs, n), p
        self.genomes = seat.zeros(self.length, n)  # (runs, L, n), the genomes of this generation
        self.rewards = seat.zeros(self.length)  # (runs, L)

    def policy(self, t: int) -> Floats:
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        place = (t - 1) % self.length
        self.genomes[:, place] = seen.action
        self.rewards[:, place] = seen.reward
        if place == self.length - 1:
            better = np.argsort(-self.rewards, axis=-1, kind="stable")[:, : self.length // 2]
            self.current = np.take_along_axis(self.genomes, better[..., None], axis=1).mean(axis=1)


_MOST_GENES = 100
_STEPS = 60  # steps towards the saddle point


@dataclass
class GeneBilin(Learner):
    """Thompson sampling of a payoff that is linear in the genes of each player, [1, X]' C [1, Y].

    A round costs O(n^4), so it suits up to about 50 genes.

        C has a normal prior: variance 1 for the constant, 0.5 / n for single genes, 1 / n² for pairs, times scale²
        each round: sample each entry of C, with `mutation` posterior deviations; X, Y in [-1, 1]^n
          60 extragradient steps of length 0.9 / ||C|| towards its saddle point, from that of the last round
          p += turnover ((X + 1) / 2 - p); play x ~ p; see r and the opponent's y
          update the posterior of C with r = [1, 2x - 1]' C [1, 2y - 1] + noise of deviation 1
    """

    name = "gene-bilin"
    title = "Gene-bilin"
    sees = frozenset({"opponent"})
    plays = frozenset({"bits"})
    cites = "This library: docs/large-games.md."

    mutation: Annotated[Nonnegative, "the deviation of the sample, in posterior deviations"] = 0.3
    turnover: Annotated[PositiveShare, "the share of the policy that a round replaces"] = 0.1
    scale: Annotated[Positive, "the deviation of payoffs under the prior, in units of the noise"] = 1.0

    def reason_not_to_play(self, seat: Seat) -> str | None:
        if seat.plays == "bits" and seat.actions > _MOST_GENES:
            return f"{self} keeps (n + 1)^4 numbers, and n is {seat.actions}; accepted: at most {_MOST_GENES} genes."
        return super().reason_not_to_play(seat)

    def start(self, seat: Seat) -> None:
        n, k = seat.actions, seat.opponent_actions
        self.mean = seat.zeros(n + 1, k + 1)  # (runs, n + 1, k + 1), C
        prior = seat.full(1.0, n + 1, k + 1)  # variances of the constant, single genes and pairs
        prior[:, 1:, 0] = 0.5 / n
        prior[:, 0, 1:] = 0.5 / k
        prior[:, 1:, 1:] = 1 / (n * k)
        pairs = (n + 1) * (k + 1)
        self._diagonal = seat.arange(pairs)
        self.covariance = seat.zeros(pairs, pairs)  # (runs, pairs, pairs)
        self.covariance[:, self._diagonal, self._diagonal] = prior.reshape((seat.runs, pairs)) * self.scale**2
        self.current = seat.full(0.5, n)  # (runs, n), p
        self.own, self.other = seat.zeros(n), seat.zeros(k)  # (runs, n) and (runs, k), the saddle point
        self._probe = seat.full(1.0, k)  # (runs, k), the vector of the power iteration

    def policy(self, t: int) -> Floats:
        variance = self.covariance[:, self._diagonal, self._diagonal].reshape(self.mean.shape)
        deviation = self.mutation * np.sqrt(np.maximum(variance, 0.0))
        sample = self.seat.random.normal(*self.mean.shape[1:], deviation=deviation, mean=self.mean)
        self._approach(sample)
        self.current = np.clip(self.current + self.turnover * ((self.own + 1) / 2 - self.current), 0.0, 1.0)
        return self.current

    def _approach(self, payoff: Floats) -> None:
        """Take extragradient steps towards the saddle point of a sample, (runs, n + 1, k + 1)."""
        einsum = self.seat.einsum
        single, against = payoff[:, 1:, 0], payoff[:, 0, 1:]
        pairs = np.ascontiguousarray(payoff[:, 1:, 1:], like=payoff)
        turned = np.ascontiguousarray(np.swapaxes(pairs, 1, 2), like=payoff)
        step = 0.9 / np.maximum(self._norm(pairs, turned), 1e-12)[:, None]
        own, other = self.own, self.other
        for _ in range(_STEPS):
            ahead = np.clip(own + step * (single + einsum("rij,rj->ri", pairs, other)), -1.0, 1.0)
            behind = np.clip(other - step * (against + einsum("rji,ri->rj", turned, own)), -1.0, 1.0)
            own = np.clip(own + step * (single + einsum("rij,rj->ri", pairs, behind)), -1.0, 1.0)
            other = np.clip(other - step * (against + einsum("rji,ri->rj", turned, ahead)), -1.0, 1.0)
        self.own, self.other = own, other

    def _norm(self, pairs: Floats, turned: Floats) -> Floats:
        """Return the largest singular values, (runs,), by power iteration from the last round's vector."""
        for _ in range(3):
            image = self.seat.einsum("rij,rj->ri", pairs, self._probe)
            probe = self.seat.einsum("rji,ri->rj", turned, image) + 1e-12
            self._probe = probe / np.sqrt((probe**2).sum(axis=-1))[:, None]
        image = self.seat.einsum("rij,rj->ri", pairs, self._probe)
        return np.sqrt((image**2).sum(axis=-1))

    def observe(self, t: int, seen: Seen) -> None:
        feature = (_signs(seen.action)[:, :, None] * _signs(seen.opponent)[:, None, :]).reshape((self.seat.runs, -1))
        learn_weights(self.seat, self.mean.reshape(feature.shape), self.covariance, feature, seen.reward)

    def cost(self, actions: int, opponent_actions: int) -> float:
        pairs = (actions + 1) * (opponent_actions + 1)
        return 5.0 + 0.002 * pairs**2 + _STEPS * 4 * 0.001 * pairs


def _signs(genome: Ints) -> Floats:
    """Return [1, X] with X = 2x - 1, (runs, n + 1)."""
    signs = 2.0 * genome - 1
    return np.concatenate([np.ones_like(signs[:, :1]), signs], axis=1)


@dataclass
class HillClimber(Learner):
    """The (1+1) evolutionary algorithm: parent and mutant play in turn, and the one that earned more stays.

    A baseline: a single comparison decides, even with noise or against an opponent that changes.

        x = a random genome
        in odd rounds: play x; see r
        in even rounds: play z, x with each gene flipped with probability rate / n; see r'; if r' >= r then x = z
    """

    name = "hill-climber"
    title = "(1+1) hill climber"
    plays = frozenset({"bits"})
    round_cost, action_cost = 0.3, 0.005
    improves = False  # not reliably
    cites = "Mühlenbein (1992). How genetic algorithms really work: mutation and hillclimbing. PPSN II."

    rate: Annotated[Positive, "the mean number of genes that a mutant flips"] = 1.0

    def start(self, seat: Seat) -> None:
        self.parent = (seat.random.uniform(seat.actions) < 0.5).astype(np.float64)  # (runs, n), x
        self.earned = seat.zeros()  # (runs,), r
        self._chance = min(1.0, self.rate / seat.actions)

    def policy(self, t: int) -> Floats:
        if t % 2:
            return self.parent
        flips = (self.seat.random.uniform(self.seat.actions) < self._chance).astype(np.float64)
        return np.abs(self.parent - flips)

    def observe(self, t: int, seen: Seen) -> None:
        if t % 2:
            self.earned = seen.reward
        else:
            better = (seen.reward >= self.earned)[:, None]
            self.parent = np.where(better, seen.action.astype(np.float64), self.parent)


@dataclass
class AsAtoms(Learner):
    """A learner of matrix games that treats each of the 2^n genomes as an action: at most 10 genes.

    It can thus play against learners of genomes. Since its mixture over genomes has no independent genes, it draws a
    genome itself, and metrics of its policies are those of single genomes. To measure it in self-play, use the matrix
    game, such as diagonal:n=4.

        each round: draw a genome from the learner's mixture over all 2^n; play it
          let the learner observe the numbers of its genome and the opponent's, and the reward
    """

    name = "as-atoms"
    title = "as atoms"
    sees = frozenset({"opponent"})
    plays = frozenset({"bits"})
    example = "as-atoms:learner=exp3"
    cites = "This library: docs/large-games.md."

    learner: Annotated[Learner, "a learner of matrix games that sees at most the opponent's action"]

    def reason_not_to_play(self, seat: Seat) -> str | None:
        if reason := super().reason_not_to_play(seat):
            return reason
        if seat.actions > MOST_LISTED:
            return f"as-atoms lists 2^n genomes, and n is {seat.actions}; accepted: at most {MOST_LISTED} genes."
        if not set(self.learner.sees) <= {"opponent"}:
            return f"as-atoms: {self.learner} sees more than the opponent's action; pick another learner."
        return self.learner.reason_not_to_play(_listed(seat))

    def start(self, seat: Seat) -> None:
        n = seat.actions
        self._space = Indices(2**n)
        self._genomes = seat.array(genomes(n))  # (2^n, n)
        self._places = seat.array(2.0 ** np.arange(n)[::-1])  # the value of each bit in the number of a genome
        self.inner = self.learner.seated(_listed(seat))
        self.mixture = seat.zeros(2**n)  # (runs, 2^n)

    def policy(self, t: int) -> Floats:
        self.mixture = self.inner.policy(t)
        number = self.seat.backend.draw(self._space, self.mixture, self.seat.random.uniform(1))
        return self._genomes[number]

    def observe(self, t: int, seen: Seen) -> None:
        action = self._number(seen.action)
        opponent = self._number(seen.opponent) if "opponent" in self.inner.sees else None
        probability = self.mixture[self.seat.at(action)] if self.inner.importance_weighted else None
        self.inner.observe(t, Seen(action, seen.reward, opponent, shown_probability=probability))

    def _number(self, genome: Ints) -> Ints:
        """Return the number of each genome, read in binary: (runs,)."""
        return (genome * self._places).sum(axis=-1).astype(np.int64)

    def cost(self, actions: int, opponent_actions: int) -> float:
        return 1.0 + self.learner.cost(2**actions, 2**opponent_actions)


def _listed(seat: Seat) -> Seat:
    """Return the seat of the matrix game of all genomes."""
    return replace(seat, actions=2**seat.actions, opponent_actions=2**seat.opponent_actions, space=None)
