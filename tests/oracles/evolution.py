"""The slow twins of Kin and of COEBL with other operators than the paper's: one run, loops and scalars.

They obey the same rules as those of oracles/learners.py. Nothing here imports coebl.
"""

from math import exp, fsum, inf, log, sqrt

from oracles.learners import Pairs, Twin
from oracles.simplex import solve_exactly


def maximin(B):
    return [float(x) for x in solve_exactly(B, [sqrt(i / len(B)) for i in range(len(B))]).row]


class Relatives:
    """Effects of rows and columns, after EVOLUTION.md; rewards are those that it is given."""

    def __init__(self, m, k, own, rows, columns, forgetting=1.0):
        self.m, self.k, self.own, self.rows, self.columns = m, k, own, rows, columns
        self.pairs = Pairs(m, k, forgetting)
        self.r, self.q = [0.0] * m, [0.0] * k

    def g(self, i, j):
        return 1 / (1 + self.pairs.count(i, j) * self.own)

    def estimate(self, i, j, most=inf):
        g = self.g(i, j)
        return (1 - g) * self.pairs.mean(i, j) + g * min(most, max(-most, self.r[i] + self.q[j]))

    def add(self, i, j, reward):
        self.pairs.add(i, j, reward)
        w = [[self.pairs.count(a, b) * self.g(a, b) for b in range(self.k)] for a in range(self.m)]
        if self.rows > 0:
            top = fsum(w[i][b] * (self.pairs.mean(i, b) - self.q[b]) for b in range(self.k))
            self.r[i] = top / (fsum(w[i]) + 1 / self.rows)
        if self.columns > 0:
            top = fsum(w[a][j] * (self.pairs.mean(a, j) - self.r[a]) for a in range(self.m))
            self.q[j] = top / (fsum(w[a][j] for a in range(self.m)) + 1 / self.columns)


