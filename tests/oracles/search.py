"""The searches' slow twins: one run, loops and scalars, after the pseudo-code line by line. Nothing here imports coebl.

A twin has ask(), which returns a list of pairs of genomes, tell(values), and candidates(). `uniform(k)` is given, and
returns a list of k random numbers; a twin draws what the search draws, in the same order.
"""

from math import ceil, floor, log, log1p, sqrt


class SearchTwin:
    def __init__(self, n, m, uniform, **hyper_parameters):
        self.n, self.m, self.uniform = n, m, uniform
        self.start(**hyper_parameters)

    def genomes(self, count, bits):
        numbers = self.uniform(count * bits)
        return [[int(numbers[i * bits + j] < 0.5) for j in range(bits)] for i in range(count)]

    def mutated(self, genomes, chi):
        """Return copies in which bits are flipped at geometric distances, counted over all genomes."""
        bits, copies = len(genomes[0]), [list(genome) for genome in genomes]
        size, rate = len(genomes) * bits, chi / bits
        if rate == 0:
            return copies
        numbers = self.uniform(min(size, ceil(size * rate + 8 * sqrt(size * rate) + 20)))
        place = -1
        for number in numbers:
            place += 1 + floor(log1p(-number) / log1p(-rate))
            if place >= size:
                break
            copies[place // bits][place % bits] ^= 1
        return copies


def dominates(with_other_y, own, other_x):
    return with_other_y >= own >= other_x


class PdcoeaTwin(SearchTwin):
    def start(self, population, chi):
        self.size, self.chi = population, chi
        self.P, self.Q = self.genomes(population, self.n), self.genomes(population, self.m)

    def ask(self):
        numbers = [floor(number * self.size) for number in self.uniform(4 * self.size)]
        i1, i2, j1, j2 = (numbers[k * self.size : (k + 1) * self.size] for k in range(4))
        self.picks = list(zip(i1, i2, j1, j2, strict=True))
        P, Q = self.P, self.Q
        return (
            [(P[i], Q[j]) for i, _, _, j in self.picks]
            + [(P[i], Q[j]) for i, _, j, _ in self.picks]
            + [(P[i], Q[j]) for _, i, j, _ in self.picks]
        )

    def tell(self, values):
        P, Q = [], []
        for k, (i1, i2, j1, j2) in enumerate(self.picks):
            first = dominates(values[k], values[self.size + k], values[2 * self.size + k])
            P.append(self.P[i1 if first else i2])
            Q.append(self.Q[j1 if first else j2])
        self.P, self.Q = self.mutated(P, self.chi), self.mutated(Q, self.chi)

    def candidates(self):
        return self.P, self.Q


class OnePairTwin(SearchTwin):
    def start(self, chi=1.0):
        self.chi = chi
        [self.x], [self.y] = self.genomes(1, self.n), self.genomes(1, self.m)

    def vary(self):
        return *self.mutated([self.x], self.chi), *self.mutated([self.y], self.chi)

    def ask(self):
        self.x2, self.y2 = self.vary()
        return [(self.x2, self.y), (self.x2, self.y2), (self.x, self.y2)]

    def tell(self, values):
        if dominates(*values):
            self.x, self.y = self.x2, self.y2

    def candidates(self):
        return [self.x], [self.y]


class RlsPdTwin(OnePairTwin):
    def vary(self):
        [number] = self.uniform(1)
        place = floor(number * (self.n + self.m))
        both = [bit ^ (i == place) for i, bit in enumerate(self.x + self.y)]
        return both[: self.n], both[self.n :]


class LambdaCoeaTwin(OnePairTwin):
    def start(self, mutants=100, chi=0.6):
        super().start(chi)
        self.mutants, self.turn = mutants, "x"

    def ask(self):
        parent = self.x if self.turn == "x" else self.y
        self.offspring = self.mutated([parent] * self.mutants, self.chi)
        return [(child, self.y) if self.turn == "x" else (self.x, child) for child in self.offspring]

    def tell(self, values):
        lots = self.uniform(self.mutants)
        best = max(values) if self.turn == "x" else min(values)
        _, winner = max((lots[k], k) for k in range(self.mutants) if values[k] == best)
        if self.turn == "x":
            self.x, self.turn = self.offspring[winner], "y"
        else:
            self.y, self.turn = self.offspring[winner], "x"


class CgaTwin(SearchTwin):
    def start(self, scale=4.0):
        self.scale = scale
        self.p, self.q = [0.5] * self.n, [0.5] * self.m

    def samples(self, marginals):
        numbers = self.uniform(2 * len(marginals))
        rows = numbers[: len(marginals)], numbers[len(marginals) :]
        return [[int(number < p) for number, p in zip(row, marginals, strict=True)] for row in rows]

    def ask(self):
        self.x, self.y = self.samples(self.p), self.samples(self.q)
        return [(self.x[i], self.y[j]) for i in (0, 1) for j in (0, 1)]

    def tell(self, values):
        g = [values[:2], values[2:]]
        self.p = self.moved(self.p, self.x, sum(g[0]), sum(g[1]))
        self.q = self.moved(self.q, self.y, -(g[0][0] + g[1][0]), -(g[0][1] + g[1][1]))

    def moved(self, marginals, samples, first, second):
        bits = len(marginals)
        step = 1 / max(1, self.scale * sqrt(bits) * log(bits))
        if first == second:
            return marginals
        winner, loser = samples if first > second else samples[::-1]
        moved = (p + step * (a - b) for p, a, b in zip(marginals, winner, loser, strict=True))
        return [min(1.0, max(0.0, p)) for p in moved]

    def candidates(self):
        return self.x, self.y
