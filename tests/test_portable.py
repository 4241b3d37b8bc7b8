"""Runs have the same bits on every CPU, also if NumPy may not use the newer instructions.

.venv/bin/python tests/test_portable.py    prints the digests of this process
"""

import hashlib
import json
import math
import os
import subprocess
import sys

import numpy as np

from coebl import Game, Match, simulate
from coebl.games import GAMES, GenomeGame, TensorGame, parse_game
from coebl.learners import LEARNERS
from coebl.learners.evolution import MUTATIONS, POPULATIONS, RECOMBINATIONS, SELECTIONS
from coebl.solver import maximin
from learner_rules import INDEXED, OF_GENES

WIDE = Game(np.random.default_rng(3).uniform(-1, 1, (3, 4)), payoff_range=(-1.5, 1))
OPERATORS = [MUTATIONS, RECOMBINATIONS, SELECTIONS, POPULATIONS]
MORE = [
    *(f"coebl:{kind.kind}={entry.example}" for kind in OPERATORS for entry in kind),
    *("coebl:recombination=both,selection=comma,population=pool:size=2+mutants=4", "gp-mw:kernel=rbf"),
    *("kin:optimism=proven", "exp3:rewards=raw"),
]
NOISE_SPECS = ["gaussian", "laplace", "student-t", "exponential", "bernoulli"]
SWITCHED = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])  # optional CPU features
# NumPy without AVX2 and AVX-512, matrix products for a CPU of 2008, and a C library without fused operations.
OLD = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(SWITCHED),
    "OPENBLAS_CORETYPE": "Nehalem",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL",
}


def learners():
    examples = [LEARNERS[name].factory.example or name for name in INDEXED]
    fitting = {"fixed:strategy=0.5/0.5": "fixed:0.2/0.3/0.5", "switching:mixtures=0.5/0.5_1/0,at=20": "uniform"}
    return [*(fitting.get(spec, spec) for spec in examples), *MORE]


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def payoffs(game):
    """Return the payoffs of every player; of a game of genomes, those of some of them."""
    if isinstance(game, GenomeGame):
        genomes = np.random.default_rng(3).integers(0, 2, (2, 50, game.n), np.int8)
        return game.rewards(genomes, np.zeros(50))
    return game.payoffs if isinstance(game, TensorGame) else [game.payoff]


def digests():
    """Return digests: of the policies and every metric of a match of each learner, of hard solves, and of payoffs."""
    by_name = {}
    for number, spec in enumerate(learners()):
        match = Match.of(WIDE, spec, "tsallis-inf", rounds=60, noise=NOISE_SPECS[number % len(NOISE_SPECS)])
        result = simulate(match, 3, metrics=["all"], record=20, keep=["policies"])
        by_name[spec] = digest(*result.kept["policies"], *result.metrics.values())
    for spec in OF_GENES:
        match = Match.of("bilinear:n=4", spec, "gene-lr" if spec != "gene-lr" else "umda", rounds=60)
        result = simulate(match, 3, record=20, keep=["policies"])
        by_name[f"{spec} with genes"] = digest(*result.kept["policies"], *result.metrics.values())
    random = np.random.default_rng(1)
    low_rank = (random.normal(size=(20, 80, 3, 1)) * random.normal(size=(20, 1, 3, 80))).sum(axis=2)
    solved = maximin(low_rank + 1e-9 * random.normal(size=low_rank.shape))
    by_name["games that are solved again"] = digest(solved.strategy, solved.opponent, solved.value, solved.gap)
    return by_name | {entry.name: digest(*payoffs(parse_game(entry.example, "none"))) for entry in GAMES}


def libraries():
    """Return a digest of exp by NumPy, by the C library, and of a matrix product."""
    numbers = np.linspace(-9, 9, 40_000)
    return {
        "numpy": digest(np.exp(numbers)),
        "C": digest(np.array([math.exp(number) for number in numbers])),
        "BLAS": digest(numbers.reshape(200, 200) @ numbers.reshape(200, 200)),
    }


def test_every_run_is_the_same_on_a_cpu_of_2008():
    command = [sys.executable, "-W", "ignore", __file__]
    old = subprocess.run(command, env=os.environ | OLD, capture_output=True, text=True, check=True)
    content, here = json.loads(old.stdout), libraries()
    assert content["switched"] == []
    assert {name for name in here if content["libraries"][name] == here[name]} == set()  # else nothing was switched off
    differing = [spec for spec, checksum in digests().items() if content["digests"][spec] != checksum]
    assert not differing, (
        f"{differing}: the bits depend on the CPU. Take exp and log from coebl.backend, and softmax from "
        "coebl.learners.parts; write powers as products and roots; sum with seat.einsum, not @"
    )


if __name__ == "__main__":
    json.dump({"switched": SWITCHED, "libraries": libraries(), "digests": digests()}, sys.stdout)
