"""An error in a custom file is reported in one line with the file and the line, also on the command line."""

import pytest

from coebl import Game

OWN = r"""import json, sys
import numpy as np
from coebl import Game, Learner
from coebl.games import Noise
from coebl.metrics import Metric, Total

class Even(Learner):
    def start(self, seat):
        self.mixture = seat.full(1 / seat.actions, seat.actions)
    def policy(self, t):
        return self.mixture

class WithoutStart(Learner):
    policy = Even.policy

class WithoutPolicy(Learner):
    start = Even.start

class StartFails(Even):
    def start(self, seat):
        raise KeyError("no")

class EndsAtItsStart(Even):
    def start(self, seat):
        sys.exit(0)

class EndsInARound(Even):
    def policy(self, t):
        sys.exit(0)

class Raw(Even):
    def policy(self, t):
        raise ValueError("a\nb\x1b[2J")

class FailsElsewhere(Even):
    def policy(self, t):
        return json.loads("no")

class Peeks(Even):
    def observe(self, t, seen):
        seen.opponent

class Silent(Noise):
    pass

class Row(Total):
    name = "row"
    def terms(self, block):
        return block.reward[0]

class Nothing(Row):
    name = "nothing"
    terms = Total.terms

class Ends(Metric):
    name = "ends"
    definition = "nothing"
    def __call__(self, block):
        sys.exit(0)

def ends() -> Game:
    sys.exit(0)

def fails() -> Game:
    return [][1]
"""
MATCH = ["match", "--game", "rps", "--column", "uniform", "--rounds", "5", "--seeds", "2", "--row"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*MATCH, "own.py:WithoutStart"], "line 11: AttributeError: 'WithoutStart' object has no attribute 'mixture'"),
        ([*MATCH, "own.py:WithoutPolicy"], "coebl: own.py:WithoutPolicy has no policy(t); write one that returns"),
        ([*MATCH, "own.py:StartFails"], "own.py, line 21: KeyError: 'no' (own.py:StartFails in the row seat, before"),
        ([*MATCH, "own.py:EndsAtItsStart"], "own.py, line 25: SystemExit: 0 (own.py:EndsAtItsStart in the row seat, "),
        ([*MATCH, "own.py:EndsInARound"], "own.py, line 29: SystemExit: 0 (own.py:EndsInARound in the row seat, round"),
        ([*MATCH, "own.py:Raw"], r"own.py, line 33: ValueError: a\nb\x1b[2J (own.py:Raw in the row seat, round 1)"),
        ([*MATCH, "own.py:FailsElsewhere"], "own.py, line 37: JSONDecodeError: Expecting value"),
        ([*MATCH, "own.py:Peeks"], 'coebl: own.py:Peeks: seen.opponent is used but not declared; write sees = {"oppo'),
        ([*MATCH, "uniform", "--noise", "own.py:Silent"], "coebl: own.py:Silent has no draw(self, random, size); wr"),
        ([*MATCH, "uniform", "--metric", "own.py:Row"], "coebl: own.py:Row: terms has shape (2,); accepted: an arr"),
        ([*MATCH, "uniform", "--metric", "own.py:Nothing"], "coebl: own.py:Nothing has no terms(self, block); write"),
        ([*MATCH, "uniform", "--metric", "own.py:Ends"], "own.py, line 59: SystemExit: 0; fix the file."),
        (["solve", "own.py:ends"], "own.py, line 62: SystemExit: 0; fix the file."),
        (["solve", "own.py:fails"], "own.py, line 65: IndexError: list index out of range; fix the file."),
    ],
)
def test_a_fault_in_a_file_is_one_line_and_no_success(tmp_path, coebl, words, message):
    (tmp_path / "own.py").write_text(OWN)
    code, out, error = coebl(*words, cwd=tmp_path)
    assert (code, out, error.count("\n")) == (2, "", 1), error
    assert message in error


def test_names_of_games_and_files_are_escaped_in_a_match(tmp_path, coebl):
    (tmp_path / "own\x1b[2J.py").write_text(OWN)
    Game([[5, 4], [3, 1]], name="odd\x1b[2J", noise="none").write(tmp_path / "odd.json")
    words = ["uniform", "--column", "own\x1b[2J.py:Even", "--game", "odd.json"]
    code, out, error = coebl(*MATCH, *words, cwd=tmp_path)
    assert code == 0, error
    assert "\n" + r"odd\x1b[2J, uniform v own\x1b[2J.py:Even, 5 rounds" in out
    assert r"the column player, own\x1b[2J.py:Even, wins 0.75 a round" in " ".join(out.split())
    assert "\x1b" not in out
