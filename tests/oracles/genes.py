"""Slow twins of the learners of genomes: one run, one gene at a time, after the pseudo-code line by line.

A twin has start(), with its hyper-parameters, policy(t), and observe(t, x, y, reward): its genome, the opponent's, and
the reward. `m` and `k` are the numbers of genes. Nothing here imports coebl.
"""

from math import exp, log, sqrt

import numpy as np

from oracles.learners import Twin


def clip(number, low, high):
    return min(max(number, low), high)


class GeneTwin(Twin):
    tolerance = 1e-12

    def unit(self, reward):
        """Return the reward in units of half the known range, counted from its middle."""
        return (reward - (self.low + self.high) / 2) / ((self.high - self.low) / 2)


class PbilTwin(GeneTwin):
    def start(self, step="fast", magnet=0.0):
        self.step, self.magnet = step, magnet
        self.eta = 0.1 / self.m if step == "safe" else 0.05 / sqrt(self.m)
        self.begin(1)

    def begin(self, t):
        self.p, self.b, self.begun = [0.5] * self.m, 0.0, t

    def policy(self, t):
        if self.step == "smart" and t - self.begun >= int(0.3 / self.eta**2):
            self.eta /= 2
            self.begin(t)
        return self.p

    def observe(self, t, x, y, reward):
        r = self.unit(reward)
        for i in range(self.m):
            pull = self.eta * self.magnet * (0.5 - self.p[i])
            self.p[i] = clip(self.p[i] + self.eta * (r - self.b) * (x[i] - self.p[i]) + pull, 0.0, 1.0)
        self.b += 0.02 * (r - self.b)


class GeneLrTwin(GeneTwin):
    tolerance = 1e-9

    def start(self, memory=50.0, border=0.02):
        n = self.m
        self.h, self.I, self.w = [0.0] * n, [4.0] * n, [0.0] * n
        self.b, self.s2 = 0.0, 2.0
        self.lam, self.border = 1 / (memory * n), min(0.5, border / n)

    def policy(self, t):
        self.p = []
        for i in range(self.m):
            z = self.w[i] * sqrt(self.I[i])
            self.p.append(clip(1 / (1 + exp(clip(-z * abs(z) / 2, -700, 700))), self.border, 1 - self.border))
        return self.p

    def observe(self, t, x, y, reward):
        d = [x[i] - self.p[i] for i in range(self.m)]
        e = self.unit(reward) - self.b - sum(self.w[i] * d[i] for i in range(self.m))
        for i in range(self.m):
            f = 1 - 4 * self.lam * self.p[i] * (1 - self.p[i])
            self.h[i] = f * self.h[i] + (e + self.w[i] * d[i]) * d[i] / self.s2
            self.I[i] = f * self.I[i] + (1 - f) * 4.0 + d[i] ** 2 / self.s2
            self.w[i] = self.h[i] / self.I[i]
        self.b += max(0.02, 1 / t) * e
        self.s2 = max(0.02, self.s2 + 0.01 * (e**2 - self.s2))


class UmdaTwin(GeneTwin):
    def start(self, size=8.0):
        self.length = max(4, round(size * sqrt(self.m) * log(self.m)))
        self.p, self.generation = [0.5] * self.m, []

    def policy(self, t):
        return self.p

    def observe(self, t, x, y, reward):
        self.generation.append((reward, list(x)))
        if len(self.generation) == self.length:
            better = sorted(self.generation, key=lambda pair: -pair[0])[: self.length // 2]
            self.p = [sum(genome[i] for _, genome in better) / len(better) for i in range(self.m)]
            self.generation = []


class HillClimberTwin(GeneTwin):
    tolerance = 0

    def start(self, rate=1.0):
        self.chance = min(1.0, rate / self.m)
        self.x = [float(u < 0.5) for u in self.uniform(self.m)]

    def policy(self, t):
        if t % 2:
            return self.x
        return [1 - bit if u < self.chance else bit for bit, u in zip(self.x, self.uniform(self.m), strict=True)]

    def observe(self, t, x, y, reward):
        if t % 2:
            self.r = reward
        elif reward >= self.r:
            self.x = [float(bit) for bit in x]


class GeneBilinTwin(GeneTwin):
    """A twin that computes the posterior from all outcomes so far, not by an update."""

    tolerance = 1e-6

    def start(self, mutation=0.3, turnover=0.1, scale=1.0):
        self.mutation, self.turnover = mutation, turnover
        n, k = self.m, self.k
        prior = np.full((n + 1, k + 1), 1 / (n * k))
        prior[0, 0], prior[1:, 0], prior[0, 1:] = 1, 0.5 / n, 0.5 / k
        self.precision, self.told = np.diag(1 / (prior.ravel() * scale**2)), np.zeros(prior.size)
        self.p, self.X, self.Y, self.probe = np.full(n, 0.5), np.zeros(n), np.zeros(k), np.ones(k)

    def policy(self, t):
        covariance = np.linalg.inv(self.precision)
        shape = self.m + 1, self.k + 1
        mean, deviation = (covariance @ self.told).reshape(shape), np.sqrt(np.diag(covariance)).reshape(shape)
        C = mean + self.mutation * deviation * np.array(self.normal(*shape))
        pairs = C[1:, 1:]
        for _ in range(3):
            self.probe = pairs.T @ (pairs @ self.probe) + 1e-12
            self.probe /= np.linalg.norm(self.probe)
        step = 0.9 / max(np.linalg.norm(pairs @ self.probe), 1e-12)
        for _ in range(60):
            X = np.clip(self.X + step * (C[1:, 0] + pairs @ self.Y), -1, 1)
            Y = np.clip(self.Y - step * (C[0, 1:] + pairs.T @ self.X), -1, 1)
            self.X = np.clip(self.X + step * (C[1:, 0] + pairs @ Y), -1, 1)
            self.Y = np.clip(self.Y - step * (C[0, 1:] + pairs.T @ X), -1, 1)
        self.p = self.p + self.turnover * ((self.X + 1) / 2 - self.p)
        return self.p.tolist()

    def observe(self, t, x, y, reward):
        seen = np.outer([1, *(2 * bit - 1 for bit in x)], [1, *(2 * bit - 1 for bit in y)]).ravel()
        self.precision = self.precision + np.outer(seen, seen)
        self.told = self.told + seen * reward


class AsAtomsTwin(GeneTwin):
    """A twin of the inner learner, whose actions are genomes read as binary numbers."""

    tolerance = 0

    def start(self, twin=None, **hyper_parameters):
        own, other = 2**self.m, 2**self.k
        self.inner = twin(own, other, self.T, (self.low, self.high), self.normal, self.uniform, **hyper_parameters)

    def policy(self, t):
        mixture = self.inner.policy(t)
        [u] = self.uniform(1)
        total, below = sum(mixture), 0.0
        number = -1
        while below <= u * total:
            number += 1
            below += mixture[number]
        return [float(bit) for bit in f"{number:0{self.m}b}"]

    def observe(self, t, x, y, reward):
        own, other = (int("".join(map(str, genome)), 2) for genome in (x, y))
        self.inner.observe(t, own, other if self.inner.informed else None, reward)
