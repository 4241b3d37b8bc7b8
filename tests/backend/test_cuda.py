"""The GPU backend, tested without a GPU: NumPy replaces CuPy, and Python functions replace the kernels.

Each launch is checked against the signature in the kernel's source, so that a wrong argument shows without a GPU.
"""

import gc
import re
import sys
import weakref
from functools import partial
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from coebl import simulate
from coebl.backend import backend_for, cuda
from coebl.core.errors import InputError
from coebl.engine.table import Table
from coebl.games import Indices
from coebl.learners import Learner
from coebl.solver import Maximin
from coebl.study.cell import versions

TYPES = {"double": np.float64, "long": np.int64, "unsigned": np.uint32}  # of arrays, by the first word of a parameter
NUMBERS = {"long": np.int64, "int": np.int32}


def entry(runs, at, to):
    return (np.arange(runs), at, to) if isinstance(to, np.ndarray) else (np.arange(runs), at)


def take(array, at, to, runs, m, k, out):
    out[:] = array[entry(runs, at, to)]


def put(array, at, to, runs, m, k, values):
    array[entry(runs, at, to)] = values


def visit(count, at, to, runs, m, k, reward, mean):
    here = entry(runs, at, to)
    count[here] += 1
    mean[here] += (reward - mean[here]) / count[here]


def add_up(carry, terms, rounds, width, sums):
    sums[:] = np.cumsum(np.concatenate([carry, terms]), axis=0)[1:]


def first_above(policy, uniform, runs, actions, step, out):
    out[:] = Indices(int(actions)).draw(policy, uniform)


def draw(keys, start, count, normal, deviation, mean, width, whole, out):
    for key, numbers in zip(keys, out.reshape(len(out), -1), strict=True):
        random = np.random.default_rng([*key.tolist(), int(start)])
        numbers[:] = random.normal(size=numbers.shape) if normal else random.random(numbers.shape)
    for array, change in ((deviation, np.multiply), (mean, np.add)):
        if isinstance(array, np.ndarray):
            spread = out.reshape(len(out), -1, array[0].size)
            change(spread, array.reshape(len(out), 1, -1), out=spread)


class Kernel:
    """A kernel that checks its arguments, and computes with NumPy."""

    def __init__(self, source, name, options=()):
        self.name = name
        self.parameters = re.search(rf"void {name}\(([^)]*)\)", source)[1].split(",")

    def __call__(self, grid, block, arguments):
        for argument, parameter in zip(arguments, self.parameters, strict=True):
            kind = parameter.replace("const ", "").split()[0]
            if "*" not in parameter:
                assert type(argument) is NUMBERS[kind], (self.name, parameter)
            elif isinstance(argument, np.ndarray):
                assert argument.dtype == TYPES[kind], (self.name, parameter)
            else:
                assert argument == 0, (self.name, parameter)
        if self.name == "einsum":
            self.einsum(*arguments)
        else:
            globals()[self.name](*arguments)

    def einsum(self, *arguments):
        """Compute what the source does, from its letters, sizes and strides."""
        *operands, out = [array for array in arguments if isinstance(array, np.ndarray)]
        numbers = [parameter.split()[-1] for parameter in self.parameters[len(operands) + 1 :]]
        assert numbers == sorted(n for n in numbers if n[0] == "n") + [n for n in numbers if n[0] == "a"]
        out[...] = EINSUM[-1](*operands)


EINSUM = []


class Solver:
    """A `CudaMaximin` with the CPU's solver. Unless it waits, it leaves these runs unsolved from the third solve on."""

    fails: list[int] = []  # noqa: RUF012

    def __init__(self, shape, *, ties, many_ties, unsolved, number):
        self._solve, self._unsolved, self._solves = Maximin(shape, ties=ties, many_ties=many_ties), unsolved, 0

    def __call__(self, payoffs):
        solution = self._solve(payoffs)
        self._solves += 1
        if self._unsolved is not None and self._solves >= 3:
            self._unsolved[self.fails] = True
            solution.strategy[self.fails] = 1.0  # not a policy
        return solution


