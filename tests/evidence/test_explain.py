"""Why a learner loses: the losses by hand, what it plays by a slow twin, and no file that results name is run."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from coebl.core.errors import InputError
from coebl.evidence.explain import dominated_actions, explain
from coebl.study import Results, Study
from study_runs import go

STUDY = """
name = "why"
rounds = 60
seeds = 7
seeds_per_cell = 7
games = ["diagonal:n=2", "biased-rps"]
learners = ["uniform", "ucb", "exp3", "hedge"]
record = 20
metrics = ["pseudo_regret"]
[match-ups]
all-pairs = true
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("why")
    go(STUDY, path)
    return path


def always_better(payoff, action):
    """True if a mixture of the others is better than an action against everything: a linear program, in full."""
    others = np.delete(payoff, action, axis=0)
    count = len(others)
    solution = linprog(
        [0] * count + [-1],
        A_ub=np.column_stack([(payoff[action] - others).T, np.ones(payoff.shape[1])]),
        b_ub=np.zeros(payoff.shape[1]),
        A_eq=[[1] * count + [0]],
        b_eq=[1],
        bounds=[(0, None)] * count + [(None, None)],
    )
    return -solution.fun > 1e-9


def test_dominated_actions_are_those_of_a_linear_program():
    random = np.random.default_rng(3)
    hit = 0
    for _ in range(40):
        payoff = random.normal(size=(random.integers(2, 6), random.integers(2, 5))) * 37.5
        dominated = dominated_actions(payoff)
        assert dominated.tolist() == [always_better(payoff, action) for action in range(len(payoff))]
        hit += dominated.sum()
    assert hit > 20
    assert dominated_actions(np.array([[1.0, 1.0], [1.0, 2.0]])).tolist() == [True, False]  # weakly
    assert dominated_actions(np.ones((2, 3))).tolist() == [False, False]  # equal actions
    assert dominated_actions(np.array([[4.0]])).tolist() == [False]


def lost(results, game, learner, opponent):
    """The loss of a learner by seed, in both seats, per round and in units of the payoff range."""
    low, high = next(record.payoff_range for record in results.records() if record.game == game)
    row, column = (
        results.last(game=game, players=players)["pseudo_regret"].to_numpy()
        for players in ((learner, opponent), (opponent, learner))
    )
    return (row - column) / 2 / 60 / (high - low)


RIVALS = ("ucb", "exp3")
PLAYED = ("diagonal:n=2", "biased-rps")


def test_the_largest_loss_is_that_of_the_table(folder):
    results = Results(folder)
    explanation = explain(results, "uniform")
    means = {(game, rival): lost(results, game, "uniform", rival).mean() for game in PLAYED for rival in RIVALS}
    assert [(loss.game, loss.first) for loss in explanation.losses] == sorted(means, key=lambda key: -means[key])
    for loss in explanation.losses:  # hedge sees more than a bandit does, and is left out
        assert loss.advantage.mean == pytest.approx(means[loss.game, loss.first])
    assert explanation.rounds.tolist() == [20, 40, 60]
    assert explanation.losses[0].game == "diagonal:n=2"


def test_an_opponent_is_compared_by_what_it_takes_from_others_that_see_no_more(folder):
    results = Results(folder)
    exploited = explain(results, "uniform", runs=0).exploited
    assert {*exploited} == {"ucb", "exp3"}
    for opponent, other in (("ucb", "exp3"), ("exp3", "ucb")):  # not hedge, which loses less to both
        more = [lost(results, game, "uniform", opponent) - lost(results, game, other, opponent) for game in PLAYED]
        assert exploited[opponent].mean == pytest.approx(np.mean(more))
        assert exploited[opponent].sd == pytest.approx(np.std(np.mean(more, axis=0), ddof=1))


def test_what_is_left_by_rounding_is_printed_as_0(folder):
    explanation = explain(Results(folder), "exp3", runs=1)
    play = replace(
        explanation.play, loss=explanation.play.loss * 1e-16, loss_off_leader=explanation.play.loss_off_leader * 1e-16
    )
    text = str(replace(explanation, play=play))
    assert "e-" not in text
    assert "takes 0 % and 0 %" in text


def test_the_loss_in_one_seed_has_no_interval(tmp_path):
    go(STUDY.replace("seeds = 7", "seeds = 1").replace("seeds_per_cell = 7\n", ""), tmp_path)
    [sentence] = (
        text for text in explain(Results(tmp_path), "uniform").sentences() if text.startswith("It loses most")
    )
    assert re.fullmatch(r"It loses most to [^;[]+ on [^;[]+, [\d.]+ % of the payoff range a round\.", sentence)


