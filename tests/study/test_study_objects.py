"""A study that is built in Python, from objects and specs, without any file."""

import subprocess
import sys
import tomllib
from dataclasses import dataclass

import numpy as np
import pytest

from coebl import Game, Learner
from coebl.games.noise import Gaussian
from coebl.learners import Coebl, Exp3
from coebl.study import Results, Study, StudyError, parse_study
from study_runs import rows


@dataclass
class Mine(Learner):
    rate: float = 0.5

    def start(self, seat):
        self.policies = seat.full(1 / seat.actions, seat.actions)

    def policy(self, t):
        return self.policies


def penalties():
    return GAME


GAME = Game([[3, 0], [1, 2]], name="mine")
SMALL = {"rounds": 20, "seeds": 3, "record": "last", "metrics": ["regret"]}


def test_objects_and_specs_make_the_cells_that_a_file_makes():
    study = Study(
        "small", games=["rps"], learners=[Coebl(c=2), "exp3"], noise=Gaussian(sigma=2), self_play=True, **SMALL
    )
    assert study == parse_study(study.text)
    assert [cell.players for cell in study.cells] == [("coebl:c=2", "coebl:c=2"), ("exp3", "exp3")]
    assert {cell.noise for cell in study.cells} == {"gaussian:sigma=2"}
    assert tomllib.loads(study.text)["match-ups"] == {"self-play": True}
    assert not any(cell.objects for cell in study.cells)


def test_everyone_meets_everyone_by_default():
    study = Study(games=["rps"], learners=["ucb", "exp3"], seeds=2)
    pairs = [("ucb", "ucb"), ("exp3", "exp3"), ("ucb", "exp3"), ("exp3", "ucb")]
    assert [match.players for match in study.matches()] == pairs
    assert {(cell.rounds, cell.seeds, cell.record) for cell in study.cells} == {(3000, (0, 1), "log")}


def test_parts_and_pairs():
    parts = [{"games": ["rps"]}, {"games": [GAME], "rounds": 30, "pairs": [("ucb", Exp3())]}]
    study = Study("two", pairs=[("exp3", "ucb")], parts=parts, seeds=range(4, 7))
    assert [(str(cell), cell.rounds) for cell in study.cells] == [
        ("rps, exp3 v ucb, 3000 rounds, seeds 4..6", 3000),
        ("mine, ucb v exp3, 30 rounds, seeds 4..6", 30),
    ]


def test_a_custom_class_and_a_game_without_a_spec_are_run_and_continued(tmp_path):
    study = Study(games=["rps", GAME], learners=[Mine(rate=2), "exp3"], **SMALL)
    outcome = study.run(tmp_path / "out", workers=1, quiet=True)
    assert (outcome.finished, outcome.failed) == (8, ())
    again = study.run(tmp_path / "out", workers=1, quiet=True)
    assert (again.finished, again.found) == (0, 8)
    frame = Results(tmp_path / "out").last(game="mine", players=("Mine:rate=2", None))
    assert frame["players"].to_list() == [["Mine:rate=2", "Mine:rate=2"]] * 3 + [["Mine:rate=2", "exp3"]] * 3
    other = Game([[3, 0], [1, 5]], name="mine")
    changed = Study(games=["rps", other], learners=[Mine(rate=2), "exp3"], **SMALL)
    assert {cell.digest() for cell in study.cells} - {cell.digest() for cell in changed.cells} == {
        cell.digest() for cell in study.cells if cell.game == "mine"
    }


SCRIPT = """
from dataclasses import dataclass
from coebl import Learner
from coebl.study import Study

@dataclass
class Own(Learner):
    def start(self, seat):
        self.policies = seat.full(1 / seat.actions, seat.actions)
    def policy(self, t):
        return self.policies

outcome = Study(games=["rps"], learners=[Own(), "exp3"], rounds=9, seeds=2).run("out", workers=2, quiet=True)
print(outcome.finished, outcome.causes)
"""


