"""Reading and writing games: exact round trips, and one line for every bad file."""

from __future__ import annotations

import io
import json
import os
import pickle
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.games import Game, read_game, write_game

AWKWARD = Game(
    [[1 / 3, -2.5e-300, 0.1 + 0.2], [-1e17, 5e-324, -0.0]],
    name="awkward",
    row_labels=["rock, paper; scissors", 'say "no"'],
    column_labels=["7", "#2", "naïve ünd 日本"],
    noise="student-t:df=5,sigma=0.5",
    payoff_range=(-2e17, 3.0),
)
SUFFIXES = [".csv", ".npy", ".json", ".nfg"]


def written(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def rejection(path: Path) -> str:
    """Return the message that rejects a file, without the file: one line that starts with the file."""
    with pytest.raises(InputError) as caught:
        read_game(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_payoffs_survive_to_the_last_bit_with_names_and_labels_if_the_format_has_them(
    tmp_path: Path, suffix: str
) -> None:
    random = np.random.default_rng(0)
    payoff = random.standard_normal((7, 4)) * 10.0 ** random.integers(-30, 30, (7, 4))
    for game in (Game(payoff), AWKWARD):
        game.write(tmp_path / f"file-name{suffix}")
        back = Game.read(tmp_path / f"file-name{suffix}")
        np.testing.assert_array_equal(back.payoff, game.payoff, strict=True)
        assert back.name == (game.name if suffix in (".json", ".nfg") else "file-name")
        assert back.labels == (Game(game.payoff) if suffix == ".npy" else game).labels
    assert (back == AWKWARD) == (suffix == ".json")  # the only format that keeps noise and range


def test_csv_keeps_odd_labels_and_omits_labels_that_are_numbers(tmp_path: Path) -> None:
    game = Game([[1, 2], [3, 4]], row_labels=["", " a\n#b\n\nc"], column_labels=["a\tb", "c;\r\nd "])
    write_game(game, tmp_path / "odd.csv")
    assert read_game(tmp_path / "odd.csv") == game
    write_game(Game([[1, 2.5]]), tmp_path / "plain.csv")
    assert (tmp_path / "plain.csv").read_text() == "1.0,2.5\n"
    write_game(Game([[1, 2.5]], column_labels=["a", "b"]), tmp_path / "labelled.csv")
    assert (tmp_path / "labelled.csv").read_text() == '"","a","b"\n"0",1.0,2.5\n'


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        ("1,2,3\n4,5,6\n", "01", "012"),
        ("\ufeff1,2,3\r\n4,5,6", "01", "012"),
        ("1;2;3\n4;5;6\n", "01", "012"),
        ("1\t2\t3\n4\t5\t6\n", "01", "012"),
        ('# a comment, with "a quote\n\n 1, 2, 3\n\n# more; of it\n4 , +5, 6e0\n', "01", "012"),
        ("a,b,c\n1,2,3\n4,5,6\n", "01", "abc"),
        ("x,1,2,3\ny,4,5,6\n", "xy", "012"),
        ("corner,a,b,c\nx,1,2,3\ny,4,5,6\n", "xy", "abc"),
        ("a,b,c\nx,1,2,3\ny,4,5,6\n", "xy", "abc"),
        (",7,8,9\n5,1,2,3\n6,4,5,6\n", "56", "789"),
        ('"";"a";"b";"c"\n"x";1;2;3\n"y";4;5;6\n', "xy", "abc"),
    ],
)
def test_csv_in_its_many_forms(tmp_path: Path, text: str, rows: str, columns: str) -> None:
    game = read_game(written(tmp_path, "game.csv", text))
    np.testing.assert_array_equal(game.payoff, [[1, 2, 3], [4, 5, 6]])
    assert (game.row_labels, game.column_labels) == (tuple(rows), tuple(columns))


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_csv_with_decimal_commas(tmp_path: Path, delimiter: str) -> None:
    text = "0,5;-1;2,5e1\n+2,25;3;0\n".replace(";", delimiter)
    game = read_game(written(tmp_path, "plain.csv", text))
    assert game == Game([[0.5, -1, 25], [2.25, 3, 0]])
    text = ';"1,5";b\nx;0,5;2\n"y,5";1;1,5\n'.replace(";", delimiter)
    game = read_game(written(tmp_path, "labelled.csv", text))
    assert game == Game([[0.5, 2], [1, 1.5]], row_labels=["x", "y,5"], column_labels=["1,5", "b"])