def test_what_uniform_plays_on_diagonal_is_known_by_hand(folder):
    play = explain(Results(folder), "uniform").play
    assert play.as_stored
    assert play.dominated.tolist() == [True, True, True, False]
    assert play.on_dominated == pytest.approx(np.full((60, 5), 0.75))
    assert play.at_risk == pytest.approx(np.full((60, 5), 0.75 / 2))  # 11 beats three of four actions, and ties one


def test_exploitation_is_that_of_a_slow_twin(folder):
    explanation = explain(Results(folder), "exp3", runs=2)
    play = explanation.play
    game, place = play.result.match.game, ("row", "column").index(play.seat)
    own, other = (play.result.kept["policies"][seat] for seat in (place, 1 - place))
    payoff = game.payoff if place == 0 else -game.payoff.T
    width = game.payoff_range[1] - game.payoff_range[0]
    value = game.value if place == 0 else -game.value
    for run in range(2):
        total = np.zeros(len(payoff))
        for t in range(60):
            earned = payoff @ other[t, run]
            best = [action for action in range(len(payoff)) if total[action] >= total.max() - 1e-9]
            assert play.on_leader[t, run] == pytest.approx(sum(own[t, run, action] for action in best))
            rest = [action for action in range(len(payoff)) if action not in best]
            off = sum(own[t, run, action] * (value - earned[action]) for action in rest) / width
            assert play.loss_off_leader[t, run] == pytest.approx(off)
            assert play.loss[t, run] == pytest.approx((value - own[t, run] @ earned) / width)
            total += earned
    stored = Results(folder).last(game=game.spec, players=[str(player) for player in play.result.match.players])
    sign = 1 if place == 0 else -1
    assert sign * play.loss.sum(axis=0) * width == pytest.approx(stored["pseudo_regret"][:2].to_numpy())


MINE = """
from pathlib import Path
from coebl.learners import Uniform
Path(__file__).with_name("marker").touch()
class Mine(Uniform):
    "Any action."
"""


def test_a_file_is_run_only_if_the_user_names_its_path(tmp_path, coebl):
    (tmp_path / "mine.py").write_text(MINE)
    study = Study(games=["diagonal:2"], learners=[f"{tmp_path / 'mine.py'}:Mine", "ucb"], rounds=40, seeds=3,
                  metrics=["pseudo_regret"], all_pairs=True, name="own")  # fmt: skip
    go(study, tmp_path / "results")
    (tmp_path / "marker").unlink()
    (tmp_path / "mine.py").write_text(f"{MINE}# another file, so that it is run if it is loaded\n")
    first = coebl("explain", "results", "Mine", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "could not be played again" in first.stdout
    assert "path/to/mine.py:Mine" in first.stdout
    assert not (tmp_path / "marker").exists()
    other = coebl("explain", "results", "ucb", cwd=tmp_path)
    assert "files that results name are not run" in other.stdout
    assert "path/to" not in other.stdout
    assert not (tmp_path / "marker").exists()
    second = coebl("explain", "results", f"{tmp_path / 'mine.py'}:Mine", "--out", "why.svg", cwd=tmp_path)
    assert "75 % of its play" in " ".join(second.stdout.split())
    assert (tmp_path / "marker").exists()
    assert (tmp_path / "why.svg").stat().st_size > 1000


def test_what_is_missing_is_named(tmp_path, coebl, folder):
    alone = coebl("explain", str(folder), "thompson")
    assert alone.returncode == 2
    assert alone.stderr.count("\n") == 1
    go(STUDY.replace("pseudo_regret", "exploitability"), tmp_path)
    with pytest.raises(InputError, match="add pseudo_regret to the metrics of the study"):
        explain(Results(tmp_path), "ucb")
    general = Study(games=["chicken"], learners=["ucb", "exp3"], seeds=2, rounds=20)
    general.run(tmp_path / "general", quiet=True, workers=1)
    with pytest.raises(InputError, match="no game is zero-sum; accepted: a study of zero-sum games"):
        explain(Results(tmp_path / "general"), "ucb")
    for cell in (tmp_path / "general" / "cells").iterdir():
        cell.unlink()
    with pytest.raises(InputError, match=r"general: no cell is finished yet; run the study first\.$"):
        explain(Results(tmp_path / "general"), "ucb")
