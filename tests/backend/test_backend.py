import re
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from coebl import simulate
from coebl.backend import CPU, backend_for, check_device
from coebl.backend.cuda import batch_independent, sizes_and_strides
from coebl.core.errors import InputError
from coebl.solver.cuda import layout
from coebl.study.cell import versions


def test_the_processor_has_numpy():
    assert backend_for("cpu").arrays is np


@pytest.mark.parametrize("device", ["gpu", "CUDA", None, 3])
def test_other_devices_are_rejected(device):
    with pytest.raises(InputError, match=r"^device is .*; accepted: cpu, cuda\."):
        check_device(device)


def test_without_cupy_one_line_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(InputError, match=re.escape("this needs cupy; run: pip install 'coebl[cuda]'")):
        simulate("rps", "ucb", "exp3", rounds=2, seeds=2, device="cuda")


def fake_cupy(monkeypatch, count=lambda: 1, **cuda):
    """Let a module that finds an H200 replace CuPy, apart from the given parts of cupy.cuda."""
    fake = ModuleType("cupy")
    runtime = SimpleNamespace(
        CUDARuntimeError=ZeroDivisionError,
        getDeviceCount=count,
        runtimeGetVersion=lambda: 12090,
        getDeviceProperties=lambda number: {"name": b"NVIDIA H200"},
    )
    usual = {"Device": capability("90"), "nvrtc": SimpleNamespace(getVersion=lambda: (12, 8)), "runtime": runtime}
    fake.cuda = SimpleNamespace(**usual | cuda)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    return fake


def capability(text):
    return lambda: SimpleNamespace(compute_capability=text)


def failing(words):
    """A compiler that cannot be loaded, and raises an error with these words."""

    def fail():
        raise RuntimeError(words)

    return SimpleNamespace(getVersion=fail)


INSTALL = '); install it: pip install "cupy-cuda12x[ctk]", or use device "cpu".'


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": lambda: 1 / 0}, 'CuPy finds no GPU (division by zero); use device "cpu"'),
        ({"count": lambda: 0}, 'CuPy finds no GPU (none found); use device "cpu"'),
        ({"Device": capability("75")}, "the GPU has compute capability 7.5; accepted: 8.0 or more"),
        # CuPy 13, and the package that CuPy 14 uses, if [ctk] is not installed
        ({"nvrtc": failing("CuPy failed to load libnvrtc")}, f"compiler (CuPy failed to load libnvrtc{INSTALL}"),
        ({"nvrtc": failing('Failure finding "libnvrtc"\n')}, f'compiler (Failure finding "libnvrtc"{INSTALL}'),
    ],
)
def test_a_gpu_that_cannot_be_used_is_reported_on_one_line(monkeypatch, changes, message):
    fake_cupy(monkeypatch, **changes)
    with pytest.raises(InputError) as caught:
        backend_for("cuda")
    assert str(caught.value).startswith('device is "cuda", and ')
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", ["80", "120"])
def test_a_gpu_that_is_new_enough(monkeypatch, number):
    fake = fake_cupy(monkeypatch, Device=capability(number))
    assert backend_for("cuda").arrays is fake


def test_a_cupy_that_lacks_a_library_is_reported_on_one_line(monkeypatch, tmp_path):
    (tmp_path / "cupy.py").write_text('raise ImportError("""\nlibnvrtc.so.13:\n  cannot open\n""")\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    with pytest.raises(InputError, match=r"CuPy cannot be imported \(.*libnvrtc.*\); use device") as caught:
        backend_for("cuda")
    assert "\n" not in str(caught.value)


def test_what_numbers_may_depend_on_is_named(monkeypatch):
    fake = fake_cupy(monkeypatch)
    fake.__version__ = "14.0.1"
    expected = {"cupy": "14.0.1", "cuda": "12.9", "nvrtc": "12.8", "device": "NVIDIA H200"}
    assert backend_for("cuda").versions == expected
    assert CPU.versions == {}
    assert versions("cuda") == versions() | expected


def test_simulations_that_overlap_leave_cupy_as_it_was(monkeypatch):
    fake = fake_cupy(monkeypatch)
    accelerators = {"reduction": [1], "routine": [2]}
    fake._core = SimpleNamespace(
        get_reduction_accelerators=lambda: accelerators["reduction"],
        get_routine_accelerators=lambda: accelerators["routine"],
        set_reduction_accelerators=lambda value: accelerators.update(reduction=value),
        set_routine_accelerators=lambda value: accelerators.update(routine=value),
    )
    first, second = batch_independent(fake), batch_independent(fake)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert accelerators == {"reduction": [], "routine": []}
    second.__exit__(None, None, None)
    assert accelerators == {"reduction": [1], "routine": [2]}


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


def test_running_sums_do_not_depend_on_where_they_are_cut():
    terms = np.random.default_rng(0).normal(size=(50, 3))
    whole = CPU.running_sums(np.zeros((1, 3)), terms)
    first = CPU.running_sums(np.zeros((1, 3)), terms[:20])
    assert np.array_equal(CPU.running_sums(first[-1:], terms[20:]), whole[20:])


def test_relative_entropies():
    found = CPU.rel_entr(np.array([0.5, 0.0, 0.0, 0.5]), np.array([0.25, 0.5, 0.0, 0.0]))
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
