"""The choice of a device, and the parts of the GPU backend that can be tested without a GPU."""

import re
import sys

import numpy as np
import pytest

from coebl import simulate
from coebl.backend import backend_for
from coebl.backend.cuda import sizes_and_strides
from coebl.core.errors import InputError
from coebl.solver.cuda import layout


def test_without_cupy_one_line_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(InputError, match=re.escape("this needs cupy; run: pip install 'coebl[cuda]'")):
        simulate("rps", "ucb", "exp3", rounds=2, seeds=2, device="cuda")


def test_a_cupy_that_lacks_a_library_is_reported_on_one_line(monkeypatch, tmp_path):
    (tmp_path / "cupy.py").write_text('raise ImportError("""\nlibnvrtc.so.13:\n  cannot open\n""")\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    with pytest.raises(InputError, match=r"CuPy cannot be imported \(.*libnvrtc.*\); use device") as caught:
        backend_for("cuda")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("names", "shapes"),
    [
        (["ri", "rij"], [(4, 3), (4, 3, 5)]),
        (["ri", "rij"], [(4, 1), (4, 3, 5)]),
        (["i", "j", "ij"], [(1,), (2,), (3, 2)]),
    ],
)
def test_einsum_repeats_axes_of_length_one(names, shapes):
    random = np.random.default_rng(0)
    operands = [random.normal(size=shape) for shape in shapes]
    sizes, strides = sizes_and_strides(names, operands)
    for name, operand in zip(names, operands, strict=True):
        own, strides = strides[: len(name)], strides[len(name) :]
        whole = tuple(sizes[letter] for letter in name)
        seen = np.lib.stride_tricks.as_strided(operand, whole, [8 * stride for stride in own])
        assert np.array_equal(seen, np.broadcast_to(operand, whole))


@pytest.mark.parametrize("shapes", [[(4, 3), (4, 2, 5)], [(4,), (4, 3, 5)]])
def test_einsum_rejects_what_does_not_fit(shapes):
    with pytest.raises(ValueError, match="einsum: "):
        sizes_and_strides(["ri", "rij"], [np.zeros(shape) for shape in shapes])


def test_the_layout_of_a_tableau():
    small, large = layout(16, 16, "double", 232448, 233472), layout(256, 256, "float", 232448, 233472)
    assert small.shared_rows == 16
    assert small.blocks == 8
    assert large.shared_rows < 256  # the rest of it is in registers
    assert large.shared_rows + large.held * (large.threads // 64) == 256
    assert large.threads * large.blocks * (4 * large.held + 32) <= 65536
    assert large.shared_bytes <= 232448
    assert layout(512, 512, "double", 232448, 233472).rest > 0  # and some of this one in global memory
    with pytest.raises(InputError, match="at most 512 each"):
        layout(513, 2, "float", 232448, 233472)
