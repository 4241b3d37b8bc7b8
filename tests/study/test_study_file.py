"""The study file, and the cells that it expands to."""

import itertools
import re

import pytest

from coebl.core.errors import InputError
from coebl.core.specs import expand
from coebl.metrics import METRICS
from coebl.study import EXAMPLE, StudyError, parse_study, read_study
from coebl.study.cell import Cell
from study_texts import BASE, mistakes_of, pairs_of, with_lines


def test_every_cell_of_a_small_study():
    text = with_lines({3: "seeds = 3\nseeds_per_cell = 2", 5: 'learners = ["ucb"]'})
    common = {"rounds": 20, "noise": "none", "record": "last", "metrics": ("regret",)}
    study = parse_study(text)
    assert study.cells == tuple(
        Cell(game, ("ucb", "ucb"), seeds=seeds, **common)
        for game in ("rps", "diagonal:n=2")
        for seeds in ((0, 1), (2,))
    )
    assert (study.name, study.text) == ("small", text)


def test_default_values():
    text = with_lines({3: "seeds = 60", 6: None, 7: None, 8: None})
    first = parse_study(text).cells[0]
    assert first == Cell("rps", ("ucb", "ucb"), 20, tuple(range(50)))
    assert (first.noise, first.record, first.metrics) == (None, "log", ("regret", "pseudo_regret"))


def test_the_example():
    study = parse_study(EXAMPLE)
    learners = ["coebl:c=2", "coebl", "ucb", "exp3"]  # c is 8 by default
    pairs = [*zip(learners, learners, strict=True), *itertools.permutations(learners, 2)]
    assert [(cell.game, cell.players, cell.seeds) for cell in study.cells] == [
        (game, pair, tuple(range(10))) for game in ("rps", "diagonal:n=2", "diagonal:n=3") for pair in pairs
    ]
    assert {(cell.rounds, cell.noise, cell.record, cell.metrics) for cell in study.cells} == {
        (500, "gaussian", "log", ("regret", "pseudo_regret", "tv"))
    }
    result = next(cell for cell in study.cells if cell.players[0] == "exp3").run()
    assert {name: values.shape[1] for name, values in result.metrics.items()} == dict.fromkeys(
        study.cells[0].metrics, 10
    )


def test_every_commented_line_of_the_example_is_valid(tmp_path):
    (tmp_path / "my-game.csv").write_text("3,0\n1,2\n")
    path = tmp_path / "study.toml"
    path.write_text(re.sub(r'# (?="my-game|one-against-all|pairs|seeds_per)', "", EXAMPLE))
    # 4 games, 4 learners in all 16 ordered pairs, 2 blocks of seeds
    assert len(read_study(path).cells) == 4 * 16 * 2


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("ucb", ["ucb"]),
        ("coebl:c=[0.1,0.5,2]", ["coebl:c=0.1", "coebl:c=0.5", "coebl:c=2"]),
        ("coebl:c=[ 2 , 8 ]", ["coebl:c=2", "coebl:c=8"]),
        ("coebl:c=[2]", ["coebl:c=2"]),
        ("x:a=[1,2],b=0,c=[3,4]", ["x:a=1,b=0,c=3", "x:a=1,b=0,c=4", "x:a=2,b=0,c=3", "x:a=2,b=0,c=4"]),
        ("diagonal:[2,3]", ["diagonal:2", "diagonal:3"]),
        ("fixed:[1/0,0.5/0.5]", ["fixed:1/0", "fixed:0.5/0.5"]),
        ("x:game=diagonal:n=[2,3]+k=1,s=5", ["x:game=diagonal:n=2+k=1,s=5", "x:game=diagonal:n=3+k=1,s=5"]),
        ("games[old]/a.csv", ["games[old]/a.csv"]),
    ],
)
def test_expansion_by_hand(spec, expected):
    assert expand(spec) == expected


HUNDRED = f"[{','.join(map(str, range(100)))}]"
UNREADABLE = ["x:a=[1,2", "x:a=[]", "x:a=[1,,2]", "x:a=[1,2]3", "x:a=[[1,2],3]", "x:a=[1],b=[2"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        *((spec, r"accepted: key=\[a,b,c\]") for spec in UNREADABLE),
        (f"x:a={HUNDRED},b={HUNDRED},c={HUNDRED}", "1,000,000 specs"),
    ],
)
def test_lists_that_cannot_be_expanded(spec, message):
    assert len(expand(f"x:a={HUNDRED},b={HUNDRED}")) == 10_000
    with pytest.raises(InputError, match=message):
        expand(spec)


