"""The reports of a player: estimates, value, exploitability, history, the opponent's mix."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.engine import Player
from coebl.engine.records import KEPT, Records, RoundOutcome
from coebl.games import Game

PAYOFF = np.array([[300.0, 4000.0, 1200.0], [2500.0, 800.0, 3100.0]])  # euros, mixed equilibrium
RANGE = (0.0, 5000.0)


def outcome(action, opponent, reward, round=1):
    return RoundOutcome(round, action, action, opponent, reward, 0.5, True)


def recorded(seed, rounds, deviation=500.0):
    """Records of uniform play."""
    random, records = np.random.default_rng(seed), Records(2, 3)
    for t in range(rounds):
        i, j = int(random.integers(2)), int(random.integers(3))
        records.add(outcome(i, j, PAYOFF[i, j] + deviation * random.normal(), t + 1))
    return records


def test_sums_are_those_of_all_outcomes_beyond_those_that_are_kept():
    random, records = np.random.default_rng(1), Records(2, 3)
    rewards = {}
    for t in range(KEPT + 1000):
        pair = int(random.integers(2)), int(random.integers(3))
        rewards.setdefault(pair, []).append(1e6 + random.normal())
        records.add(outcome(*pair, rewards[pair][-1], t + 1))
    for pair, values in rewards.items():
        assert records.visits[pair] == len(values)
        assert records.means[pair] == pytest.approx(np.mean(values), rel=1e-12)
    within = sum(np.var(values) * len(values) for values in rewards.values())
    deviation, freedom = records.pooled()
    assert freedom == KEPT + 1000 - 6
    assert deviation == pytest.approx(np.sqrt(within / freedom), rel=1e-9)
    assert records.recent()["round"].tolist() == list(range(1001, KEPT + 1001))
    assert records.recent(7)["round"].tolist() == list(range(KEPT + 994, KEPT + 1001))
    assert records.mean_reward == pytest.approx(np.concatenate(list(rewards.values())).mean(), rel=1e-12)
    again = Records(2, 3)
    again.restore(records.arrays())
    for continued in (records, again):
        continued.add(outcome(1, 2, 5.0, 9))
    assert again.recent().tolist() == records.recent().tolist()
    np.testing.assert_array_equal(again.means, records.means)


def test_the_interval_of_a_pair_covers_its_payoff_19_times_out_of_20():
    inside = []
    for seed in range(300):
        records = recorded(seed, 40)
        low, high = records.bounds(RANGE, together=False)
        seen = records.visits > 0
        inside += ((low <= PAYOFF) & (high >= PAYOFF))[seen].tolist()
    error = np.sqrt(0.95 * 0.05 / len(inside))
    assert abs(np.mean(inside) - 0.95) < 4 * error


def test_the_intervals_of_value_and_exploitability_cover_them():
    """At least 95 of 100 times, and not always by being as wide as the range."""
    value, policy = Game(PAYOFF).value, np.array([0.9, 0.1])
    short = value - (policy @ PAYOFF).min()
    covered, widths = [], []
    for seed in range(100):
        records = recorded(seed, 60)
        estimate, gap = records.value(RANGE), records.exploitability(policy, RANGE)
        assert estimate.low <= estimate.value <= estimate.high
        assert 0 <= gap.low <= gap.value <= gap.high
        covered.append(estimate.low <= value <= estimate.high and gap.low <= short <= gap.high)
        widths.append(estimate.high - estimate.low)
    assert np.mean(covered) >= 0.95
    assert np.mean(widths) < 2000


def test_estimates_approach_the_game():
    records = recorded(1, 20_000)
    game = Game(PAYOFF)
    assert records.value(RANGE).value == pytest.approx(game.value, abs=25)  # errors are about 500 / sqrt(3333) = 9
    assert records.exploitability(game.solution.row, RANGE).value < 40
    best_pure = records.exploitability(np.array([0.0, 1.0]), RANGE).value
    assert best_pure == pytest.approx(game.value - 800, abs=40)


def test_pairs_without_visits_have_the_range():
    records = Records(1, 2)
    records.add(outcome(0, 0, 10.0))
    records.add(outcome(0, 0, 12.0))
    assert records.value((0.0, 100.0)).value == 11.0  # the other pair is 50: the opponent chooses this one
    low, high = records.bounds((0.0, 100.0), together=True)
    assert (low[0, 1], high[0, 1]) == (0.0, 100.0)
    assert records.filled((0.0, 100.0)).tolist() == [[11.0, 50.0]]
    frame = Player("ucb", 1, 2, horizon=9).estimates()
    assert frame.row(0) == (0, 0, 0, None, None, None)


def test_the_opponents_mix_recent_and_overall():
    player = Player("exp3", actions=2, opponent_actions=2)
    for t in range(400):
        player.observe(action=0, opponent=int(t >= 300), reward=0.0)
    assert player.opponent().rows() == [(0, 300, 0.75, 0.0), (1, 100, 0.25, 1.0)]


def test_without_the_opponents_actions_there_is_no_game():
    player = Player("exp3", actions=["left", "right"])
    for t in range(4):
        player.observe(action=t % 2, reward=float(t))
    assert player.estimates()["mean"].to_list() == [1.0, 2.0]
    for call in (player.value, player.exploitability, player.opponent):
        with pytest.raises(InputError, match=r"needs the opponent's actions, and opponent_actions is None; pass oppon"):
            call()
    page = player._repr_html_()
    assert "left" in page
    assert "value" not in page


def test_the_page_of_a_player():
    player = Player("ots-rm", actions=["<b>", "right"], opponent_actions=["stay", "jump"], seed=1)
    assert "value 0 [−∞, ∞]" in player._repr_html_()
    for reward in (0.5, 0.75):
        player.observe(action=0, opponent="jump", reward=reward)
    page = player._repr_html_()
    for words in ("&lt;b&gt;", "stay", "jump", "0.625 (2)", "value", "exploitability", "2 outcomes", "recent"):
        assert words in page
    rows = [["".join(cell.itertext()) for cell in row] for row in ET.fromstring(page).iter("tr")]
    low, high = player.estimates().row(1)[-2:]  # of the pair that was played
    assert rows[1] == ["<b>", f"{player.policy[0]:.3f}", "–", f"0.625 (2)[{low:.4g}, {high:.4g}]".replace("-", "−")]
    assert rows[-3:] == [
        ["round", "advised", "played", "opponent", "reward", "probability"],
        ["2", "–", "<b>", "jump", "0.75", f"{player.history()['probability'][1]:.3f}"],
        ["1", "–", "<b>", "jump", "0.5", "0.500"],
    ]
    assert "<b><b>" not in page
    assert "open tickets" not in page
    player.ticket(), player.ticket()
    with pytest.warns(UserWarning, match="opponent is None"):
        player.observe(player.ticket(), reward=0.5)
    page = player._repr_html_()
    assert "2 open tickets" in page
    assert "Warning: opponent is None in round 5, and ots-rm learns from the opponent&#x27;s action" in page
    large = Player("ots-rm", actions=30, opponent_actions=20, seed=1)._repr_html_()
    assert "the first 12 of 30 and 12 of 20 actions are shown" in large


def test_reports_do_not_change_the_play():
    players = [Player("coebl", actions=2, opponent_actions=2, horizon=50, seed=s) for s in (1, 1)]
    for t in range(30):
        players[0].estimates(), players[0].value(), players[0].history(), players[0].opponent()
        for player in players:
            player.observe(player.act(), reward=0.1 * t % 1, opponent=t % 2)
        players[0]._repr_html_()
    assert players[0].policy.tobytes() == players[1].policy.tobytes()
