"""Compiled functions with the same bits on every CPU: exp, log, expm1, log1p and cos, Gram matrices, Cholesky's method.

The first five are accurate to about one unit in the last place. The last bits of NumPy's functions depend on whether
the CPU has AVX-512, and those of C libraries on whether it has fused operations. Here each function is a fixed sequence
of additions, multiplications and divisions, which every CPU rounds alike. There are no branches, so the compiler
vectorises the loops; vectorised code has the same bits.

The methods are those of fdlibm (Sun Microsystems 1993): an exact power of two is split off, and the rest, near 1, is
approximated by a polynomial. In a sum of a large and a small term, the part that rounding loses is kept.

Gram matrices and Cholesky's method are here because the order in which libraries add depends on the CPU.
"""

import math

import numpy as np

from coebl.kernels.cache import compiled, inlined

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01  # 33 bits, so that its products with exponents are exact
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding and subtracting it rounds to an integer
_MOST = 1000.0  # beyond ± this, exp is infinite or 0
_SMALLEST = 2.2250738585072014e-308  # a normal number
_SQRT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)
_ONE_BITS = np.int64(0x3FF0000000000000)
_EXPONENT = np.int64(52)
_FRACTION = np.int64(0x000FFFFFFFFFFFFF)


@inlined
def _power_of_two(k):
    """2^k, of an integer -1022 <= k <= 1023."""
    return np.int64((k + np.int64(1023)) << _EXPONENT).view(np.float64)


@inlined
def _scaled(y, k):
    """y 2^k, for a float k without a fraction: by two factors, since 2^k itself may not be a float."""
    half = np.int64(k) >> np.int64(1)
    return y * _power_of_two(half) * _power_of_two(np.int64(k) - half)


@inlined
def _near_one(x):
    """Return k, r and e^r - 1 with x = k ln 2 + r and abs(r) at most ln(2) / 2."""
    k = (x * _LOG2_E + _ROUND) - _ROUND
    high = x - k * _LN2_HIGH
    low = k * _LN2_LOW
    r = high - low
    lost = (high - r) - low
    # The Taylor series to r^13, of which the rest is less than 2^-58; r itself is added last.
    q = 1.6059043836821613e-10
    q = q * r + 2.08767569878681e-09
    q = q * r + 2.505210838544172e-08
    q = q * r + 2.755731922398589e-07
    q = q * r + 2.7557319223985893e-06
    q = q * r + 2.48015873015873e-05
    q = q * r + 0.0001984126984126984
    q = q * r + 0.001388888888888889
    q = q * r + 0.008333333333333333
    q = q * r + 0.041666666666666664
    q = q * r + 0.16666666666666666
    q = q * r + 0.5
    return k, r, (q * (r * r) + (lost + lost * r))


@inlined
def _exp(x):
    inside = min(max(x, -_MOST), _MOST)
    k, r, rest = _near_one(inside)
    y = _scaled(1.0 + (r + rest), k)
    return y if x == x else x


@inlined
def _expm1(x):
    inside = min(max(x, -_MOST), _MOST)
    k, r, rest = _near_one(inside)
    # 2^k e^r - 1 = 2^k ((1 - 2^-k) + (e^r - 1)); 2^-k is nothing beside 1 for large k, and 2^k beside 1 for small ones
    exponent = min(max(k, -64.0), 64.0)
    back = _power_of_two(np.int64(-exponent))
    whole = 1.0 - back
    total = whole + r
    lost = (whole - total) + r if abs(whole) >= abs(r) else (r - total) + whole
    y = total + (lost + rest)
    y = _scaled(y, k) if k > -64.0 else -1.0
    return y if k != 0.0 and x == x else (x if x != x or r == 0.0 else r + rest)


