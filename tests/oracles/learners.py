"""The learners' slow twins: one run, one round at a time, loops and scalars, after the pseudo-code line by line.

A twin has start(), with its hyper-parameters, policy(t), and observe(t, action, opponent, reward), with the payoffs of
all its actions as a fifth argument if it has full information; opponent is None in a `Bandit`, which does not see it.
`EpsilonGreedyTwin`, of the template, is the one to copy. Nothing here imports coebl.
"""

from fractions import Fraction
from math import ceil, exp, fsum, log, sqrt

import numpy as np
from scipy.optimize import minimize

from oracles.simplex import solve_exactly


class Pairs:
    """All rewards of all pairs; a reward counts less by the factor `forgetting` in each later round."""

    def __init__(self, m, k, forgetting=1.0):
        self.seen = [[[] for _ in range(k)] for _ in range(m)]  # rounds and rewards
        self.forgetting, self.round = forgetting, 0

    def add(self, i, j, reward):
        self.round += 1
        self.seen[i][j].append((self.round, reward))

    def count(self, i, j):
        return fsum(self.forgetting ** (self.round - t) for t, _ in self.seen[i][j])

    def total(self, i, j):
        return fsum(self.forgetting ** (self.round - t) * reward for t, reward in self.seen[i][j])

    def mean(self, i, j):
        return self.total(i, j) / self.count(i, j) if self.seen[i][j] else 0.0


class Twin:
    """A base class that stores what every twin is given, and the rewards of all pairs unless `observe` is overridden.

    `normal` and `uniform` return random numbers as nested lists of a given shape.
    """

    tolerance = 1e-9  # of the difference between its policies and the learner's
    informed = True  # sees the opponent's action

    def __init__(self, m, k, horizon, payoff_range, normal, uniform, forgetting=1.0, **hyper_parameters):
        self.m, self.k, self.T, self.forgetting = m, k, horizon, forgetting
        self.low, self.high = payoff_range
        self.normal, self.uniform = normal, uniform
        self.pairs = Pairs(m, k, forgetting)
        self.start(**hyper_parameters)

    def start(self):
        pass

    def observe(self, t, action, opponent, reward):
        self.pairs.add(action, opponent, reward)

    def unit(self, reward):
        return (reward - self.low) / (self.high - self.low)

    def matrix(self, entry):
        """Return the matrix of entry(i, j) for all pairs."""
        return [[entry(i, j) for j in range(self.k)] for i in range(self.m)]


class Bandit(Twin):
    informed = False


def maximin(B, weight=None):
    """Return the maximin strategy; of several, that of least mean weight, by default one that prefers first actions."""
    weight = [sqrt(i / len(B)) for i in range(len(B))] if weight is None else weight
    return [float(x) for x in solve_exactly(B, weight).row]


def softmax(scores, eta):
    weights = [exp(eta * (score - max(scores))) for score in scores]
    return [weight / fsum(weights) for weight in weights]


def in_proportion(weights):
    """Return the policy proportional to the positive weights, uniform if there are none."""
    positive = [max(0.0, weight) for weight in weights]
    total = fsum(positive)
    return [weight / total if total > 0 else 1 / len(weights) for weight in positive]


def pure(best, m):
    return [1.0 if i == best else 0.0 for i in range(m)]


class EpsilonGreedyTwin(Bandit):
    def start(self, explore=5.0):
        self.explore = explore
        self.rewards = [[] for _ in range(self.m)]

    def policy(self, t):
        mean = [fsum(seen) / len(seen) if seen else 0.0 for seen in self.rewards]
        best = mean.index(max(mean))
        epsilon = min(1, self.explore * self.m / t)
        return [(1 - epsilon) * (1 if i == best else 0) + epsilon / self.m for i in range(self.m)]

    def observe(self, t, action, opponent, reward):
        self.rewards[action].append(reward)


class UcbTwin(Twin):
    tolerance = 1e-7

    def start(self, ties="first"):
        self.ties = ties

    def policy(self, t):
        L = log(2 * self.T**2 * self.m * self.k)
        B = self.matrix(lambda i, j: self.pairs.mean(i, j) + sqrt(2 * L / max(1, self.pairs.count(i, j))))
        return maximin(B, None if self.ties == "first" else self.uniform(self.m))


class Exp3Twin(Bandit):
    def start(self, rewards="unit", released=False):
        self.rewards, self.released = rewards, released
        self.S = [0.0] * self.m

    def policy(self, t):
        m = self.m
        gamma = min(1, sqrt(m * log(m) / t))
        self.P = [(1 - gamma) * p + gamma / m for p in softmax(self.S, sqrt(2 * log(m) / (t * m)))]
        return self.P

    def observe(self, t, action, opponent, reward):
        if self.released:
            self.S[action] += (1 - reward) / self.P[action]
            return
        X = reward if self.rewards == "raw" else self.unit(reward)
        for i in range(self.m):
            self.S[i] += 1 - (1 if i == action else 0) * (1 - X) / self.P[i]


