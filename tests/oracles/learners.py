"""The learners' slow twins: one run, one round at a time, loops and scalars, after the pseudo-code line by line.

A twin has policy(t) and observe(t, action, opponent, reward), with the payoffs of every own action as a fifth argument
if it has full information. Random numbers are handed in: `normal` and `uniform`
return nested lists of the shape they are asked for. Nothing here imports coebl.
"""

from math import exp, fsum, log, sqrt

from oracles.simplex import solve_exactly


class Pairs:
    """Every reward of every pair, remembered."""

    def __init__(self, m, k):
        self.rewards = [[[] for _ in range(k)] for _ in range(m)]

    def count(self, i, j):
        return len(self.rewards[i][j])

    def mean(self, i, j):
        seen = self.rewards[i][j]
        return fsum(seen) / len(seen) if seen else 0.0


class UcbTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform, ties="first"):
        self.m, self.k, self.T, self.ties, self.uniform = m, k, horizon, ties, uniform
        self.pairs = Pairs(m, k)

    def policy(self, t):
        B = [[0.0] * self.k for _ in range(self.m)]
        for i in range(self.m):
            for j in range(self.k):
                n = max(1, self.pairs.count(i, j))
                B[i][j] = self.pairs.mean(i, j) + sqrt(2 * log(2 * self.T**2 * self.m * self.k) / n)
        weight = [sqrt(i / self.m) for i in range(self.m)] if self.ties == "first" else self.uniform(self.m)
        return [float(x) for x in solve_exactly(B, weight).row]

    def observe(self, t, action, opponent, reward):
        self.pairs.rewards[action][opponent].append(reward)


class CoeblTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform, c=8.0, mutation="gaussian", selection="elitist"):
        self.m, self.k, self.T, self.c, self.normal = m, k, horizon, c, normal
        self.mutation, self.selection = mutation, selection
        self.pairs = Pairs(m, k)
        self.x = [1 / m] * m

    def policy(self, t):
        z = self.normal(self.m, self.k)
        B = [[0.0] * self.k for _ in range(self.m)]
        for i in range(self.m):
            for j in range(self.k):
                n = self.pairs.count(i, j)
                bonus = sqrt(self.c * log(2 * self.T**2 * self.m * self.k) / (max(1, n) + 1))
                deviation = 1 / max(1, n) if self.mutation == "gaussian" else sqrt(1 / (1 + n))
                B[i][j] = self.pairs.mean(i, j) + bonus + deviation * z[i][j]
        new = [float(x) for x in solve_exactly(B, [0] * self.m).row]
        if self.selection == "none" or self.fitness(new, B) > self.fitness(self.x, B):
            self.x = new
        return self.x

    def fitness(self, x, B):
        return min(fsum(x[i] * B[i][j] for i in range(self.m)) for j in range(self.k))

    def observe(self, t, action, opponent, reward):
        self.pairs.rewards[action][opponent].append(reward)


class Exp3Twin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform, rewards="unit", released=False):
        self.m, self.rewards, self.released = m, rewards, released
        self.low, self.high = payoff_range
        self.S = [0.0] * m

    def policy(self, t):
        m = self.m
        gamma = min(1, sqrt(m * log(m) / t))
        eta = sqrt(2 * log(m) / (t * m))
        total = fsum(exp(eta * s) for s in self.S)
        self.P = [(1 - gamma) * exp(eta * s) / total + gamma / m for s in self.S]
        return self.P

    def observe(self, t, action, opponent, reward):
        assert opponent is None
        if self.released:
            self.S[action] += (1 - reward) / self.P[action]
            return
        X = reward if self.rewards == "raw" else (reward - self.low) / (self.high - self.low)
        for i in range(self.m):
            self.S[i] += 1 - (1 if i == action else 0) * (1 - X) / self.P[i]


class Exp3IxTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform, released=False):
        self.m, self.released = m, released
        self.low, self.high = payoff_range
        self.x = [1 / m] * m

    def policy(self, t):
        return self.x

    def observe(self, t, action, opponent, reward):
        assert opponent is None
        eta, beta, epsilon = t ** (-5 / 8), t ** (-3 / 8), t ** (-1 / 8)
        sigma = reward if self.released else (self.high - reward) / (self.high - self.low)
        weights = []
        for a in range(self.m):
            g = (1 if a == action else 0) * sigma / (self.x[a] + beta) + epsilon * log(self.x[a])
            weights.append(self.x[a] * exp(-eta * g))
        self.x = project_by_bisection(weights, 1 / (self.m * t**2))


def project_by_bisection(weights, floor):
    """argmin of KL(x, weights) over strategies with x_a >= floor: x_a = max(floor, s w_a), by bisection on s."""
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


class TsallisInfTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform, rate=0.5):
        self.m, self.rate = m, rate
        self.low, self.high = payoff_range
        self.S = [0.0] * m  # estimated total reward

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
        assert opponent is None
        r = 2 * (reward - self.low) / (self.high - self.low) - 1
        for i in range(self.m):
            self.S[i] += 1 - (1 if i == action else 0) * (1 - r) / self.p[i]


class ThompsonTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform):
        self.m, self.k, self.normal = m, k, normal
        self.pairs = Pairs(m, k)

    def policy(self, t):
        z = self.normal(self.m, self.k)
        B = [[0.0] * self.k for _ in range(self.m)]
        for i in range(self.m):
            for j in range(self.k):
                n = self.pairs.count(i, j)
                B[i][j] = fsum(self.pairs.rewards[i][j]) / (n + 1) + sqrt(1 / (n + 1)) * z[i][j]
        return [float(x) for x in solve_exactly(B, [0] * self.m).row]

    def observe(self, t, action, opponent, reward):
        self.pairs.rewards[action][opponent].append(reward)


class HedgeTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform):
        self.m, self.T = m, horizon
        self.low, self.high = payoff_range
        self.S = [0.0] * m

    def policy(self, t):
        eta = sqrt(8 * log(self.m) / self.T)
        total = fsum(exp(eta * s) for s in self.S)
        return [exp(eta * s) / total for s in self.S]

    def observe(self, t, action, opponent, reward, payoffs):
        assert opponent is None
        for i in range(self.m):
            self.S[i] += (payoffs[i] - self.low) / (self.high - self.low)


class RegretMatchingTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform, plus=False):
        self.m, self.plus = m, plus
        self.R = [0.0] * m

    def policy(self, t):
        total = fsum(max(0.0, r) for r in self.R)
        self.x = [max(0.0, r) / total if total > 0 else 1 / self.m for r in self.R]
        return self.x

    def observe(self, t, action, opponent, reward, payoffs):
        assert opponent is None
        earned = fsum(self.x[i] * payoffs[i] for i in range(self.m))
        for i in range(self.m):
            self.R[i] += payoffs[i] - earned
            if self.plus:
                self.R[i] = max(0.0, self.R[i])


class Exp3IxNeuTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform):
        self.m, self.T = m, horizon
        self.low, self.high = payoff_range
        self.L = [0.0] * m

    def policy(self, t):
        self.eta = sqrt(2 * log(self.m) / (self.m * self.T))
        total = fsum(exp(-self.eta * x) for x in self.L)
        self.p = [exp(-self.eta * x) / total for x in self.L]
        return self.p

    def observe(self, t, action, opponent, reward):
        assert opponent is None
        loss = (self.high - reward) / (self.high - self.low)
        loss = 0.0 if loss < 0 else 1.0 if loss > 1 else loss
        self.L[action] += loss / (self.p[action] + self.eta / 2)


class MaximinUcbTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform):
        self.m, self.k, self.T = m, k, horizon
        self.high = payoff_range[1]
        self.pairs = Pairs(m, k)

    def policy(self, t):
        worst = [min(self.bound(i, j) for j in range(self.k)) for i in range(self.m)]
        best = worst.index(max(worst))
        return [1.0 if i == best else 0.0 for i in range(self.m)]

    def bound(self, i, j):
        n, delta = self.pairs.count(i, j), 1 / self.T
        if n == 0:
            return self.high
        return self.pairs.mean(i, j) + sqrt((4 * log(1 / delta) + 2 * log(1 + n)) / n)

    def observe(self, t, action, opponent, reward):
        self.pairs.rewards[action][opponent].append(reward)


class ExploreThenCommitTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform, visits=5):
        self.m, self.k, self.uniform = m, k, uniform
        self.pairs = Pairs(m, k)
        self.exploration = visits * m * k
        self.turn = []  # what is left of it

    def policy(self, t):
        if t <= self.exploration:
            if not self.turn:
                draws = self.uniform(self.m)
                self.turn = sorted(range(self.m), key=lambda i: draws[i])
            best = self.turn.pop(0)
            return [1.0 if i == best else 0.0 for i in range(self.m)]
        means = [[self.pairs.mean(i, j) for j in range(self.k)] for i in range(self.m)]
        return [float(x) for x in solve_exactly(means, [sqrt(i / self.m) for i in range(self.m)]).row]

    def observe(self, t, action, opponent, reward):
        if t <= self.exploration:
            self.pairs.rewards[action][opponent].append(reward)


class MmdTwin:
    def __init__(self, m, k, horizon, payoff_range, normal, uniform, rate=0.3, temperature=0.3):
        self.m, self.rate, self.temperature = m, rate, temperature
        self.low, self.high = payoff_range
        self.x = [1 / m] * m

    def policy(self, t):
        return self.x

    def observe(self, t, action, opponent, reward):
        assert opponent is None
        eta, tau = self.rate * t ** (-1 / 2), self.temperature * t ** (-1 / 4)
        r = (reward - self.low) / (self.high - self.low)
        weights = []
        for i in range(self.m):
            q = 1 - (1 if i == action else 0) * (1 - r) / (self.x[i] + eta / 2)
            weights.append((self.x[i] * (1 / self.m) ** (eta * tau) * exp(eta * q)) ** (1 / (1 + eta * tau)))
        self.x = [w / fsum(weights) for w in weights]