@inlined
def _log_of(u, low):
    """log(u + low), for a normal u > 0 and a low that u has rounded off."""
    bits = np.float64(u).view(np.int64) + (_ONE_BITS - _SQRT_HALF_BITS)
    k = np.float64((bits >> _EXPONENT) - np.int64(1023))
    mantissa = np.int64((bits & _FRACTION) + _SQRT_HALF_BITS).view(np.float64)  # sqrt(1/2) <= mantissa < sqrt(2)
    f = mantissa - 1.0
    return _log_near_one(f, k, low / u)


@inlined
def _log_near_one(f, k, low):
    """k ln 2 + log(1 + f) + low, for f between sqrt(1/2) - 1 and sqrt(2) - 1."""
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    t2 = z * (
        6.666666666666735130e-01
        + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    half = 0.5 * f * f
    return k * _LN2_HIGH - ((half - (s * (half + (t1 + t2)) + (k * _LN2_LOW + low))) - f)


@inlined
def _log(x):
    normal = x if x >= _SMALLEST else x * 18014398509481984.0  # 2^54
    y = _log_of(normal, 0.0)
    y = y if x >= _SMALLEST else y - 54.0 * _LN2_HIGH - 54.0 * _LN2_LOW
    y = y if x < np.inf else x
    return y if x > 0.0 else (-np.inf if x == 0.0 else np.nan)


@inlined
def _log1p(x):
    u = 1.0 + x
    low = x - (u - 1.0)
    far = _log_of(u, low)
    inside = min(max(x, -0.29), 0.41)
    near = _log_near_one(inside, 0.0, 0.0)
    y = near if inside == x else far
    y = y if x < np.inf else x
    y = y if x != 0.0 else x
    return y if u > 0.0 else (-np.inf if u == 0.0 else np.nan)


@inlined
def _cos_of_turns(u):
    """cos(2 pi u), for abs(u) < 2^50."""
    turns = u - ((u + _ROUND) - _ROUND)  # -1/2 .. 1/2, exact
    eighths = abs(turns)
    quarter = (4.0 * eighths + _ROUND) - _ROUND  # 0, 1 or 2
    angle = (eighths - 0.25 * quarter) * 6.283185307179586
    z = angle * angle
    c = -1.13596475577881948265e-11
    c = c * z + 2.08757232129817482790e-09
    c = c * z - 2.75573143513906633035e-07
    c = c * z + 2.48015872894767294178e-05
    c = c * z - 1.38888888888741095749e-03
    c = c * z + 4.16666666666666019037e-02
    cosine = 1.0 - (0.5 * z - z * z * c)
    s = 1.58969099521155010221e-10
    s = s * z - 2.50507602534068634195e-08
    s = s * z + 2.75573137070700676789e-06
    s = s * z - 1.98412698298579493134e-04
    s = s * z + 8.33333333332248946124e-03
    s = s * z - 1.66666666666666324348e-01
    sine = angle + angle * z * s
    return -sine if quarter == 1.0 else (cosine if quarter == 0.0 else -cosine)


def _entrywise(function, name):
    """Return the compiled function that sets out = function(x), entry by entry: both contiguous, (n,)."""

    def fill(x, out):
        for i in range(len(x)):
            out[i] = function(x[i])

    fill.__qualname__ = name  # by which the cache of compiled code tells them apart
    return compiled(fill)


fill_exp = _entrywise(_exp, "fill_exp")
fill_expm1 = _entrywise(_expm1, "fill_expm1")
fill_log = _entrywise(_log, "fill_log")
fill_log1p = _entrywise(_log1p, "fill_log1p")
fill_cos_of_turns = _entrywise(_cos_of_turns, "fill_cos_of_turns")


@compiled
def fill_relative_entropy(p, q, out):
    """Set out = p log(p / q): 0 where p is 0, and infinite where only q is 0."""
    for i in range(len(p)):
        y = p[i] * _log(p[i] / q[i])
        out[i] = y if p[i] > 0.0 else (0.0 if p[i] == 0.0 and q[i] >= 0.0 else np.inf)


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
