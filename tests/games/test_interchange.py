"""Interchange with the real OpenSpiel, Nashpy, Gambit and QuantEcon: round trips, and agreement on equilibria."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.games import Game, TensorGame, parse_game

GAME = Game(
    [[3, 0, 5.25], [1, 2, 1 / 3]], name="lopsided", row_labels=["up", "down"], column_labels=["left", "mid dle", '"r"']
)
GENERAL = TensorGame(
    ([[3, 0, 5.25], [1, 2, 1 / 3]], [[1, 0, -2], [0.5, 4, 1 / 7]]),
    name="general",
    labels=[["up", "down"], ["left", "mid dle", '"r"']],
)
THREE = TensorGame(
    np.random.default_rng(1).uniform(-3, 5, (3, 2, 3, 4)),
    name="three",
    labels=[["a", "b"], ["c", "d", "e"], None],
    seats=["ann", "bob", "cy"],
)


MODULES = {"openspiel": "pyspiel", "nashpy": "nashpy", "gambit": "pygambit", "quantecon": "quantecon.game_theory"}


def import_library(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of their imports are not ours
        return pytest.importorskip(name)


pyspiel = pytest.fixture(lambda: import_library("pyspiel"), name="pyspiel")
nashpy = pytest.fixture(lambda: import_library("nashpy"), name="nashpy")
pygambit = pytest.fixture(lambda: import_library("pygambit"), name="pygambit")


def payoffs_at(library: str, theirs: Any, joint: tuple[int, ...]) -> list[float]:
    """Return the payoff of each player in a joint action, from the library's own object."""
    if library == "openspiel":
        if len(joint) == 2:
            return [theirs.row_utility(*joint), theirs.col_utility(*joint)]
        return [theirs.player_utility(player, list(joint)) for player in range(len(joint))]
    if library == "nashpy":
        return [matrix[joint] for matrix in theirs.payoff_matrices]
    if library == "gambit":
        return [float(table[joint]) for table in theirs.to_arrays(dtype=float)]
    return list(theirs[joint])


@pytest.mark.parametrize("game", [GAME, GENERAL, THREE], ids=lambda game: game.name)
@pytest.mark.parametrize(("library", "module"), MODULES.items())
def test_round_trips(library: str, module: str, game: Game | TensorGame) -> None:
    import_library(module)
    if (library, game) == ("nashpy", THREE):
        with pytest.raises(InputError, match=r"three has 3 players; Nashpy has games of two. Use to_gambit\(\)"):
            game.to_nashpy()
        return
    theirs = getattr(game, f"to_{library}")()
    for joint in np.ndindex(*game.shape):
        assert payoffs_at(library, theirs, joint) == [payoff[joint] for payoff in game.payoffs]
    back = getattr(type(game), f"from_{library}")(theirs)
    np.testing.assert_array_equal(back.payoffs, game.payoffs)
    keeps_names = library in ("openspiel", "gambit")
    numbers = tuple(tuple(map(str, range(count))) for count in game.shape)
    assert (back.name, back.labels) == ((game.name, game.labels) if keeps_names else ("game", numbers))
    assert back.seats == (game.seats if library == "gambit" else TensorGame(game.payoffs).seats)
    if library == "nashpy":
        theirs.payoff_matrices[0][0, 0] = 99
        assert game.payoffs[0][0, 0] == 3  # it is not shared


@pytest.mark.parametrize("library", ["nashpy", "quantecon"])
@pytest.mark.parametrize("game", [GAME, GENERAL], ids=lambda game: game.name)
def test_equilibria_are_those_of_the_library(library: str, game: Game | TensorGame) -> None:
    imported = import_library(MODULES[library])
    theirs = getattr(game, f"to_{library}")()
    pairs = theirs.support_enumeration() if library == "nashpy" else imported.support_enumeration(theirs)
    ours = [(game.solution.row, game.solution.column)] if game is GAME else [p.strategies for p in game.equilibria()]
    strategies, expected = (sorted(np.concatenate(pair).tolist() for pair in both) for both in (ours, pairs))
    np.testing.assert_allclose(strategies, expected, atol=1e-9)


