"""The study file: what it expands to, and how it says what is wrong with it."""

import pickle

import pytest

from coebl.core.errors import InputError
from coebl.metrics import METRICS
from coebl.study.cell import Cell, digest_of
from coebl.study.lines import key_lines
from coebl.study.schema import EXAMPLE, StudyError, parse_study, read_study
from coebl.study.sweep import expand

BASE = """\
name = "small"
rounds = 20
seeds = 4
games = ["rps", "diagonal:n=2"]
learners = ["ucb", "exp3"]
noise = "none"
record = "last"
metrics = ["regret"]
[match-ups]
self-play = true
"""


def with_lines(changes, text=BASE):
    """The text with some of its lines, which count from 1, replaced; None takes a line out."""
    lines = text.splitlines()
    for number, line in changes.items():
        lines[number - 1] = line
    return "".join(f"{line}\n" for line in lines if line is not None)


def mistakes_of(text, where="study.toml"):
    with pytest.raises(StudyError) as caught:
        parse_study(text, where)
    return caught.value.mistakes


def pairs_of(text):
    return list(dict.fromkeys((cell.row, cell.column) for cell in parse_study(text).cells))


# What a file expands to


def test_every_cell_of_a_small_study():
    text = with_lines({3: "seeds = 3\nseeds_per_cell = 2", 5: 'learners = ["ucb"]'})
    common = {"rounds": 20, "noise": "none", "record": "last", "metrics": ("regret",)}
    assert parse_study(text).cells == (
        Cell("rps", "ucb", "ucb", seeds=(0, 1), **common),
        Cell("rps", "ucb", "ucb", seeds=(2,), **common),
        Cell("diagonal:n=2", "ucb", "ucb", seeds=(0, 1), **common),
        Cell("diagonal:n=2", "ucb", "ucb", seeds=(2,), **common),
    )


def test_a_study_keeps_its_name_and_its_text():
    study = parse_study(BASE)
    assert study.name == "small"
    assert study.text == BASE


def test_what_may_be_left_out():
    text = with_lines({3: "seeds = 60", 6: None, 7: None, 8: None})
    first = parse_study(text).cells[0]
    assert first == Cell("rps", "ucb", "ucb", 20, tuple(range(50)))
    assert (first.noise, first.record, first.metrics) == (None, "log", ("regret", "pseudo_regret"))


def test_the_example():
    study = parse_study(EXAMPLE)
    learners = ["coebl:c=2", "coebl", "ucb", "exp3"]  # c is 8 unless told
    pairs = [(learner, learner) for learner in learners]
    pairs += [(row, "coebl") for row in ("coebl:c=2", "ucb", "exp3")] + [("ucb", "exp3")]
    games = ["rps", "diagonal:n=2", "diagonal:n=3"]
    assert [(cell.game, cell.row, cell.column, cell.seeds) for cell in study.cells] == [
        (game, row, column, seeds) for game in games for row, column in pairs for seeds in (tuple(range(10)),)
    ]
    assert {(cell.rounds, cell.noise, cell.record, cell.metrics) for cell in study.cells} == {
        (500, "gaussian", "log", ("regret", "pseudo_regret", "tv"))
    }


def test_every_commented_line_of_the_example_is_valid(tmp_path):
    (tmp_path / "my-game.csv").write_text("3,0\n1,2\n")
    path = tmp_path / "study.toml"
    text = (
        EXAMPLE.replace('# "my-game', '"my-game')
        .replace("# all-pairs", "all-pairs")
        .replace("# seeds_per", "seeds_per")
    )
    path.write_text(text)
    # 4 games, 4 learners in all 16 ordered pairs, 2 blocks of seeds
    assert len(read_study(path).cells) == 4 * 16 * 2


def test_a_cell_of_the_example_runs():
    cell = next(cell for cell in parse_study(EXAMPLE).cells if cell.row == "exp3")
    result = cell.run()
    assert result.metrics["tv"].shape[1] == 10
    assert set(result.metrics) == {"regret", "pseudo_regret", "tv"}


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


@pytest.mark.parametrize("spec", ["x:a=[1,2", "x:a=[]", "x:a=[1,,2]", "x:a=[1,2]3", "x:a=[[1,2],3]", "x:a=[1],b=[2"])
def test_lists_that_cannot_be_read(spec):
    with pytest.raises(InputError, match=r"accepted: key=\[a,b,c\]"):
        expand(spec)


