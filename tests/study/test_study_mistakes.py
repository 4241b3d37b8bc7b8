"""Mistakes in a study file: messages with the line, the value and what is accepted."""

import pickle
import tomllib

import pytest

from coebl.core.errors import InputError
from coebl.study import StudyError, parse_study
from coebl.study.cell import Cell
from coebl.study.errors import written
from coebl.study.studies import key_lines, line_of
from study_texts import mistakes_of, with_lines

# Mistakes: the line of BASE to replace, the new line (or several of both), how the mistake begins, and more of it.

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
    (2, None, "", "there is no key 'rounds'; accepted: an integer"),
    (2, "rounds = 0", "line 2, rounds", "this is 0; accepted: an integer, 1 .. 1,000,000,000"),
    (2, "rounds = -5", "line 2, rounds", "this is -5"),
    (2, "rounds = 3e3", "line 2, rounds", "this is 3000.0; accepted: an integer"),
    (2, 'rounds = "20"', "line 2, rounds", "this is '20'; accepted: an integer"),
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
    (3, "seeds = [1,\n  2,\n  -3]", "line 5, seeds[2]", "this is -3; accepted: integers, >= 0"),
    (3, "seeds = [1, 2.5]", "line 3, seeds[1]", "this is 2.5"),
    (3, "seeds = [5, 1, 5]", "line 3, seeds[2]", "the seed 5 is given twice"),
    (3, f"seeds = [{2**63}]", "line 3, seeds[0]", "below 2^63"),
    (3, "seeds = { first = 1 }", "line 3, seeds", "there is no 'count'"),
    (3, "seeds = { count = 1 }", "line 3, seeds", "there is no 'first'"),
    (3, "seeds = { first = -1, count = 2 }", "line 3, seeds.first", "this is -1; accepted: an integer, 0 .."),
    (3, "seeds = { first = 1, count = 0 }", "line 3, seeds.count", "this is 0; accepted: an integer, 1 .."),
    (3, "seeds = { first = 1, count = 2, last = 3 }", "line 3, seeds.last", "unknown key 'last'"),
    (3, "seeds = 4\nseeds_per_cell = 0", "line 4, seeds_per_cell", "this is 0; accepted: an integer, 1 .."),
    (3, 'seeds = 4\nseeds_per_cell = "x"', "line 4, seeds_per_cell", "this is 'x'"),
    (3, 'seeds = 4\ndevice = "gpu"', "line 4, device", "this is 'gpu'; accepted: cpu or cuda"),
    # games
    (4, None, "", "there is no key 'games'; accepted: a list of games"),
    (4, "games = []", "line 4, games", "this list is empty"),
    (4, 'games = "rps"', "line 4, games", "this is 'rps'; accepted: a list of games"),
    (4, 'games = ["rps", 3]', "line 4, games[1]", "this is 3; accepted: a list of games"),
    (4, 'games = [["rps"]]', "line 4, games[0]", "this is ['rps']"),
    (4, 'games = ["g\\u0000.csv"]', "line 4, games[0]", "'g\\x00.csv' has the character NUL; accepted: printable"),
    (4, 'games = ["g\\u0000.py:f"]', "line 4, games[0]", "'g\\x00.py:f' has the character NUL"),
    (4, 'games = ["permuted:game=g\\u0000.csv"]', "line 4, games[0]", "g\\x00.csv' has the character NUL"),
    (4, 'games = ["rps", " "]', "line 4, games[1]", "this is ' '"),
    (4, 'games = [\n"rps",  # "not", [this]\n"rsp",\n]', "line 6, games[1]", "game 'rsp': did you mean 'rps'? See:"),
    (4, 'games = ["diagonal"]', "line 4, games[0]", "diagonal needs n"),
    (
        4,
        'games = ["diagonal:n=[2,11]"]',
        "line 4, games[0]",
        "n is 11; accepted: an integer, 1 .. 5000 with space=bits, 1 .. 10 without.",
    ),
    (4, 'games = ["diagonal:n=[2,3"]', "line 4, games[0]", "with both brackets"),
    (4, 'games = ["diagonal:n=[]"]', "line 4, games[0]", "a list that cannot be read"),
    (4, 'games = ["diagonal:k=2"]', "line 4, games[0]", "diagonal has no parameter 'k'"),
    (4, 'games = ["rps", "none.csv"]', "line 4, games[1]", "none.csv"),
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
    (6, 'noise = ["none",\n"gaussian:sigma=-1"]', "line 7, noise[1]", "sigma is -1.0; accepted: a number, 0 .. 1e+100"),
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
    (
        (4, 8),
        ('games = ["rps", "trap:r=0"]', 'metrics = ["regret",\n"kl"]'),
        "line 9, metrics[1]",
        "not for the game trap:r=0: kl needs a unique equilibrium, but trap:r=0 has more than one: the column player",
    ),
    (
        (4, 8),
        ('games = ["trap:r=0"]', 'metrics = ["all", "tv"]'),
        "line 8, metrics[1]",
        "not for the game trap:r=0: tv",
    ),
    ((4, 8), ('games = ["trap:r=0", "trap:0"]', 'metrics = ["tv"]'), "line 8, metrics[0]", "tv needs a unique"),
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
    # keys, and strings that would mislead a careless scan
    (7, "round = 3", "line 7, round", "unknown key 'round': did you mean 'rounds'?"),
    (7, "seeds-per-cell = 3", "line 7, seeds-per-cell", "did you mean 'seeds_per_cell'?"),
    (7, '"a.b" = 3', "line 7, 'a.b'", "unknown key 'a.b'. Accepted: name, title"),
    (7, "a.b = 3", "line 7, a", "unknown key 'a'"),
    (7, '"line\\nbreak" = 3', "line 7, 'line\\nbreak'", "unknown key 'line\\nbreak'"),
    (7, f"\n# rounds = 1\nrecord = {TRIPLE}\nrounds = 2\n{TRIPLE}", "line 9, record", "this is 'rounds = 2\\n'"),
]


