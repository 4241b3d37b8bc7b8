"""Tests that need a GPU: kernels and learners compared with those on the CPU."""

import re

import numpy as np
import pytest

from coebl import simulate
from coebl.backend import CPU, backend_for
from coebl.backend.cuda import keys
from coebl.backend.streams import learner_key, spread_out
from coebl.core.errors import InputError
from coebl.games import NOISES
from coebl.learners import LEARNERS
from coebl.solver import cuda
from coebl.solver.cuda import CudaMaximin
from coebl.solver.maximin import first_weights
from coebl.study import Results, parse_study, run
from gpu.games import check_answers, games
from learner_rules import INDEXED, OF_GENES
from oracles.integers import solve_with_integers
from ucb_solves import hard_matrices


def _missing() -> str:
    try:
        backend_for("cuda")
    except InputError as error:
        return str(error)
    return ""


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(_missing()), reason=_missing())]

SEEDS = 200
SHAPES = [(1, 5), (5, 1), (2, 2), (3, 7), (16, 16), (20, 33), (64, 64), (50, 130), (128, 128), (40, 300), (260, 250)]


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_the_kernel_finds_the_solutions_of_the_cpu(m, n):
    cupy = backend_for("cuda").arrays
    for kind, batch in games(m, n):
        solution = CudaMaximin(batch.shape)(cupy.asarray(batch))
        check_answers(kind, batch, solution.strategy.get(), solution.value.get(), solution.gap.get())


@pytest.mark.parametrize("n", [5, 6])
def test_the_rule_for_ties_holds_on_ucbs_hardest_matrices(n):
    batch = hard_matrices(n)
    solution = CudaMaximin(batch.shape, many_ties=True)(backend_for("cuda").arrays.asarray(batch))
    assert solution.fallbacks == 0
    for matrix, strategy in zip(batch, solution.strategy.get(), strict=True):
        exact = solve_with_integers((matrix - matrix.min()) / np.ptp(matrix), first_weights(len(matrix))[0])
        np.testing.assert_allclose(strategy, exact[0], atol=1e-8)


def test_an_answer_does_not_depend_on_its_batch():
    cupy = backend_for("cuda").arrays
    batch = cupy.asarray(np.random.default_rng(0).normal(size=(300, 60, 60)))
    whole, part = CudaMaximin(batch.shape)(batch), CudaMaximin((3, 60, 60))(batch[100:103])
    for name in ("strategy", "opponent", "value", "gap", "pivots"):
        assert (getattr(whole, name)[100:103] == getattr(part, name)).all()


def test_unsolved_runs_are_marked():
    cupy = backend_for("cuda").arrays
    batch = cupy.asarray(np.random.default_rng(0).normal(size=(6, 50, 60)))
    batch[3, 2, 0] = np.nan
    unsolved = cupy.zeros(3, bool)
    solution = CudaMaximin(batch.shape, unsolved=unsolved, number=2)(batch)
    assert unsolved.tolist() == [False, True, False]
    assert np.isnan(solution.gap.get()).tolist() == [False, False, False, True, False, False]
    assert (solution.strategy[3] == 1 / 50).all()


@pytest.mark.parametrize("most_gap", [0.0, 1e-16])  # all runs, and some of them
def test_unsolved_runs_are_played_again(monkeypatch, most_gap):
    options = {"rounds": 3, "seeds": 40, "metrics": ["pseudo_regret"]}
    game = "random-gaussian:m=50,n=50,seed=1"
    known = simulate(game, "coebl", "thompson", device="cuda", **options)
    monkeypatch.setattr(cuda, "MOST_GAP", most_gap)
    cuda._kernel.cache_clear()
    on_cpu, solve = [], cuda.maximin
    monkeypatch.setattr(cuda, "maximin", lambda batch, **ties: on_cpu.append(len(batch)) or solve(batch, **ties))
    try:
        result = simulate(game, "coebl", "thompson", device="cuda", **options)
    finally:
        cuda._kernel.cache_clear()
    assert sum(on_cpu) > 0
    assert result.replayed > known.replayed
    assert np.allclose(result.metrics["pseudo_regret"], known.metrics["pseudo_regret"], rtol=0, atol=1e-8)


def test_payoffs_that_are_not_finite_are_rejected():
    batch = backend_for("cuda").arrays.ones((2, 3, 3))
    batch[1, 2, 0] = np.nan
    with pytest.raises(InputError, match="accepted: finite numbers"):
        CudaMaximin(batch.shape)(batch)


def _philox(counter, key):
    word, key = list(counter), list(key)
    for _ in range(10):
        products = 0xD2511F53 * word[0], 0xCD9E8D57 * word[2]
        word = [products[1] >> 32 ^ word[1] ^ key[0], products[1], products[0] >> 32 ^ word[3] ^ key[1], products[0]]
        word = [number & 0xFFFFFFFF for number in word]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return word


