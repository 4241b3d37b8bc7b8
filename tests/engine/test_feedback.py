"""Tickets: outcomes that are late, out of order, missing, or of another move than was advised."""

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.engine import Player, Ticket
from coebl.learners import LEARNERS, Learner
from learner_rules import INDEXED

PAYOFF = np.array([[0.2, -0.4, -1.0], [1.0, 0.6, 0.1], [-0.9, -0.3, -0.2], [-1.0, 0.0, -0.5]])  # row 1 is dominant
PLAYABLE = [name for name in INDEXED if set(LEARNERS[name].factory.sees) <= {"opponent"}]
LEARNING = [name for name in PLAYABLE if LEARNERS[name].factory.improves]


def player_of(name, **settings):
    spec = {"fixed": "fixed:0.1/0.2/0.3/0.4", "switching": "switching:mixtures=0.25/0.25/0.25/0.25_1/0/0/0,at=20"}
    settings = {"actions": 4, "opponent_actions": 3, "horizon": 400, "seed": 3, **settings}
    return Player(spec.get(name, LEARNERS[name].example), **settings)


@pytest.mark.parametrize("name", PLAYABLE)
def test_tickets_that_are_observed_at_once_play_as_act_does(name):
    simple, tickets = player_of(name), player_of(name)
    random = np.random.default_rng(1)
    for _ in range(40):
        opponent, noise = int(random.integers(3)), random.normal() / 4
        action, ticket = simple.act(), tickets.ticket()
        assert action == ticket
        assert action.policy.tobytes() == ticket.policy.tobytes()
        simple.observe(reward=PAYOFF[action, opponent] + noise, opponent=opponent)
        tickets.observe(ticket, reward=PAYOFF[ticket, opponent] + noise, opponent=opponent)
    assert simple.policy.tobytes() == tickets.policy.tobytes()


@pytest.mark.parametrize("name", LEARNING)
def test_learners_learn_from_late_and_shuffled_outcomes(name):
    """A dozen open tickets, observed in any order, a twelfth of them never, some moves against the advice."""
    player = player_of(name, horizon=1200)
    random, shares = np.random.default_rng(2), []
    while player.round <= 1200:
        shares.append(player.policy[1])
        tickets = [player.ticket() for _ in range(12)]
        random.shuffle(tickets)
        player.forget(tickets.pop())
        for number, ticket in enumerate(tickets):
            opponent = int(random.integers(3))
            action = int(random.integers(4)) if number == 0 else int(ticket)
            reward = PAYOFF[action, opponent] + random.normal() / 4
            player.observe(ticket, reward=reward, opponent=opponent, action=action)
    assert np.mean(shares[50:]) > 0.25 + 0.1
    assert not player.tickets


class Weights(Learner):
    """A learner that keeps its observations."""

    importance_weighted = True
    sees = frozenset()

    def start(self, seat):
        self.seat, self.seen = seat, []

    def policy(self, t):
        return self.seat.array([[1.0, 0, 0] if t == 1 else [0.5, 0.2, 0.3]])

    def observe(self, t, seen):
        self.seen.append([t, int(seen.action[0]), float(seen.probability[0])])


def observations_of(player):
    return player._seated.learner.seen


def test_the_probability_is_that_of_the_played_action_in_the_policy_of_its_round():
    player = Player(Weights(), actions=3)
    certain, second, third = player.ticket(), player.ticket(), player.ticket()
    player.observe(third, reward=0.1, action=2)
    player.observe(certain, reward=0.1)
    player.observe(second, reward=0.1, action=1)
    player.observe(action=0, reward=0.1)  # without having asked
    assert observations_of(player) == [[1, 2, 0.3], [2, 0, 1.0], [3, 1, 0.2], [4, 0, 0.5]]
    assert player.round == 5
    assert player.history()["advised"].to_list()[1:] == [0, int(second), None]


def test_a_move_that_its_policy_never_makes_teaches_a_weighted_learner_nothing():
    player = Player(Weights(), actions=3)
    player.observe(player.act(), action=2, reward=0.25)
    assert observations_of(player) == []
    assert player.history().row(0) == (1, 0, 2, None, 0.25, 0.0, False)
    assert player.estimates()["visits"].to_list() == [0, 0, 1]


