"""Runs that a graphics processor leaves unsolved are played again; the result only says how many."""

import sys

import numpy as np
import pytest

from coebl import simulate
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
