"""A study that is built in Python, from objects and specs, without any file."""

import importlib
import runpy
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from coebl import Game, Learner, parse_game
from coebl.core.errors import InputError
from coebl.core.modules import load_file
from coebl.games import DriftingGame, TensorGame
from coebl.games.noise import Gaussian
from coebl.learners import Coebl, Exp3, parse_learner
from coebl.learners.evolution import Mutation
from coebl.metrics import METRICS, Metric, metric_class
from coebl.study import Results, Study, StudyError, parse_study


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


def test_all_learners_meet_by_default():
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


def test_the_schedule_of_a_drifting_game_is_part_of_the_name_of_its_results():
    schedules = [(9, 1, 0), (8, 1, 0), (9, 2, 0), (9, 1, 1)]
    games = [DriftingGame(GAME, every, steps, seed) for every, steps, seed in schedules]
    studies = [Study(games=[game], learners=["exp3"], self_play=True, **SMALL) for game in games]
    assert len({study.cells[0].digest() for study in studies}) == 4


def test_the_noise_between_players_is_part_of_the_name_of_results():
    games = [TensorGame([GAME.payoff] * 2, noise_between=between) for between in ("independent", "common")]
    studies = [
        Study(games=[game], learners=["exp3"], self_play=True, **SMALL | {"metrics": ["payoff"]}) for game in games
    ]
    assert len({study.cells[0].digest() for study in studies}) == 2


@pytest.mark.parametrize(
    ("spec", "noise"), [("rps", "laplace:sigma=3"), ("diagonal:n=2,space=bits", "none"), ("jordan", "none")]
)
def test_a_game_object_is_played_with_its_noise(tmp_path, spec, noise):
    game = parse_game(spec, noise=noise)
    learner = "as-atoms:learner=exp3" if "bits" in spec else "exp3"
    study = Study(games=[spec, game], learners=[learner], self_play=True, **(SMALL | {"metrics": ["payoff"]}))
    assert [cell.noise for cell in study.cells] == [None, noise]
    assert [cell.match().game.noise for cell in study.cells] == [parse_game(spec).noise, game.noise]
    assert {cell.default_noise for cell in study.cells} == {str(parse_game(spec).noise)}
    assert [cell.labels().noise for cell in study.cells] == [str(parse_game(spec).noise), noise]
    study.run(tmp_path / "out", workers=1, quiet=True)
    assert {record.noise for record in Results(tmp_path / "out").records()} == {str(parse_game(spec).noise), noise}
    again = parse_study(study.text)
    assert again == study.with_(text=again.text)
    same = Study(games=[parse_game(spec)], learners=[learner], self_play=True, **(SMALL | {"metrics": ["payoff"]}))
    assert same.cells[0].digest() == study.cells[0].digest()


def test_the_file_of_a_game_object_s_noise_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nz.py").write_text(
        "from dataclasses import dataclass\nfrom coebl.games.noise import Gaussian\n"
        "@dataclass(frozen=True)\nclass N(Gaussian):\n    k: float = 1.0\n"
    )
    study = Study(games=[parse_game("rps", "nz.py:N:k=2")], learners=["ucb", "exp3"], seeds=2, rounds=9)
    assert {cell.noise for cell in study.cells} == {"nz.py:N:k=2"}
    [kept] = study.files
    assert f'"noise" = "{kept}:N:k=2"' in study.text
    study.run("out", workers=1)
    again = parse_study(study.text, "out/study.toml")
    assert [cell.digest() for cell in again.cells] == [cell.digest() for cell in study.cells]


def test_a_study_does_not_make_its_game_objects_again(monkeypatch):
    games = [parse_game("rps"), parse_game("diagonal:2", "none")]
    monkeypatch.setattr("coebl.games.registry._find_game", lambda spec: pytest.fail(f"{spec} is made again"))
    assert {cell.noise for cell in Study(games=games, learners=["ucb"], seeds=2).cells} == {None, "none"}


