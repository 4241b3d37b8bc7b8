"""Compiled Gram matrices and Cholesky's method, with sums in a fixed order: libraries have another one on each CPU."""

import math

import numpy as np

from coebl.kernels.cache import compiled


@compiled
def fill_gram(a, out):
    """Set out = a' a, of every run: (runs, k, k) from (runs, m, k)."""
    runs, m, k = a.shape
    out[:] = 0.0
    for run in range(runs):
        for row in range(m):
            for i in range(k):
                factor = a[run, row, i]
                for j in range(i + 1):
                    out[run, i, j] += factor * a[run, row, j]
        for i in range(k):
            for j in range(i):
                out[run, j, i] = out[run, i, j]


@compiled
def fill_root(matrix, root):
    """Set root to the lower triangle L with L L' = matrix, which is positive definite: (n, n) both."""
    n = len(matrix)
    root[:] = 0.0
    for i in range(n):
        for j in range(i + 1):
            rest = matrix[i, j]
            for inner in range(j):
                rest -= root[i, inner] * root[j, inner]
            root[i, j] = math.sqrt(rest) if i == j else rest / root[j, j]


@compiled
def solve_positive(matrices, x):
    """Replace x, the right sides, by the solutions, (runs, k), for positive definite matrices (runs, k, k)."""
    runs, k = x.shape
    root = np.empty((k, k))
    for run in range(runs):
        fill_root(matrices[run], root)
        for i in range(k):
            for j in range(i):
                x[run, i] -= root[i, j] * x[run, j]
            x[run, i] /= root[i, i]
        for i in range(k - 1, -1, -1):
            for j in range(i + 1, k):
                x[run, i] -= root[j, i] * x[run, j]
            x[run, i] /= root[i, i]