def test_a_grid_has_a_limit():
    hundred = ",".join(str(number) for number in range(100))
    assert len(expand(f"x:a=[{hundred}],b=[{hundred}]")) == 10_000
    with pytest.raises(InputError, match="1,000,000 specs"):
        expand(f"x:a=[{hundred}],b=[{hundred}],c=[{hundred}]")


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
    assert list(dict.fromkeys(cell.row for cell in cells)) == ["coebl:c=2", "coebl:c=3"]
    assert list(dict.fromkeys(cell.noise for cell in cells)) == ["gaussian", "gaussian:sigma=0.5", "none"]
    assert len(cells) == len(set(cells)) == 4 * 2 * 3


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("seeds = 3", (0, 1, 2)),
        ("seeds = [8, 3, 0]", (0, 3, 8)),
        ("seeds = { first = 100, count = 3 }", (100, 101, 102)),
        ("seeds.first = 7\nseeds.count = 1", (7,)),
    ],
)
def test_seeds(line, expected):
    assert {cell.seeds for cell in parse_study(with_lines({3: line})).cells} == {expected}


def test_more_seeds_leave_the_full_cells_as_they_are():
    fewer = parse_study(with_lines({3: "seeds = 4\nseeds_per_cell = 2"})).cells
    more = parse_study(with_lines({3: "seeds = 9\nseeds_per_cell = 2"})).cells
    assert set(fewer) < set(more)
    assert {cell.seeds for cell in more} == {(0, 1), (2, 3), (4, 5), (6, 7), (8,)}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("self-play = true", [("ucb", "ucb"), ("exp3", "exp3")]),
        ('self-play = ["uniform"]', [("uniform", "uniform")]),
        ("all-pairs = true", [("ucb", "exp3"), ("exp3", "ucb")]),
        (
            'all-pairs = ["coebl:c=[2,3]", "ucb"]',
            [
                ("coebl:c=2", "coebl:c=3"),
                ("coebl:c=2", "ucb"),
                ("coebl:c=3", "coebl:c=2"),
                ("coebl:c=3", "ucb"),
                ("ucb", "coebl:c=2"),
                ("ucb", "coebl:c=3"),
            ],
        ),
        ('one-against-all = "exp3"', [("ucb", "exp3")]),
        ('one-against-all = "nash"', [("ucb", "nash"), ("exp3", "nash")]),
        ('one-against-all = ["nash", "ucb"]', [("ucb", "nash"), ("exp3", "nash"), ("exp3", "ucb")]),
        ('pairs = [["ucb", "coebl:c=[2,3]"]]', [("ucb", "coebl:c=2"), ("ucb", "coebl:c=3")]),
        ('pairs = [["best-response", "ucb"], ["ucb", "best-response"]]', None),
        ('self-play = false\nall-pairs = false\npairs = [["ucb", "uniform"]]', [("ucb", "uniform")]),
        (
            'pairs = [["exp3", "ucb"]]\nall-pairs = true\none-against-all = "ucb"',
            [("exp3", "ucb"), ("ucb", "exp3")],
        ),
    ],
)
def test_match_ups(lines, expected):
    expected = expected or [("best-response", "ucb"), ("ucb", "best-response")]
    assert pairs_of(with_lines({10: lines})) == expected


def test_pairs_need_no_pool_of_learners():
    assert pairs_of(with_lines({5: None, 10: 'pairs = [["ucb", "exp3"]]'})) == [("ucb", "exp3")]


@pytest.mark.parametrize("record", ['"all"', '"log"', '"last"', "7"])
def test_records(record):
    cells = parse_study(with_lines({7: f"record = {record}"})).cells
    assert {cell.record for cell in cells} == {7 if record == "7" else record.strip('"')}


@pytest.mark.parametrize("line", ['metrics = ["all"]', 'metrics = "all"', 'metrics = ["regret", "all"]'])
def test_all_metrics_are_those_that_each_game_allows(line):
    cells = parse_study(with_lines({4: 'games = ["rps", "trap:r=0"]', 8: line})).cells
    metrics = {cell.game: cell.metrics for cell in cells}
    assert metrics["rps"] == tuple(METRICS.names)
    assert metrics["trap:r=0"] == tuple(name for name in METRICS.names if name not in ("kl", "tv"))


def test_metrics_are_a_set():
    one = parse_study(with_lines({8: 'metrics = ["tv", "regret"]'}))
    other = parse_study(with_lines({8: 'metrics = ["regret", "tv", "regret"]'}))
    assert one.cells == other.cells
    assert one.cells[0].metrics == ("regret", "tv")