def test_the_noise_of_a_study_replaces_that_of_a_game_object():
    games = ["rps", parse_game("rps", noise="none")]
    study = Study(games=games, learners=["exp3"], self_play=True, noise=["bernoulli", "laplace"], **SMALL)
    assert [cell.noise for cell in study.cells] == ["bernoulli", "laplace"]
    assert {cell.default_noise for cell in study.cells} == {"gaussian"}
    assert parse_study(study.text) == study


def test_a_study_of_parts_keeps_the_noises_of_its_game_objects():
    parts = [{"games": [parse_game("rps", noise="none"), "rps"], "rounds": 9}, {"games": ["rps"], "noise": "laplace"}]
    study = Study(parts=parts, learners=["exp3"], self_play=True, seeds=2)
    assert [(cell.rounds, cell.noise) for cell in study.cells] == [(9, "none"), (9, None), (3000, "laplace")]
    assert parse_study(study.text).cells == study.cells


class Surprise(Metric):
    """How far noise moved the reward."""

    name = "surprise"
    needs = frozenset({"payoffs"})

    def __call__(self, block):
        return abs(block.reward - block.outcomes.earned)


class Clash(Surprise):
    pass


class Regret(Surprise):
    name = "regret"


def test_metrics_are_given_by_class(tmp_path):
    second = METRICS["swap_regret"].factory.of_seat(2)
    metrics = ["regret", Surprise, METRICS["tv"].factory]
    study = Study(games=["rps"], learners=["ucb"], **SMALL | {"metrics": metrics})
    assert [(cell.metrics, dict(cell.objects)) for cell in study.cells] == [
        (("regret", "tv", "surprise"), {("metric", "surprise"): Surprise})
    ]
    assert study.text.startswith("# To be run from the Python code that makes these objects: 'surprise'.\n")
    assert Study(games=["chicken"], learners=["ucb"], seeds=2, metrics=[second]).cells[0].metrics == ("swap_regret:2",)
    assert study.run(tmp_path, workers=2, quiet=True).finished == 1
    table, result = Results(tmp_path).last(), study.cells[0].run()
    assert table["surprise"].to_list() == result.final("surprise").tolist()
    assert study.run(tmp_path, quiet=True).found == 1


def test_a_game_a_noise_and_a_metric_may_have_the_name_of_a_learner(tmp_path):
    class Named(Surprise):
        name = "exp3"

    game = Game([[0, 1], [1, 0]], name="exp3")
    study = Study(games=[game], learners=["exp3", "ucb"], **SMALL | {"metrics": [Named]})
    assert study.run(tmp_path, quiet=True).failed == ()
    assert Results(tmp_path).last()["exp3"].len() == len(study.cells) * len(study.cells[0].seeds)


def test_a_metric_made_by_a_function_is_measured_again_if_its_values_change(tmp_path):
    def scaled(factor):
        class Scaled(Surprise):
            name = "scaled"

            def __call__(self, block):
                return factor * super().__call__(block)

        return Scaled

    for n, finished, found in ((1, 1, 0), (2, 1, 0), (2, 0, 1)):
        study = Study(games=["rps"], learners=["ucb"], **SMALL | {"metrics": [scaled(n)]})
        done = study.run(tmp_path, quiet=True)
        assert (done.finished, done.found, done.failed) == (finished, found, ())
        assert Results(tmp_path).last()["scaled"].to_list() == study.cells[0].run().final("scaled").tolist()


def test_a_metric_of_a_file_is_the_same_by_class_and_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "from coebl.metrics import Metric\nclass Mine(Metric):\n    name = 'mine'\n"
        "    def __call__(self, block):\n        return block.reward\n"
    )
    by_name, by_class = (
        Study(games=["rps"], learners=["ucb"], **SMALL | {"metrics": ["regret", metric]})
        for metric in ("mine.py:Mine", metric_class("mine.py:Mine"))
    )
    assert (by_class, by_class.files) == (by_name, by_name.files)
    assert by_class.cells[0].metrics == ("regret", "mine.py:Mine")