class Exp3IxTwin(Bandit):
    def start(self, released=False):
        self.released = released
        self.x = [1 / self.m] * self.m

    def policy(self, t):
        return self.x

    def observe(self, t, action, opponent, reward):
        eta, beta, epsilon = t ** (-5 / 8), t ** (-3 / 8), t ** (-1 / 8)
        sigma = reward if self.released else 1 - self.unit(reward)
        weights = []
        for a in range(self.m):
            g = (1 if a == action else 0) * sigma / (self.x[a] + beta) + epsilon * log(self.x[a])
            weights.append(self.x[a] * exp(-eta * g))
        self.x = project_by_bisection(weights, 1 / (self.m * t**2))


class HedgeTwin(Bandit):
    def start(self):
        self.S = [0.0] * self.m

    def policy(self, t):
        return softmax(self.S, sqrt(8 * log(self.m) / self.T))

    def observe(self, t, action, opponent, reward, payoffs):
        self.gain(payoffs)

    def gain(self, payoffs):
        self.S = [score + self.unit(payoff) for score, payoff in zip(self.S, payoffs, strict=True)]

    def clipped(self, payoff):
        return min(self.high, max(self.low, payoff))


class RegretMatchingTwin(Bandit):
    def start(self, plus=False):
        self.plus = plus
        self.R = [0.0] * self.m

    def policy(self, t):
        self.x = in_proportion(self.R)
        return self.x

    def observe(self, t, action, opponent, reward, payoffs):
        earned = fsum(x * payoff for x, payoff in zip(self.x, payoffs, strict=True))
        self.R = [regret + payoff - earned for regret, payoff in zip(self.R, payoffs, strict=True)]
        if self.plus:
            self.R = [max(0.0, regret) for regret in self.R]


class OtsHedgeTwin(HedgeTwin):
    informed = True

    def start(self, draws=10):
        super().start()
        self.draws = draws

    def observe(self, t, action, opponent, reward):
        z = self.normal(self.draws, self.m)
        payoffs = []
        for i in range(self.m):
            n = self.pairs.count(i, opponent)
            mean, deviation = self.pairs.total(i, opponent) / (n + 1), sqrt(1 / (n + 1))
            payoffs.append(self.clipped(max(mean + deviation * z[draw][i] for draw in range(self.draws))))
        self.gain(payoffs)
        self.pairs.add(action, opponent, reward)


class OtsRmTwin(OtsHedgeTwin):
    def policy(self, t):
        self.x = in_proportion(self.S)
        return self.x

    def gain(self, payoffs):
        earned = fsum(x * payoff for x, payoff in zip(self.x, payoffs, strict=True))
        self.S = [regret + payoff - earned for regret, payoff in zip(self.S, payoffs, strict=True)]


class GpMwTwin(HedgeTwin):
    informed = True

    def start(self, beta=2.0, kernel="independent"):
        super().start()
        self.beta = beta
        self.smooth = rbf(self.m, self.k) if kernel == "rbf" else None
        self.visits = []

    def observe(self, t, action, opponent, reward):
        ages = [len(self.visits) - past for past in range(len(self.visits))]
        noise = [1.0 if self.smooth else self.forgetting ** (1 - age) for age in ages]  # old rewards are noisier
        payoffs = []
        for i in range(self.m):
            pair = (i, opponent, len(self.visits))
            mean, deviation = dense_gaussian_process(self.visits, pair, self.kernel, noise)
            payoffs.append(self.clipped(mean + self.beta * deviation))
        self.gain(payoffs)
        self.visits.append((action, opponent, len(self.visits), reward))

    def kernel(self, a, b):
        """Between pairs in two rounds: with "rbf", payoffs are an autoregressive process."""
        if self.smooth:
            return self.smooth(a, b) * sqrt(self.forgetting) ** abs(a[2] - b[2])
        return 1.0 if a[:2] == b[:2] else 0.0


class ThompsonTwin(Twin):
    tolerance = 1e-7

    def policy(self, t):
        z = self.normal(self.m, self.k)

        def drawn(i, j):
            n = self.pairs.count(i, j)
            return self.pairs.total(i, j) / (n + 1) + sqrt(1 / (n + 1)) * z[i][j]

        return maximin(self.matrix(drawn))


