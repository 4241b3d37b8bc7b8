"""The slow twins of COEBL, Kin and Strain: one run, loops and scalars, by the rules of oracles/learners.py."""

from math import exp, fsum, inf, log, sqrt

from oracles.learners import Pairs, Twin, maximin, softmax


class Relatives:
    """Effects of rows and columns, after docs/evolution.md; if own is None, nothing is inherited."""

    def __init__(self, m, k, own, rows, columns, forgetting=1.0):
        self.m, self.k, self.own, self.rows, self.columns = m, k, own, rows, columns
        self.pairs = Pairs(m, k, forgetting)
        self.r, self.q = [0.0] * m, [0.0] * k

    def g(self, i, j):
        return 0.0 if self.own is None else 1 / (1 + self.pairs.count(i, j) * self.own)

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
    tolerance = 1e-7

    def start(self, c=4.0, mutation=0.5, turnover=0.1, own=0.5, noise=1.0, optimism="to-come"):
        self.c, self.mutation, self.turnover, self.noise = c, mutation, turnover, noise
        self.optimism, self.share = optimism, own
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

        def mutated(i, j):
            n, g = self.relatives.pairs.count(i, j), self.relatives.g(i, j)
            mutation = self.mutation * sqrt(self.own) * g * z[i][j]
            if self.optimism == "proven":
                L = log(4 * m * k * self.T**2)
                of_mean = sqrt(2 * L / n) if n else 0.0
                of_relatives = self.h * (2 + self.mutation * sqrt(2 * self.share * L))
                return self.relatives.estimate(i, j, most=self.h) + (1 - g) * of_mean + g * of_relatives + mutation
            nu = n + 1 / self.own
            return self.relatives.estimate(i, j) + sqrt(self.c * log(1 + self.kappa / nu) / nu) + mutation

        new = maximin(self.matrix(mutated))
        self.x = [x + self.turnover * (y - x) for x, y in zip(self.x, new, strict=True)]
        return self.x

    def observe(self, t, action, opponent, reward):
        self.relatives.add(action, opponent, reward / self.noise)


class CoeblTwin(Twin):
    """COEBL with a population: mu policies, lambda mutants, (mu + lambda) or (mu, lambda), relatives, parasites."""

    tolerance = 1e-7
    c, mutation, size, mutants, elitist, by_means, turnover, parasites = 8.0, "gaussian", 1, 1, True, False, 1.0, None

    def start(self, shares=None, **others):
        vars(self).update(others)
        h = (self.high - self.low) / 2
        variances = (None, 0, 0) if shares is None else [share * h**2 for share in shares]
        self.relatives = Relatives(self.m, self.k, *variances, self.forgetting)
        self.against = [[] for _ in range(self.k)]
        self.x = [1 / self.m] * self.m
        self.policies = [self.x] * self.size

    def policy(self, t):
        m, k = self.m, self.k

        def mutated(i, j, z):
            n = self.relatives.pairs.count(i, j)
            bonus = sqrt(self.c * log(2 * self.T**2 * m * k) / (max(1, n) + 1))
            deviation = 1 / max(1, n) if self.mutation == "gaussian" else sqrt(1 / (1 + n))
            return self.relatives.estimate(i, j) + bonus + deviation * z[i][j]

        Z = self.normal(self.mutants, m, k)
        mutants = [self.matrix(lambda i, j, z=z: mutated(i, j, z)) for z in Z]
        judges = [self.matrix(self.relatives.estimate)] if self.by_means else mutants
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
        least = [min(fsum(x[i] * B[i][j] for i in range(self.m)) for j in self.facing()) for B in judges]
        return sum(least) / len(judges)

    def observe(self, t, action, opponent, reward):
        self.relatives.add(action, opponent, reward)
        self.against[opponent].append(reward)


class StrainTwin(Twin):
    tolerance = 1e-7
    c, memory, elite, turnover, rate, trial, hope, neglect = 0.6, 0.3, 0.4, 0.03, 1.2, 6.0, 0.6, 0.2
    mutation, kinship = 0.0, 0.5

    def start(self, **others):
        vars(self).update(others)
        self.r, self.q, self.f = [0.0] * self.m, [0.0] * self.k, 1.0
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
        B = self.matrix(self.B)
        known = fsum(self.x[i] * (1 - self.g(i, j)) * (self.N[j] + 1 / k) for i in range(m) for j in range(k)) / t
        u = sqrt(3 * self.v + 0.5)
        F = [
            (1 - self.memory * known) * self.S[i] + self.memory * known * fsum(self.N[j] * B[i][j] for j in range(k))
            for i in range(m)
        ]
        self.s = softmax(F, self.rate * sqrt(log(m) / (t + m)) / u)
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
            for axis, effects, others in ((0, self.r, self.q), (1, self.q, self.r)):
                for a in range(len(effects)):
                    mine = [pair for pair in tried if pair[axis] == a]
                    rest = fsum(w[pair] * (self.pairs.mean(*pair) - mu - others[pair[1 - axis]]) for pair in mine)
                    effects[a] = rest / (fsum(w[pair] for pair in mine) + 1 / (self.kinship * self.v))
            self.f = 1 / (1 + t / (0.3 * m * k))
        known = {pair: (1 - self.g(*pair)) ** 2 for pair in tried}
        spread = fsum(
            known[pair] * ((self.pairs.mean(*pair) - self.mu) ** 2 - 1 / self.pairs.count(*pair)) for pair in tried
        )
        v = (3 * self.h**2 + spread) / (3 + fsum(known.values()))
        self.v = min(self.h**2, max(self.h**2 / 100, v))
        self.mu = mu + self.hope * max(0.0, -mu)
