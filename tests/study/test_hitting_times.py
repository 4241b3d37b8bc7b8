"""Studies whose runs end when a condition is met."""

import re

import pytest

from coebl import simulate
from coebl.core.errors import InputError
from coebl.evidence.runtimes import Runtimes, read_runtimes
from coebl.metrics import METRICS
from coebl.naming import game_title
from coebl.study import Results, Study, StudyError
from coebl.study.errors import StoreError
from study_runs import go

TIMES = {
    "games": ["diagonal:n=[1,2]"],
    "learners": ["ucb"],
    "until": "exploitability<.1",
    "metrics": ["exploitability"],
}
TIMES |= {"self_play": True, "rounds": 60, "seeds": 5, "seeds_per_cell": 3}
SEARCHES = {
    "games": ["diagonal:n=[4,6],space=bits"],
    "learners": ["pdcoea:population=10,chi=[0.1,0.4]", "rls-pd"],
    "noise": ["none", "gaussian:sigma=0.5"],
    "until": "optimum",
    "self_play": True,
    "rounds": 3000,
    "seeds": 3,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("times")
    go(Study(**TIMES), folder)
    return folder


@pytest.fixture(scope="module")
def searches(tmp_path_factory):
    folder = tmp_path_factory.mktemp("searches")
    go(Study(**SEARCHES), folder)
    return Results(folder)


def test_times_are_stored_by_seed(folder):
    times = read_runtimes(Results(folder).last())
    assert set(times) == {(f"diagonal:n={n}", ("ucb", "ucb"), "gaussian", 60) for n in (1, 2)}
    for (game, *_), runs in times.items():
        result = simulate(game, "ucb", "ucb", rounds=60, seeds=5, until="exploitability < 0.1")
        assert runs == Runtimes(tuple(result.hitting_times), 60)
    assert any(None in runs.times for runs in times.values())  # so that a censored run was stored and read
    assert Results(folder).records()[0].description.until == "exploitability < 0.1"


def test_budgets_of_one_match_are_kept_apart(tmp_path):
    go(Study(**TIMES, parts=[{"rounds": 20}, {"rounds": 60}]), tmp_path)
    times = Results(tmp_path).runtimes()
    for rounds in (20, 60):
        result = simulate("diagonal:n=1", "ucb", "ucb", rounds=rounds, seeds=5, until="exploitability < 0.1")
        assert times["diagonal:n=1", ("ucb", "ucb"), "gaussian", rounds] == Runtimes(
            tuple(result.hitting_times), rounds
        )


def test_the_summary_has_the_expected_running_time_and_the_share(folder):
    times = read_runtimes(Results(folder).last())
    rows = {(row["game"], row["metric"]): row for row in Results(folder).summary()}
    for (game, *_), runs in times.items():
        for metric, estimate in (("hitting_time", runs.ert()), ("hit", runs.share())):
            row = rows[game, metric]
            assert (row["mean"], row["low"], row["high"], row["n"]) == (estimate.mean, estimate.low, estimate.high, 5)
    assert rows["diagonal:n=1", "exploitability"]["mean"] == Results(folder).last()["exploitability"][:5].mean()


def test_the_terminal_and_the_page_have_the_times(folder, coebl, tmp_path):
    results = Results(folder)
    assert results.condition() == "exploitability < 0.1, or after 60 rounds"
    runs = results.runtimes()["diagonal:n=2", ("ucb", "ucb"), "gaussian", 60]
    _, shown, _ = coebl("results", folder)
    assert "A run ends at exploitability < 0.1, or after 60 rounds." in shown
    line = next(line for line in shown.splitlines() if line.startswith("diagonal:n=2  ucb "))
    assert re.split(r"  +", line) == ["diagonal:n=2", "ucb", *runs.described().values()]
    _, shown, _ = coebl("results", folder, "--metric", "hitting_time")
    assert "rounds at most 60" in shown
    assert "Student" not in shown
    assert coebl("report", folder, "--out", tmp_path / "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "A run ends at exploitability &lt; 0.1, or after 60 rounds." in page
    cells = "".join(f"<td>{text}</td>" for text in (game_title("diagonal:n=2"), "UCB", *runs.described().values()))
    assert f"<tr>{cells}</tr>" in page
    assert '<h2 id="times-title">Times</h2>' in page
    assert page.count("data:image/svg+xml;base64,") == 1


def test_runs_that_hit_are_drawn_by_budget(searches):
    with pytest.raises(InputError, match=r"several noises, gaussian:sigma=0\.5, none; name one as noise="):
        searches.plot()
    figure = searches.plot(noise="none")
    [first, second] = figure.axes  # by default the times, a panel per game
    assert [line.get_label() for line in first.lines] == [line.get_label() for line in second.lines]
    spec = "pdcoea:population=10,chi=0.4"
    runs = searches.runtimes()["diagonal:n=6,space=bits", (spec, spec), "none", 3000]
    [line] = [line for line in second.lines if "0.4" in line.get_label()]
    assert line.get_xdata()[1:].tolist() == [*runs.ecdf()[0], runs.budget]


def test_nothing_is_run_twice_and_another_condition_needs_another_folder(tmp_path):
    for changes, finished in (({}, 4), ({"until": "exploitability < 0.10"}, 0), ({"seeds": 6}, 2)):
        assert go(Study(**TIMES | changes), tmp_path).finished == finished
    with pytest.raises(StoreError, match=r"its until is now exploitability < 0\.2"):
        go(Study(**TIMES | {"until": "exploitability<.2"}), tmp_path)


def test_a_study_of_searches(searches):
    runtimes = read_runtimes(searches.last())
    assert len(runtimes) == 2 * 3 * 2
    spec = "pdcoea:population=10,chi=0.4"
    result = simulate("diagonal:n=6,space=bits", spec, spec, rounds=3000, seeds=3, noise="none", until="optimum")
    assert runtimes["diagonal:n=6,space=bits", (spec, spec), "none", 3000] == Runtimes(
        tuple(result.hitting_times), 3000
    )
    assert searches.last()["exploitability"].is_not_null().all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"device": "cuda"}, "device: this is cuda, and pdcoea.* is a search; accepted: cpu"),
        ({"metrics": ["regret"]}, "regret adds up over the rounds, and pdcoea.* is a search"),
        ({"metrics": [METRICS["regret"].factory]}, "regret adds up over the rounds, and pdcoea.* is a search"),
        ({"until": None, "record": "log"}, 'accepted: "last" with pdcoea'),
        ({"games": ["rps"]}, "rls-pd plays genomes, but the game has numbered actions"),
        ({"self_play": None, "all_pairs": True}, "chooses the actions of both players"),
    ],
)
def test_mistakes_in_a_study_of_searches(changes, message):
    with pytest.raises(StudyError, match=message):
        Study(**SEARCHES | changes)


def test_mistakes_have_their_place():
    for until, message in (("tv", "until is 'tv'; accepted"), ("tw < 1", "unknown metric 'tw'")):
        with pytest.raises(StudyError, match=message) as error:
            Study(**TIMES | {"until": until})
        assert error.value.places == [("until",)]
    for record in ("all", "foo"):
        with pytest.raises(StudyError, match='accepted: "last" with until'):
            Study(**TIMES, record=record)