class KinTwin(Twin):
    def start(self, c=4.0, mutation=0.5, turnover=0.1, own=0.5, noise=1.0, proven=False):
        self.c, self.mutation, self.turnover, self.noise = c, mutation, turnover, noise
        self.proven, self.share = proven, own
        self.h = (self.high - self.low) / 2 / noise
        self.own, kin = own * self.h**2, (1 - own) / 2 * self.h**2
        self.relatives = Relatives(self.m, self.k, self.own, kin, kin, self.forgetting)
        self.x = [1 / self.m] * self.m
        self.last = None  # the round in which kappa was last counted

    def policy(self, t):
        m, k = self.m, self.k
        if self.T is not None:
            if (t - 1) % max(1, self.T // 100) == 0:
                self.kappa = max(1, self.T - t + 1) / (m * k)
        elif self.last is None or t == self.last + max(1, self.last // 100):
            self.kappa, self.last = t / (m * k), t
        z = self.normal(m, k)
        B = [[0.0] * k for _ in range(m)]
        for i in range(m):
            for j in range(k):
                n = self.relatives.pairs.count(i, j)
                nu = n + 1 / self.own
                g = self.relatives.g(i, j)
                mutation = self.mutation * sqrt(self.own) * g * z[i][j]
                if self.proven:
                    L = log(4 * m * k * self.T**2)
                    of_mean = sqrt(2 * L / n) if n else 0.0
                    of_relatives = self.h * (2 + self.mutation * sqrt(2 * self.share * L))
                    optimism = (1 - g) * of_mean + g * of_relatives
                    estimate = self.relatives.estimate(i, j, most=self.h)
                else:
                    optimism = sqrt(self.c * log(1 + self.kappa / nu) / nu)
                    estimate = self.relatives.estimate(i, j)
                B[i][j] = estimate + optimism + mutation
        new = maximin(B)
        self.x = [x + self.turnover * (y - x) for x, y in zip(self.x, new, strict=True)]
        return self.x

    def observe(self, t, action, opponent, reward):
        self.relatives.add(action, opponent, reward / self.noise)


class ComposedTwin(Twin):
    """COEBL with a population: mu policies, lambda mutants, (mu + lambda) or (mu, lambda), relatives, parasites."""

    def start(
        self,
        c=8.0,
        size=1,
        mutants=1,
        elitist=True,
        by_means=False,
        turnover=1.0,
        shares=(1.0, 0.0, 0.0),
        parasites=None,
    ):
        self.c, self.size, self.mutants, self.turnover = c, size, mutants, turnover
        self.elitist, self.by_means = elitist, by_means
        h = (self.high - self.low) / 2
        self.relatives = Relatives(self.m, self.k, *(share * h**2 for share in shares), self.forgetting)
        self.parasites, self.against = parasites, [[] for _ in range(self.k)]
        self.x = [1 / self.m] * self.m
        self.policies = [[1 / self.m] * self.m for _ in range(size)]

    def policy(self, t):
        m, k = self.m, self.k
        Z = self.normal(self.mutants, m, k)
        mutants = []
        for z in Z:
            B = [[0.0] * k for _ in range(m)]
            for i in range(m):
                for j in range(k):
                    n = self.relatives.pairs.count(i, j)
                    bonus = sqrt(self.c * log(2 * self.T**2 * m * k) / (max(1, n) + 1))
                    B[i][j] = self.relatives.estimate(i, j) + bonus + z[i][j] / max(1, n)
            mutants.append(B)
        means = [[self.relatives.estimate(i, j) for j in range(k)] for i in range(m)]
        judges = [means] if self.by_means else mutants
        new = [maximin(B) for B in mutants]
        candidates = self.policies + new if self.elitist else new
        falling = sorted(range(len(candidates)), key=lambda a: -self.fitness(candidates[a], judges))  # stable
        self.policies = [candidates[a] for a in sorted(falling[: self.size])]
        mean = [fsum(x[i] for x in self.policies) / self.size for i in range(m)]
        self.x = [(1 - self.turnover) * x + self.turnover * y for x, y in zip(self.x, mean, strict=True)]
        return self.x

    def facing(self):
        played = [j for j in range(self.k) if self.against[j]]
        if self.parasites is None or not played:
            return range(self.k)
        return sorted(played, key=lambda j: fsum(self.against[j]) / len(self.against[j]))[: self.parasites]

    def fitness(self, x, judges):
        total = 0.0
        for B in judges:
            least = inf
            for j in self.facing():
                least = min(least, fsum(x[i] * B[i][j] for i in range(self.m)))
            total += least
        return total / len(judges)

    def observe(self, t, action, opponent, reward):
        self.relatives.add(action, opponent, reward)
        self.against[opponent].append(reward)


class StrainTwin(Twin):
    def start(
        self,
        c=0.6,
        memory=0.3,
        elite=0.4,
        turnover=0.03,
        rate=1.2,
        trial=6.0,
        hope=0.6,
        neglect=0.2,
        mutation=0.0,
        kinship=0.5,
    ):
        self.c, self.memory, self.elite, self.turnover = c, memory, elite, turnover
        self.rate, self.trial, self.hope, self.neglect, self.mutation = rate, trial, hope, neglect, mutation
        self.kinship, self.r, self.q, self.f = kinship, [0.0] * self.m, [0.0] * self.k, 1.0
        self.h = (self.high - self.low) / 2
        self.v, self.mu, self.D = self.h**2, 0.0, 0.0
        self.N, self.S = [0] * self.k, [0.0] * self.m
        self.e, self.x = [1 / self.m] * self.m, [1 / self.m] * self.m
        self.due = 1  # the round after which mu and v are estimated again

    def g(self, i, j):
        return 1 / (1 + self.pairs.count(i, j) * self.v)

    def P(self, i, j):
        g = self.g(i, j)
        return (1 - g) * self.pairs.mean(i, j) + g * (self.mu + self.f * (self.r[i] + self.q[j]))

    def B(self, i, j):
        g = self.g(i, j)
        bonus = self.c * sqrt(self.v * g * (1 + self.neglect * log(1 + self.N[j] * g)))
        return min(self.h, max(-self.h, self.P(i, j) + bonus))

    def policy(self, t):
        m, k = self.m, self.k
        B = [[self.B(i, j) for j in range(k)] for i in range(m)]
        known = fsum(self.x[i] * (1 - self.g(i, j)) * (self.N[j] + 1 / k) for i in range(m) for j in range(k)) / t
        u = sqrt(3 * self.v + 0.5)
        F = [
            (1 - self.memory * known) * self.S[i] + self.memory * known * fsum(self.N[j] * B[i][j] for j in range(k))
            for i in range(m)
        ]
        pressure = self.rate * sqrt(log(m) / (t + m)) / u
        weights = [exp(pressure * (f - max(F))) for f in F]
        self.s = [w / fsum(weights) for w in weights]
        self.e = [e + self.turnover * (z - e) for e, z in zip(self.e, maximin(B), strict=True)]
        A = self.elite * known
        odds = A / (1 - A) * exp(self.trial * self.D / (u * sqrt(t + m)))
        a = odds / (1 + odds)
        self.x = [(1 - a) * s + a * e for s, e in zip(self.s, self.e, strict=True)]
        return self.x

    def observe(self, t, action, opponent, reward):
        m, k, j = self.m, self.k, opponent
        for i in range(m):
            rarity = 50 if m * self.s[i] < 1 / 51 else 1 / (m * self.s[i]) - 1
            self.S[i] += self.B(i, j) + self.mutation * sqrt(3 * self.v + 0.5) * rarity
        self.N[j] += 1
        self.pairs.add(action, j, reward)
        self.D += fsum((self.e[i] - self.s[i]) * self.P(i, j) for i in range(m))
        if t < self.due:
            return
        self.due = t + max(1, t // 20)
        tried = [(i, j) for i in range(m) for j in range(k) if self.pairs.count(i, j)]
        w = {pair: self.pairs.count(*pair) / (1 + self.pairs.count(*pair) * self.v) for pair in tried}
        mu = fsum(w[pair] * self.pairs.mean(*pair) for pair in tried) / (fsum(w.values()) + 4 / self.h**2)
        if self.kinship:
            least = 1 / (self.kinship * self.v)
            for i in range(m):
                mine = [pair for pair in tried if pair[0] == i]
                rest = fsum(w[pair] * (self.pairs.mean(*pair) - mu - self.q[pair[1]]) for pair in mine)
                self.r[i] = rest / (fsum(w[pair] for pair in mine) + least)
            for j in range(k):
                mine = [pair for pair in tried if pair[1] == j]
                rest = fsum(w[pair] * (self.pairs.mean(*pair) - mu - self.r[pair[0]]) for pair in mine)
                self.q[j] = rest / (fsum(w[pair] for pair in mine) + least)
            self.f = 1 / (1 + t / (0.3 * m * k))
        known = {pair: (1 - self.g(*pair)) ** 2 for pair in tried}
        spread = fsum(
            known[pair] * ((self.pairs.mean(*pair) - self.mu) ** 2 - 1 / self.pairs.count(*pair)) for pair in tried
        )
        v = (3 * self.h**2 + spread) / (3 + fsum(known.values()))
        self.v = min(self.h**2, max(self.h**2 / 100, v))
        self.mu = mu + self.hope * max(0.0, -mu)
