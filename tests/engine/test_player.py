"""Players: acting, observing, saving and loading."""

import copy
import io
import json
import os
import pickle
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bare_seats import build_seat
from coebl.core.errors import InputError
from coebl.engine import Match, Player, simulate
from coebl.engine.genome_player import GenomePlayer
from coebl.engine.records import KEPT, RoundOutcome
from coebl.games import Game
from coebl.learners import Seen
from player_files import altered, play, reshape

SPECS = ["coebl:c=0.5", "ucb", "ucb:ties=random", "exp3", "exp3-ix"]
PLAYERS = Path(__file__).parent / "players"  # files that coebl 0.1 wrote


@pytest.mark.parametrize("spec", SPECS)
def test_a_player_plays_as_in_a_simulation(spec):
    game = Game([[0.5, -1.0, 0.2], [-0.3, 0.8, 0.1]])
    match = Match.of(game, spec, "uniform", rounds=30)
    result = simulate(match, [9], keep=("actions", "rewards", "policies"))
    actions, opponents = (played[:, 0].tolist() for played in result.kept["actions"])
    rewards = result.kept["rewards"][0][:, 0].tolist()
    player = Player(spec, actions=2, opponent_actions=3, horizon=30, seed=9, payoff_range=game.payoff_range, noise=1)
    for t in range(30):
        np.testing.assert_array_equal(player.policy, result.kept["policies"][0][t, 0])
        assert player.act() == actions[t]
        player.observe(opponent=opponents[t], reward=rewards[t])


def test_reset_begins_again():
    player = Player("coebl", actions=3, opponent_actions=4, horizon=100, seed=2)
    first = play(player, 30, 4)
    player.reset()
    assert player.round == 1
    assert play(player, 30, 4) == first


def play_round(opponent, **settings):
    """Play one round."""
    Player("exp3", 2, **settings).observe(action=0, reward=1.0, opponent=opponent)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Player("ucb", 2, 3, horizon=10).observe(reward=1.0, opponent=0), "observe was called before act"),
        (lambda: play_round(3, opponent_actions=3), r"opponent is 3; accepted: 0 \.\. 2\.$"),
        (lambda: Player("ucb", 2, 2), "ucb needs the number of rounds"),
        (
            lambda: Player("ucb", 3, horizon=9),
            r"^opponent_actions is None, and ucb learns from .* opponent_actions=\.$",
        ),
        (lambda: Player("best-response", 2, 2), "best-response sees the true payoffs and the opponent's policy"),
        (lambda: Player("exp3", 0, 2), "actions is 0; accepted"),
        (lambda: Player("exp3", 2).save("nowhere/player.npz"), "does not exist"),
        (lambda: Player.load("none.npz"), "no file"),
        (lambda: Player("exp3", 2, 3, opponents=(2, 2)), "opponent_actions and opponents are both given"),
        (lambda: Player("exp3", 2, opponents=3), r"opponents is 3; accepted: for each opponent the number of its"),
        (lambda: Player("exp3", 2, opponents=(3, 0)), r"opponents\[1\] is 0"),
        (lambda: play_round(1, opponents=(3, 2)), "of each of the 2 opponents"),
        (lambda: play_round((1, 2), opponents=(3, 2)), r"opponent\[1\] is 2"),
        (lambda: play_round((1, 2), opponent_actions=3), r"opponent is \(1, 2\); accepted: 0 .. 2"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def saved_as(folder, **arrays):
    np.savez(folder / "other.npz", **arrays)
    return folder / "other.npz"


def file_of(content):
    return lambda folder: (folder / "other.npz").write_bytes(content) and folder / "other.npz"


def pipe(folder):
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def file_that_claims_more_than_memory_holds(folder):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (10**15,)})
    whole = altered(folder, Player("exp3", actions=2, opponent_actions=2))
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(folder / "huge.npz", "w") as target:
        for name in source.namelist():
            target.writestr(name, header.getvalue() if name == "memory-000000.npy" else source.read(name))
    return folder / "huge.npz"