@pytest.mark.parametrize(("number", "line", "begins", "says"), MALFORMED)
def test_a_mistake_names_its_line_its_key_and_the_repair(number, line, begins, says):
    # One slip is one mistake on one line: it does not lead to others.
    changes = {number: line} if isinstance(number, int) else dict(zip(number, line, strict=True))
    [mistake] = mistakes_of(with_lines(changes))
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
    assert len(cell.players[0]) > 1000
    assert cell.description().players[0] == cell.players[0]
    assert parse_study(with_lines({4: f'games = ["trap:r=0.5{"0" * 300}"]'})).cells[0].game == "trap:r=0.5"


def test_control_characters_in_names_are_escaped():
    assert "\x1b" not in str(Cell("a\x1b[31m.csv", ("ucb", "ucb"), 5, (0,)))


def test_absurd_sizes_are_rejected_before_anything_is_built():
    [mistake] = mistakes_of(with_lines({3: "seeds = 100_000\nseeds_per_cell = 1"}))
    # 2 games, 2 pairs, 100,000 blocks
    assert mistake.startswith(
        "study.toml: this study has 400,000 cells, 2 games of 200,000 among them; accepted: at most"
    )
    hundred = ",".join(str(number) for number in range(1, 1000))
    [mistake] = mistakes_of(with_lines({5: f'learners = ["coebl:c=[{hundred}]"]', 10: "all-pairs = true"}))
    assert mistake.startswith("study.toml, line 10, match-ups.all-pairs: this gives more than 100,000 match-ups")
    [mistake] = mistakes_of(with_lines({4: f'games = ["random-gaussian:m=[{hundred}],n=[{hundred}]"]'}))
    assert mistake.startswith("study.toml, line 4, games[0]: ")
    assert "gives 998,001 specs" in mistake


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ('name = "a"\nrounds = \n', 2, 10, "Invalid value"),
        ("games = [rps]\n", 1, 10, "Strings need quotes"),
        ("a = True\n", 1, 5, "Strings need quotes"),
        ('name = "s\ngames = []\n', 1, 10, "A closing quote is missing"),
        ("a = 1\nb = [1,\n2", 3, 2, "Unclosed array"),
        ("[match-ups\n", 1, 11, "Expected ']'"),
        ("a = 1\na = 2\nb = 3\n", 2, 6, "Cannot overwrite a value"),
        ("just words\n", 1, 6, "Expected '='"),
    ],
)
def test_text_that_is_not_toml_is_reported_with_line_and_column(text, line, column, says):
    [mistake] = mistakes_of(text, "a/study.toml")
    assert mistake.startswith(f"a/study.toml, line {line}, column {column}: this is not TOML: ")
    assert says in mistake
    assert "\n" not in mistake


