"""Players of genomes: they play as in a simulation, and reject mistakes and forged files."""

import copy
from functools import partial

import numpy as np
import pytest

from coebl import GenomePlayer, Player, simulate
from coebl.core.errors import InputError
from coebl.games import parse_game
from learner_rules import OF_GENES
from player_files import altered, play, reshape

PBIL = partial(GenomePlayer, "pbil", 4)


@pytest.mark.parametrize("spec", OF_GENES)
def test_a_player_plays_as_in_a_simulation(spec):
    game = parse_game("gene-bilinear:n=4,mask=false")
    result = simulate(game, spec, "uniform", rounds=60, seeds=[7], metrics=[], keep=["actions", "rewards", "policies"])
    player = GenomePlayer(spec, 4, horizon=60, seed=7, payoff_range=game.payoff_range, noise=1.0)
    for t in range(60):
        np.testing.assert_array_equal(player.policy, result.kept["policies"][0][t, 0])
        np.testing.assert_array_equal(player.act(), result.kept["actions"][0][t, 0])
        player.observe(reward=result.kept["rewards"][0][t, 0], opponent=result.kept["actions"][1][t, 0])


@pytest.mark.parametrize("learner", ["ucb", "k-learning", "uniform"])
def test_a_file_may_lack_the_seat_of_a_learner_inside_another(learner, tmp_path):
    """As those of coebl 0.2.0 do, whose learners kept their seat only if they used it later."""
    player = GenomePlayer(f"as-atoms:learner={learner}", genes=2, horizon=50)
    play(player, 5)
    kept = copy.deepcopy(player)
    del player._seated.learner.inner.seat

    def change(described):
        assert described["state"]["AsAtoms"][-1]["inner"][-1].pop("seat") == ["deleted"]

    assert play(GenomePlayer.load(altered(tmp_path, player, change)), 5) == play(kept, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GenomePlayer("ucb", 4), "ucb plays numbered actions; accepted: a learner of genomes. Use Player."),
        (lambda: Player("pbil", 4), "pbil plays genomes; accepted: a learner of numbered actions. Use GenomePlayer."),
        (lambda: GenomePlayer("pbil", 0), "genes is 0; accepted: an integer, 1 .. 50,000,000."),
        (
            lambda: PBIL().observe(reward=1),
            "observe was called before act; ask act() for a genome, play it, then call observe().",
        ),
        (lambda: GenomePlayer("cga", 4), "cga is a search over both players' genomes; accepted: a learner of genomes."),
        (
            lambda: play_round(GenomePlayer("gene-bilin", 4), 1.0, [1, 0, 2, 0]),
            "opponent is [1, 0, 2, 0]; accepted: the opponent's genome, 4 bits, since gene-bilin learns from it.",
        ),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == message


def play_round(player, reward, opponent=None):
    player.act()
    player.observe(reward=reward, opponent=opponent)


@pytest.mark.parametrize(
    "forged",
    [
        {"arrays": {"genome": np.full(4, 7, np.int8)}},
        {"arrays": {"policy": np.full(4, 7.0)}},
        {"arrays": {"policy": np.full(4, np.nan)}},
        {"change": lambda content: reshape(content["state"], [1, 4], [1, 2])},
    ],
)
def test_a_file_that_no_player_writes_is_rejected(tmp_path, forged):
    player = PBIL(seed=1)
    player.act()
    with pytest.raises(InputError, match=r"^[^\n]*is damaged, or was saved by another version[^\n]*$"):
        GenomePlayer.load(altered(tmp_path, player, **forged))


def test_a_file_of_the_other_kind_of_player_is_rejected(tmp_path):
    for player, other in ((Player("exp3", 2), GenomePlayer), (GenomePlayer("pbil", 4), Player)):
        player.save(tmp_path / "player.npz")
        with pytest.raises(
            InputError, match=rf"player\.npz is another kind of player; accepted: .* {other.__name__}\."
        ):
            other.load(tmp_path / "player.npz")