def test_exp3_divides_by_the_probability_of_the_advice():
    """S_i += 1 - 1{i played} (1 - X) / p_i, with the p of the ticket's round, in any order."""
    player = Player("exp3", actions=3, seed=2, payoff_range=(0, 1))
    for _ in range(30):
        player.observe(player.ticket(), reward=1.0, action=1)
    tickets = [player.ticket()]
    player.observe(action=1, reward=1.0)
    tickets.append(player.ticket())
    before = player._seated.learner.score[0].copy()
    for ticket, action, reward in ((tickets[1], 2, 0.25), (tickets[0], 0, 0.5)):
        player.observe(ticket, reward=reward, action=action)
        before += 1
        before[action] -= (1 - reward) / ticket.policy[action]
    assert not np.array_equal(tickets[0].policy, tickets[1].policy)
    np.testing.assert_allclose(player._seated.learner.score[0], before, rtol=1e-13)


def test_an_outcome_without_the_opponent_is_kept_and_reported_once():
    player = Player("ucb", actions=2, opponent_actions=2, horizon=9)
    before = player.policy
    with pytest.warns(UserWarning, match=r"^opponent is None in round 1, and ucb learns from .* kept in the history"):
        player.observe(player.act(), reward=0.5)
    player.observe(player.act(), reward=0.5)  # no second warning
    np.testing.assert_array_equal(player.policy, before)
    assert player.history().select("opponent", "reward", "learned").rows() == [(None, 0.5, False)] * 2
    assert player.round == 3


def test_the_opponent_is_recorded_for_learners_that_do_not_see_it():
    for opponents in (None, 5):
        player = Player("exp3", actions=2, opponent_actions=opponents)
        player.act()
        player.observe(reward=0.5, opponent=4)
        assert player.history()["opponent"].to_list() == [4]


def test_act_repeats_until_its_outcome_and_tickets_are_new():
    player = Player("exp3", actions=9, seed=4)
    acted = player.act()
    assert player.act() is acted
    player.policy[:] = 7  # of a copy
    np.testing.assert_allclose(player.policy, 1 / 9)
    ticket = player.ticket()
    assert (acted.round, ticket.round, player.round) == (1, 2, 1)
    assert list(player.tickets) == [1, 2]
    player.observe(ticket, reward=0.5)
    assert player.act() is acted
    player.forget(acted)
    assert player.act().round == 3
    player.observe(reward=0.1)
    with pytest.raises(InputError, match=r"^observe was called before act"):
        player.observe(reward=0.5)
    player.ticket()
    with pytest.raises(InputError, match=r"^observe was called without a ticket, and 1 are open; pass one of them\.$"):
        player.observe(reward=0.5)


def test_wrong_tickets():
    player, other = Player("exp3", actions=3, seed=4), Player("exp3", actions=3, seed=5)
    ticket = player.ticket()
    with pytest.raises(InputError, match=r"^ticket is 1; accepted: a ticket that act\(\) or ticket\(\) returned\.$"):
        player.observe(1, reward=0.5)
    with pytest.raises(InputError, match=r"^ticket is <Ticket of round 1: action \d>, which is not open; accepted: a "):
        other.observe(ticket, reward=0.5)
    player.observe(ticket, reward=0.5)
    for call in (player.forget, lambda ticket: player.observe(ticket, reward=0.5)):
        with pytest.raises(InputError, match="neither observed nor forgotten"):
            call(ticket)
    with pytest.raises(InputError, match=r"^action is 'up'; accepted: 0 \.\. 2\.$"):
        player.observe(action="up", reward=0.5)
    with pytest.raises(InputError, match=r"^action is True; accepted: 0 \.\. 2\.$"):
        player.observe(action=True, reward=0.5)


def test_the_oldest_of_too_many_tickets_is_forgotten():
    player = Player("uniform", actions=2)
    tickets = [player.ticket() for _ in range(1025)]
    assert (len(player.tickets), tickets[0].round in player.tickets) == (1024, False)
    player.observe(tickets[1], reward=0.5)


