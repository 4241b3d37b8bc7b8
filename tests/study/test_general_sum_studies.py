"""Studies of games with any number of seats and any sum."""

import itertools
import json
import re

import numpy as np
import pytest

from coebl import Study, simulate
from coebl.core.errors import InputError
from coebl.evidence.pairwise import rank
from coebl.games import TensorGame, parse_game
from coebl.report.content import read_content
from coebl.report.presentation import Presentation
from coebl.study import Results
from coebl.study.cell import write_record
from study_runs import go
from study_texts import mistakes_of, pairs_of, small_study

# Not square, and with named seats.
MARKET = TensorGame(
    np.random.default_rng(5).normal(size=(3, 2, 3, 2)), name="market", seats=["buyer", "seller", "state"], noise="none"
)
THREE = {"games": ["jordan"], "learners": ["exp3", "ucb"], "metrics": ["payoff"]}


@pytest.mark.parametrize(
    ("match_ups", "expected"),
    [
        ({"self-play": True}, ["exp3 exp3 exp3", "ucb ucb ucb"]),
        (
            {"all-pairs": True},
            ["exp3 ucb ucb", "ucb exp3 exp3", "ucb exp3 ucb", "exp3 ucb exp3", "ucb ucb exp3", "exp3 exp3 ucb"],
        ),
        ({"one-against-all": "ucb"}, ["exp3 exp3 ucb"]),
        ({"players": [["exp3", "coebl:c=[2,3]", ["ucb", "hedge"]]]},
            [f"exp3 coebl:c={c} {last}" for c in (2, 3) for last in ("ucb", "hedge")]),
    ],
)  # fmt: skip
def test_match_ups_have_a_learner_in_every_seat(match_ups, expected):
    assert [" ".join(players) for players in pairs_of(small_study(match_ups=match_ups, **THREE))] == expected


def test_each_game_has_the_match_ups_of_its_size():
    text = small_study(
        match_ups={"pairs": [["ucb", "exp3"]], "players": [["exp3"] * 3]}, **THREE | {"games": ["chicken", "jordan"]}
    )
    assert pairs_of(text) == [("ucb", "exp3"), ("exp3", "exp3", "exp3")]


@pytest.mark.parametrize(
    ("match_ups", "place", "message"),
    [
        ({"pairs": [["ucb", "exp3"]]}, "", "no match-up is listed for the seats of jordan, player1, player2, player3"),
        (
            {"self-play": True, "players": [["ucb", "exp3"]]},
            ".players[0]",
            "2 players; accepted: 3, the seats of jordan",
        ),
        ({"players": [["ucb", "exp3", "exp4"]]}, ".players[0][2]", "unknown learner 'exp4'"),
        ({"players": ["ucb"]}, ".players", "accepted: a list of lists with a learner for each seat"),
        ({"players": [["best-response", "ucb", "ucb"]]}, ".players[0]", "answers the policy of one opponent"),
        ({"players": [["ucb", "ucb", "fixed:1/0/0"]]}, ".players[0][2]", "cannot take the player3 seat of jordan"),
    ],
)
def test_mistakes_are_one_line_with_their_place(match_ups, place, message):
    [mistake] = mistakes_of(small_study(match_ups=match_ups, **THREE))
    assert f"match-ups{place}: " in mistake
    assert message in mistake
    assert "\n" not in mistake


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"metrics": ["regret"]}, "not for the game jordan: regret needs a game with a value"),
        ({"metrics": ["payoff:4"]}, "payoff:4 is about seat 4, but jordan has 3"),
        ({"device": "cuda"}, "games[0]: jordan is not a zero-sum matrix game, and device is cuda; accepted: cpu."),
    ],
)
def test_metrics_that_need_a_value_and_a_gpu_are_rejected(keys, message):
    [mistake] = mistakes_of(small_study(**THREE | keys))
    assert message in mistake


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("general") / "out"
    study = Study(games=["jordan", MARKET, "chicken", "rps"], learners=["exp3", "hedge"], rounds=30, seeds=4, parts=[
        {"games": ["jordan", MARKET, "chicken"]}, {"games": ["rps"], "metrics": ["pseudo_regret"]}
    ])  # fmt: skip
    assert not study.run(place, workers=1, quiet=True).failed
    return place


def test_runs_are_those_of_simulate(folder):
    for game, players in ((parse_game("jordan"), ["exp3", "hedge", "exp3"]), (MARKET, ["hedge", "exp3", "exp3"])):
        metrics = ["payoff", "payoff:2", "payoff:3", "nash_conv"]
        result = simulate(game, *players, rounds=30, seeds=4, metrics=metrics)
        table = Results(folder).last(metrics, game=game.name, players=[[player] for player in players])
        for metric in metrics:
            np.testing.assert_array_equal(table[metric].to_numpy(), result.final(metric))