def test_cells_of_a_metric_that_has_changed_are_run_again(tmp_path):
    file = tmp_path / "script.py"
    code = (
        "from coebl.metrics import Metric\nclass Mine(Metric):\n    name = 'mine'\n"
        "    def __call__(self, block):\n        return 1 * block.reward\n"
        "from coebl import Study\n"
        "study = Study(games=['rps'], learners=['ucb'], seeds=3, rounds=9, metrics=['regret', Mine], record='last')\n"
    )
    found, means = [], []
    for factor in (1, 2, 2):
        file.write_text(code.replace("1 *", f"{factor} *"))
        study = runpy.run_path(str(file), run_name="__main__")["study"]
        found.append(study.run(tmp_path / "out", quiet=True).found)
        means.append(Results(tmp_path / "out").last()["mine"].mean())
    assert found == [0, 0, 1]
    assert means[1] == means[2] == pytest.approx(2 * means[0])


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        ([Surprise, Clash], "Clash: another metric or column is called 'surprise'; give it another name."),
        ([Regret], "metric Regret: its name is 'regret', that of a registered metric; give it another name."),
        ([type("Spaced", (Surprise,), {"name": "a b"})], "Spaced: the class attribute name is 'a b'; accepted: "),
        ([type("Unsure", (Surprise,), {"better": "more"})], "metric Unsure: better is 'more'; accepted: 'lower', "),
        ([Surprise(GAME, 3)], "this is an object of the class Surprise; accepted: "),
        ([dict], "this is the class dict; accepted: a list of metrics"),
    ],
)
def test_metrics_that_cannot_be_measured(metrics, reason):
    mistake, place = mistake_in({"metrics": metrics})
    assert mistake.startswith(f"metrics[{len(metrics) - 1}]: {reason}")
    assert place == ("metrics", len(metrics) - 1)


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


CHANGING = """
from dataclasses import dataclass
from coebl import Game, Learner
from coebl.games import DriftingGame, TensorGame
from coebl.games.noise import Gaussian
from coebl.learners import Coebl
from coebl.learners.evolution import Mutation
from coebl.study import Study

SHARE = 0.5

def skewed(policies):
    return SHARE * policies

@dataclass
class Skewed(Learner):
    def start(self, seat):
        self.policies = seat.full(1 / seat.actions, seat.actions)
    def policy(self, t):
        return skewed(self.policies)

@dataclass(frozen=True)
class Half(Mutation):
    def mutate(self, random, parents, deviation):
        return parents * SHARE

@dataclass(frozen=True)
class Louder(Gaussian):
    def draw(self, random, size):
        return super().draw(random, size) / SHARE

study = Study(
    games=["rps", Game([[1, 2]], name="loud", noise=Louder())],
    learners=[Skewed(), Coebl(mutation=Half()), "exp3"],
    seeds=5,
    seeds_per_cell=1,
    self_play=True,
)
"""


@pytest.mark.parametrize("changed", ["= 0.5", "* policies", "* SHARE", "/ SHARE", "seeds=5"])
def test_cells_of_custom_code_that_has_changed_are_not_reused(tmp_path, changed):
    file = tmp_path / "script.py"
    digests = []
    for text in (CHANGING, CHANGING.replace(changed, {"seeds=5": "seeds=6"}.get(changed, f"{changed} * 2"))):
        file.write_text(text)
        cells = load_file(str(file)).study.cells
        digests.append({cell.digest(): (cell.game, cell.players[0]) for cell in cells})
    skewed, half = "Skewed", "coebl:mutation=Half"
    every = {(game, player) for game in ("rps", "loud") for player in (skewed, half, "exp3")}
    assert {digests[0][digest] for digest in digests[0].keys() - digests[1].keys()} == {
        "= 0.5": every - {("rps", "exp3")},
        "* policies": {("rps", skewed), ("loud", skewed)},
        "* SHARE": {("rps", half), ("loud", half)},
        "/ SHARE": {("loud", skewed), ("loud", half), ("loud", "exp3")},
        "seeds=5": set(),
    }[changed]