@pytest.mark.parametrize(("data", "byte"), [(b"\x89PNG\r\n\x1a\n", 0), (b"1,2\n\xff\xfe", 4), (b"1,\x002", 2)])
@pytest.mark.parametrize("suffix", [".csv", ".json", ".nfg"])
def test_a_binary_file_is_rejected(tmp_path: Path, data: bytes, byte: int, suffix: str) -> None:
    message = f"byte {byte} is not text; accepted: text in UTF-8. Save the file as UTF-8."
    assert rejection(written(tmp_path, f"bad{suffix}", data)) == message


def test_other_paths_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    written(tmp_path, "chicken.csv", "1,2\n")
    assert "this is a folder; accepted: a file." in rejection(tmp_path / "folder.csv")
    assert "there is no such file: did you mean 'chicken.csv'?" in rejection(tmp_path / "chiken.csv")
    assert "there is no such file" in rejection(tmp_path / "nowhere" / "game.csv")
    assert "the suffix is '.txt'; accepted: .csv, .npy, .json, .nfg." in rejection(written(tmp_path, "game.txt", "1,2"))
    assert "the suffix is ''; accepted: .csv, .npy, .json, .nfg." in rejection(tmp_path / "game")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_forbidden_file_is_rejected(tmp_path: Path) -> None:
    path = written(tmp_path, "secret.csv", "1,2\n")
    path.chmod(0)
    assert "cannot be read (Permission denied)" in rejection(path)


def npy(array: object) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asanyarray(array), allow_pickle=True)
    return buffer.getvalue()


def archive() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, np.ones((2, 2)))
    return buffer.getvalue()