# Parts


PARTS = """\
name = "parts"
title = "Two parts"
description = "What each learner does on its own game."
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
    assert (study.name, study.title, study.description) == (
        "parts",
        "Two parts",
        "What each learner does on its own game.",
    )
    assert study.cells == (
        Cell("rps", "ucb", "ucb", **first),
        Cell("rps", "exp3", "exp3", **first),
        Cell("diagonal:n=2", "coebl:c=2", "exp3", seeds=(0, 1), **second),
        Cell("diagonal:n=2", "coebl:c=2", "exp3", seeds=(2, 3), **second),
        Cell("rps", "coebl:c=2", "exp3", seeds=(0, 1), **second),
        Cell("rps", "coebl:c=2", "exp3", seeds=(2, 3), **second),
    )


def test_what_two_parts_ask_for_is_one_cell():
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
    ("title = 'Two parts'", "title = 'Two\\nparts'", "line 2, title", "accepted: a text on one line"),
    ("title = 'Two parts'", "title = 2", "line 2, title", "this is 2; accepted: a text on one line"),
    ("title = 'Two parts'", "parts = 3 #", "line 2, parts", "accepted: tables [[parts]]"),
]


@pytest.mark.parametrize(("old", "new", "begins", "says"), PARTS_MISTAKEN)
def test_a_mistake_in_a_part_names_its_line_and_place(old, new, begins, says):
    text = PARTS.replace("'", '"').replace(old.replace("'", '"'), new.replace("'", '"'), 1)
    if new.startswith("parts"):
        text = text[: text.index("[[parts]]")]
    [mistake] = mistakes_of(text)  # a mistake at the top is told once, though both parts meet it
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


def test_a_key_of_very_many_parts_is_refused_at_once():
    [mistake] = mistakes_of("a." * 50_000 + "a = 1\n")
    assert mistake.endswith("it is nested too deep.")


# Files


def test_two_files_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "g.csv").write_text("3,0\n1,2\n")
        (tmp_path / folder / "mine.py").write_text(
            "from coebl.learners.opponents import Uniform\nclass Mine(Uniform):\n    pass\n"
        )
    where = str(tmp_path / "study.toml")
    text = with_lines({4: 'games = ["a/g.csv",\n"a/../a/g.csv", "b/g.csv"]', 10: 'pairs = [["ucb", "exp3"]]'})
    [mistake] = mistakes_of(text, where)
    assert "line 5, games[2]: " in mistake
    assert "have the same name, and results know files by their names; rename one of them." in mistake
    [mistake] = mistakes_of(with_lines({5: 'learners = ["a/mine.py:Mine", "b/mine.py:Mine"]'}), where)
    assert "line 5, learners[1]: " in mistake


def test_files_are_relative_to_the_study(tmp_path, monkeypatch):
    folder = tmp_path / "studies"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "wide[1].csv").write_text("3,0,5\n1,2,4\n")
    (folder / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from coebl.learners.opponents import Uniform\n\n\n"
        "@dataclass\nclass Mine(Uniform):\n    rate: float = 1.0\n"
    )
    (folder / "study.toml").write_text(
        with_lines({4: 'games = ["data/wide[1].csv"]', 5: 'learners = ["mine.py:Mine:rate=[1,2]"]'})
    )
    monkeypatch.chdir(tmp_path)
    cells = read_study("studies/study.toml").cells
    assert {cell.game for cell in cells} == {"studies/data/wide[1].csv"}
    assert [cell.row for cell in cells] == ["studies/mine.py:Mine", "studies/mine.py:Mine:rate=2"]
    assert cells[0].match().game.shape == (2, 3)
    monkeypatch.chdir(folder)
    assert parse_study((folder / "study.toml").read_text()).cells[0].game == "data/wide[1].csv"


def test_a_missing_game_file_is_looked_for_next_to_the_study(tmp_path, monkeypatch):
    (tmp_path / "here.csv").write_text("1,2\n3,4\n")
    monkeypatch.chdir(tmp_path)
    [mistake] = mistakes_of(with_lines({4: 'games = [\n"rps",\n"here.csv"]'}), "other/study.toml")
    assert mistake.startswith("other/study.toml, line 6, games[1]: ")
    assert "other/here.csv" in mistake


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("a.csv", "1,2\n3\n", "a.csv"), ("a.txt", "1,2\n3,4\n", "suffix is '.txt'"), ("a.json", "{", "a.json")],
)
def test_a_game_file_that_cannot_be_read(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    [mistake] = mistakes_of(with_lines({4: f'games = ["{name}"]'}), str(tmp_path / "study.toml"))
    assert "line 4, games[0]: " in mistake
    assert said in mistake


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("class Mine(:\n", "SyntaxError"),
        ("import no_such_module\n", "ModuleNotFoundError"),
        ("from coebl.learners import Learner as Other\n", "has no learner 'Mine'"),
        (
            "from coebl.learners.opponents import Uniform\n"
            "class Mine(Uniform):\n    def refusal(self, seat):\n        raise KeyError('no such state')\n",
            "cannot take the row seat of rps: KeyError: 'no such state'",
        ),
    ],
)
def test_a_learner_in_a_file_that_does_not_work(tmp_path, code, said):
    (tmp_path / "mine.py").write_text(code)
    text = with_lines({4: 'games = ["rps"]', 5: 'learners = ["ucb",\n"mine.py:Mine"]'})
    [mistake] = mistakes_of(text, str(tmp_path / "study.toml"))
    assert "line 6, learners[1]: " in mistake
    assert said in mistake
    assert "\n" not in mistake


def test_files_that_are_no_study(tmp_path):
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


# Mistakes: the line of BASE to replace, by what, how the mistake begins, and what else it says.

TRIPLE = '"""'
MALFORMED = [
    # name
    (1, None, "", "there is no key 'name'; accepted: letters"),
    (1, "name = 3", "line 1, name", "this is 3; accepted: letters"),
    (1, 'name = ""', "line 1, name", "this is ''; accepted: letters"),
    (1, 'name = "my study"', "line 1, name", "this is 'my study'"),
    (1, 'name = ".."', "line 1, name", "a letter or digit first"),
    (1, 'name = "a/b"', "line 1, name", "this is 'a/b'"),
    (1, "name = 1979-05-27 07:32:00", "line 1, name", "accepted: letters"),
    # rounds
    (2, None, "", "there is no key 'rounds'; accepted: a whole number"),
    (2, "rounds = 0", "line 2, rounds", "this is 0; accepted: a whole number, 1 .. 1,000,000,000"),
    (2, "rounds = -5", "line 2, rounds", "this is -5"),
    (2, "rounds = 3e3", "line 2, rounds", "this is 3000.0; accepted: a whole number"),
    (2, 'rounds = "20"', "line 2, rounds", "this is '20'; accepted: a whole number"),
    (2, "rounds = true", "line 2, rounds", "this is true"),
    (2, "rounds = [20]", "line 2, rounds", "this is [20]"),
    (2, "rounds = 2_000_000_000", "line 2, rounds", "this is 2000000000"),
    (2, f"rounds = 0x{'f' * 5000}", "line 2, rounds", "a number too long to show"),
    # seeds
    (3, None, "", "there is no key 'seeds'; accepted: how many"),
    (3, "seeds = 0", "line 3, seeds", "this is 0; accepted: how many"),
    (3, "seeds = -1", "line 3, seeds", "this is -1"),
    (3, "seeds = true", "line 3, seeds", "this is true"),
    (3, "seeds = 1_000_000_000", "line 3, seeds", "1 .. 1,000,000"),
    (3, "seeds = []", "line 3, seeds", "this is []; accepted: how many"),
    (3, "seeds = [1,\n  2,\n  -3]", "line 5, seeds[2]", "this is -3; accepted: whole numbers, >= 0"),
    (3, "seeds = [1, 2.5]", "line 3, seeds[1]", "this is 2.5"),
    (3, "seeds = [5, 1, 5]", "line 3, seeds[2]", "the seed 5 is given twice"),
    (3, f"seeds = [{2**63}]", "line 3, seeds[0]", "below 2^63"),
    (3, "seeds = { first = 1 }", "line 3, seeds", "there is no 'count'"),
    (3, "seeds = { count = 1 }", "line 3, seeds", "there is no 'first'"),
    (3, "seeds = { first = -1, count = 2 }", "line 3, seeds.first", "this is -1; accepted: a whole number, 0 .."),
    (3, "seeds = { first = 1, count = 0 }", "line 3, seeds.count", "this is 0; accepted: a whole number, 1 .."),
    (3, "seeds = { first = 1, count = 2, last = 3 }", "line 3, seeds.last", "unknown key 'last'"),
    (3, "seeds = 4\nseeds_per_cell = 0", "line 4, seeds_per_cell", "this is 0; accepted: a whole number, 1 .."),
    (3, 'seeds = 4\nseeds_per_cell = "x"', "line 4, seeds_per_cell", "this is 'x'"),
    # games
    (4, None, "", "there is no key 'games'; accepted: a list of games"),
    (4, "games = []", "line 4, games", "this list is empty"),
    (4, 'games = "rps"', "line 4, games", "this is 'rps'; accepted: a list of games"),
    (4, 'games = ["rps", 3]', "line 4, games[1]", "this is 3; accepted: a list of games"),
    (4, 'games = [["rps"]]', "line 4, games[0]", "this is ['rps']"),
    (4, 'games = ["rps", " "]', "line 4, games[1]", "this is ' '"),
    (4, 'games = [\n"rps",  # "not", [this]\n"rsp",\n]', "line 6, games[1]", "game 'rsp': did you mean 'rps'? See:"),
    (4, 'games = ["diagonal"]', "line 4, games[0]", "diagonal needs n"),
    (4, 'games = ["diagonal:n=[2,11]"]', "line 4, games[0]", "n is 11; accepted: a whole number, 1 .. 10"),
    (4, 'games = ["diagonal:n=[2,3"]', "line 4, games[0]", "a list without its end"),
    (4, 'games = ["diagonal:n=[]"]', "line 4, games[0]", "a list that cannot be read"),
    (4, 'games = ["diagonal:k=2"]', "line 4, games[0]", "diagonal has no parameter 'k'"),
    (4, 'games = ["rps", "none.csv"]', "line 4, games[1]", "none.csv"),
    (4, 'games = ["a\\u0000b.csv"]', "line 4, games[0]", "ValueError"),
    # learners
    (5, None, "line 9, match-ups.self-play", "needs the key 'learners'"),
    (5, "learners = []", "line 5, learners", "this list is empty; accepted: a list of learners"),
    (5, "learners = true", "line 5, learners", "this is true; accepted: a list of learners"),
    (5, 'learners = ["ucb", 2]', "line 5, learners[1]", "this is 2"),
    (5, 'learners = ["ucb", "exp3ix"]', "line 5, learners[1]", "unknown learner 'exp3ix': did you mean 'exp3-ix'?"),
    (5, 'learners = ["coebl:c=[2,x]"]', "line 5, learners[0]", "c is 'x'; accepted: a number"),
    (5, 'learners = ["coebl:cc=2"]', "line 5, learners[0]", "has no parameter 'cc': did you mean 'c'?"),
    (5, 'learners = ["fixed"]', "line 5, learners[0]", "fixed needs strategy"),
    (5, 'learners = ["fixed:0.5/0.2/0.2"]', "line 5, learners[0]", "with sum 0.9"),
    (5, 'learners = ["none.py:Mine"]', "line 5, learners[0]", "none.py: no such file"),
    (5, 'learners = ["fixed:1/0/0"]', "line 5, learners[0]", "row seat of diagonal:n=2: fixed: strategy is"),
    (5, 'learners = ["ucb", "best-response"]', "line 10, match-ups.self-play", "see the other's policy first"),
    # noise
    (6, "noise = 1", "line 6, noise", "this is 1; accepted: a noise such as"),
    (6, "noise = []", "line 6, noise", "this list is empty"),
    (6, 'noise = "gausian"', "line 6, noise", "unknown noise 'gausian': did you mean 'gaussian'?"),
    (6, 'noise = ["none",\n"gaussian:sigma=-1"]', "line 7, noise[1]", "sigma is -1.0; accepted: a number, >= 0"),
    (6, 'noise = ["none", true]', "line 6, noise[1]", "this is true"),
    # record
    (7, 'record = "lst"', "line 7, record", 'this is \'lst\'; accepted: "all", "log", "last"'),
    (7, "record = 0", "line 7, record", "this is 0"),
    (7, "record = true", "line 7, record", "this is true"),
    (7, "record = 1.5", "line 7, record", "this is 1.5"),
    (7, "record = [1]", "line 7, record", "this is [1]"),
    # metrics
    (8, "metrics = []", "line 8, metrics", "this is []; accepted: a list of metrics"),
    (8, 'metrics = "regret"', "line 8, metrics", "this is 'regret'; accepted: a list of metrics"),
    (8, 'metrics = ["regret", 1]', "line 8, metrics[1]", "this is 1; accepted: a list of metrics"),
    (8, 'metrics = ["regrets"]', "line 8, metrics[0]", "unknown metric 'regrets': did you mean 'regret'?"),
    # match-ups
    (9, None, "line 9, self-play", "unknown key 'self-play' here: it belongs under [match-ups]"),
    (9, "[matchups]", "line 9, matchups", "unknown key 'matchups': did you mean 'match-ups'?"),
    (9, "[[match-ups]]", "line 9, match-ups", "accepted: a table [match-ups]"),
    (10, None, "line 9, match-ups", "no match-up is listed"),
    (10, "self-play = false", "line 9, match-ups", "no match-up is listed"),
    (10, 'self-play = "ucb"', "line 10, match-ups.self-play", "this is 'ucb'; accepted: true, false, or a list"),
    (10, "self-play = []", "line 10, match-ups.self-play", "this list is empty"),
    (10, "self-play = 1", "line 10, match-ups.self-play", "this is 1"),
    (10, "self_play = true", "line 10, match-ups.self_play", "unknown key 'self_play': did you mean 'self-play'?"),
    (10, "self-play = true\nrounds = 3", "line 11, match-ups.rounds", "it belongs above [match-ups]"),
    (10, 'self-play = ["ucbb"]', "line 10, match-ups.self-play[0]", "unknown learner 'ucbb': did you mean 'ucb'?"),
    (10, 'all-pairs = ["ucb"]', "line 9, match-ups", "no match-up is listed"),
    (10, "all-pairs = 2", "line 10, match-ups.all-pairs", "this is 2; accepted: true, false, or a list"),
    (10, "one-against-all = true", "line 10, match-ups.one-against-all", "this is true; accepted: a learner such as"),
    (10, 'one-against-all = "ucbb"', "line 10, match-ups.one-against-all", "unknown learner 'ucbb'"),
    (10, 'pairs = ["ucb", "exp3"]', "line 10, match-ups.pairs", "this is ['ucb', 'exp3']; accepted: a list of pairs"),
    (10, 'pairs = [["ucb", "exp3"], "ucb"]', "line 10, match-ups.pairs[1]", "this is 'ucb'; accepted: two learners"),
    (10, "pairs = []", "line 10, match-ups.pairs", "this is []; accepted: a list of pairs"),
    (10, "pairs = true", "line 10, match-ups.pairs", "this is true; accepted: a list of pairs"),
    (10, 'pairs = [["ucb"]]', "line 10, match-ups.pairs[0]", "this is ['ucb']; accepted: two learners, [row, column]"),
    (10, 'pairs = [["ucb", 3]]', "line 10, match-ups.pairs[0][1]", "this is 3; accepted: a list of pairs"),
    (10, 'pairs = [["ucb", "exp3"],\n ["ucb",\n "exp4"]]', "line 12, match-ups.pairs[1][1]", "did you mean 'exp3'?"),
    (
        10,
        'pairs = [["ucb", "ucb"],\n["best-response", "best-response"]]',
        "line 11, match-ups.pairs[1]",
        "best-response v best-response: each would have to see the other's policy first",
    ),
    # keys, and texts that would lead a careless scan astray
    (7, "round = 3", "line 7, round", "unknown key 'round': did you mean 'rounds'?"),
    (7, "seeds-per-cell = 3", "line 7, seeds-per-cell", "did you mean 'seeds_per_cell'?"),
    (7, '"a.b" = 3', "line 7, 'a.b'", "unknown key 'a.b'. Accepted: name, title"),
    (7, "a.b = 3", "line 7, a", "unknown key 'a'"),
    (7, '"line\\nbreak" = 3', "line 7, 'line\\nbreak'", "unknown key 'line\\nbreak'"),
    (7, f"\n# rounds = 1\nrecord = {TRIPLE}\nrounds = 2\n{TRIPLE}", "line 9, record", "this is 'rounds = 2\\n'"),
]


