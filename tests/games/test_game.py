"""The class Game: accepted payoff matrices, and the test of a unique equilibrium."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.games import Game, TensorGame, solve

WIDE = [[3.0, 0.0, 5.0], [1.0, 2.0, 4.0]]  # rows mix 1/4, 3/4; columns 1/2, 1/2, 0; value 3/2


def test_payoffs_are_a_read_only_copy() -> None:
    mine = np.array(WIDE, order="F")
    game = Game(mine)
    mine[0, 0] = 99.0
    assert game.payoff[0, 0] == 3.0
    with pytest.raises(ValueError, match="read-only"):
        game.payoff[0, 0] = 1.0
    assert game.payoff.dtype == np.float64
    assert game.payoff.flags.c_contiguous


def test_equality_and_hash_are_by_content() -> None:
    game = Game(WIDE, name="one")
    same = Game(np.array(WIDE, order="F"), name="two", row_labels=["0", "1"], payoff_range=(0, 5))
    assert game == same
    assert hash(game) == hash(same)
    assert Game([[0.0, 1.0]]) == Game([[-0.0, 1.0]])
    assert len({game, same, Game([[1, 2]])}) == 2


@pytest.mark.parametrize(
    "other",
    [
        Game([[3.0, 0.0, 5.0], [1.0, 2.0, np.nextafter(4.0, 5.0)]]),
        Game(np.reshape(WIDE, (3, 2))),
        Game(WIDE, row_labels=["up", "down"]),
        Game(WIDE, column_labels=["a", "b", "c"]),
        Game(WIDE, noise="none"),
        Game(WIDE, noise="gaussian:sigma=2"),
        Game(WIDE, payoff_range=(-1, 5)),
        WIDE,
    ],
)
def test_games_that_differ_are_unequal(other: Any) -> None:
    assert Game(WIDE) != other


def test_the_fingerprint_has_the_source_of_a_custom_class() -> None:
    class Louder(Game):
        """A custom game."""

    class Common(TensorGame):
        """A custom game."""

    games = [Game(WIDE), TensorGame((WIDE, WIDE)), Louder(WIDE), Common((WIDE, WIDE))]
    assert ["custom" in game.fingerprint() for game in games] == [False, False, True, True]
    assert len({game.fingerprint() for game in (*games, Louder([[1, 2]]))}) == 5


def test_the_solution_is_computed_once() -> None:
    game = Game(WIDE)
    np.testing.assert_allclose(game.solution.column, [0.5, 0.5, 0], atol=1e-9)
    assert game.solution is game.solution


def test_own_views() -> None:
    game = Game(WIDE, payoff_range=(-1, 9))
    row, column = game.own_view("row"), game.own_view("column")
    assert row is game.payoff
    assert game.ranges == ((-1, 9), (-9, 1))
    np.testing.assert_array_equal(column, -np.array(WIDE).T)
    assert not np.signbit(column[1, 0])  # no negative zeros
    assert column.flags.c_contiguous
    with pytest.raises(InputError, match=r"seat is 'top'; accepted: row, column\."):
        game.own_view("top")


def test_with_noise_changes_only_the_noise() -> None:
    game = Game(WIDE, row_labels=["u", "d"], payoff_range=(-1, 9)).renamed("g", "some:spec")
    other = game.with_noise("laplace:sigma=0.5")
    assert str(other.noise) == "laplace:sigma=0.5"
    assert str(game.noise) == "gaussian"
    assert other.with_noise(game.noise) == game
    assert (other.name, other.spec) == ("g", "some:spec")


def test_repr_and_str_of_a_small_game() -> None:
    assert repr(Game(WIDE, name="mine", noise="none")) == "<Game 'mine', 2 x 3, none>"
    assert repr(Game(WIDE).renamed("d", "diagonal:2")) == "<Game 'diagonal:2', 2 x 3, gaussian>"
    game = Game([[3, -0.0, 1 / 3], [1, 2, -40]], name="mine", row_labels=["up", "down"], column_labels=["a", "b", "c"])
    assert str(game).splitlines() == [
        "mine: 2 x 3, payoffs to the row player, noise gaussian",
        "      a  b       c",
        "  up  3  0  0.3333",
        "down  1  2     -40",
    ]


def test_str_of_a_large_game_shows_its_corner() -> None:
    lines = str(Game(np.arange(40 * 50).reshape(40, 50))).splitlines()
    assert lines[0].startswith("game: 40 x 50")
    assert lines[1].split() == [*map(str, range(12)), "..."]
    assert lines[13].split() == ["11", *map(str, range(550, 562)), "..."]
    assert [line.strip() for line in lines[14:]] == ["..."]


def test_a_data_frame_gives_its_labels() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(WIDE, index=["up", "down"], columns=[10, 20, 30])
    game = Game(frame)
    assert (game.row_labels, game.column_labels) == (("up", "down"), ("10", "20", "30"))
    np.testing.assert_array_equal(game.payoff, WIDE)
    assert Game(frame, row_labels=["a", "b"]).row_labels == ("a", "b")
    assert Game(pandas.DataFrame(WIDE)).column_labels == ("0", "1", "2")
    with pytest.raises(InputError, match=r"payoff\[1\]\[0\] is 'x'; accepted: numbers"):
        Game(pandas.DataFrame([[1, 2], ["x", 3]]))
    with pytest.raises(InputError, match="column_labels has 'a' twice"):
        Game(pandas.DataFrame([[1, 2]], columns=["a", "a"]))


def test_numpy_converts_a_game_to_its_payoffs() -> None:
    game = Game(WIDE)
    array = np.asarray(game)
    np.testing.assert_array_equal(array, WIDE)
    array[0, 0] = 99
    assert game.payoff[0, 0] == 3
    assert np.asarray(game, dtype=np.float32).dtype == np.float32
    assert solve(game) == game.solution
    assert Game(game) == game


def test_labels_and_names_are_escaped_for_the_terminal() -> None:
    game = Game([[1, 2]], name="a\x1b[2Jb", row_labels=["up\ndown"], column_labels=["l\r", "日本"])
    text = str(game)
    assert text.splitlines()[0].startswith("a\\x1b[2Jb: 1 x 2")
    assert text.splitlines()[1:] == ["          l\\r  日本", "up\\ndown    1   2"]
    assert "\x1b" not in repr(game)


def test_a_name_is_a_string() -> None:
    for payoff in (WIDE, (WIDE, WIDE)):
        with pytest.raises(InputError, match=r"^name is 5; accepted: a string\.$"):
            Game(payoff, name=5)


def test_payoff_range() -> None:
    assert Game(WIDE).payoff_range == Game(WIDE, payoff_range=(0, 5)).payoff_range == (0.0, 5.0)
    assert Game([[2, 2]]).payoff_range == (2.0, 3.0)  # never empty
    for limits in [(1, 5), (0, 4), (5, 0), (0, np.inf), (np.nan, 5)]:
        message = rf"is \({limits[0]:g}, {limits[1]:g}\); accepted: low < high that enclose .* which lie in 0 \.\. 5"
        with pytest.raises(InputError, match=f"^payoff_range {message}"):
            Game(WIDE, payoff_range=limits)
    others: list[Any] = [3, (1, 2, 3), ("a", "b"), "12", ("1", "2"), {1: 2, 3: 4}, (0, 10**400)]
    for other in others:
        with pytest.raises(InputError, match=r"^payoff_range is .*; accepted: two numbers, \(low, high\)\."):
            Game(WIDE, payoff_range=other)


THREE_AXES = "payoff has 3 dimensions; accepted: a matrix, one row per action of the row player."


@pytest.mark.parametrize(
    ("payoff", "message"),
    [
        ([[1, 2], [3, np.nan]], "payoff[1][1] is nan; accepted: finite numbers."),
        ([[1, -np.inf], [3, 4]], "payoff[0][1] is -inf; accepted: finite numbers."),
        ([[]], "payoff has shape (1, 0); accepted: at least one action for each player."),
        (np.zeros((0, 3)), "payoff has shape (0, 3); accepted: at least one action for each player."),
        ([[1, 2], [3]], "payoff has rows of 1 to 2 entries; accepted: rows of equal length. Fill in the missing entr"),
        ([[1, 2], 3], "payoff has rows of 0 to 2 entries; accepted: rows of equal length."),
        ([1, 2, 3], "payoff has 1 dimension; accepted: a matrix"),
        (7, "payoff has 0 dimensions; accepted: a matrix"),
        ([[[1, 2]]], "payoff has 3 dimensions; accepted: a matrix"),
        (np.zeros((2, 3, 2)), f"{THREE_AXES} Pass a pair of matrices, the payoffs of each player, as a tuple: Game"),
        (np.zeros((5, 2, 2)), f"{THREE_AXES} Pass one matrix per game. To solve a batch of matrices, call maximin."),
        ([[1, "x"]], "payoff[0][1] is 'x'; accepted: numbers. Replace it with a number."),
        ([3, "x"], "payoff is [3, 'x']; accepted: a matrix of numbers"),
        (b"rock", "payoff is b'rock'; accepted: a matrix of numbers"),
        ("rock", "payoff is 'rock'; accepted: a matrix of numbers, such as [[1, -1], [-1, 1]]."),
        ({"a": 1}, "payoff is {'a': 1}; accepted: a matrix of numbers"),
        ([[10**400]], "payoff holds a number too large for a float; divide the payoffs by a constant."),
        ([[-1e308, 1e308]], "payoff spans -1e+308 to 1e+308, more than a float can hold; divide the payoffs"),
        (np.broadcast_to(0.0, (10_000, 5_001)), "payoff has 10000 x 5001 entries; accepted: at most 50,000,000 in all"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # the case in which the range overflows
def test_bad_payoffs_are_rejected(payoff: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}.*$"):  # one line
        Game(payoff)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a"], "row_labels has 1 label; accepted: 2, one per action."),
        (["a", "a"], "row_labels has 'a' twice; accepted: labels that all differ."),
        (["a", 1], "row_labels is ['a', 1]; accepted: a list of 2 strings."),
        ("ab", "row_labels is 'ab'; accepted: a list of 2 strings."),
    ],
)
def test_bad_labels_are_rejected(labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        Game(WIDE, row_labels=labels)


@pytest.mark.parametrize(
    "payoff",
    [
        WIDE,  # mixed, and the third column is never played
        np.transpose(WIDE),
        [[0, -1, 1], [1, 0, -1], [-1, 1, 0]],
        [[2, 1], [0, -1]],  # a strict saddle point
        [[5.0]],
        1e9 + 1e6 * np.array(WIDE),  # other units, the same answer
        1e-9 * np.array(WIDE),
    ],
)
def test_a_unique_equilibrium_is_found_unique(payoff: Any) -> None:
    verdict = Game(payoff).unique_equilibrium
    assert verdict.answer == "yes"
    assert str(verdict) == "yes: neither player can leave the equilibrium without losing"


@pytest.mark.parametrize(
    ("payoff", "player"),
    [
        (np.ones((2, 3)), "row"),
        ([[3, 0, 5], [1, 2, 4], [1, 2, 4]], "row"),  # a row of the support twice
        ([[3, 0, 0, 5], [1, 2, 2, 4]], "column"),
        ([[0, 0, 1], [-1, -2, 0]], "column"),  # only the column player has many: any mix of the first two columns
    ],
)
def test_many_equilibria_are_found(payoff: Any, player: str) -> None:
    verdict = Game(payoff).unique_equilibrium
    assert verdict.answer == "no"
    assert verdict.reason.startswith(f"the {player} player can ")
    assert verdict.reason.endswith("and still earn the value")


def test_reasons_name_labels_and_a_near_tie_has_no_answer() -> None:
    game = Game([[0, 0, 1], [-1, -2, 0]], column_labels=["left", "middle", "right"])
    assert "the probability of action left " in game.unique_equilibrium.reason
    verdict = Game([[1.0, 1.0 + 1e-8], [0.0, 0.0]]).unique_equilibrium
    assert verdict.answer == "unknown"
    assert "too close to zero to tell from rounding" in verdict.reason
    assert verdict.reason.startswith("the ")