def test_specs_become_canonical_and_count_once():
    text = with_lines(
        {
            4: 'games = ["diagonal:[3,2]", " rps ", "diagonal:n=2", "blotto:fields=3,coins=6"]',
            5: 'learners = ["coebl:2", "coebl:c=2.0", "coebl:c=[2,3]"]',
            6: 'noise = ["gaussian:sigma=[1,0.5]", "gaussian", "none"]',
        }
    )
    cells = parse_study(text).cells
    assert list(dict.fromkeys(cell.game for cell in cells)) == ["diagonal:n=3", "diagonal:n=2", "rps", "blotto"]
    assert list(dict.fromkeys(cell.players[0] for cell in cells)) == ["coebl:c=2", "coebl:c=3"]
    assert list(dict.fromkeys(cell.noise for cell in cells)) == ["gaussian", "gaussian:sigma=0.5", "none"]
    assert len(cells) == len(set(cells)) == 4 * 2 * 3


@pytest.mark.parametrize(
    ("number", "line", "attribute", "expected"),
    [
        (3, "seeds = 3", "seeds", (0, 1, 2)),
        (3, "seeds = [8, 3, 0]", "seeds", (0, 3, 8)),
        (3, "seeds = { first = 100, count = 3 }", "seeds", (100, 101, 102)),
        (3, "seeds.first = 7\nseeds.count = 1", "seeds", (7,)),
        *((7, f'record = "{name}"', "record", name) for name in ("all", "log", "last")),
        (7, "record = 7", "record", 7),
        (8, 'metrics = ["tv", "regret"]', "metrics", ("regret", "tv")),
        (8, 'metrics = ["regret", "tv", "regret"]', "metrics", ("regret", "tv")),
    ],
)
def test_the_values_of_cells(number, line, attribute, expected):
    assert {getattr(cell, attribute) for cell in parse_study(with_lines({number: line})).cells} == {expected}


def test_more_seeds_leave_the_full_cells_as_they_are():
    fewer = parse_study(with_lines({3: "seeds = 4\nseeds_per_cell = 2"})).cells
    more = parse_study(with_lines({3: "seeds = 9\nseeds_per_cell = 2"})).cells
    assert set(fewer) < set(more)
    assert {cell.seeds for cell in more} == {(0, 1), (2, 3), (4, 5), (6, 7), (8,)}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("self-play = true", "ucb v ucb, exp3 v exp3"),
        ('self-play = ["uniform"]', "uniform v uniform"),
        ("all-pairs = true", "ucb v exp3, exp3 v ucb"),
        (
            'all-pairs = ["coebl:c=[2,3]", "ucb"]',
            "coebl:c=2 v coebl:c=3, coebl:c=2 v ucb, coebl:c=3 v coebl:c=2, coebl:c=3 v ucb, ucb v coebl:c=2, "
            "ucb v coebl:c=3",
        ),
        ('one-against-all = "exp3"', "ucb v exp3"),
        ('one-against-all = "nash"', "ucb v nash, exp3 v nash"),
        ('one-against-all = ["nash", "ucb"]', "ucb v nash, exp3 v nash, exp3 v ucb"),
        ('pairs = [["ucb", "coebl:c=[2,3]"]]', "ucb v coebl:c=2, ucb v coebl:c=3"),
        ('pairs = [["best-response", "ucb"], ["ucb", "best-response"]]', "best-response v ucb, ucb v best-response"),
        ('self-play = false\nall-pairs = false\npairs = [["ucb", "uniform"]]', "ucb v uniform"),
        ('pairs = [["exp3", "ucb"]]\nall-pairs = true\none-against-all = "ucb"', "exp3 v ucb, ucb v exp3"),
    ],
)
def test_match_ups(lines, expected):
    assert ", ".join(map(" v ".join, pairs_of(with_lines({10: lines})))) == expected


def test_pairs_need_no_pool_of_learners():
    assert pairs_of(with_lines({5: None, 10: 'pairs = [["ucb", "exp3"]]'})) == [("ucb", "exp3")]