def test_a_ticket_is_an_action():
    player = Player("exp3", actions=["up", "down"], seed=1)
    ticket = player.act()
    assert (json.dumps(ticket), str(ticket), f"{ticket}", repr(ticket)) == (*3 * ["1"], "<Ticket of round 1: action 1>")
    assert (PAYOFF[ticket, 0], ticket.label, ticket.probability) == (1.0, "down", 0.5)
    for twin in (copy.deepcopy(ticket), pickle.loads(pickle.dumps(ticket))):
        assert (type(twin), twin, twin.round, twin.label) == (Ticket, ticket, 1, "down")
    with pytest.raises(ValueError, match="read-only"):
        ticket.policy[0] = 7


def test_labels():
    player = Player("ots-rm", actions=["left", "right"], opponent_actions=["stay", "jump"], seed=1)
    assert (player.actions, player.opponent_actions) == (2, 2)
    player.observe(action="right", opponent="jump", reward=0.5)
    player.observe(action=1, opponent=1, reward=0.5)
    assert player.history().select("action", "opponent").rows() == [("right", "jump")] * 2
    assert player.estimates().filter(visits=2).row(0)[:2] == ("right", "jump")
    assert player.opponent()["opponent"].to_list() == ["stay", "jump"]
    with pytest.raises(InputError, match=r"^opponent is 'run'; accepted: 0 \.\. 1, or one of 'stay, jump'\.$"):
        player.observe(action=0, opponent="run", reward=0.5)
    for wrong in ([], ["a", "a"], ["a", 1], "ab"):
        with pytest.raises(InputError, match=r"^actions is .*; accepted: "):
            Player("exp3", actions=wrong)


@pytest.mark.parametrize("method", ["file", "pickle", "deepcopy", "copy"])
def test_open_tickets_survive_a_restart(method, tmp_path):
    player = Player("exp3", actions=["a", "b", "c"], opponent_actions=2, seed=1)
    first, second, acted = player.ticket(), player.ticket(), player.act()
    player.observe(first, reward=0.5, opponent=1)
    if method == "file":
        player.save(tmp_path / "player.npz")
        again = Player.load(tmp_path / "player.npz")
    else:
        again = pickle.loads(pickle.dumps(player)) if method == "pickle" else getattr(copy, method)(player)
    assert (list(again.tickets), again.act(), again.act().label) == ([2, 3], acted, acted.label)
    for continued in (player, again):
        continued.observe(second, reward=-0.5, opponent=0)
        continued.observe(reward=0.25, action="a")
        continued.ticket()
        assert (continued.history().height, continued.estimates()["visits"].sum()) == (3, 2)
    assert again.history().equals(player.history())
    assert again.policy.tobytes() == player.policy.tobytes()


def in_threads(work, number):
    """Call work(0), work(1), ... at the same time."""
    with ThreadPoolExecutor(number) as pool:
        list(pool.map(work, range(number)))


def test_threads_may_share_a_player():
    """Every ticket is issued once, and every outcome counted once."""
    player = Player("ots-rm", actions=3, opponent_actions=3, seed=1)
    rounds = []

    def work(number):
        for _ in range(100):
            ticket = player.ticket()
            rounds.append(ticket.round)
            player.observe(ticket, reward=0.5, opponent=number % 3)

    in_threads(work, 8)
    assert sorted(rounds) == list(range(1, 801))
    assert (player.round, player.history().height, player.estimates()["visits"].sum()) == (801, 800, 800)


@pytest.mark.parametrize("spec", ["ucb", "k-learning", "kin"])
def test_players_in_threads_do_not_disturb_each_other(spec):
    policies = {}

    def play(seed):
        player = Player(spec, actions=3, opponent_actions=3, horizon=60, seed=seed)
        for t in range(60):
            player.observe(reward=PAYOFF[player.act(), t % 3], opponent=t % 3)
        policies.setdefault(seed, []).append(player.policy.tolist())

    for seed in range(6):
        play(seed)
    in_threads(play, 6)
    assert all(alone == together for alone, together in policies.values())