class Bomb:
    """A pickle that creates a file if it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, (str(self.trace),))


def test_pickles_are_rejected_and_not_run(tmp_path: Path) -> None:
    bomb = Bomb(tmp_path / "trace")
    boxed = np.empty((1, 1), dtype=object)
    boxed[0, 0] = bomb
    for name, data in (("object.npy", npy(boxed)), ("pickle.npy", pickle.dumps(bomb))):
        message = rejection(written(tmp_path, name, data))
        assert "it needs pickle, which can run code; accepted: a matrix of numbers. Write it with numpy.save" in message
    assert not bomb.trace.exists()


def test_files_of_payoffs_alone(tmp_path: Path) -> None:
    array = np.asfortranarray(np.array([[1, 2, 3], [4, 5, 6]], dtype=np.int16))
    assert read_game(written(tmp_path, "a.npy", npy(array))) == Game([[1, 2, 3], [4, 5, 6]])
    for text in ("[[1, 2, 3]]", '{"payoff": [[1, 2, 3]], "row_labels": null}'):
        assert read_game(written(tmp_path, "a.json", text)) == Game([[1, 2, 3]])
    assert read_game(str(written(tmp_path, "A.CSV", "only\n1\n2\n"))) == Game([[1], [2]], column_labels=["only"])


HEAD = 'NFG 1 R "a \\"small\\" game" { "Ann" "Bob" } '
NAME = 'a "small" game'


@pytest.mark.parametrize(
    ("text", "game"),
    [
        (  # the payoff form runs down the columns
            HEAD + '\n{ { "up" "do\\wn" }\n{ "l" "c" "r" } }\n"a comment"\n1 4 1/3 14/3 -2.5 7.5 .5, 4.5 5 0 1e1 -5\n',
            Game([[1, -2.5, 5], [1 / 3, 0.5, 10]], name=NAME, row_labels=["up", "do\\wn"], column_labels=list("lcr")),
        ),
        (HEAD + "{ 2 1 }\n0.1 0.2 0.15 0.15", Game([[0.1], [0.15]], name=NAME)),  # sums that differ by rounding
        (
            HEAD + r'{ { "a\\b" "c\d" "\"e\"" "f\\" } { "x" } } "" 1 -1 2 -2 3 -3 4 -4',
            Game([[1], [2], [3], [4]], name=NAME, row_labels=["a\\b", "c\\d", '"e"', "f\\"], column_labels=["x"]),
        ),
        ('NFG 1 D "" { "" "" } { 2 1 } 1 -1 2 -2', Game([[1], [2]], name="stem")),
        ('NFG 1 D "" { "" "" } { { "" "" } { "" } } 1 -1 2 -2', Game([[1], [2]], name="stem")),
        (  # the outcome form
            HEAD + '{ 2 3 }\n""\n{ { "win" 3 -3 } { "lose } now" -1/4, 1/4 } }\n1 2 0 1 2 2',
            Game([[3, 0, -0.25], [-0.25, 3, -0.25]], name=NAME),
        ),
    ],
)
def test_nfg_in_its_many_forms(tmp_path: Path, text: str, game: Game) -> None:
    read = read_game(written(tmp_path, "stem.nfg", text))
    assert read == game
    assert read.name == game.name


NUMBERS = "accepted: numbers such as 1, -0.5 or 2e-3."
BAD = {
    ".csv": [
        ("", "the file is empty; accepted: a payoff matrix"),
        ("# nothing\n", "the file has only comments"),
        ("a,b\n", "line 1 holds labels and no payoffs follow"),
        ("1,2\n3\n", "line 2 has 1 cell; accepted: 2, as on line 1."),
        ("a,b,c\n1,2\n", "line 1 has 3 cells; accepted: 2, as on line 2."),
        (",a\nx,1,2\n", "line 1 has 2 cells; accepted: 3, as on line 2."),
        ("# c\n1,2\n3,x\n", f"line 3, cell 2 is 'x'; {NUMBERS} Replace it with a number."),
        ("1,O,3\n4,5,6\n", "line 1, cell 2 is 'O'; accepted: numbers"),
        ("O,1\n4,5\n", "line 1, cell 1 is 'O'; accepted: numbers"),
        ("1,2\n3,\n", "line 2, cell 2 is empty; accepted: numbers"),
        ("1,2\n3,nan\n", "line 2, cell 2 is 'nan'; accepted: finite numbers"),
        ("NaN,2\n3,4\n", "line 1, cell 1 is 'NaN'; accepted: finite numbers"),
        ("1,2\n3,1e999\n", "line 2, cell 2 is '1e999'; accepted: finite numbers"),
        ('"0,5","1,5"\n"2,5","3,5"\n', f"line 1, cell 1 is '0,5'; {NUMBERS} Write decimals"),
        ("0,5;1,5\n2,5;3.5\n", f"line 2, cell 2 is '3.5'; {NUMBERS} Write all decimals with"),
        ("1.5;2.5\n0,5;1\n", "line 1, cell 1 is '1.5'"),
        ("0,5;1,5,2\n2,5;3,5\n", "line 1, cell 2 is '1,5,2'"),
        ("1_0,2\n3,4\n", "line 1, cell 1 is '1_0'; accepted: numbers"),
        ("x,1\nx,2\n", "row_labels has 'x' twice"),
        ('a,"b\n1,2\n', "is not CSV"),
    ],
    ".npy": [
        (npy(np.ones((3, 4)))[:-8], "it is not a complete .npy file; accepted: a matrix of numbers. Write it with"),
        (npy(np.ones((3, 4)))[:20], "it is not a complete .npy file"),
        (b"PK\x03\x04 no archive", "it is not a complete .npy file"),
        (npy(np.ones((3, 4))).replace(b"(3", b"(("), "it is not a complete .npy file"),  # an unclosed bracket
        (archive(), "it is an archive of arrays; accepted: one matrix"),
        (npy([[1j]]), "its entries are of type complex128; accepted: real numbers"),
        (npy([["1"]]), "its entries are of type <U1; accepted: real numbers"),
        (npy([[1, np.nan]]), "payoff[0][1] is nan; accepted: finite numbers"),
    ],
    ".json": [
        ('{"payoff": [[1, 2],\n  [3 4]]}', "line 2, column 6 is not JSON (Expecting ',' delimiter)"),
        ("7", "the file holds 7; accepted: a list of rows, or an object"),
        ("{}", "there is no key 'payoff'"),
        ('{"payof": [[1]]}', "unknown key 'payof': did you mean 'payoff'? Accepted: name, payoff, row_labels"),
        ('{"payoff": [[1]], "payoff": [[2]]}', "the key 'payoff' occurs twice"),
        ('{"payoff": 3}', "payoff has 0 dimensions; accepted: a matrix"),
        ("[1, 2]", "payoff has 1 dimension"),
        ('[[1, "2"]]', 'payoff[0][1] is "2"; accepted: numbers'),
        ("[[1], [true]]", "payoff[1][0] is true; accepted: numbers"),
        ("[[1, null]]", "payoff[0][1] is null; accepted: numbers"),
        ("[[1, NaN]]", "payoff[0][1] is nan; accepted: finite numbers"),
        (f"[[{'9' * 5000}]]", "a number is too long"),
        ("[" * 100_000, "the brackets are nested too deeply"),
        ('{"payoffs": [[[1]], [[true]]]}', "payoffs[1][0][0] is true; accepted: numbers"),
        ('{"payoffs": [[[1]], [[2], [3]]]}', "payoffs has arrays of shapes (1, 1), (2, 1); accepted: one shape"),
        ('{"payoffs": [[1], [2]]}', "payoffs is [[1], [2]]; accepted: a list with an array (m1, ..., mN)"),
        ('{"payoffs": null}', "there is no key 'payoffs'"),
        ('{"payoffs": [[[1]], [[2]]], "row_labels": ["a"]}', "unknown key 'row_labels': did you mean 'labels'?"),
        ('{"payoff": [[1]], "row_labels": 5}', "row_labels is 5; accepted: a list of 1 string."),
        ('{"payoff": [[1]], "name": 5}', "name is 5; accepted: a string"),
        ('{"payoff": [[1]], "noise": 5}', "noise is 5; accepted: a Noise, or a spec such as 'gaussian'."),
        ('{"payoff": {"a": 1}}', 'payoff is {"a": 1}; accepted: numbers, in lists. Replace it.'),
        ('{"payoff": [[1]], "payoff_range": "12"}', "payoff_range is '12'; accepted: two numbers, (low, high)."),
        ('{"payoff": [[1]], "payoff_range": {"0": 1, "3": 2}}', "accepted: two numbers, (low, high)."),
        ('{"payoff": [[1]], "payoff_range": [0, "3"]}', "payoff_range is [0, '3']; accepted: two numbers"),
        (f'{{"payoff": [[1]], "payoff_range": [0, 1{400 * "0"}]}}', "accepted: two numbers, (low, high)."),
        ('{"payoff": [[1]], "noise": "gausian"}', "did you mean 'gaussian'?"),
        ('{"payoff": [[1]], "payoff_range": [2, 3]}', "payoff_range is (2, 3); accepted: low < high"),
    ],
    ".nfg": [
        ('EFG 2 R "tree" { }', "line 1 has 'EFG'; accepted there: NFG."),
        ('NFG 1 X "" {}', "line 1 has 'X'; accepted there: R or D."),
        ('NFG 1 R "" { "a" "b" "c" } { 2 2 2 }', "the file has 0 payoffs; accepted: 24, 3 for each of 2 x 2 x 2 cells"),
        (
            'NFG 1 R "" { "a" "b" "c" } { 100000 100000 100000 } 1',
            "the file has 1 payoff; accepted: 3,000,000,000,000,000",
        ),
        ('NFG 1 R "" { "a" "b" "c" } { 1 1 } 1 2 3', "line 1 has '}'; accepted there: an integer"),
        ('NFG 1 R "" { "a" } { 2 } 1 2', "the game has 1 player; accepted: two or more."),
        (HEAD + "{ 1 2 }\n1 -1 2", "the file has 3 payoffs; accepted: 4, 2 for each of 1 x 2 cells"),
        (HEAD + "{ 1 1 }\n1 -1 2 -2", "the file has 4 payoffs; accepted: 2"),
        (HEAD + "{ 1 1 }\n1\n-x", "line 3 has '-x'; accepted there: a finite number such as 2, -0.5 or 1/3."),
        (HEAD + "{ 1 1 }\n1/0 1", "line 2 has '1/0'; accepted there: a finite number"),
        (HEAD + "{ 1 1 }\nnan 1", "line 2 has 'nan'; accepted there: a finite number"),
        (HEAD + "{ 1 1 }\n1e999 1", "line 2 has '1e999'; accepted there: a finite number"),
        (HEAD + "{ 0 2 }\n", "payoff has shape (0, 2)"),
        (HEAD + "{ 2 -1 }\n", "line 1 has '-1'; accepted there: an integer"),
        (HEAD + '{ { "a" "b', "accepted there: a string in double quotes"),
        (HEAD + '{ 1 1 } "a comment\n1 -1', "line 1 has '\"'; accepted there: a string in double quotes"),
        (HEAD + '{ { "a\\"', "accepted there: a string in double quotes"),
        (HEAD + '{ 1 1 }\n{ { "o" 1 -1 } }\n2', "line 3 has '2'; accepted there: an integer from 0 to 1"),
        (HEAD + '{ 1 2 }\n{ { "o" 1 -1 } }\n1', "the file has 2 payoffs; accepted: 4"),
        (HEAD + '{ 1 1 }\n{ { "o" 1', "the file ends early; accepted here: a finite number"),
        (HEAD, "the file ends early; accepted here: {."),
    ],
}


def test_quotes_that_are_never_closed_are_read_in_seconds(tmp_path: Path) -> None:
    """It took hours when the rest of the file was searched for the end of a string from every quote."""
    start = time.process_time()
    message = rejection(written(tmp_path, "bad.nfg", HEAD + '\\"' * 50_000))
    assert message.startswith("line 1 has '\\\\'; accepted there: {")
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("suffix", "content", "message"), [(suffix, *case) for suffix, cases in BAD.items() for case in cases]
)
def test_bad_files_are_rejected(tmp_path: Path, suffix: str, content: str | bytes, message: str) -> None:
    assert message in rejection(written(tmp_path, f"bad{suffix}", content))


def test_gambit_reads_a_written_file(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of its import are not ours
        pygambit = pytest.importorskip("pygambit")
    # Version 16 accepts only labels in ASCII.
    game = Game(AWKWARD.payoff, name="awkward", row_labels=AWKWARD.row_labels, column_labels=["7", "#2", "b\\c"])
    write_game(game, tmp_path / "a.nfg")
    theirs = pygambit.read_nfg(tmp_path / "a.nfg")
    row, column = (np.array(table, dtype=float) for table in theirs.to_arrays(dtype=float))
    np.testing.assert_array_equal(row, AWKWARD.payoff)
    np.testing.assert_array_equal(column, -AWKWARD.payoff)
    assert theirs.title == "awkward"
    assert Game.from_gambit(theirs).row_labels == game.row_labels
    assert Game.from_gambit(theirs).column_labels == game.column_labels


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("end\\", "has a backslash before a quote, a backslash or its end"),
        ('\\"', "has a backslash before a quote, a backslash or its end"),
        ("", "the row label '' is empty or has spaces around it"),
        (" a", "the row label ' a' is empty or has spaces around it"),
        ("a\nb", "the row label 'a\\\\nb' is empty or has spaces around it, two in a row, or a control character"),
    ],
)
def test_labels_that_gambit_would_change_are_rejected(tmp_path: Path, label: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        write_game(Game([[1]], row_labels=[label]), tmp_path / "a.nfg")
    assert message.replace("\\\\n", "\\n") in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'a.nfg'}: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("game.xlsx", r"game\.xlsx: the suffix is '\.xlsx'; accepted: \.csv, \.npy, \.json, \.nfg\."),
        ("missing/game.csv", r"missing/game\.csv: the folder .*/missing does not exist\."),
        ("folder.csv", r"folder\.csv is a folder; accepted: the name of a file"),
        ("game.csv", r"game\.csv: a name or label holds '\\ud800', which is not a character"),
    ],
)
def test_writing_to_a_bad_place_is_rejected(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=f"^{tmp_path}/{message}"):
        write_game(Game([[1]], row_labels=["\ud800" if name == "game.csv" else "a"]), tmp_path / name)


def test_written_json_is_plain(tmp_path: Path) -> None:
    write_game(Game([[1, 2], [3, 4]], name="plain"), tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == {
        "name": "plain",
        "payoff": [[1.0, 2.0], [3.0, 4.0]],
        "row_labels": ["0", "1"],
        "column_labels": ["0", "1"],
        "noise": "gaussian",
        "payoff_range": [1.0, 4.0],
    }
