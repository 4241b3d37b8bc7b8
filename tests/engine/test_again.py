"""Runs that a graphics processor leaves unsolved are played again; the result only says how many."""

import gc
import sys
import weakref

import numpy as np
import pytest

from coebl import simulate
from coebl.core.errors import InputError
from coebl.engine import Match, PolicyError
from coebl.engine.table import Table

SEEDS = 30
ARGUMENTS = {"rounds": 12, "seeds": SEEDS, "record": 5, "keep": ["actions", "policies"], "block_rounds": 4}


@pytest.mark.parametrize("unsolved", [[], [1, 17], list(range(0, SEEDS, 2))])
def test_what_was_left_unsolved_is_played_again(monkeypatch, unsolved):
    known = simulate("rps", "coebl", "exp3", **ARGUMENTS)
    played = []

    class Unreliable(Table):
        """Spoils some runs in its second block, unless it waits for answers."""

        def __init__(self, match, seeds, device, wait=False):
            super().__init__(match, seeds, device, wait)
            self.wait, self.first = wait, 0
            played.append(list(seeds))

        def play(self, first, length):
            block = super().play(first, length)
            self.first = first
            if first > 1 and not self.wait:
                block.rewards[0][:, unsolved] += 1e6
                block.policies[0][:, unsolved] = 1 / 3
            return block

        def unsolved(self):
            return np.array([] if self.wait or self.first == 1 else unsolved, np.int64)

    monkeypatch.setattr(sys.modules["coebl.engine.simulate"], "Table", Unreliable)
    found = simulate("rps", "coebl", "exp3", **ARGUMENTS)
    everyone = list(range(SEEDS))
    assert played == [everyone, *([unsolved] if len(unsolved) == 2 else [everyone] if unsolved else [])]
    assert (found.replayed, known.replayed) == (0 if not unsolved else len(played[1]), 0)
    assert found.seeds.tolist() == everyone
    assert found.rounds.tolist() == known.rounds.tolist()
    for name in known.metrics:
        assert np.array_equal(found.metrics[name], known.metrics[name]), name
    assert np.array_equal(found.counts, known.counts)
    for seat in range(2):
        assert np.array_equal(found.policies[seat], known.policies[seat])
        for kept in known.kept:
            assert np.array_equal(found.kept[kept][seat], known.kept[kept][seat]), kept


def test_the_policies_of_runs_that_will_be_played_again_are_not_judged():
    table = Table(Match.of("rps", "uniform", "uniform", 1), [4, 9], "cpu")
    seated = table.seats[0]
    seated.policies = np.full((1, 2, 3), np.nan)
    seated.check(1, 1, np.array([True, True]))
    with pytest.raises(PolicyError, match="seed 9"):
        seated.check(1, 1, np.array([True, False]))


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

    def count(match):
        gc.collect()
        assert [table() for table in tables] == [None]
        return "about 7"

    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.setattr(sys.modules["coebl.engine.simulate"], "Table", Watched)
    monkeypatch.setattr(sys.modules["coebl.engine.simulate"], "_seeds_that_fit", count)
    with pytest.raises(InputError, match=r"8 seeds do not fit .*; accepted: about 7 at a time"):
        simulate("rps", f"{tmp_path / 'own.py'}:Large", "uniform", rounds=2, seeds=8)