def mistake_in(arguments):
    """The only mistake in the arguments of a study, and its place."""
    with pytest.raises(StudyError) as caught:
        Study(**({"games": ["rps"], "learners": ["ucb", "exp3"], "seeds": 3} | arguments))
    [mistake], [place] = caught.value.mistakes, caught.value.places
    return mistake, place


class Impostor(Mine):
    name = "ucb"


class CountedNoise(Gaussian):
    name = "gaussian"


@dataclass(frozen=True)
class Still(Mutation):
    name = "gaussian"


@pytest.mark.parametrize(
    ("arguments", "class_", "kind", "name"),
    [
        ({"learners": [Impostor(), "exp3"]}, Impostor, "learner", "ucb"),
        ({"learners": ["ucb", Impostor()]}, Impostor, "learner", "ucb"),
        ({"learners": [Coebl(mutation=Still())]}, Still, "mutation", "gaussian"),
        ({"learners": ["ucb"], "noise": CountedNoise()}, CountedNoise, "noise", "gaussian"),
        ({"learners": ["ucb"], "games": [parse_game("rps", CountedNoise())]}, CountedNoise, "noise", "gaussian"),
    ],
)
def test_a_custom_class_with_the_name_of_a_registered_one_is_rejected(arguments, class_, kind, name):
    mistake, _ = mistake_in(arguments)
    called = f"the class {class_.__module__}.{class_.__name__} is called {name!r}"
    assert mistake.endswith(f": {called}, as a registered {kind} is; give it another name.")


def test_a_learner_in_a_file_may_have_a_default_part_in_that_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nest.py").write_text(
        "from dataclasses import dataclass\nfrom coebl.learners import Coebl\n"
        "from coebl.learners.evolution import Mutation\n@dataclass(frozen=True)\nclass Wide(Mutation):\n"
        "    def deviation(self, seat, count):\n        return 0 * count + 0.3\n"
        "@dataclass\nclass Nested(Coebl):\n    mutation: Mutation = Wide()\n"
    )
    study = Study(games=["rps"], learners=["nest.py:Nested"], seeds=2, rounds=9)
    assert [dict(cell.objects) for cell in study.cells] == [{}]
    assert study.run("out", workers=2).finished == 1


def test_a_learner_with_parts_of_a_file_and_of_a_module_is_run_here(tmp_path, monkeypatch):
    code = "from dataclasses import dataclass\nfrom coebl.learners.evolution import Mutation, Selection\n"
    code += "@dataclass(frozen=True)\nclass "
    wide = "Wide(Mutation):\n    def deviation(self, seat, count):\n        return 0 * count + 0.3\n"
    first = "First(Selection):\n    def __call__(self, generation):\n"
    first += "        return generation.parents.policy[:, :, 0] < 0\n"
    (tmp_path / "wide.py").write_text(code + wide)
    (tmp_path / "module_of_first.py").write_text(code + first)
    monkeypatch.syspath_prepend(tmp_path)
    learner = parse_learner(f"coebl:mutation={tmp_path / 'wide.py'}:Wide")
    learner = replace(learner, selection=importlib.import_module("module_of_first").First())
    study = Study(games=["rps"], learners=[learner], **SMALL)
    assert study.run(tmp_path / "out", workers=2, quiet=True).finished == 1


def test_the_files_of_objects_are_kept_as_those_of_specs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "from dataclasses import dataclass\nfrom coebl import Game, Learner\nfrom coebl.games import Noise\n"
    (tmp_path / "mine.py").write_text(f"{code}class Mine(Learner):\n    pass\n")
    (tmp_path / "own.py").write_text(f"{code}def own(n: int = 2):\n    return Game([[1, 0], [0, n]])\n")
    arguments = {"learners": ["mine.py:Mine", "ucb"], "games": ["rps", "own.py:own:n=3"], **SMALL}
    specs = Study(pairs=[("ucb", "exp3")], **arguments)
    objects = {"learners": [parse_learner("mine.py:Mine"), "ucb"], "games": ["rps", parse_game("own.py:own:n=3")]}
    study = Study(pairs=[("ucb", "exp3")], **arguments | objects)
    assert (study.text, dict(study.files)) == (specs.text, dict(specs.files))
    assert sorted(name.rpartition("/")[2] for name in study.files) == ["mine.py", "own.py"]