@pytest.fixture
def cupy(monkeypatch):
    names = "zeros full empty empty_like asarray arange ascontiguousarray einsum"
    fake = ModuleType("cupy")
    vars(fake).update(
        {name: getattr(np, name) for name in names.split()}, __version__="14.0.1", __spec__=SimpleNamespace()
    )
    fake.asnumpy, fake.RawKernel = np.asarray, Kernel
    fake.cuda = SimpleNamespace(
        Device=lambda: SimpleNamespace(compute_capability="90"),
        runtime=SimpleNamespace(
            CUDARuntimeError=RuntimeError,
            getDeviceCount=lambda: 1,
            getDeviceProperties=lambda number: {"name": b"NVIDIA H200"},
            memGetInfo=lambda: (6_400_000, 0),
            runtimeGetVersion=lambda: 12090,
        ),
        nvrtc=SimpleNamespace(getVersion=lambda: (12, 8)),
    )
    fake.accelerators = {"reduction": [1], "routine": [2]}
    fake._core = SimpleNamespace()
    for kind in fake.accelerators:
        setattr(fake._core, f"get_{kind}_accelerators", partial(fake.accelerators.get, kind))
        setattr(fake._core, f"set_{kind}_accelerators", partial(fake.accelerators.__setitem__, kind))
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr("coebl.solver.cuda.CudaMaximin", Solver)
    einsum = cuda.CudaBackend.einsum

    def watched(self, subscripts, *operands):
        EINSUM[:] = [lambda *arrays: np.einsum(subscripts, *arrays)]
        return einsum(self, subscripts, *operands)

    monkeypatch.setattr(cuda.CudaBackend, "einsum", watched)
    yield fake
    cuda._kernel.cache_clear()
    cuda._einsum_kernel.cache_clear()


def capability(text):
    return {"Device": lambda: SimpleNamespace(compute_capability=text)}


def count(devices):
    """Replace the number of devices that are found, or raise an error with this message."""
    runtime = {"CUDARuntimeError": RuntimeError, "getDeviceCount": failing(devices) if devices else lambda: 0}
    return {"runtime": SimpleNamespace(**runtime)}


def failing(message):
    def fail():
        raise RuntimeError(message)

    return fail


def no_compiler(message):
    return {"nvrtc": SimpleNamespace(getVersion=failing(message))}


INSTALL = '); install it: pip install "cupy-cuda12x[ctk]", or use device "cpu".'


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (count("no driver"), 'CuPy finds no GPU (no driver); use device "cpu"'),
        (count(None), 'CuPy finds no GPU (none found); use device "cpu"'),
        (capability("75"), "the GPU has compute capability 7.5; accepted: 8.0 or more"),
        # CuPy 13, and the package that CuPy 14 uses, if [ctk] is not installed
        (no_compiler("CuPy failed to load libnvrtc"), f"compiler (CuPy failed to load libnvrtc{INSTALL}"),
        (no_compiler('Failure finding "libnvrtc"\n'), f'compiler (Failure finding "libnvrtc"{INSTALL}'),
    ],
)
def test_a_gpu_that_cannot_be_used_is_reported_on_one_line(cupy, changes, message):
    vars(cupy.cuda).update(changes)
    with pytest.raises(InputError) as caught:
        backend_for("cuda")
    assert str(caught.value).startswith('device is "cuda", and ')
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", ["80", "120"])
def test_a_gpu_that_is_new_enough_is_accepted(cupy, number):
    vars(cupy.cuda).update(capability(number))
    assert backend_for("cuda").arrays is cupy


def test_the_versions_that_numbers_depend_on(cupy):
    expected = {"cupy": "14.0.1", "cuda": "12.9", "nvrtc": "12.8", "device": "NVIDIA H200"}
    assert backend_for("cuda").versions == expected
    assert versions("cuda") == versions() | expected


def test_simulations_that_overlap_leave_cupy_as_it_was(cupy):
    first, second = backend_for("cuda").computing(), backend_for("cuda").computing()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert cupy.accelerators == {"reduction": [], "routine": []}
    second.__exit__(None, None, None)
    assert cupy.accelerators == {"reduction": [1], "routine": [2]}


OPTIONS = {"rounds": 40, "seeds": 6, "metrics": ["all"], "keep": ["actions", "rewards", "policies", "counts"]}