def file_of_coebl_0_1_without(name):
    """A file of coebl 0.1 without one of its arrays, or without the reward of the last round."""

    def write(folder):
        with np.load(PLAYERS / "format-1-exp3.npz") as stored:
            arrays = dict(stored)
        lost = arrays.pop("reward" if name == "a round" else name)
        return saved_as(folder, **arrays, **({"reward": lost[:-1]} if name == "a round" else {}))

    return write


@pytest.mark.parametrize(
    "write",
    [
        file_of(b"not a player"),
        lambda folder: saved_as(folder, settings=np.array([{"format": 1}], dtype=object)),
        lambda folder: saved_as(folder, settings=np.frombuffer(b"[" * 100_000, np.uint8)),
        lambda folder: folder,
        pipe,  # loading does not wait for a writer
        file_that_claims_more_than_memory_holds,
        *map(file_of_coebl_0_1_without, ["settings", "action", "opponent", "reward", "policy", "a round"]),
    ],
)
def test_files_that_are_not_players_are_rejected_in_one_line(write, tmp_path):
    with pytest.raises(InputError, match=r"^[^\n]* is not a saved player; accepted: a file that Player.save wrote\.$"):
        Player.load(write(tmp_path))


def write_format_1(tmp_path, player, actions, rewards, policy):
    """Write a file as coebl 0.1 did: settings and history."""
    names = ("actions", "opponent_actions", "horizon", "seed", "payoff_range")
    settings = {name: getattr(player, name) for name in names}
    settings |= {"format": 1, "learner": str(player.learner), "acted": False}
    return saved_as(
        tmp_path,
        settings=np.frombuffer(json.dumps(settings).encode(), np.uint8),
        action=np.array(actions, np.int64),
        opponent=np.full(len(actions), -1),
        reward=np.array(rewards, np.float64),
        policy=policy,
    )


@pytest.mark.parametrize("spec", ["coebl:c=0.5", "ucb:ties=random", "exp3"])
def test_files_of_coebl_0_1_are_loaded(spec):
    """Files that coebl 0.1 wrote, after 25 rounds and an act()."""
    player = Player(spec, actions=3, opponent_actions=4, horizon=200, seed=5, payoff_range=(-9, 9), noise=1)
    random = np.random.default_rng(1)
    for _ in range(25):
        player.act()
        player.observe(reward=float(np.round(random.normal(), 3)), opponent=int(random.integers(4)))
    loaded = Player.load(PLAYERS / f"format-1-{spec.partition(':')[0]}.npz")
    assert (loaded.round, loaded.act()) == (player.round, player.act())
    assert loaded.policy.tobytes() == player.policy.tobytes()


def test_the_played_action_counts_and_not_a_new_draw(tmp_path):
    """Another CPU may draw another action if a policy differs in its last bit; the history stays."""
    player = Player("exp3", actions=3, opponent_actions=4, seed=5, payoff_range=(-1, 1), noise=1)
    drawn = np.array(play(player, 40, 4))
    played = np.where(np.arange(40) % 7 == 0, (drawn + 1) % 3, drawn)  # as if it had drawn others now and then
    rewards = np.random.default_rng(1).normal(size=40)
    seat = build_seat(player.learner, [5], (3, 4), None, (-1.0, 1.0))
    learner = player.learner.seated(seat)
    for t in range(40):
        probability = learner.policy(t + 1)[:, played[t]]
        learner.observe(t + 1, Seen(played[t : t + 1], rewards[t : t + 1], shown_probability=probability))
    policy = learner.policy(41)[0]
    other = write_format_1(tmp_path, player, played, rewards, policy + 1e-12)
    np.testing.assert_array_equal(Player.load(other).policy, policy)


