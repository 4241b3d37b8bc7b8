import re
import sys

import numpy as np
import pytest

from coebl import simulate
from coebl.core.devices import array_module, check_device, rel_entr, running_sums
from coebl.core.errors import InputError
from coebl.solver.cuda.kernel import layout


def test_the_processor_has_numpy():
    assert array_module("cpu") is np


@pytest.mark.parametrize("device", ["gpu", "CUDA", None, 3])
def test_other_devices_are_refused(device):
    with pytest.raises(InputError, match=r"^device is .*; accepted: cpu, cuda\."):
        check_device(device)


def test_without_cupy_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(InputError, match=re.escape("this needs cupy; run: pip install 'coebl[cuda]'")):
        simulate("rps", "ucb", "exp3", rounds=2, seeds=2, device="cuda")


def test_without_a_graphics_processor_one_line_says_so(monkeypatch):
    class NoDeviceError(RuntimeError):
        pass

    class Runtime:
        CUDARuntimeError = NoDeviceError

        @staticmethod
        def getDeviceCount():
            raise NoDeviceError("cudaErrorNoDevice: no CUDA-capable device is detected")

    fake = type(sys)("cupy")
    fake.cuda = type(sys)("cupy.cuda")
    fake.cuda.runtime = Runtime
    monkeypatch.setitem(sys.modules, "cupy", fake)
    with pytest.raises(InputError, match=r'finds no graphics processor .*; use device "cpu"'):
        array_module("cuda")


def test_running_sums_do_not_depend_on_where_they_are_cut():
    terms = np.random.default_rng(0).normal(size=(50, 3))
    whole = running_sums(np.zeros((1, 3)), terms)
    first = running_sums(np.zeros((1, 3)), terms[:20])
    assert np.array_equal(running_sums(first[-1:], terms[20:]), whole[20:])


def test_relative_entropies():
    found = rel_entr(np.array([0.5, 0.0, 0.0, 0.5]), np.array([0.25, 0.5, 0.0, 0.0]))
    assert found.tolist() == [0.5 * np.log(2), 0, 0, np.inf]


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
