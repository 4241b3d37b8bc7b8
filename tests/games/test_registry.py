"""Parsing a game: specs, files, and functions in custom files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coebl import Match, simulate, solve
from coebl.core.errors import InputError
from coebl.games import Game, parse_game

OWN = """
from typing import Annotated, Literal

import numpy as np

from coebl import Game
from coebl.core.specs import Range


def ladder(n: Annotated[int, Range(1, 9)] = 2, step: float = 1.0) -> Game:
    return Game(np.arange(2.0 * n).reshape(2, n) * step, row_labels=["up", "down"])


def not_annotated(n=2) -> Game:
    return Game([[n]])


def any_number(*numbers: float) -> Game:
    return Game([numbers])


def matrix(n: int = 2):
    return np.ones((n, 3))


def nothing():
    pass


def ragged():
    return [[1, 2], [3]]


SHARED = Game([[3, 0], [1, 2]], name="shared")


def shared(n: int) -> Game:
    return SHARED


class NotAFunction:
    pass


constant = 3
"""
USABLE = "It has: ladder, matrix, nothing, ragged, shared."


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "inspection.csv").write_text(",comply,cheat\ninspect,0,6\nwait,2,-1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_is_accepted_as_a_game(here: Path) -> None:
    for name in ("inspection.csv", str(here / "inspection.csv"), here / "inspection.csv"):
        game = parse_game(name, noise="none")
        assert (game.name, game.spec, game.row_labels) == ("inspection", None, ("inspect", "wait"))
        assert str(game.noise) == "none"
    assert Match.of("inspection.csv", "uniform", "uniform").game.name == "inspection"


def test_a_file_does_not_hide_a_game_of_the_same_name(here: Path) -> None:
    Path("rps").write_text("not a game")
    Path("diagonal").mkdir()
    assert parse_game("rps").spec == "rps"
    assert parse_game("diagonal:2").spec == "diagonal:n=2"


def test_a_function_in_a_file_is_a_game(here: Path) -> None:
    game = parse_game("own.py:ladder:3,step=0.5")
    np.testing.assert_array_equal(game.payoff, [[0, 0.5, 1], [1.5, 2, 2.5]])
    assert game.row_labels == ("up", "down")
    assert game.spec == game.name == "own.py:ladder:n=3,step=0.5"
    assert parse_game("own.py:ladder:n=2,step=1.0").spec == "own.py:ladder"
    away = parse_game(f"{here}/own.py:ladder")
    assert (away.spec, away.name) == (f"{here}/own.py:ladder", "own.py:ladder")
    assert Match.of("own.py:ladder", "uniform", "uniform").game == Game([[0, 1], [2, 3]], row_labels=["up", "down"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("own.py:ladder:n=10", "own.py:ladder: n is 10; accepted: an integer, 1 .. 9."),
        ("own.py:lader", f"own.py has no game 'lader': did you mean 'ladder'? {USABLE}"),
        ("own.py", f"own.py does not say which game; accepted: own.py:Name. {USABLE}"),
        ("own.py:nothing", "own.py:nothing returns None; accepted: a coebl.Game, or a matrix. Return one."),
        ("own.py:ragged", "payoff has rows of 1 to 2 entries"),
        ("own.py:constant", "own.py:constant: this is 3; accepted: a function that returns a coebl.Game, or a matrix."),
        ("own.py:NotAFunction", "accepted: a function that returns a coebl.Game, or a matrix."),
        ("own.py:not_annotated", "own.py:not_annotated: its parameter n=2 cannot be set by a spec; accepted: an annot"),
        ("own.py:any_number", "own.py:any_number: its parameter *numbers: float cannot be set by a spec; accepted: "),
        ("nowhere.py:ladder", "nowhere.py: no such file; accepted: path/to/file.py:Name."),
        ("game.xlsx", "game.xlsx: the suffix is '.xlsx'; accepted: .csv, .npy, .json, .nfg. Rename or convert the fil"),
        ("games/mine", "games/mine: the suffix is ''; accepted: .csv, .npy, .json, .nfg. Rename or convert the file."),
        ("inspecton.csv", "inspecton.csv: there is no such file: did you mean 'inspection.csv'?"),
        ("folder", "folder: this is a folder; accepted: a file."),
        ("rsp", "unknown game 'rsp': did you mean 'rps'? See: coebl list games"),
        ("x" * 300 + ".csv", "x: a name that is too long"),
        ("x" * 300, "x'. See: coebl list games"),
        ("a\0b.csv", "has the character NUL"),
    ],
)
def test_names_and_functions_that_are_not_games_are_rejected(here: Path, text: str, message: str) -> None:
    Path("folder").mkdir()
    with pytest.raises(InputError) as caught:
        parse_game(text)
    assert message.removeprefix("x: ") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_function_may_return_a_matrix(here, coebl):
    game = parse_game("own.py:matrix:n=4")
    assert (game.shape, game.spec) == ((4, 3), "own.py:matrix:n=4")
    assert coebl("solve", "own.py:matrix").stdout.startswith("own.py:matrix: 2 x 3\nvalue to the row player  1\n")


@pytest.mark.parametrize("given", [[[1, -1], [-1, 2]], ((1, -1), (-1, 2)), np.array([[1, -1], [-1, 2]])])
def test_a_matrix_is_accepted_as_a_game(given):
    game = Match.of(given, "ucb", "exp3", rounds=10, noise="none").game
    assert (game, game.spec) == (Game([[1, -1], [-1, 2]], noise="none"), None)
    assert str(simulate(given, "exp3", "exp3", rounds=5, seeds=2).match) == "game, exp3 v exp3, 5 rounds"
    frame = pytest.importorskip("pandas").DataFrame(given, index=["up", "down"], columns=["left", "right"])
    assert Match.of(frame, "ucb", "exp3", rounds=10).game.labels == (("up", "down"), ("left", "right"))


def test_specs_and_files_are_solved(here):
    assert solve("inspection.csv") == solve(parse_game("inspection.csv"))
    assert solve(here / "inspection.csv") == solve([[0, 6], [2, -1]])
    assert solve("diagonal:3") == parse_game("diagonal:3").solution
    with pytest.raises(InputError, match="unknown game 'diagnal': did you mean 'diagonal'"):
        solve("diagnal:3")


def test_a_function_may_return_one_game_twice(here):
    """The game itself is not changed, since games are compared and hashed, and may be shared."""
    first, second = (parse_game(f"own.py:shared:n={n}") for n in (1, 2))
    assert (first.name, second.name) == ("own.py:shared:n=1", "own.py:shared:n=2")
    assert first == second
