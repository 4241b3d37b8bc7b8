"""The source of custom code: it changes with all that a class names in its module, and with nothing else."""

import inspect
import subprocess
import sys
from copy import deepcopy
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from coebl import Game
from coebl.core.modules import load_file
from coebl.core.sources import source_of
from coebl.learners import Exp3, Ucb

SCRIPT = """
import math

RATE = 0.5
TABLE = [RATE, 2]
SEEDS = 5
calls = 0

OFFSET = 0
if math.pi > 3:
    OFFSET = 1
else: OFFSET = 2

class Base:
    def half(self):
        return other(2)

def other(x):
    return x / 2

def unused(x):
    return x

def helper(x):
    return TABLE[0] * x * RATE

class Mine(Base):
    def play(self, SEEDS):
        global calls
        calls += 1
        unused = [helper(x) + OFFSET for x in (1, 2)]
        return Mine, unused, SEEDS, math.pi

class Alone:
    step = 0.25
    def play(self, t):
        return t in {"a", "b", "c"}

payoff = dict(of=lambda x: helper(x), seeds=SEEDS)["of"]
"""
NAMED = {
    "RATE = 0.5": "RATE = 0.7",
    "x * RATE": "x / RATE",
    "[RATE, 2]": "[2 * RATE, 2]",
    "OFFSET = 1": "OFFSET = 3",
    "other(2)": "other(3)",
    "x / 2": "x / 3",
    "(1, 2)": "(1, 3)",
}
NOT_NAMED = {"SEEDS = 5": "SEEDS = 6", "return x\n": "return 2 * x\n", "calls = 0": "calls = 9", "0.25": "0.75"}


@pytest.fixture
def in_a_file(tmp_path):
    def load(text):
        (tmp_path / "script.py").write_text(text)
        return load_file(str(tmp_path / "script.py"))

    return load


def without_a_file(text):
    space = {"__name__": "made"}
    exec(text, space)
    return SimpleNamespace(**space)


@pytest.mark.parametrize(("old", "new"), (NAMED | NOT_NAMED).items())
def test_the_source_of_a_class_changes_with_what_it_names_in_its_module(in_a_file, old, new):
    assert SCRIPT.count(old) == 1
    first, second = (source_of(in_a_file(text).Mine) for text in (SCRIPT, SCRIPT.replace(old, new)))
    assert (first != second) == (old in NAMED)


def test_a_class_that_names_nothing_is_its_source_alone(in_a_file):
    assert source_of(alone := in_a_file(SCRIPT).Alone) == inspect.getsource(alone)


def test_a_lambda_is_its_line_and_what_it_names(in_a_file):
    source = source_of(in_a_file(SCRIPT).payoff)
    assert [text in source for text in ("lambda", "def helper", "RATE = ", "SEEDS = ", "OFFSET")] == [
        *(True, True, True, False, False)
    ]


@pytest.mark.parametrize(("old", "new"), (NAMED | NOT_NAMED).items())
def test_without_a_file_the_byte_code_changes_likewise(old, new):
    first, second = (source_of(without_a_file(text).Mine) for text in (SCRIPT, SCRIPT.replace(old, new)))
    assert (first != second) == (old in NAMED and old != "[RATE, 2]")  # the value of a list is not compared


def test_numbers_that_change_while_code_runs_do_not_count_without_a_file():
    text = (
        "count = 0\nclass Counting:\n    calls = 0\n    def step(self):\n        Counting.calls += 1\n        add()\n"
    )
    text += "        return count\ndef add():\n    global count\n    count += 1\n"
    module = without_a_file(text)
    before = source_of(module.Counting)
    module.Counting().step()
    assert (module.Counting.calls, module.add.__globals__["count"]) == (1, 1)
    assert source_of(module.Counting) == before


LOCAL = """
from functools import cached_property, partial

def make(value, default=1, base=object):
    def times(x):
        return value, x

    class Base(base):
        rate = default

    class Mine(Base):
        count = 0

        def play(self, x, default=default):
            self.count += 1
            return times(x), __class__, default

        @property
        def shown(self):
            return value

        @shown.setter
        def shown(self, new):
            return value

        @cached_property
        def kept(self):
            return value
    return Mine
"""


class Loud:
    def __repr__(self):
        raise OSError("no repr")

    fingerprint = 3


def nested():
    inside = []
    inside += [inside, inside, {1: inside}]
    return inside


VALUES = {
    "numbers": [1, 2, 1.0, 1.5, 10**5000, True, "1", b"1", None, 1j],
    "arrays": [
        np.zeros(4),
        np.zeros((2, 2)),
        np.zeros(4, np.float32),
        np.arange(2000.0),
        np.arange(2000.0) + (np.arange(2000) == 999),
    ],
    "collections": [[1, 2], (1, 2), [1, [2]], {"a": 1}, {"a": 2}, {"a", "b"}, {"a", "c"}, [np.zeros(2)], [np.ones(2)]],
    "functions": [lambda x: 2 * x, lambda x: 3 * x, partial(pow, 2), partial(pow, 3), "a".join, "b".join],
    "objects": [Game([[0, 1]]), Game([[0, 2]]), Ucb(), Exp3(), np.float64, np.ndarray, Loud(), Loud, nested()],
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("load", ["in_a_file", "without_a_file"])
def test_classes_made_by_a_function_differ_by_what_they_take_from_it(load, kind, request):
    make = (without_a_file if load == "without_a_file" else request.getfixturevalue(load))(LOCAL).make
    values = VALUES[kind]
    sources = [source_of(make(value)) for value in values]
    equal = 1 if kind == "functions" else 0  # methods of strings are one
    assert len(set(sources)) == len(values) - equal
    assert [source_of(make(deepcopy(value))) for value in values if kind in ("numbers", "arrays", "collections")] == (
        sources if kind in ("numbers", "arrays", "collections") else []
    )
    assert source_of(make(values[0], default=2)) != sources[0]
    assert len({source_of(make(1, base=make(value))) for value in values[:2]}) == 2


def test_a_counting_attribute_is_no_part_of_the_source_of_a_class(in_a_file):
    make = in_a_file(LOCAL).make
    played = make(1)
    played().play(1)
    played.count = 5
    assert source_of(played) == source_of(make(1))


def test_byte_code_is_the_same_in_every_process():
    taken = "make({'a', 'b', 'c'}), make(np.random.default_rng(0)), make(np.array([{}], object))"
    command = f"from test_sources import *; make = without_a_file(LOCAL).make\nfor code in ({taken}, "
    command += "without_a_file(SCRIPT).Alone): print(source_of(code))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", command],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "tests/core"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert runs[0].strip()
    assert len(set(runs)) == 1
