"""Runs that a GPU leaves unsolved are played again; the result reports only their number."""

import gc
import sys
import weakref

import numpy as np
import pytest

from coebl import simulate
from coebl.backend import Backend
from coebl.core.errors import InputError
from coebl.engine import Match, PolicyError
from coebl.engine.table import Table

SEEDS = 30
ARGUMENTS = {"rounds": 12, "seeds": SEEDS, "record": 5, "keep": ["actions", "policies", "counts"], "block_rounds": 4}


@pytest.mark.parametrize("unsolved", [[], [1, 17], list(range(0, SEEDS, 2))])
def test_unsolved_runs_are_played_again(monkeypatch, unsolved):
    known = simulate("rps", "coebl", "exp3", **ARGUMENTS)
    played = []

    class Unreliable(Backend):
        """A solver that leaves some runs unsolved, unless it waits for answers."""

        first, defers = 0, False

        def defer_failures(self, runs):
            self.defers = True

        def unsolved(self):
            return np.array(unsolved if self.defers and self.first > 1 else [], np.int64)

    class Spoiled(Table):
        """A learner that spoils these runs in its second block."""

        def __init__(self, match, seeds, backend):
            super().__init__(match, seeds, backend)
            played.append(list(seeds))

        def play(self, first, length):
            block = super().play(first, length)
            self.backend.first = first
            if first > 1 and self.backend.defers:
                block.rewards[0][:, unsolved] += 1e6
                block.policies[0][:, unsolved] = 1 / 3
            return block

    monkeypatch.setattr(sys.modules["coebl.engine.simulate"], "backend_for", lambda device: Unreliable())
    monkeypatch.setattr(sys.modules["coebl.engine.simulate"], "Table", Spoiled)
    found = simulate("rps", "coebl", "exp3", **ARGUMENTS)
    everyone = list(range(SEEDS))
    assert played == [everyone, *([unsolved] if len(unsolved) == 2 else [everyone] if unsolved else [])]
    assert (found.replayed, known.replayed) == (0 if not unsolved else len(played[1]), 0)
    assert found.seeds.tolist() == everyone
    assert found.rounds.tolist() == known.rounds.tolist()
    for name in known.metrics:
        assert np.array_equal(found.metrics[name], known.metrics[name]), name
    assert np.array_equal(found.kept["counts"], known.kept["counts"])
    for seat in range(2):
        assert np.array_equal(found.policies[seat], known.policies[seat])
        for kept in ("actions", "policies"):
            assert np.array_equal(found.kept[kept][seat], known.kept[kept][seat]), kept


def test_the_policies_of_runs_to_be_played_again_are_not_checked():
    class Marking(Backend):
        marked = np.array([True, True])

        def excuse(self, good):
            return good | self.marked

    backend = Marking()
    seated = Table(Match.of("rps", "uniform", "uniform", 1), [4, 9], backend).seats[0]
    seated.policies = np.full((1, 2, 3), np.nan)
    seated.check(1, 1)
    backend.marked = np.array([True, False])
    with pytest.raises(PolicyError, match="seed 9"):
        seated.check(1, 1)


OWN = """
from coebl.learners import Learner

class OutOfMemoryError(MemoryError):
    pass

class Large(Learner):
    def policy(self, t):
        raise OutOfMemoryError
"""


def test_memory_is_counted_when_the_table_that_did_not_fit_is_gone(monkeypatch, tmp_path):
    tables = []

    class Watched(Table):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            tables.append(weakref.ref(self))

    def count(backend, play):
        gc.collect()
        assert [table() for table in tables] == [None]
        return "about 7"

    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.setattr(sys.modules["coebl.engine.simulate"], "Table", Watched)
    monkeypatch.setattr(Backend, "runs_that_fit", count)
    with pytest.raises(InputError, match=r"8 seeds do not fit .*; accepted: about 7 at a time"):
        simulate("rps", f"{tmp_path / 'own.py'}:Large", "uniform", rounds=2, seeds=8)