def test_metrics_about_a_seat_are_recorded_for_every_seat(folder):
    columns = {record.game: record.metrics for record in Results(folder).records()}
    seats = ["", ":2", ":3"]
    expected = {"nash_conv", "welfare"} | {f"{metric}{seat}" for metric in ("payoff", "swap_regret") for seat in seats}
    assert {*columns["jordan"]} == {*columns["market"]} == expected
    assert "payoff:3" not in columns["chicken"]
    assert columns["rps"] == ("pseudo_regret",)


def test_tables_and_filters_of_any_number_of_seats(folder, coebl):
    results = Results(folder)
    assert ("jordan", "exp3", "hedge", "exp3") in results.matches()
    last = results.last(["payoff"], players=(None, None, "hedge"))
    assert {*last["game"]} == {"jordan", "market"}
    assert {players[2] for players in last["players"].to_list()} == {"hedge"}
    lines = coebl("results", folder, "--csv").stdout.splitlines()
    assert lines[0].startswith("game,noise,row,column,player3,round,")
    assert any(line.startswith("jordan,gaussian,exp3,hedge,exp3,30,payoff:3,") for line in lines)
    shown = coebl("results", folder, "--metric", "payoff:3").stdout
    assert "  exp3 v hedge v exp3 " in shown
    rows = json.loads(coebl("results", folder, "--metric", "welfare", "--json").stdout)
    assert rows[0]["players"] == ["exp3", "exp3"]
    assert len(rows[-1]["players"]) == 3
    chosen = json.loads(coebl("results", folder, "--players", "exp3,-,exp3", "--json").stdout)
    assert {(row["players"][0], row["players"][2]) for row in chosen} == {("exp3", "exp3")}
    assert {row["players"][1] for row in chosen} == {"exp3", "hedge"}
    both = coebl("results", folder, "--players", "exp3,-", "--row", "exp3")
    assert both.stderr == "coebl: --players and --row or --column are both given; accepted: one of them.\n"
    assert "Exp3 v Hedge" in coebl("results", folder, "--metric", "payoff", "--latex").stdout


def test_a_record_has_the_seats_of_a_game_that_is_not_zero_sum(folder):
    records = {record.game: record for record in Results(folder).records()}
    assert records["market"].seats == ("buyer", "seller", "state")
    assert records["market"].payoff_ranges == MARKET.ranges
    stored = json.loads(write_record(records["rps"]))
    assert not {"seats", "payoff_ranges"} & {*stored}


def test_a_study_is_resumed_and_grows(folder, tmp_path):
    keys = {"games": ["jordan"], "learners": ["exp3", "hedge"], "rounds": 10}
    first = go(Study(seeds=2, players=[["exp3", "hedge", "exp3"]], **keys), tmp_path / "out")
    study = Study(seeds=3, players=[["exp3", "hedge", ["exp3", "hedge"]]], **keys)
    more, again = go(study, tmp_path / "out"), go(study, tmp_path / "out")
    assert [(run.finished, run.found) for run in (first, more, again)] == [(1, 0), (2, 0), (0, 2)]


def test_another_game_of_the_same_name_is_run_again(tmp_path):
    keys = {"learners": ["exp3"], "rounds": 10, "seeds": 2}
    go(Study(games=[MARKET], **keys), tmp_path / "out")
    other = TensorGame([payoff + 1 for payoff in MARKET.payoffs], name="market")
    assert go(Study(games=[other], **keys), tmp_path / "out").finished == 1


def test_the_estimate_and_the_figure(folder, coebl, tmp_path):
    (tmp_path / "study.toml").write_text(small_study(match_ups="all-pairs", **THREE))
    shown = coebl("study", "show", tmp_path / "study.toml").stdout
    assert shown.startswith("6 matches in 6 cells, 216 rounds in all")
    assert "measured on short samples" in shown
    figure = Results(folder).plot("payoff", game="jordan")
    labels = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert "Exp3 v Hedge* v Exp3" in labels


def test_learners_are_compared_in_the_same_seat_with_the_same_opponents(folder):
    results = Results(folder)
    comparison = results.compare("exp3", "hedge", "payoff", game="jordan")
    [contest] = comparison.contests  # no two players of three are head to head
    table = {
        (tuple(players), seed): numbers
        for players, seed, *numbers in results.last(["payoff", "payoff:2", "payoff:3"], game="jordan")
        .select("players", "seed", "payoff", "payoff:2", "payoff:3")
        .iter_rows()
    }
    differences = []
    for seed in range(4):
        gains = []
        for seat in range(3):
            for others in itertools.product(("exp3", "hedge"), repeat=2):
                first, second = ((*others[:seat], spec, *others[seat:]) for spec in ("exp3", "hedge"))
                gains.append(table[first, seed][seat] - table[second, seed][seat])
        differences.append(np.mean(gains))
    assert contest.way == "common opponents"
    assert contest.opponents == ("exp3 v exp3", "exp3 v hedge", "hedge v exp3", "hedge v hedge")
    assert contest.seats == "player1, player2, player3"
    assert contest.difference.mean == pytest.approx(np.mean(differences))
    assert contest.difference.sd == pytest.approx(np.std(differences, ddof=1))
    assert comparison.better == "higher"