def test_damaged_files_are_rejected_in_one_line(tmp_path):
    """Every prefix, and a flipped byte everywhere: an InputError, or the player itself."""
    player = Player("exp3", actions=2, opponent_actions=2, seed=3)
    for _ in range(5):
        player.observe(player.act(), reward=0.5)
    player.save(tmp_path / "player.npz")
    whole = (tmp_path / "player.npz").read_bytes()
    damaged = [whole[:size] for size in range(0, len(whole), 37)]
    damaged += [whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :] for place in range(0, len(whole), 11)]
    errors = []
    for content in damaged:
        (tmp_path / "damaged.npz").write_bytes(content)
        try:
            assert Player.load(tmp_path / "damaged.npz").round == 6
        except InputError as error:
            errors.append(str(error))
    assert len(errors) > len(damaged) / 2
    assert not any("\n" in error for error in errors)


def test_an_archive_that_expands_to_more_than_memory_is_rejected(tmp_path, monkeypatch):
    whole = altered(tmp_path, Player("exp3", actions=2))
    Player.load(whole)
    with zipfile.ZipFile(whole) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    monkeypatch.setattr("coebl.engine.player_file.machine_memory", lambda: 2 * size - 2)
    with pytest.raises(InputError, match="is not a saved player"):
        Player.load(whole)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"actions": 10**9}, r"^actions x opponent_actions is 1,000,000,000 x 2; accepted: at most 50,000,000"),
        ({"opponent_actions": 10**9}, r"^actions x opponent_actions is 2 x 1,000,000,000; accepted"),
        ({"learner": "coebl:population=pool:size=1000000000"}, r"size is 1000000000; accepted: an integer, 1 \.\. 1"),
        (
            {"learner": "evil.py:Evil"},
            r"an equal learner: Player.load\('.*altered.npz', learner='evil.py:Evil'\)\.$",
        ),
        ({"actions": "two"}, "^actions is 'two'; accepted"),
        ({"actions": -1}, "^actions is -1; accepted"),
        ({"payoff_range": 3}, "^payoff_range is 3; accepted"),
        ({"payoff_range": [1, -1]}, r"^payoff_range is \(1, -1\); accepted"),
        ({"seed": None}, "is not a saved player"),
    ],
)
def test_a_file_of_more_actions_than_memory_holds_or_of_other_values_is_rejected(tmp_path, change, reason):
    player = Player("coebl", actions=2, opponent_actions=2, horizon=9)
    with pytest.raises(InputError, match=reason):
        Player.load(altered(tmp_path, player, **change))


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("history", "action", 9475),
        ("history", "action", -1),
        ("history", "opponent", 3),
        ("history", "opponent", -2),
        ("history", "advised", 2),
        ("history", "reward", np.inf),
        ("history", "probability", np.nan),
        ("means", (0, 0), np.nan),
        ("means", (0, 0), 1e300),
        ("visits", (0, 0), 0.5),
        ("visits", (1, 2), -4),
        ("totals", 1, np.nan),
        ("totals", 2, -np.inf),
        ("totals", 3, np.nan),
        ("totals", 4, -0.5),
        ("totals", 5, -0.5),
        ("totals", 6, -3),
    ],
)
def test_records_that_no_contest_has_are_rejected_in_one_line(tmp_path, name, place, value):
    """Otherwise a later round fails, when the learner learns again from them."""
    player = Player("exp3", actions=2, opponent_actions=3)
    for k in range(5):
        player.observe(player.act(), reward=0.1 * k, opponent=k % 3)
    with np.load(altered(tmp_path, player)) as stored:
        forged = stored[name].copy()
    forged[place] = value
    with pytest.raises(InputError, match=r"^[^\n]*is damaged, or was saved by another version[^\n]*\.$"):
        Player.load(altered(tmp_path, player, arrays={name: forged}))


def test_a_state_of_fewer_actions_is_rejected(tmp_path):
    player = Player("gp-mw", actions=4, opponent_actions=4, horizon=90)
    player.observe(player.act(), reward=0.1, opponent=0)
    with pytest.raises(InputError, match="is damaged, or was saved by another version"):
        Player.load(altered(tmp_path, player, lambda content: reshape(content["state"], [1, 4, 4], [1, 4, 2])))