def test_two_custom_learners_with_one_spec_are_rejected():
    def operator(shift):
        @dataclass(frozen=True)
        class Shift(Mutation):
            def mutate(self, random, parents, deviation):
                return parents + shift

        return Shift()

    first, second = Coebl(mutation=operator(1)), Coebl(mutation=operator(2))
    with pytest.raises(StudyError, match="two different objects are called 'coebl:mutation=Shift'"):
        Study(games=["rps"], learners=[first, second], seeds=3)
    study = Study(games=["rps"], learners=[first, replace(first)], seeds=3)
    assert [cell.objects["learner", "coebl:mutation=Shift"] for cell in study.cells] == [first]


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
        ({"games": [penalties]}, ("games", 0), "games[0]: this is the function penalties; accepted: "),
        ({"games": ["rps", [[1, 2]]]}, ("games", 1), "games[1]: this is [[1, 2]]; accepted: a list of games"),
        ({"seeds": {"first": 1, "count": 2, 3: 4}}, ("seeds", 3), "seeds[3]: unknown key 3. Accepted: first, count."),
        ({"metrics": ["regrets"]}, ("metrics", 0), "metrics[0]: unknown metric 'regrets'"),
    ],
)
def test_a_mistake_names_the_argument_and_its_place(arguments, place, message):
    mistake, actual_place = mistake_in(arguments)
    assert mistake.startswith(message)
    assert actual_place == place


@pytest.mark.parametrize(
    ("arguments", "repair"),
    [
        ({"learners": [Exp3]}, " Make one: Exp3()."),
        ({"games": [penalties]}, " Call it: penalties()."),
        ({"learners": [Fraction(1)]}, " Each is a spec, or an object of a class that extends Learner."),
        ({"games": [[[1, 2]]]}, " Make a game of it: Game(payoff, name=...)."),
        ({"games": [np.eye(2)]}, " Make a game of it: Game(payoff, name=...)."),
    ],
)
def test_a_class_or_matrix_in_place_of_an_object_is_rejected_with_the_repair(arguments, repair):
    mistake, _ = mistake_in(arguments)
    assert mistake.endswith(repair)


def test_arrays_and_numbers_of_numpy_are_accepted():
    plain = Study(games=["rps"], pairs=[("ucb", "exp3")], rounds=9, seeds={"first": 3, "count": 4}, seeds_per_cell=2)
    seeds = {"first": np.int64(3), "count": np.int64(4)}
    numbers = {"rounds": np.int64(9), "seeds": seeds, "seeds_per_cell": np.int32(2)}
    assert Study(games=["rps"], pairs=np.array([("ucb", "exp3")]), **numbers) == plain
    parts = [{"games": np.array(["rps"]), "seeds": np.arange(3, 7)}]
    arrays = Study(pairs=[("ucb", "exp3")], rounds=9, seeds_per_cell=2, parts=parts)
    assert arrays.cells == plain.cells
    assert parse_study(arrays.text) == arrays


@pytest.mark.parametrize("workers", [0, -1, 1.5, 1001])
def test_a_mistaken_number_of_workers_is_rejected_before_anything_is_written(tmp_path, workers):
    study = Study(games=["rps"], learners=["exp3"], rounds=9, seeds=2)
    with pytest.raises(InputError, match=f"workers is {workers}; accepted: an integer, 1 .. 1,000"):
        study.run(tmp_path / "out", workers=workers, quiet=True)
    assert not (tmp_path / "out").exists()


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