def test_random_numbers_are_those_of_philox_for_any_sizes_of_draws():
    random = backend_for("cuda").random([5, 9], learner_key(0))
    drawn = np.concatenate([random.uniform(3).get(), random.uniform(2, 2).get().reshape(2, 4)], axis=1)
    for number, words in enumerate(keys([5, 9], learner_key(0), "uniform").tolist()):
        pairs = [_philox([pair, 0, *words[2:]], words[:2]) for pair in range(4)]
        expected = [((a << 32 | b) >> 11) * 2.0**-53 for word in pairs for a, b in (word[:2], word[2:])]
        assert drawn[number].tolist() == expected[:7]


def test_normal_numbers_are_normal():
    drawn = backend_for("cuda").random(range(1000), learner_key(0)).normal(1000).get()
    moments = [(drawn**power).mean() for power in (1, 2, 3, 4)]
    errors = np.sqrt(np.array([1, 2, 15, 96]) / drawn.size)  # standard errors of these means
    assert (abs(moments - np.array([0, 1, 0, 3])) < 4.5 * errors).all()


@pytest.mark.parametrize("shape", [(2, 4, 6), (3, 5), (7,)])
def test_normal_numbers_with_a_deviation_and_a_mean(shape):
    cupy, numbers = backend_for("cuda").arrays, np.random.default_rng(0)
    deviation, mean = (cupy.asarray(numbers.normal(size=(20, *shape[-2:]))) for _ in range(2))
    plain, fused = (backend_for("cuda").random(range(20), learner_key(0)) for _ in range(2))
    for _ in range(3):  # from even and odd positions of a stream
        for options in ({}, {"deviation": deviation}, {"deviation": deviation, "mean": mean}):
            expected = spread_out(plain.normal(*shape), options.get("deviation"), options.get("mean"))
            assert (fused.normal(*shape, **options) == expected).all()


@pytest.mark.parametrize("subscripts", ["ri,rdij->rdj", "trj,ji->tri", "trj,trj->tr", "ma,rap->rmp", "rp,rq->rpq"])
def test_einsum_in_any_batch(subscripts):
    cupy = backend_for("cuda").arrays
    random, sizes = np.random.default_rng(0), dict(zip("rtdijmapq", (40, 6, 2, 5, 7, 3, 4, 9, 8), strict=True))
    arrays = [random.normal(size=[sizes[letter] for letter in name]) for name in subscripts.split("->")[0].split(",")]
    runs = [name.index("r") if "r" in name else None for name in subscripts.replace("->", ",").split(",")]
    backend = backend_for("cuda")
    with backend.computing():
        result = backend.einsum(subscripts, *map(cupy.asarray, arrays)).get()
        few = [
            array if axis is None else array.take([7, 30], axis=axis) for axis, array in zip(runs, arrays, strict=False)
        ]
        part = backend.einsum(subscripts, *map(cupy.asarray, few)).get()
    assert np.allclose(result, np.einsum(subscripts, *arrays), rtol=1e-12, atol=1e-12)
    assert np.array_equal(part, result.take([7, 30], axis=runs[-1]))


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ri,rij->rj", [(40, 1), (40, 3, 5)]),
        ("ri,rij,rj->r", [(40, 3), (40, 3, 5), (40, 5)]),
        ("ri,rij", [(4, 3), (4, 3, 5)]),
    ],
)
def test_einsum_agrees_with_numpy(subscripts, shapes):
    cupy, random = backend_for("cuda").arrays, np.random.default_rng(0)
    arrays = [random.normal(size=shape) for shape in shapes]
    result = backend_for("cuda").einsum(subscripts, *map(cupy.asarray, arrays)).get()
    assert np.allclose(result, np.einsum(subscripts, *arrays), rtol=1e-12, atol=1e-12)


def test_one_entry_per_run():
    backend = backend_for("cuda")
    cupy = backend.arrays
    array = np.random.default_rng(0).normal(size=(5, 3, 4))
    entries = np.arange(5), np.array([0, 2, 1, 1, 0]), np.array([3, 0, 1, 2, 3])
    there, index = cupy.asarray(array), tuple(map(cupy.asarray, entries))
    assert (backend.take(there, index).get() == array[entries]).all()
    backend.put(there, index, cupy.arange(5.0))
    array[entries] = np.arange(5.0)
    assert (there.get() == array).all()


def test_a_visit_of_one_entry_per_run():
    cupy = backend_for("cuda").arrays
    seat = [np.zeros((5, 3, 4)) for _ in range(2)]
    there = [cupy.zeros((5, 3, 4)) for _ in range(2)]
    for seed in range(30):
        random = np.random.default_rng(seed)
        entries, reward = (np.arange(5), random.integers(0, 3, 5), random.integers(0, 4, 5)), random.normal(size=5)
        CPU.count_visit(*seat, entries, reward)
        backend_for("cuda").count_visit(*there, tuple(map(cupy.asarray, entries)), cupy.asarray(reward))
    assert (there[0].get() == seat[0]).all()
    assert np.allclose(there[1].get(), seat[1], rtol=1e-14, atol=1e-14)