@pytest.mark.parametrize("text", [f"a = {'[' * 100_000}", "a." * 50_000 + "a = 1\n"])
def test_nesting_without_end_does_not_crash(text):
    [mistake] = mistakes_of(text)
    assert mistake == "study.toml: this TOML cannot be read: it is nested too deep."


def lines_by_place(text):
    lines, places = key_lines(text), {}

    def visit(place, value):
        if place:
            places[written(place)] = line_of(lines, place)
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in entries:
            visit((*place, key), inner)

    visit((), tomllib.loads(text))
    return places


def test_lines_of_keys_in_every_form_that_toml_has():
    text = (
        'a = "x = 1 # no" # b = 2\n'  # 1
        "'q.r'.\"s\" = '[{,'\n"  # 2
        "t = '''\n"  # 3
        "u = 1\n"
        "'''\n"
        'v = """\n'  # 6
        'w = 1 \\""" x = 2\n'
        '""""\n'  # the first quote belongs to the string
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
    assert lines_by_place(text) == {
        "a": 1, "'q.r'": 2, "'q.r'.s": 2, "t": 3, "v": 6, "d": 9, "d[0]": 10, "d[0][0]": 10, "d[0][1]": 10, "d[1]": 11,
        "d[1].e": 11, "d[1].f": 11, "d[1].f.g": 11, "d[1].f.g[0]": 12, "h": 14, "i": 15, "i.j": 15, "i.j.l": 16,
        "m": 17, "m[0]": 17, "n": 18, "n.o": 19,
    }  # fmt: skip


def test_lines_of_tables_in_any_order():
    text = (
        "# x, a = 1\r\n"
        "a.b = 1_000\r\n"  # 2
        "c = {}\r\n"
        "a.d = [\r\n"  # 4
        "['e'],  # a.f = 1\r\n"
        "{},\r\n"
        "]\r\n"
        "[g.h]\r\n"  # 8
        "[[p]]\r\n"
        "q.'r' = { s . \"t\" = 1, u.v = '''\r\n"  # 10
        "w = 2'''}\r\n"
        "[p.x.y]\r\n"
        "[g]\r\n"
        "i = 3\r\n"  # 14
        "[[p]]\r\n"
        "q = 4"
    )
    assert lines_by_place(text) == {
        "a": 2, "a.b": 2, "a.d": 4, "a.d[0]": 5, "a.d[0][0]": 5, "a.d[1]": 6, "c": 3, "g": 8, "g.h": 8, "g.i": 14,
        "p": 9, "p[0]": 9, "p[0].q": 10, "p[0].q.r": 10, "p[0].q.r.s": 10, "p[0].q.r.s.t": 10, "p[0].q.r.u": 10,
        "p[0].q.r.u.v": 10, "p[0].x": 12, "p[0].x.y": 12, "p[1]": 15, "p[1].q": 16,
    }  # fmt: skip


def test_a_file_with_the_key_that_is_used_for_lines_has_mistakes_without_lines():
    text = "name = 3\n[match-ups]\n'line of the header' = 1"
    assert "study.toml, name: this is 3; accepted: letters" in "\n".join(mistakes_of(text))
    assert set(lines_by_place(text).values()) == {0}
