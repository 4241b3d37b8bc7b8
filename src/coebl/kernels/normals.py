"""The compiled kernel for normal numbers: those of NumPy's ``Generator(SFC64(...)).standard_normal``, bit for bit.

The method is the ziggurat of Marsaglia and Tsang (2000), with 256 layers of equal area under exp(-x² / 2). Of a random
number of 64 bits, some choose a layer, one a sign, and 52 a point in the layer's rectangle. A point that is below the
layer above as well is accepted at once, as 985 of 1000 are. Of the others, those in the lowest layer are replaced by a
number from the tail; the rest are accepted with the probability that the density demands, or drawn again. The random
numbers are those of Doty-Humphrey's SFC64. NumPy calls a function for each of them; here the generator is part of the
loop, and its state stays in registers.

The tables are one array: for each layer with sign +, and then with sign -, the first point that is not accepted at once
and the width of a point; then the density at the edge of each layer; last, where the tail begins, and its inverse.
"""

import math

import numpy as np

from coebl.kernels.cache import compiled, inlined
from coebl.kernels.vectors import pointer

LAYERS = 256
POINTS = 1 << 52  # of a layer
DENSITY = 4 * LAYERS  # where each part of the tables starts
TAIL = DENSITY + LAYERS
INVERSE_TAIL = TAIL + 1

_LAYER_AND_SIGN = np.uint64(2 * LAYERS - 1)
_LAST_POINT = np.uint64(POINTS - 1)
_UNIT = 2.0**-53
# Compiled code takes a mixture of signed and unsigned integers for floats: all of these have to be unsigned.
_ONE, _THREE, _NINE, _ELEVEN, _TURN, _TURN_BACK = (np.uint64(number) for number in (1, 3, 9, 11, 24, 40))


@inlined
def _advance(a, b, c, counter):
    """The state of the generator after a step, and the number of 64 bits that it yields."""
    bits = a + b + counter
    turned = (c << _TURN) | (c >> _TURN_BACK)
    return b ^ (b >> _ELEVEN), c + (c << _THREE), turned + bits, counter + _ONE, bits


@inlined
def _read(bits):
    """The index of layer and sign in the tables, and the point."""
    return 2 * np.int64(bits & _LAYER_AND_SIGN), np.float64(np.int64((bits >> _NINE) & _LAST_POINT))


@compiled
def _step(state):
    """The next number of 64 bits. Changes the state."""
    state[0], state[1], state[2], state[3], bits = _advance(state[0], state[1], state[2], state[3])
    return bits


@compiled
def _uniform(state):
    """A number in [0, 1). Changes the state."""
    return np.float64(np.int64(_step(state) >> _ELEVEN)) * _UNIT


@compiled
def _from_tail(state, tables, negative):
    """A number beyond the lowest layer, by Marsaglia's method (1964). Changes the state."""
    while True:
        beyond = -tables[INVERSE_TAIL] * math.log1p(-_uniform(state))
        height = -math.log1p(-_uniform(state))
        if height + height > beyond * beyond:
            return -(tables[TAIL] + beyond) if negative else tables[TAIL] + beyond


@compiled
def _settle(state, tables, bits):
    """The normal number that begins with these bits, which were not accepted at once. Changes the state."""
    while True:
        index, point = _read(bits)
        x = point * tables[index + 1]
        if point < tables[index]:
            return x
        layer = (index // 2) % LAYERS
        if layer == 0:
            return _from_tail(state, tables, (np.int64(point) >> 8) & 1)
        low, high = tables[DENSITY + layer], tables[DENSITY + layer - 1]
        if (high - low) * _uniform(state) + low < math.exp(-0.5 * x * x):
            return x
        bits = _step(state)


@compiled
def fill_normal(states, tables, deviation, mean, out):
    """Fill out with the next normal numbers of every run, and change the states.

    states: (runs, 4). deviation, mean: (runs, numbers), or of no numbers. out: (runs, repeats, numbers). A number is
    multiplied by its deviation and rounded, then added to its mean and rounded, if these are given.
    """
    runs, repeats, numbers = out.shape
    scaled, shifted = deviation.shape[1] > 0, mean.shape[1] > 0
    table = pointer(tables, 0)
    for run in range(runs):
        state = pointer(states, 4 * run)
        scale, shift = pointer(deviation, numbers * run), pointer(mean, numbers * run)
        a, b, c, counter = state[0], state[1], state[2], state[3]
        for repeat in range(repeats):
            to = pointer(out, (run * repeats + repeat) * numbers)
            for i in range(numbers):
                a, b, c, counter, bits = _advance(a, b, c, counter)
                index, point = _read(bits)
                if point < table[index]:
                    x = point * table[index + 1]
                else:
                    state[0], state[1], state[2], state[3] = a, b, c, counter
                    x = _settle(state, table, bits)
                    a, b, c, counter = state[0], state[1], state[2], state[3]
                if scaled:
                    x = x * scale[i]
                if shifted:
                    x = x + shift[i]
                to[i] = x
        state[0], state[1], state[2], state[3] = a, b, c, counter