@pytest.mark.parametrize(
    "pair", [("exp3", "ucb"), ("k-learning", "best-response"), ("hedge", "nash"), ("gp-mw:kernel=rbf", "maximin-ucb")]
)
def test_a_learner_without_random_numbers_plays_as_on_the_cpu(cupy, pair):
    here, there = (simulate("biased-rps", *pair, **OPTIONS, device=device) for device in ("cpu", "cuda"))
    assert (here.device, there.device) == ("cpu", "cuda")
    for name in here.metrics:
        np.testing.assert_allclose(there.metrics[name], here.metrics[name], atol=1e-9, err_msg=name)
    np.testing.assert_array_equal(there.kept["counts"], here.kept["counts"])


@pytest.mark.parametrize(
    "pair", [("coebl", "ucb:ties=random"), ("thompson", "kin"), ("ots-rm", "coebl:selection=dominance")]
)
def test_a_run_is_the_same_in_any_batch(cupy, pair):
    whole = simulate("biased-rps", *pair, **OPTIONS, device="cuda")
    part = simulate("biased-rps", *pair, **OPTIONS | {"seeds": [4]}, device="cuda")
    for name in whole.metrics:
        np.testing.assert_array_equal(whole.final(name)[[4]], part.final(name), err_msg=name)


@pytest.mark.parametrize(("fails", "replayed"), [([], 0), ([7], 1), ([1, 17], 2), ([1, 3, 5], 20)])
def test_runs_without_an_answer_are_played_again(cupy, monkeypatch, fails, replayed):
    """The policies of these runs are not checked, and the result reports only their number."""
    options = OPTIONS | {"rounds": 12, "seeds": 20, "record": 5, "block_rounds": 4, "device": "cuda"}
    expected = simulate("rps", "coebl", "exp3", **options)
    monkeypatch.setattr(Solver, "fails", fails)
    result = simulate("rps", "coebl", "exp3", **options)
    assert (result.replayed, expected.replayed) == (replayed, 0)
    assert (result.seeds.tolist(), result.rounds.tolist()) == (list(range(20)), expected.rounds.tolist())
    for name in expected.metrics:
        np.testing.assert_array_equal(result.metrics[name], expected.metrics[name], err_msg=name)
    np.testing.assert_array_equal(result.kept["counts"], expected.kept["counts"])
    for seat in range(2):
        np.testing.assert_array_equal(result.policies[seat], expected.policies[seat])
        for kept in ("actions", "rewards", "policies"):
            np.testing.assert_array_equal(result.kept[kept][seat], expected.kept[kept][seat], err_msg=kept)


def test_too_many_seeds_for_the_memory_report_how_many_fit(cupy, monkeypatch):
    """The memory of a run is measured when the table that did not fit is gone."""
    taken, tables = [0], []

    class OutOfMemoryError(MemoryError):
        pass

    class Large(Learner):
        def policy(self, t):
            if self.seat.runs > 100:
                raise OutOfMemoryError
            taken[0] = 1000 * self.seat.runs
            return self.seat.full(1 / self.seat.actions, self.seat.actions)

    class Watched(Table):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            tables.append(weakref.ref(self))

    def free_all_blocks():
        gc.collect()
        assert not any(table() for table in tables)
        taken[0] = 0

    monkeypatch.setattr(sys.modules["coebl.engine.simulate"], "Table", Watched)
    pool = SimpleNamespace(free_all_blocks=free_all_blocks, total_bytes=lambda: taken[0], get_limit=int)
    cupy.get_default_memory_pool = lambda: pool
    with pytest.raises(InputError, match=r"200 seeds do not fit .*; accepted: about 5,120 at a time"):
        simulate("rps", Large(), "exp3", rounds=5, seeds=200, device="cuda")


def test_einsum_that_the_kernel_cannot_do_is_left_to_cupy(cupy):
    square = np.arange(9.0).reshape(3, 3)
    assert backend_for("cuda").einsum("ii->i", square).tolist() == [0, 4, 8]
    assert backend_for("cuda").einsum("ij->j", square).tolist() == [9, 12, 15]