@pytest.mark.parametrize(("number", "line", "begins", "says"), MALFORMED)
def test_a_mistake_names_its_line_its_key_and_the_repair(number, line, begins, says):
    # One slip is one mistake on one line: it does not drag others along.
    [mistake] = mistakes_of(with_lines({number: line}))
    assert mistake.startswith(f"study.toml, {begins}: " if begins else "study.toml: ")
    assert says in mistake
    assert "\n" not in mistake


def test_all_mistakes_at_once_in_the_order_of_their_lines():
    text = with_lines(
        {
            2: "rounds = 0",
            4: 'games = ["rsp", "diagonal:n=2"]',
            5: 'learners = ["ucb", "exp3ix"]',
            8: 'metrics = ["regrets"]',
            10: "self-play = true\nselfplay = 1",
        }
    )
    mistakes = mistakes_of(text)
    assert [mistake.split(": ")[0] for mistake in mistakes] == [
        "study.toml, line 2, rounds",
        "study.toml, line 4, games[0]",
        "study.toml, line 5, learners[1]",
        "study.toml, line 8, metrics[0]",
        "study.toml, line 11, match-ups.selfplay",
    ]


def test_an_empty_file_lacks_every_key_that_is_needed():
    assert [mistake.split("'")[1] for mistake in mistakes_of("")] == ["name", "rounds", "seeds", "games", "match-ups"]


