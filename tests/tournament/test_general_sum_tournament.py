"""A tournament on games that are not zero-sum: every learner plays every seat, and is ranked by its payoff."""

import json

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.study import Results
from coebl.study.schema import one_among
from coebl.tournament.outcome import finish, sentences
from coebl.tournament.standings import measure, standings
from coebl.tournament.suite import read_suite, study_of
from study_runs import go

FIELD = ["exp3", "uniform", "ucb"]
SUITE = read_suite().played_on(["jordan", "battle-of-the-sexes"], 60)
WIDTHS = {"jordan": 2.0, "battle-of-the-sexes": 3.0}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("general") / "out"
    study = study_of(SUITE, FIELD, 4)
    go(study, folder)
    return study, Results(folder)


def test_every_learner_plays_every_seat_among_copies_of_each_other_one(played):
    study, _ = played
    matches = [match.players for match in study.matches() if match.game == "jordan"]
    wanted = {one_among(a, b, seat, 3) for a in FIELD for b in FIELD for seat in range(3)}
    assert {*matches} == wanted
    assert len(matches) == 3 * 3 * 2 + 3
    assert not any("best-response" in players for players in matches)


def test_payoffs_are_those_above_the_mean_in_the_same_seats(played):
    study, results = played
    measured = measure(study, results)
    ranked = {entry.learner: entry for entry in standings(measured, resamples=20).standings}
    earned, regret = ({learner: [] for learner in FIELD} for _ in range(2))
    for game, seats in (("jordan", 3), ("battle-of-the-sexes", 2)):
        for learner in FIELD:
            payoffs, regrets = [], []
            for other in FIELD:
                for seat in range(seats):
                    of_seat = f":{seat + 1}" if seat else ""
                    players = [[spec] for spec in one_among(learner, other, seat, seats)]
                    table = results.last([f"payoff{of_seat}", f"swap_regret{of_seat}"], game=game, players=players)
                    payoffs.append(table[f"payoff{of_seat}"].mean() / WIDTHS[game])
                    regrets.append(table[f"swap_regret{of_seat}"].mean() / WIDTHS[game] / 60)
            earned[learner].append(np.mean(payoffs))
            regret[learner].append(np.mean(regrets))
    middle = np.mean([np.mean(numbers) for numbers in earned.values()])
    for learner, entry in ranked.items():
        assert entry.advantage.mean == pytest.approx(np.mean(earned[learner]) - middle)
        assert entry.regret.mean == pytest.approx(np.mean(regret[learner]))
        assert np.isnan(entry.nash_mass)
    order = sorted(FIELD, key=lambda learner: -np.mean(earned[learner]))
    assert [ranked[learner].rank for learner in order] == [1, 2, 3]


def test_the_outcome_says_what_is_ranked(played, coebl):
    study, results = played
    ranking = finish(SUITE, study, results, "coebl tournament", ["exp3"])
    text = " ".join(sentences(ranking, {learner: learner for learner in FIELD}, ["exp3"]))
    assert "against the same opponents in the same seat" in text
    assert "best-response" not in text
    assert "Nash" not in text
    page = json.loads((results.store.folder / "tournament" / "summary.json").read_text())["page"]
    assert "earns the most on average" in page["answer"]
    assert not any("Nash" in word or "\\x" in word for row in [page["header"], *page["rows"]] for word in row)
    assert {"Payoff, %", "Swap regret, %"} <= {*page["header"]}
    assert "payoff, %: its own payoff above the mean of all learners" in page["legend"]
    assert "swap regret, %: its swap regret there" in page["legend"]
    assert "best response" not in page["legend"]
    assert coebl("report", str(results.store.folder))[0] == 0


@pytest.mark.parametrize(
    ("suite", "games", "message"),
    [
        ("standard", ["jordan", "rps"], "rps is zero-sum and jordan is not; accepted: games of one kind"),
        ("pre-registered", ["jordan"], "jordan is not zero-sum, and the statements about kin are about regret"),
    ],
)
def test_what_has_no_meaning_is_rejected(suite, games, message):
    with pytest.raises(InputError, match=message):
        study_of(read_suite(suite).played_on(games, 10), FIELD, 2)