@pytest.mark.parametrize(("kind", "learner"), [(Player, "exp3"), (GenomePlayer, "pbil")])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("payoff_range", (0, 1e200)),
        ("payoff_range", (0, 5e-324)),
        ("payoff_range", (-1.7e308, 1.7e308)),
        ("noise", 1e-320),
        ("noise", 1e308),
        ("noise", "loud"),
        ("noise", np.nan),
        ("noise", -1),
        ("horizon", 10**400),
    ],
)
def test_numbers_beyond_calculation_are_rejected(kind, learner, name, value):
    with pytest.raises(InputError, match=rf"^{name} is [^\n]*; accepted: [^\n]*$"):
        kind(learner, 3, **{name: value})
    with pytest.raises(InputError, match=r"^(genes|actions)[^\n]*; accepted: [^\n]*$"):
        kind(learner, 10**12)


@pytest.mark.parametrize("reward", [1e300, -1.7e308, np.inf, np.nan, 10**400, "1", 1j])
def test_a_reward_beyond_calculation_is_rejected_and_does_no_harm(reward):
    """Learners square rewards: one that is too large would spoil every later round."""
    for player in (Player("kin", 2, 2, seed=1), GenomePlayer("pbil", 3, seed=1)):
        player.act()
        with pytest.raises(InputError, match=r"^reward is [^\n]*; accepted: a finite number, up to 1e\+60\.$"):
            player.observe(reward=reward)
        assert player.round == 1


@pytest.mark.parametrize("learner", ["exp3", "ucb", "coebl", "kin", "strain"])
@pytest.mark.parametrize("units", [{}, {"payoff_range": (0, 1e-60)}, {"noise": 1e-60}, {"noise": 1e60}])
@pytest.mark.parametrize("rewards", [[1e60, -1e60, 0], [1e-320, 0, -5e-324]])
def test_any_reward_that_is_accepted_can_be_learned_from(learner, units, rewards):
    player = Player(learner, 3, 3, horizon=90, seed=1, **units)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about units
        for k, reward in enumerate(rewards * 4):
            player.observe(player.act(), reward=reward, opponent=k % 3)
    assert np.isfinite(player.policy).all()