def test_the_message_has_a_line_for_each_mistake_and_travels():
    with pytest.raises(StudyError) as caught:
        parse_study(with_lines({2: "rounds = 0", 3: "seeds = 0"}))
    error = caught.value
    assert isinstance(error, InputError)
    assert str(error) == "\n".join(error.mistakes)
    assert str(error).count("\n") == 1
    copy = pickle.loads(pickle.dumps(error))  # as an error of another process would
    assert (str(copy), copy.mistakes) == (str(error), error.mistakes)


@pytest.mark.parametrize("metric", ["kl", "tv"])
def test_a_metric_that_a_game_does_not_allow_names_the_game_and_the_reason(metric):
    text = with_lines({4: 'games = ["rps", "trap:r=0"]', 8: f'metrics = ["regret",\n"{metric}"]'})
    [mistake] = mistakes_of(text)
    assert mistake.startswith(f"study.toml, line 9, metrics[1]: not for the game trap:r=0: {metric} needs a unique")
    assert "column player" in mistake


def test_a_game_given_twice_is_refused_once():
    text = with_lines({4: 'games = ["trap:r=0", "trap:0"]', 8: 'metrics = ["tv"]'})
    assert len(mistakes_of(text)) == 1


def test_a_metric_asked_for_by_name_is_refused_next_to_all():
    [mistake] = mistakes_of(with_lines({4: 'games = ["trap:r=0"]', 8: 'metrics = ["all", "tv"]'}))
    assert mistake.startswith("study.toml, line 8, metrics[1]: not for the game trap:r=0: tv needs")


