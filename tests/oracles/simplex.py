"""The solver's slow twin: one matrix, plain Python, exact fractions.

Same linear program, pivot rule and tie rule as `coebl.kernels.tableau`, written out.
"""

from fractions import Fraction
from typing import NamedTuple


class Exact(NamedTuple):
    value: Fraction
    row: list[Fraction]
    column: list[Fraction]
    pivots: int


def solve_exactly(payoff, weight) -> Exact:
    """The value, the row player's optimal strategy of least mean weight, and an optimal column strategy."""
    A = [[Fraction(entry) for entry in line] for line in payoff]
    w = [Fraction(entry) for entry in weight]
    m, n = len(A), len(A[0])
    low = min(min(line) for line in A)
    span = (max(max(line) for line in A) - low) or Fraction(1)
    T = [[1 + (A[i][j] - low) / span for j in range(n)] for i in range(m)]
    b = [(Fraction(1), w[i]) for i in range(m)]  # the right-hand side, and its infinitesimal part
    c = [Fraction(1)] * n
    basic = [("slack", i) for i in range(m)]
    nonbasic = [("q", j) for j in range(n)]
    pivots = 0
    while True:
        steepness = [c[j] ** 2 / (1 + sum(T[i][j] ** 2 for i in range(m))) if c[j] > 0 else 0 for j in range(n)]
        if max(steepness) == 0:
            break
        s = steepness.index(max(steepness))
        candidates = [i for i in range(m) if T[i][s] > 0]
        r = min(candidates, key=lambda i: (b[i][0] / T[i][s], b[i][1] / T[i][s]))
        pivot = T[r][s]
        column = [T[i][s] for i in range(m)]
        row = [T[r][j] / pivot for j in range(n)]
        row[s] = 1 / pivot
        b_r = (b[r][0] / pivot, b[r][1] / pivot)
        for i in range(m):
            if i != r:
                b[i] = (b[i][0] - column[i] * b_r[0], b[i][1] - column[i] * b_r[1])
                T[i] = [(T[i][j] if j != s else 0) - column[i] * row[j] for j in range(n)]
        T[r], b[r] = row, b_r
        price = c[s]
        c = [(c[j] if j != s else 0) - price * row[j] for j in range(n)]
        basic[r], nonbasic[s] = nonbasic[s], basic[r]
        pivots += 1
    q = [Fraction(0)] * n
    p = [Fraction(0)] * m
    for i, (kind, index) in enumerate(basic):
        if kind == "q":
            q[index] = b[i][0]
    for j, (kind, index) in enumerate(nonbasic):
        if kind == "slack":
            p[index] = -c[j]
    total = sum(q)
    assert total == sum(p), "strong duality fails: the twin itself is wrong"
    return Exact(low + (1 / total - 1) * span, [x / total for x in p], [y / total for y in q], pivots)
