"""The source of custom code: it changes with all that a class names in its module, and with nothing else."""

import inspect
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from coebl.core.modules import load_file
from coebl.core.sources import source_of

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
def make(factor, table, offset=lambda x: x):
    def times(x):
        return factor * x

    class Base:
        rate = table[0]

    class Mine(Base):
        step = 0.25 * factor
        def play(self, x):
            return times(x) + offset(x) + sum(table), __class__
    return Mine
"""


@pytest.mark.parametrize("load", ["in_a_file", "without_a_file"])
def test_classes_made_by_a_function_differ_by_what_they_take_from_it(load, request):
    make = (without_a_file if load == "without_a_file" else request.getfixturevalue(load))(LOCAL).make
    table = np.array([1.0, 2.0])
    sources = [source_of(make(*arguments)) for arguments in ((1, table), (2, table), (1, table + 1), (1, [1.0, 2.0]))]
    assert len(set(sources)) == 4
    assert source_of(make(1, np.array([1.0, 2.0]))) == sources[0]
    others = [source_of(make(1, table, lambda x: x + 1)), source_of(make(1, table, lambda x: x + 2))]
    assert len({sources[0], *others}) == 3


def test_byte_code_is_the_same_in_every_process():
    command = "from test_sources import *; print(source_of(without_a_file(SCRIPT).Alone))"
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