def test_a_mixture_is_checked_for_the_seat_that_it_takes(tmp_path):
    (tmp_path / "wide.csv").write_text("3,0,5\n1,2,4\n")
    where = str(tmp_path / "study.toml")
    changes = {4: 'games = ["wide.csv"]', 10: 'pairs = [["fixed:0.5/0.5", "fixed:0/0/1"]]'}
    assert len(parse_study(with_lines(changes), where).cells) == 1
    [mistake] = mistakes_of(with_lines({**changes, 10: 'pairs = [["ucb",\n"fixed:0.5/0.5"]]'}), where)
    assert "line 11, match-ups.pairs[0][1]: " in mistake
    assert "cannot take the column seat of" in mistake
    assert "2 probabilities; accepted: 3" in mistake


def test_each_game_that_a_learner_cannot_play_is_named_once():
    text = with_lines({4: 'games = ["rps", "diagonal:n=[1,2]"]', 5: 'learners = ["fixed:1/0"]'})
    first, second = mistakes_of(text)
    assert "row seat of rps" in first
    assert "row seat of diagonal:n=2" in second


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + ".y", "x" * 300 + ".csv", "x" * 5000])
def test_a_very_long_name_is_one_short_line(name):
    for number, key in ((4, "games"), (5, "learners")):
        [mistake] = mistakes_of(with_lines({number: f'{key} = ["{name}"]'}))
        assert mistake.startswith(f"study.toml, line {number}, {key}[0]: ")
        assert len(mistake) < 700


