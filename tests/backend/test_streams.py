"""Normal numbers: the compiled kernel equals NumPy to the last bit."""

import numpy as np
import pytest

from coebl.backend import streams
from coebl.backend.streams import BatchRandom, CompiledNormals, learner_key
from coebl.core.errors import InputError
from coebl.kernels.normals import LAYERS, POINTS, TAIL, fill_normal

NONE = np.empty((1, 0))


def generators(runs):
    """Generators that have already drawn other numbers."""
    random_generators = [np.random.Generator(np.random.SFC64(seed)) for seed in range(runs)]
    for used, random in enumerate(random_generators):
        random.random(used)
    return random_generators


def states_of(random_generators):
    return np.array([random.bit_generator.state["state"]["state"] for random in random_generators])


def test_ten_million_numbers_and_the_states_after_them_equal_those_of_numpy():
    random_generators = generators(20)
    compiled = CompiledNormals(random_generators)
    tail = 0
    for count in (1, 7, 262_144, 0, 262_143):
        numbers = compiled.take((count,), None, None)
        assert numbers.tobytes() == np.stack([random.standard_normal(count) for random in random_generators]).tobytes()
        np.testing.assert_array_equal(compiled.states, states_of(random_generators))
        tail += (np.abs(numbers) > streams.read_tables()[TAIL]).sum()
    assert tail > 2_000  # 1 in 3,900 numbers comes from the tail


def state_for(first, second):
    """The state of SFC64 that yields these two 64-bit numbers next."""
    return np.array([first, 0, (second - 1) * pow(9, -1, 1 << 64) % (1 << 64), 0], np.uint64)


def numpy_normal(state):
    """The normal number that NumPy draws from a state, and how many 64-bit numbers it consumes."""
    bits = np.random.SFC64(0)
    bits.state = bits.state | {"state": {"state": state}}
    return np.random.Generator(bits).standard_normal(), int(bits.state["state"]["state"][3])


def test_every_entry_of_the_tables_equals_that_of_numpy():
    """The kernel accepts and rejects exactly the same points as NumPy; random points would not be close enough.

    The points tested in each layer are the last one that is accepted at once and, for a point that is not, the largest
    second number with which it is accepted.
    """
    rejected = streams.read_tables()[: 2 * LAYERS : 2].astype(int)
    states = []
    for layer, first in enumerate(rejected.tolist()):
        at_once = [state_for((first - before) << 9 | layer, 0) for before in (1, 0) if first >= before]
        assert [numpy_normal(state)[1] for state in at_once] in ([1, 2], [2], [1, 3])  # two for the tail
        states += at_once
        if layer == 0:
            continue
        point = (2 * first + POINTS) // 3
        accepted, not_accepted = 0, 1 << 53
        while not_accepted - accepted > 1:
            middle = (accepted + not_accepted) // 2
            taken = numpy_normal(state_for(point << 9 | layer, middle << 11))[1]
            accepted, not_accepted = (middle, not_accepted) if taken == 2 else (accepted, middle)
        assert 0 < accepted < (1 << 53) - 1
        states += [state_for(point << 9 | layer, second << 11) for second in (accepted, not_accepted)]
    expected = [numpy_normal(state) for state in states]
    after, out = np.array(states), np.empty((len(states), 1, 1))
    fill_normal(after, streams.read_tables(), NONE, NONE, out)
    assert list(zip(out.ravel().tolist(), after[:, 3].tolist(), strict=True)) == expected


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4), (3, 4)])
@pytest.mark.parametrize("axes", [0, 1, 2])
def test_deviation_and_mean_are_applied_as_numpy_would(shape, axes):
    """In any memory layout and for any leading axes, without further compilation."""
    last = shape[len(shape) - axes :] if axes else ()
    random = np.random.default_rng(1)
    deviation = np.asfortranarray(random.uniform(size=(3, *last)))
    mean = random.normal(size=(3, *last))
    mean.flags.writeable = False
    plain, spread = CompiledNormals(generators(3)), CompiledNormals(generators(3))
    versions = len(fill_normal.signatures)
    wide = (3, *(1,) * (len(shape) - len(last)), *last)
    for scale, shift in ((deviation, mean), (deviation, None), (None, mean), (None, None)):
        expected = standard = plain.take(shape, None, None)
        if scale is not None:
            expected = expected * scale.reshape(wide)
        if shift is not None:
            expected = expected + shift.reshape(wide)
        assert spread.take(shape, scale, shift).tobytes() == expected.tobytes()
        assert streams.spread_out(standard, scale, shift).tobytes() == expected.tobytes()
    assert len(fill_normal.signatures) == versions == 1


@pytest.mark.parametrize(
    ("spread", "message"),
    [
        ({"deviation": np.ones((2, 4))}, r"deviation has shape \(2, 4\), for normal numbers of shape \(3, 2, 4\)"),
        ({"mean": np.ones((3, 2))}, r"mean has shape \(3, 2\)"),
        ({"mean": np.ones((3, 1, 2, 4))}, "the last axes of the numbers"),
        ({"deviation": 0.5}, r"deviation has shape \(\)"),
        ({"deviation": np.ones((3, 4)), "mean": np.ones((3, 2, 4))}, "one shape for both"),
    ],
)
def test_a_deviation_or_a_mean_that_does_not_fit_is_rejected(spread, message):
    with pytest.raises(InputError, match=message):
        BatchRandom(range(3), learner_key(0)).normal(2, 4, **spread)