def test_a_player_that_does_not_fit_into_memory_is_rejected(tmp_path, monkeypatch):
    whole = altered(tmp_path, Player("exp3", actions=2))
    monkeypatch.setattr(Player, "_seat_learner", lambda _: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(InputError, match="holds 'exp3', which needs more memory than there is"):
        Player.load(whole)


def test_without_a_seed_no_two_players_are_alike():
    assert len({Player("exp3", 9, seed=None).seed for _ in range(3)}) == 3


def test_a_player_of_coebl_0_1_that_played_differently_learns_again_from_all_outcomes(tmp_path):
    """As with rewards in thousands: this version has other units."""
    player = Player("exp3", actions=2, opponent_actions=2, seed=3)
    actions, rewards = [0, 1, 1, 0], [300.0, 900.0, 800.0, 200.0]
    other = write_format_1(tmp_path, player, actions, rewards, np.array([0.9, 0.1]))
    with pytest.warns(UserWarning, match="plays differently; exp3 has learned again, from all 4 outcomes[.]$"):
        loaded = Player.load(other)
    for action, reward in zip(actions, rewards, strict=True):
        player.act()
        player.observe(reward=reward, action=action)
    np.testing.assert_array_equal(loaded.policy, player.policy)
    assert loaded.policy[1] > 0.5
    assert loaded.noise is None
    with pytest.raises(InputError, match="is damaged: its policy and its settings differ"):
        Player.load(write_format_1(tmp_path, player, actions, rewards, np.full(3, 1 / 3)))


def test_the_opponent_counts_only_for_learners_that_see_it(tmp_path):
    """Exp3 plays the same for any number of the opponent's actions."""
    units = {"payoff_range": (-1, 1), "noise": 1}
    players = [Player("exp3", actions=3, seed=4, opponent_actions=number, **units) for number in (None, 7)]
    for _ in range(20):
        first, second = (player.act() for player in players)
        assert first == second
        for player in players:
            player.observe(reward=0.1 * first)
    players[0].save(tmp_path / "player.npz")
    assert Player.load(tmp_path / "player.npz").act() == players[1].act()


def test_a_copy_keeps_the_attributes_of_a_subclass():
    class Named(Player):
        pass

    player = Named("exp3", actions=2)
    player.title = "A"
    assert copy.deepcopy(player).title == "A"


@pytest.mark.parametrize("action", [-1, 3])
def test_a_saved_action_out_of_range_is_rejected_in_one_line(tmp_path, action):
    player = Player("exp3", actions=3)
    other = write_format_1(tmp_path, player, [action], [0.5], player.policy)
    with pytest.raises(InputError, match=rf"other.npz: a saved action is {action}; accepted: an integer, 0 \.\. 2\.$"):
        Player.load(other)


@pytest.mark.parametrize(("reward", "far"), [(3.0, False), (-3.0, False), (3.01, True), (-3.01, True), (1e50, True)])
def test_a_reward_in_other_units_is_reported_once(reward, far):
    player = Player("ots-rm", actions=2, opponent_actions=2, payoff_range=(-1, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            player.act()
            player.observe(reward=reward, opponent=0)
        player.reset()
        player.act()
        player.observe(reward=reward, opponent=0)
        copy.deepcopy(player)
    assert len(caught) == far
    if far:
        [warning] = caught
        assert (warning.category, warning.filename) == (UserWarning, __file__)
        assert str(warning.message).startswith(f"reward is {reward:g} in round 1, further outside payoff_range (-1, 1)")
        assert "set payoff_range to" in str(warning.message)


@pytest.mark.filterwarnings("error")
def test_a_warning_that_is_an_error_leaves_the_player_as_it_was():
    player = Player("exp3", actions=2, payoff_range=(-1, 1))
    player.act()
    with pytest.raises(UserWarning, match="reward is 50"):
        player.observe(reward=50)
    assert player.round == 1


def test_additions_of_a_later_version_are_ignored(tmp_path):
    player = Player("exp3", actions=2, seed=3)
    player.observe(player.act(), reward=0.5)
    file = altered(tmp_path, player, arrays={"more": np.arange(3)}, version="0.9.0", novelty={"a": 1})
    assert Player.load(file).act() == player.act()


def test_a_learner_that_has_changed_learns_again_from_the_history(tmp_path):
    player = Player("exp3", actions=3, opponent_actions=4, seed=3, payoff_range=(-9, 9))
    play(player, 40, 4)
    waiting = player.ticket()
    changed = {"Exp3": ["object", ":Exp3", [], {"weights": 1}]}
    with pytest.raises(InputError, match="is damaged, or was saved by another version"):
        Player.load(altered(tmp_path, player, state=changed))  # this version wrote it: it cannot have changed
    with pytest.warns(UserWarning, match=r"0\.0\.9, and exp3 has changed .* from the last 40 of 40 outcomes\.$"):
        again = Player.load(altered(tmp_path, player, state=changed, version="0.0.9"))
    np.testing.assert_allclose(again.policy, player.policy, rtol=1e-12)  # the probabilities are those of the advice
    again.observe(waiting, reward=0.5)
    assert again.history().height == 41


def test_save_and_load_take_the_same_time_after_a_million_rounds(tmp_path):
    player = Player("ots-rm", actions=6, opponent_actions=8, seed=3)
    random = np.random.default_rng(1)
    for t in range(KEPT + 1):
        player._records.add(RoundOutcome(t, 0, t % 6, t % 8, random.normal(), 1 / random.uniform(1, 9), True))
    player._round, player._records.outcomes = 10**6 + 1, 10**6
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        player.save(tmp_path / "player.npz")
        loaded = Player.load(tmp_path / "player.npz")
        seconds.append(time.perf_counter() - started)
    assert loaded.round == 10**6 + 1
    assert loaded.history().equals(player.history())
    assert (tmp_path / "player.npz").stat().st_size < 300_000
    assert min(seconds) < 0.1


def test_a_player_plays_and_is_saved_without_polars(tmp_path):
    """Polars is an extra: a plain installation plays, saves and loads; a report names the extra."""
    program = f"""
import sys
sys.modules["polars"] = sys.modules["pandas"] = sys.modules["pyarrow"] = None
from coebl import Player
player = Player("ots-rm", actions=2, opponent_actions=2)
player.observe(player.ticket(), reward=0.5, opponent=1)
player.save(r"{tmp_path / "player.npz"}")
player = Player.load(r"{tmp_path / "player.npz"}")
player.observe(player.act(), reward=0.5, opponent=1)
print(player.round, player.value().value, "jump" in player._repr_html_())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "3"


@pytest.mark.filterwarnings("ignore:.* has changed since")  # then it has learned again
@pytest.mark.parametrize("spec", ["ots-rm", "exp3", "kin"])
def test_files_of_format_3_are_loaded(spec):
    """Files of an earlier version, after 60 rounds in euros, with a ticket and an act() whose outcomes are missing."""
    player = Player.load(PLAYERS / f"format-3-{spec}.npz")
    assert (str(player.learner), list(player.tickets), player.act().round) == (spec, [61, 62], 62)
    assert player.history().height == 60
    assert player.estimates()["visits"].sum() == 60
    assert -1000 < player.units.payoff_range[0] < 1000 < 4000 < player.units.payoff_range[1] < 6000
    player.observe(player.tickets[61], reward=2500.0, opponent=1)
    assert player.act().label in ("a", "b", "c")
    assert player.ticket().round == 63


def test_a_saved_player_names_classes_that_stay():
    """A file of an earlier version, after 60 rounds: it names the operators of its learner."""
    loaded = Player.load(PLAYERS / "format-3-posterior.npz")
    again = Player("coebl:mutation=posterior", 3, 4, seed=3, horizon=500)
    for step in range(60):
        again.observe(reward=1.5 * ((int(again.act()) + step) % 3), opponent=step % 4)
    for _ in range(20):
        assert loaded.policy.tobytes() == again.policy.tobytes()
        assert loaded.act() == again.act()
        loaded.observe(reward=1.5, opponent=2)
        again.observe(reward=1.5, opponent=2)


def test_several_opponents_are_one_who_plays_their_joint_actions(tmp_path):
    names = ["high, 0", "high, 1", "high, 2", "low, 0", "low, 1", "low, 2"]
    several = Player("ots-rm", actions=["a", "b"], opponents=(["high", "low"], 3), seed=4)
    single = Player("ots-rm", actions=["a", "b"], opponent_actions=names, seed=4)
    rng = np.random.default_rng(2)
    for step in range(60):
        reward, high, number = rng.normal(), int(rng.integers(2)), int(rng.integers(3))
        assert several.act() == single.act()
        several.observe(reward=reward, opponent=(["high", "low"][high], number) if step % 2 else (high, number))
        single.observe(reward=reward, opponent=3 * high + number)
        if step == 30:
            several.save(tmp_path / "player.npz")
            several = Player.load(tmp_path / "player.npz")
            several = pickle.loads(pickle.dumps(several))
    np.testing.assert_array_equal(several.policy, single.policy)
    assert several.estimates().equals(single.estimates())
    assert several.opponent()["opponent"].to_list() == names
    assert several.history().row(-1)[3] in names
    assert several.value() == single.value()
    assert repr(several) == "<Player ots-rm, 2 x 2 x 3, round 61>"