def test_gambit_finds_the_value(pygambit: Any) -> None:
    theirs = GAME.to_gambit()
    assert theirs.is_const_sum
    result = pygambit.nash.lp_solve(theirs, rational=False)
    # The first is version 17, the second is 16.
    single = hasattr(result, "equilibrium")
    value = result.equilibrium.payoffs["row"] if single else result.equilibria[0].payoff("row")
    assert float(value) == pytest.approx(GAME.value, abs=1e-9)


def test_openspiel_by_name(pyspiel: Any) -> None:
    game = Game.from_openspiel("matrix_rps")
    assert game == Game.from_openspiel(pyspiel.load_game("matrix_rps"))
    np.testing.assert_array_equal(game.payoff, [[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    assert game.row_labels == ("Rock", "Paper", "Scissors")
    constant_sum = pyspiel.create_matrix_game([[1, 2, 3]], [[4, 3, 2]])
    np.testing.assert_array_equal(Game.from_openspiel(constant_sum).payoff, [[1, 2, 3]])  # the row player's


def test_kuhn_poker_has_its_known_value(pyspiel: Any) -> None:
    game = Game.from_openspiel(pyspiel.load_game("kuhn_poker"))
    assert game.shape == (64, 64)
    assert game.value == pytest.approx(-1 / 18, abs=1e-9)
    assert all("\n" not in label for label in game.row_labels + game.column_labels)
    assert game.row_labels[1] == "0: 1, 0pb: 0, 1: 0, 1pb: 0, 2: 0, 2pb: 0"


def test_openspiel_games_of_simultaneous_moves(pyspiel: Any) -> None:
    blotto = Game.from_openspiel("blotto(coins=3,fields=2)")
    assert blotto.shape == (4, 4)
    assert blotto.row_labels[1] == "[1,2]"
    rounds = Game.from_openspiel("goofspiel(num_cards=2,imp_info=True)")
    assert rounds.shape == (4, 4)
    assert rounds.value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("matrix_pd", "the OpenSpiel game 'matrix_pd' is not constant-sum: in row 0, column 0 the payoffs add up"),
        ("tiny_hanabi", "the OpenSpiel game 'tiny_hanabi' is not constant-sum"),
        ("matching_pennies_3p", "the OpenSpiel game 'matching_pennies_3p' has 3 players; accepted: two."),
        ("leduc_poker", "'leduc_poker' has more than 10^15 pairs of pure strategies; accepted: about"),
        ("liars_dice(numdice=1,dice_sides=2)", "has 2,304 x 2,304 pairs of pure strategies"),
        ("tic_tac_toe", "the OpenSpiel game 'tic_tac_toe' has more than 100,000 histories"),
        ("backgammon", "the OpenSpiel game 'backgammon' does not provide information states"),
        ("matrix_rp", "unknown OpenSpiel game 'matrix_rp': did you mean 'matrix_rps'?"),
        ("kuhn_poker(cards=4)", "OpenSpiel cannot load 'kuhn_poker(cards=4)': "),
    ],
)
def test_openspiel_games_other_than_small_two_player_constant_sum_games(pyspiel: Any, name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Game.from_openspiel(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_openspiel_that_cannot_convert(pyspiel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pyspiel, "extensive_to_matrix_game")
    with pytest.raises(InputError, match="'kuhn_poker' is not a matrix game, and this OpenSpiel cannot convert it"):
        Game.from_openspiel("kuhn_poker")


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (GENERAL, r" is not constant-sum: .* up to 4, in row 0, column 1 to 0; accepted: .* method of TensorGame\."),
        (THREE, r" has 3 players; accepted: two\. For more, use the same method of TensorGame\."),
    ],
    ids=["general", "three"],
)
@pytest.mark.parametrize("library", MODULES)
def test_a_matrix_game_is_of_two_players_and_constant_sum(library: str, game: TensorGame, message: str) -> None:
    import_library(MODULES[library])
    if (library, game) != ("nashpy", THREE):
        with pytest.raises(InputError, match=f"(?i)^the {library} game.*{message}$"):
            getattr(Game, f"from_{library}")(getattr(game, f"to_{library}")())


def test_nashpy_game_of_one_matrix_and_of_constant_sum(nashpy: Any) -> None:
    assert Game.from_nashpy(nashpy.Game([[1, 2, 3]])) == Game([[1, 2, 3]])
    assert Game.from_nashpy(nashpy.Game([[1, 2, 3]], [[4, 3, 2]])) == Game([[1, 2, 3]])


def test_a_label_that_gambit_rejects_is_reported_by_coebl(pygambit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def reject(file: object) -> None:
        raise ValueError("Parse error in game file: Invalid label")

    monkeypatch.setattr(pygambit, "read_nfg", reject)
    with pytest.raises(
        InputError, match="Gambit cannot read the game 'lopsided': Parse error in game file: Invalid lab"
    ):
        GAME.to_gambit()


def read_nfg(pygambit: Any, text: str) -> Any:
    return pygambit.read_nfg(io.BytesIO(text.encode()))


def test_gambit_games_in_extensive_form_and_of_rationals(pygambit: Any) -> None:
    tree = """EFG 2 R "two moves" { "A" "B" } ""
        p "" 1 1 "first" { "L" "R" } 0
        p "" 2 1 "after L" { "x" "y" "z" } 0
        t "" 1 "a" { 1 -1 }
        t "" 2 "b" { 2 -2 }
        t "" 3 "c" { 3 -3 }
        t "" 4 "d" { 7/2 -7/2 }
        """
    game = Game.from_gambit(pygambit.read_efg(io.BytesIO(tree.encode())))
    np.testing.assert_array_equal(game.payoff, [[1, 2, 3], [3.5, 3.5, 3.5]])
    assert game.name == "two moves"
    theirs = read_nfg(pygambit, 'NFG 1 R "thirds" { "A" "B" } { { "u" "d" } { "l" } } "" 1/3 2/3 5/7 2/7')
    np.testing.assert_array_equal(Game.from_gambit(theirs).payoff, [[1 / 3], [5 / 7]])


def test_openspiel_games_that_are_not_zero_sum(pyspiel: Any) -> None:
    utilities = pyspiel.GameType.Utility
    assert GAME.to_openspiel().get_type().utility == utilities.ZERO_SUM
    assert GENERAL.to_openspiel().get_type().utility == utilities.GENERAL_SUM
    dilemma = TensorGame.from_openspiel("matrix_pd")
    assert dilemma.labels[0] == ("Cooperate", "Defect")
    [equilibrium] = dilemma.equilibria()
    assert equilibrium.payoffs == (1, 1)
    pennies = TensorGame.from_openspiel("matching_pennies_3p")
    assert pennies.labels == (("Heads", "Tails"),) * 3
    for own, jordan in zip(pennies.payoffs, parse_game("jordan").payoffs, strict=True):
        np.testing.assert_array_equal(own, jordan)


def test_openspiel_trees_of_three_players_become_tensors(pyspiel: Any) -> None:
    tree = pyspiel.convert_to_turn_based(THREE.to_openspiel())
    np.testing.assert_array_equal(TensorGame.from_openspiel(tree).payoffs, THREE.payoffs)
    with pytest.raises(InputError, match="'kuhn_poker' has 65,536 x 65,536 x 65,536 combinations of pure"):
        TensorGame.from_openspiel("kuhn_poker(players=3)")


@pytest.mark.parametrize(
    ("library", "accepted"),
    [
        ("openspiel", "a pyspiel.Game, or the name of one"),
        ("nashpy", "a nashpy.Game"),
        ("gambit", "a pygambit.Game"),
        ("quantecon", "a quantecon.game_theory.NormalFormGame"),
    ],
)
def test_other_objects_are_rejected(library: str, accepted: str) -> None:
    import_library(MODULES[library])
    with pytest.raises(InputError, match=rf"game is \[\[1, 2\]\]; accepted: {accepted}"):
        getattr(Game, f"from_{library}")([[1, 2]])


@pytest.mark.parametrize(("library", "module"), MODULES.items())
def test_a_missing_library_is_named_with_the_command(
    library: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = module.partition(".")[0]
    for name in (package, module):
        monkeypatch.setitem(sys.modules, name, None)
    for use in (getattr(GAME, f"to_{library}"), lambda: getattr(Game, f"from_{library}")("matrix_rps")):
        with pytest.raises(InputError) as caught:
            use()
        assert str(caught.value) == f"this needs {package}; run: pip install 'coebl[interchange]'"