def test_a_spec_may_be_longer_than_the_name_of_a_file():
    mixture = "/".join(["0.005"] * 200)
    text = with_lines(
        {4: 'games = ["random-gaussian:m=200,n=2"]', 10: f'pairs = [["fixed:{mixture}", "fixed:strategy=0.5/0.5"]]'}
    )
    [cell] = parse_study(text).cells
    assert len(cell.row) > 1000
    assert cell.description()["row"] == cell.row


def test_names_do_not_steer_the_terminal():
    assert "\x1b" not in str(Cell("a\x1b[31m.csv", "ucb", "ucb", 5, (0,)))


def test_a_game_of_a_users_own_is_next_to_the_study(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from coebl import Game\n\n\ndef wide():\n    return Game([[3, 0, 5], [1, 2, 4]])\n"
    )
    cell = parse_study(with_lines({4: 'games = ["mine.py:wide"]'}), str(tmp_path / "study.toml")).cells[0]
    assert cell.match().game.shape == (2, 3)
    before = cell.description()
    assert (before["game"], list(before["files"])) == ("mine.py:wide", ["game"])
    (tmp_path / "mine.py").write_text(
        "from coebl import Game\n\n\ndef wide():\n    return Game([[3, 0, 6], [1, 2, 4]])\n"
    )
    assert cell.digest() != digest_of(before)


