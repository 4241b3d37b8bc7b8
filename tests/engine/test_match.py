"""Matches are checked when they are made."""

import pytest

from coebl.core.errors import InputError
from coebl.engine import Match, simulate
from coebl.games import Game
from coebl.learners import Ucb, parse_learner

GAME = Game([[0.5, -1.0], [-0.3, 0.8]])
UCB, EXP3 = parse_learner("ucb"), parse_learner("exp3")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Match(GAME, (UCB, EXP3), 0), r"^rounds is 0; accepted: an integer, 1 \.\. 1,000,000,000\.$"),
        (lambda: Match(GAME, (UCB, EXP3), 10**5000), "^rounds is a number too long to show; accepted"),
        (
            lambda: Match("rps", (UCB, EXP3), 10),
            r"^game is 'rps'; accepted: a Game\. For specs and files: Match\.of",
        ),
        (lambda: Match(GAME, ("ucb", EXP3), 10), r"^row is 'ucb'; accepted: a Learner\. For specs: Match\.of"),
        (lambda: Match(GAME, (UCB, None), 10), r"^column is None; accepted: a Learner"),
        (
            lambda: Match(GAME, (UCB,), 10),
            r"^players is .*; accepted: a tuple with a Learner for each seat of game, \(r",
        ),
        (lambda: Match(GAME, UCB, 10), r"^players is .*; accepted: a tuple"),
        (lambda: Match.of(GAME, Ucb, "exp3"), r"^learner is the class Ucb; accepted: .* Make one: Ucb\(\)\.$"),
        (lambda: Match.of(GAME, 3, "exp3"), r"^learner is 3; accepted: a Learner, or a spec such as 'coebl'\.$"),
        (lambda: Match.of(GAME, "ucb", "exp3", noise=0.5), r"^noise is 0\.5; accepted: a Noise, or a spec such as"),
        (lambda: Match.of(GAME, "exp3ix", "ucb"), "^unknown learner 'exp3ix': did you mean 'exp3-ix'"),
        (lambda: Match.of(GAME, "best-response", "best-response"), "each would have to see the other's policy first"),
        (
            lambda: Match.of("jordan", *["exp3"] * 2),
            r"a Learner for each seat of jordan, \(player1, player2, player3",
        ),
        (lambda: simulate("jordan", "exp3", "ucb", seeds=2), "simulate got 3 of game, player1, player2, player3;"),
        (lambda: simulate("rps", "exp3", seeds=2), "simulate got 2 of game, row and column; accepted: a game and a"),
        (lambda: simulate("jordan", "exp3", "ucb", "best-response", seeds=2), "answers the policy of one opponent"),
        (lambda: simulate("chicken", "exp3", "ucb", seeds=2, device="cuda"), "device is cuda, and chicken is not a"),
    ],
)
def test_mistakes_are_one_line(make, words):
    with pytest.raises(InputError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_files_are_games_too(tmp_path):
    (tmp_path / "mine.csv").write_text("1,-1\n-1,2\n")
    assert Match.of(str(tmp_path / "mine.csv"), "ucb", "exp3", rounds=10).game.payoff.tolist() == [[1, -1], [-1, 2]]