PLAYED = ["random-gaussian:m=4,n=4,seed=1", "random-gaussian:m=3,n=6,seed=1", "random-gaussian:m=6,n=3,seed=1"]
NAMES = [LEARNERS[name].example for name in INDEXED if name not in ("fixed", "switching")]  # they name their actions


@pytest.mark.parametrize(
    ("game", "name", "noise"),
    [
        *((game, name, None) for game in PLAYED for name in NAMES),
        *((PLAYED[1], name, noise) for name in ("coebl", "exp3") for noise in ("bernoulli", "laplace")),
    ],
)
def test_a_learner_plays_alike_on_both_devices(game, name, noise):
    here, there = (
        simulate(game, name, "exp3", noise=noise, rounds=150, seeds=SEEDS, record="last", device=device)
        for device in ("cpu", "cuda")
    )
    difference = there.final("pseudo_regret") - here.final("pseudo_regret")  # paired: the noise is the same
    assert abs(difference.mean()) <= 4.5 * difference.std() / SEEDS**0.5 + 1e-6


@pytest.mark.parametrize("game", ["diagonal:n=6,space=bits", "gene-bilinear:n=6", "coverage:n=5", "bilinear:n=7"])
@pytest.mark.parametrize("spec", OF_GENES)
def test_a_learner_of_genomes_plays_alike_on_both_devices(game, spec):
    here, there = (
        simulate(game, spec, "pbil", rounds=150, seeds=SEEDS, record="last", metrics=["all"], device=device)
        for device in ("cpu", "cuda")
    )
    for name in ("pseudo_regret", "exploitability", "entropy"):
        difference = there.final(name) - here.final(name)
        assert abs(difference.mean()) <= 4.5 * difference.std() / SEEDS**0.5 + 1e-6, name


@pytest.mark.parametrize("noise", NOISES.names)
def test_noise_is_the_same_on_both_devices(noise):
    here, there = (
        simulate(PLAYED[1], "uniform", "uniform", noise=noise, rounds=30, seeds=20, keep=["rewards"], device=device)
        for device in ("cpu", "cuda")
    )
    for ours, theirs in zip(here.kept["rewards"], there.kept["rewards"], strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_does_not_depend_on_its_batch(name):
    options = {"rounds": 40, "record": "last", "metrics": ["all"], "device": "cuda"}
    whole = simulate(PLAYED[1], name, "exp3", seeds=300, **options)
    for few in ([7, 250], [250]):
        part = simulate(PLAYED[1], name, "exp3", seeds=few, block_rounds=9, **options)
        for metric in whole.metrics:
            assert np.array_equal(whole.final(metric)[few], part.final(metric), equal_nan=True), metric
        assert np.array_equal(whole.row_policy[few], part.row_policy)


def test_too_little_memory_is_reported_on_one_line_with_a_number_that_fits():
    pool = backend_for("cuda").arrays.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.total_bytes() + 300 * 2**20)
    game = "random-gaussian:m=100,n=100"
    try:
        with pytest.raises(InputError, match=r"seeds do not fit .* accepted: about [\d,]+ at a time") as error:
            simulate(game, "coebl", "coebl", rounds=2, seeds=5000, device="cuda")
        fit = int(re.search(r"about ([\d,]+)", str(error.value))[1].replace(",", ""))
        simulate(game, "coebl", "coebl", rounds=2, seeds=fit, device="cuda")
        with pytest.raises(InputError, match="seeds do not fit"):
            simulate(game, "coebl", "coebl", rounds=2, seeds=3 * fit, device="cuda")
    finally:
        pool.set_limit(size=0)


def test_k_learning_does_not_depend_on_a_large_batch():
    options = {"rounds": 3, "record": "last", "metrics": ["pseudo_regret"], "device": "cuda"}
    whole = simulate("random-gaussian:m=16,n=16,seed=1", "k-learning", "uniform", seeds=10_000, **options)
    part = simulate("random-gaussian:m=16,n=16,seed=1", "k-learning", "uniform", seeds=50, **options)
    assert np.array_equal(whole.row_policy[:50], part.row_policy)


def test_a_study_runs_on_the_gpu(tmp_path):
    pytest.importorskip("pyarrow")
    text = 'name = "few"\ngames = ["rps"]\nlearners = ["ucb"]\nrounds = 20\nseeds = 3\n[match-ups]\nself-play = true\n'
    study = parse_study(text, device="cuda")
    for folder, limit in (("plain", None), ("limited", 300)):
        assert run(study, tmp_path / folder, workers=1, cell_timeout=limit, quiet=True).finished == 1
        assert Results(tmp_path / folder).devices() == [backend_for("cuda").versions["device"]]