def test_a_class_of_a_script_runs_in_the_process_of_the_script(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("4 {}\n", "")


def test_a_file_and_its_objects_give_the_same_numbers(tmp_path):
    study = Study("same", games=["diagonal:n=2"], learners=[Exp3()], self_play=True, **SMALL)
    study.run(tmp_path / "objects", workers=1, quiet=True)
    parse_study(study.text).run(tmp_path / "file", workers=1, quiet=True)
    assert rows(tmp_path / "objects") == rows(tmp_path / "file")


@pytest.mark.parametrize(
    ("arguments", "place", "message"),
    [
        ({"games": ["rsp"]}, ("games", 0), "games[0]: unknown game 'rsp': did you mean 'rps'?"),
        ({"learners": ["ucb", 3]}, ("learners", 1), "learners[1]: this is 3; accepted: a list of learners"),
        ({"seeds": 0}, ("seeds",), "seeds: this is 0; accepted: how many"),
        ({"pairs": [("ucb", "exp4")]}, ("match-ups", "pairs", 0, 1), "pairs[0][1]: unknown learner 'exp4'"),
        ({"self_play": 3}, ("match-ups", "self-play"), "self_play: this is 3; accepted: true, false"),
        ({"parts": [{"rounds": 0}]}, ("parts", 0, "rounds"), "parts[0].rounds: this is 0"),
        ({"games": ["rps", Game([[1, 2]], name="rps")]}, ("games", 1), "games[1]: a game without a spec is"),
        ({"games": [GAME, Game([[1, 2]], name="mine")]}, ("games", 1), "games[1]: two different objects are"),
        ({"games": [penalties]}, ("games", 0), "games[0]: this is <function penalties"),
        ({"games": ["rps", [[1, 2]]]}, ("games", 1), "games[1]: this is [[1, 2]]; accepted: a list of games"),
        ({"metrics": ["regrets"]}, ("metrics", 0), "metrics[0]: unknown metric 'regrets'"),
    ],
)
def test_a_mistake_names_the_argument_and_its_place(arguments, place, message):
    with pytest.raises(StudyError) as caught:
        Study(**({"games": ["rps"], "learners": ["ucb", "exp3"], "seeds": 3} | arguments))
    [mistake] = caught.value.mistakes
    assert mistake.startswith(message)
    assert caught.value.places == [place]


@pytest.mark.parametrize(
    ("arguments", "repair"),
    [
        ({"learners": [Exp3]}, " Make one: Exp3()."),
        ({"games": [penalties]}, " Call it: penalties()."),
        ({"games": [[[1, 2]]]}, " Make a game of it: Game(payoff, name=...)."),
        ({"games": [np.eye(2)]}, " Make a game of it: Game(payoff, name=...)."),
    ],
)
def test_a_value_that_is_nearly_an_object_is_rejected_with_the_repair(arguments, repair):
    with pytest.raises(StudyError) as caught:
        Study(**({"games": ["rps"], "learners": ["ucb"], "seeds": 3} | arguments))
    [mistake] = caught.value.mistakes
    assert mistake.endswith(repair)


def test_missing_arguments_are_named():
    with pytest.raises(StudyError) as caught:
        Study(learners=["ucb"])
    assert [mistake.split(";")[0] for mistake in caught.value.mistakes] == [
        "there is no key 'seeds'",
        "there is no key 'games'",
    ]


def test_a_script_without_a_guard_gets_one_line(tmp_path):
    (tmp_path / "script.py").write_text(
        "from coebl.study import Study\n"
        'Study(games=["rps"], learners=["exp3"], rounds=9, seeds=2).run("out", workers=1, quiet=True)\n'
    )
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "LostError: all worker processes ended at once; finished cells are kept. In a script, run" in done.stderr
    assert done.stderr.count("Traceback") == 1  # the parent's own: none of a worker