@pytest.mark.parametrize("line", ['metrics = ["all"]', 'metrics = "all"', 'metrics = ["regret", "all"]'])
def test_all_metrics_are_those_that_each_game_allows(line):
    cells = parse_study(with_lines({4: 'games = ["rps", "trap:r=0"]', 8: line})).cells
    metrics = {cell.game: cell.metrics for cell in cells}
    of_matrices = [name for name in METRICS.names if not {"genomes", "welfare"} & METRICS[name].factory.needs]
    assert metrics["rps"] == tuple(of_matrices)
    assert metrics["trap:r=0"] == tuple(name for name in of_matrices if name not in ("kl", "tv"))


# Parts


PARTS = """\
name = "parts"
title = "Two parts"
description = "The game of each learner."
rounds = 20
seeds = 4
noise = "none"
learners = ["ucb", "exp3"]
metrics = ["regret"]
[[parts]]
games = ["rps"]
[parts.match-ups]
self-play = true
[[parts]]
games = ["diagonal:n=2", "rps"]
seeds_per_cell = 2
rounds = 30
record = 5
noise = "bernoulli"
metrics = ["regret", "tv"]
[parts.match-ups]
pairs = [["coebl:c=2", "exp3"]]
"""


def test_the_cells_of_all_parts_in_order():
    first = {"rounds": 20, "seeds": (0, 1, 2, 3), "noise": "none", "metrics": ("regret",)}
    second = {"rounds": 30, "noise": "bernoulli", "record": 5, "metrics": ("regret", "tv")}
    study = parse_study(PARTS)
    assert (study.name, study.title, study.description) == ("parts", "Two parts", "The game of each learner.")
    assert study.cells == (
        Cell("rps", ("ucb", "ucb"), **first),
        Cell("rps", ("exp3", "exp3"), **first),
        Cell("diagonal:n=2", ("coebl:c=2", "exp3"), seeds=(0, 1), **second),
        Cell("diagonal:n=2", ("coebl:c=2", "exp3"), seeds=(2, 3), **second),
        Cell("rps", ("coebl:c=2", "exp3"), seeds=(0, 1), **second),
        Cell("rps", ("coebl:c=2", "exp3"), seeds=(2, 3), **second),
    )


def test_a_cell_of_two_parts_counts_once():
    study = parse_study(BASE + "[[parts]]\n[[parts]]\ngames = ['rps', 'trap:1']\n")
    assert [cell.game for cell in study.cells] == ["rps", "rps", "diagonal:n=2", "diagonal:n=2", "trap", "trap"]
    assert study.cells[:4] == parse_study(BASE).cells


PARTS_MISTAKEN = [
    ("games = ['rps']", "games = ['rsp']", "line 10, parts[0].games[0]", "did you mean 'rps'?"),
    ("record = 5", "recrod = 5", "line 17, parts[1].recrod", "did you mean 'record'? Accepted: rounds, seeds"),
    ("record = 5", "name = 'x'", "line 17, parts[1].name", "it belongs above [[parts]]"),
    ("record = 5", "self-play = true", "line 17, parts[1].self-play", "it belongs under [parts.match-ups]"),
    ("pairs = [['coebl:c=2', 'exp3']]", "self-play = 3", "line 21, parts[1].match-ups.self-play", "this is 3"),
    ("games = ['rps']\n", "", "line 9, parts[0]", "there is no key 'games' here or at the top; accepted: a list"),
    ("rounds = 20", "rounds = 0", "line 4, rounds", "this is 0"),
    ("metrics = ['regret']", "metrics = ['regrets']", "line 8, metrics[0]", "did you mean 'regret'?"),
    ("title = 'Two parts'", "title = 'Two\\nparts'", "line 2, title", "accepted: a string on one line"),
    ("title = 'Two parts'", "title = 2", "line 2, title", "this is 2; accepted: a string on one line"),
    ("title = 'Two parts'", "parts = 3 #", "line 2, parts", "accepted: tables [[parts]]"),
]


@pytest.mark.parametrize(("old", "new", "begins", "says"), PARTS_MISTAKEN)
def test_a_mistake_in_a_part_names_its_line_and_place(old, new, begins, says):
    text = PARTS.replace("'", '"').replace(old.replace("'", '"'), new.replace("'", '"'), 1)
    if new.startswith("parts"):
        text = text[: text.index("[[parts]]")]
    [mistake] = mistakes_of(text)  # a mistake at the top is reported once, though both parts meet it
    assert mistake.startswith(f"study.toml, {begins}: ")
    assert says in mistake