def test_absurd_sizes_are_refused_before_anything_is_built():
    [mistake] = mistakes_of(with_lines({3: "seeds = 100_000\nseeds_per_cell = 1"}))
    # 2 games, 2 pairs, 100,000 blocks
    assert mistake.startswith(
        "study.toml: this study has 400,000 cells, 2 games of 200,000 among them; accepted: at most"
    )
    hundred = ",".join(str(number) for number in range(1, 1000))
    [mistake] = mistakes_of(with_lines({5: f'learners = ["coebl:c=[{hundred}]"]', 10: "all-pairs = true"}))
    assert mistake.startswith("study.toml, line 10, match-ups.all-pairs: this gives more than 100,000 pairs")
    [mistake] = mistakes_of(with_lines({4: f'games = ["random-gaussian:m=[{hundred}],n=[{hundred}]"]'}))
    assert mistake.startswith("study.toml, line 4, games[0]: ")
    assert "stands for 998,001 specs" in mistake


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ('name = "a"\nrounds = \n', 2, 10, "Invalid value"),
        ("games = [rps]\n", 1, 10, "Texts need quotes"),
        ("a = True\n", 1, 5, "Texts need quotes"),
        ("a = 1\nb = [1,\n2", 3, 2, "Unclosed array"),
        ("[match-ups\n", 1, 11, "Expected ']'"),
        ("a = 1\na = 2\nb = 3\n", 2, 6, "Cannot overwrite a value"),
        ("just words\n", 1, 6, "Expected '='"),
    ],
)
def test_what_is_not_toml_is_told_with_line_and_column(text, line, column, says):
    [mistake] = mistakes_of(text, "a/study.toml")
    assert mistake.startswith(f"a/study.toml, line {line}, column {column}: this is not TOML: ")
    assert says in mistake
    assert "\n" not in mistake


def test_nesting_without_end_is_no_crash():
    [mistake] = mistakes_of(f"a = {'[' * 100_000}")
    assert mistake == "study.toml: this is not TOML that can be read: it is nested too deep."


def test_lines_of_keys_in_every_form_that_toml_has():
    text = (
        'a = "x = 1 # no" # b = 2\n'  # 1
        "'q.r'.\"s\" = '[{,'\n"  # 2
        "t = '''\n"  # 3
        "u = 1\n"
        "'''\n"
        'v = """\n'  # 6
        'w = 1 \\""" x = 2\n'
        '""""\n'  # the first quote is the text's own
        "d = [ # one\n"  # 9
        "  [1, 2], # two\n"
        "  { e = 1, f.g = [\n"  # 11
        "     3 ] },\n"
        "]\n"
        "h = 1979-05-27 07:32:00\n"  # 14
        "[ i . j ] # k\n"
        'l = ""\n'  # 16
        "[[m]]\n"
        "[n]\n"
        "o = 1"  # 19
    )
    assert key_lines(text) == {
        ("a",): 1,
        ("q.r",): 2,
        ("q.r", "s"): 2,
        ("t",): 3,
        ("v",): 6,
        ("d",): 9,
        ("d", 0): 10,
        ("d", 0, 0): 10,
        ("d", 0, 1): 10,
        ("d", 1): 11,
        ("d", 1, "e"): 11,
        ("d", 1, "f"): 11,
        ("d", 1, "f", "g"): 11,
        ("d", 1, "f", "g", 0): 12,
        ("h",): 14,
        ("i",): 15,
        ("i", "j"): 15,
        ("i", "j", "l"): 16,
        ("m",): 17,
        ("m", 0): 17,
        ("n",): 18,
        ("n", "o"): 19,
    }