class KLearningTwin(Twin):
    tolerance = 1e-5  # SciPy's general optimiser is no better than that

    def policy(self, t):
        variance = np.array(self.matrix(lambda i, j: 1 / (self.pairs.count(i, j) + 1)))
        return minimise_entropic(np.array(self.matrix(self.pairs.total)) * variance, variance)[1].tolist()


def minimise_entropic(mean, variance):
    """Return K-learning's minimum over (y, tau) by a general optimiser, and the strategy x there."""
    k = mean.shape[1]

    def brackets(y, tau):
        return mean @ y / tau + variance @ y**2 / (2 * tau**2)

    def objective(point):
        y, tau = point[:k], point[k]
        b = brackets(y, tau)
        top = b.max()
        log_sum = top + np.log(np.exp(b - top).sum())
        x = np.exp(b - log_sum)
        by_y = x @ (mean + variance * y / tau)
        by_tau = log_sum - x @ (mean @ y / tau + variance @ y**2 / tau**2)
        return tau * log_sum, np.append(by_y, by_tau)

    sums_to_one = {"type": "eq", "fun": lambda point: point[:k].sum() - 1, "jac": lambda _: np.append(np.ones(k), 0)}
    problem = {"jac": True, "bounds": [(0, 1)] * k + [(1e-3, None)], "constraints": [sums_to_one]}
    point = np.append(np.full(k, 1 / k), 1.0)
    for _ in range(3):  # started again from its answer, since a single call sometimes stops early
        solution = minimize(objective, point, method="SLSQP", **problem, options={"ftol": 1e-16, "maxiter": 500})
        point = np.append(solution.x[:k] / solution.x[:k].sum(), solution.x[k])
    b = brackets(point[:k], point[k])
    weights = np.exp(b - b.max())
    return objective(point)[0], weights / weights.sum()


def rbf(m, k):
    """The RBF kernel of variance 1 on pairs of indices, with lengths m/5 and k/5."""
    return lambda a, b: exp(-(((a[0] - b[0]) / (m / 5)) ** 2) / 2 - (((a[1] - b[1]) / (k / 5)) ** 2) / 2)


def dense_gaussian_process(visits, pair, kernel, noise=1.0):
    """Return the posterior mean and deviation of a pair's payoff after visits, each (*pair, reward)."""
    if not visits:
        return 0.0, sqrt(kernel(pair, pair))
    pairs = [visit[:-1] for visit in visits]
    K = np.array([[kernel(a, b) for b in pairs] for a in pairs]) + noise * np.eye(len(pairs))
    with_pair = np.array([kernel(a, pair) for a in pairs])
    solved = np.linalg.solve(K, with_pair)
    return float(solved @ [visit[-1] for visit in visits]), sqrt(kernel(pair, pair) - float(solved @ with_pair))


def project_by_bisection(weights, floor):
    """Return the x with x_a >= floor that minimises KL(x, weights): x_a = max(floor, s w_a), by bisection on s."""
    low, high = 0.0, 1 / max(weights)
    while sum(max(floor, high * w) for w in weights) < 1:
        high *= 2
    for _ in range(2000):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if sum(max(floor, middle * w) for w in weights) < 1:
            low = middle
        else:
            high = middle
    return [max(floor, high * w) for w in weights]


class TsallisInfTwin(Bandit):
    def start(self, rate=0.5):
        self.rate = rate
        self.S = [0.0] * self.m  # estimated total reward

    def policy(self, t):
        eta = self.rate / sqrt(t)
        a = [eta * (max(self.S) - s) for s in self.S]
        low, high = 1.0, sqrt(self.m)
        for _ in range(200):
            u = (low + high) / 2
            if fsum((x + u) ** -2 for x in a) > 1:
                low = u
            else:
                high = u
        self.p = [(x + high) ** -2 for x in a]
        return self.p

    def observe(self, t, action, opponent, reward):
        r = 2 * self.unit(reward) - 1
        for i in range(self.m):
            self.S[i] += 1 - (1 if i == action else 0) * (1 - r) / self.p[i]


class Exp3IxNeuTwin(Bandit):
    def start(self):
        self.L = [0.0] * self.m

    def policy(self, t):
        self.eta = sqrt(2 * log(self.m) / (self.m * (self.T or t)))
        self.p = softmax([-loss for loss in self.L], self.eta)
        return self.p

    def observe(self, t, action, opponent, reward):
        loss = min(1.0, max(0.0, 1 - self.unit(reward)))
        self.L[action] += loss / (self.p[action] + self.eta / 2)


class MaximinUcbTwin(Twin):
    tolerance = 0

    def policy(self, t):
        worst = [min(row) for row in self.matrix(self.bound)]
        return pure(worst.index(max(worst)), self.m)

    def bound(self, i, j):
        n, delta = self.pairs.count(i, j), 1 / self.T
        if n == 0:
            return self.high
        return self.pairs.mean(i, j) + sqrt((4 * log(1 / delta) + 2 * log(1 + n)) / max(1, n))


