"""Studies whose runs end when a condition is met."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from coebl import simulate
from coebl.core.errors import InputError
from coebl.evidence.runtimes import Runtimes, read_runtimes
from coebl.naming import game_title
from coebl.study import Results, Study, StudyError, parse_study
from coebl.study.errors import StoreError

TEXT = """\
name = "times"
rounds = 60
seeds = 5
seeds_per_cell = 3
games = ["diagonal:n=[1,2]"]
learners = ["ucb"]
until = "exploitability<.1"
metrics = ["exploitability"]
[match-ups]
self-play = true
"""


def go(text, folder):
    return parse_study(text).run(folder, executor=ThreadPoolExecutor(1), quiet=True)


def test_times_are_stored_by_seed(tmp_path):
    go(TEXT, tmp_path)
    times = read_runtimes(Results(tmp_path).last())
    assert set(times) == {(f"diagonal:n={n}", ("ucb", "ucb"), "gaussian", 60) for n in (1, 2)}
    for (game, *_), runs in times.items():
        result = simulate(game, "ucb", "ucb", rounds=60, seeds=5, until="exploitability < 0.1")
        assert runs == Runtimes(tuple(result.hitting_times), 60)
    assert any(None in runs.times for runs in times.values())  # so that a censored run was stored and read
    assert Results(tmp_path).records()[0].description.until == "exploitability < 0.1"


def test_budgets_of_one_match_are_kept_apart(tmp_path):
    parts = "".join(f"[[parts]]\nrounds = {rounds}\n[parts.match-ups]\nself-play = true\n" for rounds in (20, 60))
    go(TEXT.replace("rounds = 60\n", "").replace("[match-ups]\nself-play = true\n", parts), tmp_path)
    times = Results(tmp_path).runtimes()
    for rounds in (20, 60):
        result = simulate("diagonal:n=1", "ucb", "ucb", rounds=rounds, seeds=5, until="exploitability < 0.1")
        assert times["diagonal:n=1", ("ucb", "ucb"), "gaussian", rounds] == Runtimes(
            tuple(result.hitting_times), rounds
        )


def test_the_summary_has_the_expected_running_time_and_the_share(tmp_path):
    go(TEXT, tmp_path)
    times = read_runtimes(Results(tmp_path).last())
    rows = {(row["game"], row["metric"]): row for row in Results(tmp_path).summary()}
    for (game, *_), runs in times.items():
        for metric, estimate in (("hitting_time", runs.ert()), ("hit", runs.share())):
            row = rows[game, metric]
            assert (row["mean"], row["low"], row["high"], row["n"]) == (estimate.mean, estimate.low, estimate.high, 5)
    assert rows["diagonal:n=1", "exploitability"]["mean"] == Results(tmp_path).last()["exploitability"][:5].mean()


def test_the_terminal_and_the_page_have_the_times(tmp_path, coebl):
    go(TEXT, tmp_path / "out")
    results = Results(tmp_path / "out")
    assert results.condition() == "exploitability < 0.1, or after 60 rounds"
    runs = results.runtimes()["diagonal:n=2", ("ucb", "ucb"), "gaussian", 60]
    _, said, _ = coebl("results", tmp_path / "out")
    assert "A run ends at exploitability < 0.1, or after 60 rounds." in said
    line = next(line for line in said.splitlines() if line.startswith("diagonal:n=2  ucb "))
    assert re.split(r"  +", line) == ["diagonal:n=2", "ucb", *runs.described().values()]
    _, said, _ = coebl("results", tmp_path / "out", "--metric", "hitting_time")
    assert "rounds at most 60" in said
    assert "Student" not in said
    assert coebl("report", tmp_path / "out")[0] == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "A run ends at exploitability &lt; 0.1, or after 60 rounds." in page
    cells = "".join(f"<td>{text}</td>" for text in (game_title("diagonal:n=2"), "UCB", *runs.described().values()))
    assert f"<tr>{cells}</tr>" in page
    assert '<h2 id="times-title">Times</h2>' in page
    assert page.count("data:image/svg+xml;base64,") == 1


def test_runs_that_hit_are_drawn_by_budget(tmp_path):
    go(SEARCHES, tmp_path)
    results = Results(tmp_path)
    with pytest.raises(InputError, match=r"several noises, gaussian:sigma=0\.5, none; name one as noise="):
        results.plot()
    figure = results.plot(noise="none")
    [first, second] = figure.axes  # by default the times, a panel per game
    assert [line.get_label() for line in first.lines] == [line.get_label() for line in second.lines]
    spec = "pdcoea:population=10,chi=0.4"
    runs = results.runtimes()["diagonal:n=6,space=bits", (spec, spec), "none", 3000]
    [line] = [line for line in second.lines if "0.4" in line.get_label()]
    assert line.get_xdata()[1:].tolist() == [*runs.ecdf()[0], runs.budget]


def test_nothing_is_run_twice_and_another_condition_needs_another_folder(tmp_path):
    assert go(TEXT, tmp_path).finished == 4
    assert go(TEXT.replace("exploitability<.1", "exploitability < 0.10"), tmp_path).finished == 0
    assert go(TEXT.replace("seeds = 5", "seeds = 6"), tmp_path).finished == 2
    with pytest.raises(StoreError, match=r"its until is now exploitability < 0\.2"):
        go(TEXT.replace("<.1", "<.2"), tmp_path)


SEARCHES = """\
name = "searches"
rounds = 3000
seeds = 3
games = ["diagonal:n=[4,6],space=bits"]
learners = ["pdcoea:population=10,chi=[0.1,0.4]", "rls-pd"]
noise = ["none", "gaussian:sigma=0.5"]
until = "optimum"
[match-ups]
self-play = true
"""


def test_a_study_of_searches(tmp_path):
    go(SEARCHES, tmp_path)
    found = read_runtimes(Results(tmp_path).last())
    assert len(found) == 2 * 3 * 2
    spec = "pdcoea:population=10,chi=0.4"
    result = simulate("diagonal:n=6,space=bits", spec, spec, rounds=3000, seeds=3, noise="none", until="optimum")
    assert found["diagonal:n=6,space=bits", (spec, spec), "none", 3000] == Runtimes(tuple(result.hitting_times), 3000)
    assert Results(tmp_path).last()["exploitability"].is_not_null().all()


def test_mistakes_in_a_study_of_searches():
    for change, message in (
        ('until = "optimum"\ndevice = "cuda"', "device: this is cuda, and pdcoea.* is a search; accepted: cpu"),
        ('until = "optimum"\nmetrics = ["regret"]', "regret adds up over the rounds, and pdcoea.* is a search"),
        ('record = "log"', 'accepted: "last" with pdcoea'),
    ):
        with pytest.raises(StudyError, match=message):
            parse_study(SEARCHES.replace('until = "optimum"', change))
    with pytest.raises(StudyError, match="rls-pd plays genomes, and the game has numbered actions"):
        parse_study(SEARCHES.replace("diagonal:n=[4,6],space=bits", "rps"))
    with pytest.raises(StudyError, match="chooses the actions of both players"):
        parse_study(SEARCHES.replace("self-play", "all-pairs"))


def test_mistakes_have_their_place():
    for until, message in (("tv", "until is 'tv'; accepted"), ("tw < 1", "unknown metric 'tw'")):
        with pytest.raises(StudyError, match=message) as error:
            parse_study(TEXT.replace("exploitability<.1", until))
        assert error.value.places == [("until",)]
    with pytest.raises(StudyError, match='accepted: "last" with until'):
        Study(games=["rps"], learners=["ucb"], seeds=2, until="exploitability < 1", record="all")
