"""A tableau computed from its basis and the payoffs alone, when the rounding of its pivots has spoiled it.

Compiled; part of the kernel for large matrices. `tableau` explains the names.
"""

import numpy as np

from coebl.kernels.cache import compiled
from coebl.kernels.tolerances import DOUBLE
from coebl.kernels.workspace import matrix


@compiled
def invert(G, stop):
    """Invert G in place, by Gauss and Jordan with row exchanges.

    False if it is singular, to working precision, or if the solve is to stop.
    """
    size = G.shape[0]
    exchanged = np.empty(size, np.int64)
    for k in range(size):
        if stop[0] != 0:
            return False
        r = k
        for i in range(k + 1, size):
            if abs(G[i, k]) > abs(G[r, k]):
                r = i
        exchanged[k] = r
        if not abs(G[r, k]) > DOUBLE.singular:
            return False
        for j in range(size):
            G[k, j], G[r, j] = G[r, j], G[k, j]
        inverse = 1 / G[k, k]
        G[k, k] = 1.0
        for j in range(size):
            G[k, j] *= inverse
        for i in range(size):
            if i != k:
                factor = G[i, k]
                G[i, k] = 0.0
                for j in range(size):
                    G[i, j] -= factor * G[k, j]
    for k in range(size - 1, -1, -1):
        r = exchanged[k]
        for i in range(size):
            G[i, k], G[i, r] = G[i, r], G[i, k]
    return True


@compiled
def compute_anew(t, w):
    """Compute T, b, c and norm of this basis from B alone, without the rounding of pivots.

    False if the basis is singular, or if the solve is to stop.

    The basic q solve the constraints whose slacks are nonbasic, and that square part of B is G. Its inverse gives the
    rows of T that belong to q; those of the slacks follow by substitution.
    """
    m, n = t.m, t.n
    T, B = matrix(t.T, m, t.stride), matrix(t.B, m, t.B_stride)
    q_rows = np.array([i for i in range(m) if t.basic[i] < n])
    slack_columns = np.array([s for s in range(n) if t.nonbasic[s] >= n])
    size = q_rows.size
    G = np.empty((size, size))
    for a in range(size):
        for k in range(size):
            G[a, k] = B[t.nonbasic[slack_columns[a]] - n, t.basic[q_rows[k]]]
    if not invert(G, w.stop):
        return False
    solved = np.zeros((size, n))  # inverse of G times its constraints: each basic q as a function of all q
    for k in range(size):
        if w.stop[0] != 0:
            return False
        for a in range(size):
            constraint = t.nonbasic[slack_columns[a]] - n
            for j in range(n):
                solved[k, j] += G[k, a] * B[constraint, j]
    for s in range(w.width):
        t.c[s] = 1.0 if s < n and t.nonbasic[s] < n else 0.0
        t.norm[s] = 1
    of_q, of_slacks = np.empty(n), np.empty(size)
    for i in range(m):
        if t.basic[i] < n:
            continue
        if w.stop[0] != 0:
            return False
        slack = t.basic[i] - n
        t.b[i] = 1.0
        of_q[:] = B[slack, :n]
        of_slacks[:] = 0.0
        for k in range(size):
            share = B[slack, t.basic[q_rows[k]]]
            for j in range(n):
                of_q[j] -= share * solved[k, j]
            for a in range(size):
                of_slacks[a] -= share * G[k, a]
                t.b[i] -= share * G[k, a]
        _fill_row(t, i, of_q, of_slacks, slack_columns)
    for k in range(size):
        i = q_rows[k]
        t.b[i] = 0.0
        for a in range(size):
            t.b[i] += G[k, a]
        _fill_row(t, i, solved[k], G[k], slack_columns)
        for s in range(n):
            t.c[s] -= T[i, s]
    for i in range(m):
        for s in range(n):
            t.norm[s] += T[i, s] * T[i, s]
    return True


@compiled
def _fill_row(t, i, of_q, of_slacks, slack_columns):
    """Row i of T, from the coefficients of all q and of the nonbasic slacks."""
    T = matrix(t.T, t.m, t.stride)
    for s in range(t.n):
        if t.nonbasic[s] < t.n:
            T[i, s] = of_q[t.nonbasic[s]]
    for a in range(slack_columns.size):
        T[i, slack_columns[a]] = of_slacks[a]