def test_a_selection_is_the_same_study_with_fewer_cells():
    study = parse_study(PARTS)
    assert study.matches() == [
        ("rps", "ucb", "ucb"),
        ("rps", "exp3", "exp3"),
        ("diagonal:n=2", "coebl:c=2", "exp3"),
        ("rps", "coebl:c=2", "exp3"),
    ]
    some = study.select([study.matches()[3], study.matches()[0]])
    assert some.cells == (study.cells[0], *study.cells[4:])
    assert (some.name, some.text, some.title) == (study.name, study.text, study.title)
    assert study.select(study.matches(), seeds=2).cells == (study.cells[2], study.cells[4])
    assert study.select(study.matches(), seeds=4) == study
    with pytest.raises(InputError, match="the study parts has no match exp3 v ucb on rps"):
        study.select([("rps", "exp3", "ucb")])


# Files

MINE = """
from dataclasses import dataclass
from coebl.learners.opponents import Uniform

@dataclass
class Mine(Uniform):
    rate: float = 1.0
"""


def test_files_are_relative_to_the_study(tmp_path, monkeypatch):
    folder = tmp_path / "studies"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "wide[1].csv").write_text("3,0,5\n1,2,4\n")
    (folder / "mine.py").write_text(MINE)
    (folder / "study.toml").write_text(
        with_lines({4: 'games = ["data/wide[1].csv"]', 5: 'learners = ["mine.py:Mine:rate=[1,2]"]'})
    )
    monkeypatch.chdir(tmp_path)
    cells = read_study("studies/study.toml").cells
    assert {cell.game for cell in cells} == {"studies/data/wide[1].csv"}
    assert [cell.players[0] for cell in cells] == ["studies/mine.py:Mine", "studies/mine.py:Mine:rate=2"]
    assert cells[0].match().game.shape == (2, 3)
    monkeypatch.chdir(folder)
    assert parse_study((folder / "study.toml").read_text()).cells[0].game == "data/wide[1].csv"


def test_a_missing_game_file_is_looked_for_next_to_the_study(tmp_path, monkeypatch):
    (tmp_path / "here.csv").write_text("1,2\n3,4\n")
    monkeypatch.chdir(tmp_path)
    [mistake] = mistakes_of(with_lines({4: 'games = [\n"rps",\n"here.csv"]'}), "other/study.toml")
    assert mistake.startswith("other/study.toml, line 6, games[1]: ")
    assert "other/here.csv" in mistake


REASON = """
from coebl.learners.opponents import Uniform
class Mine(Uniform):
    def reason_not_to_play(self, seat):
        raise KeyError('no such state')
"""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "1,2\n3\n", "a.csv"),
        ("a.txt", "1,2\n3,4\n", "suffix is '.txt'"),
        ("a.json", "{", "a.json"),
        ("mine.py", "class Mine(:\n", "SyntaxError"),
        ("mine.py", "import no_such_module\n", "ModuleNotFoundError"),
        ("mine.py", "from coebl.learners import Learner as Other\n", "has no learner 'Mine'"),
        ("mine.py", REASON, "cannot take the row seat of rps: KeyError: 'no such state'"),
    ],
)
def test_a_game_or_a_learner_in_a_file_that_does_not_work(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    changes = {4: f'games = ["{name}"]'}
    if name == "mine.py":
        changes = {4: 'games = ["rps"]', 5: 'learners = ["ucb",\n"mine.py:Mine"]'}
    [mistake] = mistakes_of(with_lines(changes), str(tmp_path / "study.toml"))
    assert ("line 6, learners[1]: " if name == "mine.py" else "line 4, games[0]: ") in mistake
    assert message in mistake
    assert "\n" not in mistake


def test_files_that_are_not_a_study(tmp_path):
    with pytest.raises(StudyError, match=r"none\.toml: No such file.*coebl study new"):
        read_study(tmp_path / "none.toml")
    with pytest.raises(StudyError, match="accepted: a study file"):
        read_study(tmp_path)
    (tmp_path / "latin.toml").write_bytes('name = "é"'.encode("latin-1"))
    with pytest.raises(StudyError, match="byte 8 is not UTF-8"):
        read_study(tmp_path / "latin.toml")


def test_line_ends_and_marks_of_other_systems(tmp_path):
    path = tmp_path / "study.toml"
    path.write_bytes(b"\xef\xbb\xbf" + BASE.replace("\n", "\r\n").encode())
    assert read_study(path).cells == parse_study(BASE).cells
    path.write_bytes(with_lines({7: 'record = "lst"'}).replace("\n", "\r\n").encode())
    with pytest.raises(StudyError, match="line 7, record"):
        read_study(path)