def test_learners_are_compared_on_the_opponents_that_both_have_met(tmp_path):
    """The third player's differ, so only those of the first two seats are compared."""
    players = [["exp3", "ucb", "ucb"], ["tsallis-inf", "ucb", "ucb"], ["ucb", "ucb", "exp3"]]
    go(Study(games=["jordan"], rounds=10, seeds=3, players=players), tmp_path / "out")
    results = Results(tmp_path / "out")
    [contest] = results.compare("tsallis-inf", "exp3").contests
    assert (contest.seats, contest.opponents) == ("player1", ("ucb v ucb",))
    ours, others = (results.last(["payoff"], players=(spec, "ucb", "ucb")) for spec in ("tsallis-inf", "exp3"))
    assert contest.difference.mean == pytest.approx((ours["payoff"] - others["payoff"]).mean())
    with pytest.raises(InputError, match="accepted: payoff, which takes payoff:2 in that seat"):
        results.compare("tsallis-inf", "exp3", "payoff:2")


def test_a_ranking_counts_zero_sum_games_by_regret_and_others_by_payoff(tmp_path, coebl):
    keys = {"games": ["chicken", "rps"], "learners": ["exp3", "uniform"], "rounds": 300, "seeds": 10}
    go(Study(parts=[{"games": ["chicken"]}, {"games": ["rps"]}], **keys), tmp_path / "out")
    ranking = rank(Results(tmp_path / "out"))
    assert [(pairing.game, pairing.own) for pairing in ranking.pairings] == [("chicken", True), ("rps", False)]
    by_hand = Results(tmp_path / "out").compare("exp3", "uniform", "payoff").contests[-1].difference
    assert ranking.pairings[0].advantage.mean == pytest.approx(by_hand.mean)
    assert ranking.learners[0].taken == pytest.approx(
        (ranking.pairings[0].advantage.mean + ranking.pairings[1].advantage.mean / 300) / 2
    )
    shown = " ".join(coebl("results", tmp_path / "out").stdout.split())
    assert "won by pseudo-regret after the last round; in a game that is not zero-sum, by payoff against" in shown


def test_the_page_shows_matches_of_any_number_of_seats(folder, tmp_path, coebl):
    assert coebl("report", folder, "--out", tmp_path / "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text()
    assert "not shown: " not in page
    assert "buyer, seller, state in market" in page
    assert "player1, player2, player3 in Jordan’s game" in page or "player3 in Jordan&#39;s game" in page
    content = read_content(Results(folder), ["payoff", "payoff:3", "pseudo_regret"], Presentation("general"))
    specs = [learner.spec for learner in content.learners]
    jordan = [(specs[match.row], specs[match.column]) for match in content.matches[_place(content, "jordan")]]
    others = ["exp3 v exp3", "exp3 v hedge", "hedge v exp3", "hedge v hedge"]
    ours = {(first, other) for first in ("exp3", "hedge") for other in others}
    alone = {("exp3", "exp3 v exp3"): ("exp3", "exp3"), ("hedge", "hedge v hedge"): ("hedge", "hedge")}
    assert {*jordan} == {alone.get(match, match) for match in ours}
    title = next(learner.title for learner in content.learners if learner.spec == "exp3 v hedge")
    assert title == "Exp3 v Hedge"
    decided = {match.decided for match in content.matches[_place(content, "chicken")]}
    assert decided == {"untested"}  # no metric has a sign for the player who is ahead
    assert content.table_metric == "pseudo_regret"


def test_a_page_without_zero_sum_games_does_not_mention_rows(tmp_path, coebl):
    go(Study(games=["jordan"], learners=["exp3", "uniform"], rounds=10, seeds=3), tmp_path / "out")
    coebl("report", tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    text = " ".join(re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]*>", " ", page, flags=re.S).split())
    assert not re.findall(r"row (?:player|learner)|column (?:player|learner)|[Hh]ead to head", text)
    assert "by payoff against the same opponents in the same seat" in text


def _place(content, spec):
    return [game.spec for game in content.games].index(spec)


def test_times_name_the_learner_of_every_seat(tmp_path, coebl):
    study = Study(games=["jordan"], learners=["exp3", "uniform"], rounds=20, seeds=2, until="nash_conv < 0.5")
    go(study, tmp_path / "out")
    shown = coebl("results", tmp_path / "out").stdout
    assert "exp3 v uniform v exp3 " in shown
    assert "exp3 v uniform v uniform " in shown
    assert coebl("report", tmp_path / "out").returncode == 0
    assert "Exp3 v uniform v Exp3" in (tmp_path / "out" / "report.html").read_text()