class ExploreThenCommitTwin(Twin):
    tolerance = 1e-7

    def start(self, visits=5):
        self.exploration = visits * self.m * self.k
        self.turn = []  # the actions that are left of it

    def policy(self, t):
        if t > self.exploration:
            return maximin(self.matrix(self.pairs.mean))
        if not self.turn:
            draws = self.uniform(self.m)
            self.turn = sorted(range(self.m), key=lambda i: draws[i])
        return pure(self.turn.pop(0), self.m)

    def observe(self, t, action, opponent, reward):
        if t <= self.exploration:
            self.pairs.add(action, opponent, reward)


class MmdTwin(Bandit):
    def start(self, rate=0.3, temperature=0.3):
        self.rate, self.temperature = rate, temperature
        self.x = [1 / self.m] * self.m

    def policy(self, t):
        return self.x

    def observe(self, t, action, opponent, reward):
        eta, tau = self.rate * t ** (-1 / 2), self.temperature * t ** (-1 / 4)
        weights = []
        for i in range(self.m):
            q = 1 - (1 if i == action else 0) * (1 - self.unit(reward)) / (self.x[i] + eta / 2)
            weights.append((self.x[i] * (1 / self.m) ** (eta * tau) * exp(eta * q)) ** (1 / (1 + eta * tau)))
        self.x = in_proportion(weights)


class BlumMansourTwin(Bandit):
    """m twins of a bandit, each of which receives the probability of the action."""

    def start(self, twin=None, probability=None, **hyper_parameters):
        horizon = None if self.T is None else ceil(self.T / self.m)
        arguments = (self.m, self.k, horizon, (self.low, self.high), self.normal, self.uniform)
        self.copies = [twin(*arguments, **hyper_parameters) for _ in range(self.m)]
        self.probability = probability  # the attribute in which the twin stores its policy

    def policy(self, t):
        Q = [[Fraction(q) for q in copy.policy(ceil(t / self.m))] for copy in self.copies]
        # The Markov chain tree theorem: p_k is proportional to the determinant of I - Q without row and column k.
        left = [[sum(row) - q if i == k else -q for k, q in enumerate(row)] for i, row in enumerate(Q)]
        states = range(self.m)
        minors = [determinant([[left[i][j] for j in states if j != k] for i in states if i != k]) for k in states]
        self.p = [float(minor / sum(minors)) for minor in minors]
        return self.p

    def observe(self, t, action, opponent, reward):
        for i, copy in enumerate(self.copies):
            setattr(copy, self.probability, self.p)
            copy.observe(ceil(t / self.m), action, None, self.high - self.p[i] * (self.high - reward))


class HartMasColellTwin(Bandit):
    def start(self, inertia=1.0, explore=1.0, decay=0.24):
        self.inertia, self.explore, self.decay = inertia, explore, decay
        self.history = []  # of actions, policies and rewards from -1 to 1

    def policy(self, t):
        m = self.m
        self.p = [1 / m] * m
        if self.history:
            j = self.history[-1][0]
            delta = self.explore / t**self.decay
            own = fsum(u for a, p, u in self.history if a == j)
            for k in range(m):
                other = fsum(p[j] / p[k] * u for a, p, u in self.history if a == k)
                move = max(0, other - own) / len(self.history) / (2 * self.inertia * (m - 1))
                self.p[k] = (1 - delta) * min(move, 1 / (m - 1)) + delta / m
            self.p[j] = 1 - fsum(self.p[k] for k in range(m) if k != j)
        return self.p

    def observe(self, t, action, opponent, reward):
        self.history.append((action, self.p, (2 * reward - self.high - self.low) / (self.high - self.low)))


class FictitiousPlayTwin(Twin):
    def start(self, c=2.0):
        self.c = c

    def policy(self, t):
        def term(i, j):
            seen = fsum(self.pairs.count(a, j) for a in range(self.m))
            n, mean = self.pairs.count(i, j), self.pairs.mean(i, j)
            if self.c:
                mean = min(self.high, mean + sqrt(self.c * log(t + 1) / n)) if n else self.high
            return seen * mean

        score = [fsum(row) for row in self.matrix(term)]
        return in_proportion([float(abs(s - max(score)) < 1e-9) for s in score])


def determinant(matrix):
    """Return the determinant, by expansion along the first row."""
    if not matrix:
        return Fraction(1)
    return sum(
        (-1) ** j * entry * determinant([row[:j] + row[j + 1 :] for row in matrix[1:]])
        for j, entry in enumerate(matrix[0])
    )
