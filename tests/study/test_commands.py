"""The commands around a study, as a user runs them one after the other."""

import math
import re
import tracemalloc
from contextlib import nullcontext

import pytest

from coebl.core.errors import InputError
from coebl.study import EXAMPLE, RunSummary, parse_study, run
from coebl.study.progress import disk_use, estimate, work_of
from coebl.study.runner import warm_up
from study_runs import go
from study_texts import small_study


def test_new_show_run_results(tmp_path, coebl):
    assert coebl("study", "new", "mine.toml", cwd=tmp_path).returncode == 0
    for words, name in (["study", "new"], "FILE"), (["tournament", "--seeds", "2", "--out"], "--out"):
        long = coebl(*words, "a" * 300, cwd=tmp_path)
        assert (long.returncode, long.stderr.count("\n")) == (2, 1)
        assert long.stderr.startswith(f"coebl: {name} is 'aaaa")
    again = coebl("study", "new", "mine.toml", cwd=tmp_path)
    assert (again.returncode, again.stderr) == (2, "coebl: mine.toml exists; choose another file name.\n")
    text = (tmp_path / "mine.toml").read_text()
    assert text == EXAMPLE
    (tmp_path / "mine.toml").write_text(text.replace("rounds = 500", "rounds = 30"))
    shown = coebl("study", "show", "mine.toml", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "48 matches in 48 cells" in shown.stdout
    assert "on this machine" in shown.stdout
    assert ", about 0.6 MB on disk\n" in shown.stdout
    small_study(tmp_path, rounds=9, seeds=2)
    summary = coebl("study", "show", "study.toml").stdout
    assert summary.startswith("1 match in 1 cell, 18 rounds in all\n")
    assert summary.endswith(", less than 0.1 MB on disk\n")
    listed = coebl("study", "show", "study.toml", "--cells").stdout
    assert listed.splitlines()[2:] == ["rps, exp3 v exp3, 9 rounds, seeds 0..1"]
    done = coebl("run", "mine.toml", "--out", "results", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = coebl("results", "results", "--metric", "pseudo_regret", cwd=tmp_path).stdout
    assert "95 % interval" in table
    assert "from 48 of 48 cells" in table


SIZES = {"games": ["rps", "diagonal:n=5"], "learners": ["exp3", "coebl"], "rounds": 40, "seeds": 2, "record": 10}
STUDY = small_study(**SIZES)


class Played:
    """A simulation that only advances the clock, by a fixed time and by a time per round."""

    def __init__(self, by_itself=0.0, a_round=lambda match, runs: 0.0):
        self.now, self.by_itself, self.a_round = 0.0, by_itself, a_round
        self.calls = []  # the matches, and how many runs and rounds of each were played

    def __call__(self, match, seeds, *, record, metrics, block_rounds, progress):
        self.now += self.by_itself
        for first in range(0, match.rounds, block_rounds):
            last = min(first + block_rounds, match.rounds)
            self.now += (last - first) * self.a_round(match, len(seeds))
            self.calls.append((match, len(seeds), last))
            progress(last)


@pytest.fixture
def played(monkeypatch):
    """Replace the clock and the simulations, so that time passes only in these."""

    def patched(*arguments):
        simulation = Played(*arguments)
        monkeypatch.setattr("coebl.study.progress.simulate", simulation)
        monkeypatch.setattr("coebl.study.progress.time.perf_counter", lambda: simulation.now)
        monkeypatch.setattr("coebl.study.progress._STARTING", 0.0)
        return simulation

    return patched


def middle(duration):
    """Return the middle of an estimate, from its two ends."""
    return math.sqrt(duration.low * duration.high)


@pytest.mark.parametrize(("workers", "seconds"), [(1, 2 * 44 + 2 * 8), (2, (2 * 44 + 2 * 8) / 2)])
def test_an_estimate_adds_the_fixed_time_of_a_cell_and_the_time_of_its_rounds(monkeypatch, played, workers, seconds):
    """4 s a cell, and 0.1 s or 1 s a round."""
    monkeypatch.setattr("coebl.study.progress._BOX", math.inf)
    monkeypatch.setattr("coebl.study.progress.within", lambda _: nullcontext())
    played(4.0, lambda match, runs: 1.0 if match.row.name == "coebl" else 0.1)
    duration = estimate(parse_study(STUDY), workers)
    assert middle(duration) == pytest.approx(seconds)
    assert duration.high == pytest.approx(4 * duration.low)  # by a factor of two, either way
    assert duration.source == "measured on short samples"


def test_cells_that_are_not_measured_are_estimated_by_their_share_of_the_work(played):
    study = parse_study(STUDY)
    works = {(cell.game, cell.players[0]): work_of(cell) for cell in study.cells}
    simulation = played(0.0, lambda match, runs: 10 * works[match.game.spec, match.row.name] / match.rounds)
    duration = estimate(study, 1)  # the first round takes longer than all samples may
    assert len({str(match) for match, _, _ in simulation.calls}) == 1
    whole = 10 * sum(works.values())
    assert duration.low < whole < duration.high
    assert duration.source == "in part measured, in part by the costs that the learners declare"


def test_many_tiny_cells_take_as_long_as_they_take_to_store(played):
    study = parse_study(small_study(**SIZES | {"seeds": 1000}, seeds_per_cell=1))
    played()
    assert len(study.cells) == 4000
    duration = estimate(study, 2)
    assert 20 < duration.low == duration.high < 30  # 6 ms each, in the parent


def test_no_large_game_is_built_solved_or_played_for_an_estimate(monkeypatch, played):
    """`coebl study show` took 18 minutes for Diagonal n = 8 to 10."""
    built = []
    games = ["diagonal:n=[8,9,10]", "random-gaussian:m=700,n=3"]
    study = parse_study(
        small_study(match_ups="all-pairs", games=games, learners=["coebl", "ucb"], rounds=1000, seeds=50)
    )
    monkeypatch.setattr("coebl.study.cell.parse_game", built.append)
    warm_up(study.cells)
    simulation = played(0.0, lambda match, runs: 1e-7 * runs * match.game.payoff.size)
    duration = estimate(study, 1)
    assert built == []
    assert {match.game.shape for match, _, _ in simulation.calls} == {(64, 64), (64, 3)}
    assert max(runs for _, runs, _ in simulation.calls) <= 50
    assert simulation.now < 5  # seconds in all
    # Two learners, 50 runs, 1000 rounds, and at least 2.5 ms for a mutant of Diagonal, n = 8.
    assert duration.low > 1000
    assert duration.high >= 16 * duration.low * 0.99


def test_large_games_of_genomes_are_sampled():
    """A study of half a minute was estimated as 2 to 6 seconds, by the costs that learners declare."""
    games = ["diagonal:n=200,space=bits"]
    study = parse_study(small_study(match_ups="self-play", games=games, learners=["umda"], rounds=1000, seeds=2))
    assert estimate(study, 1).source == "measured on short samples"


LONG = small_study(**SIZES | {"rounds": 40_000})


def test_a_round_is_never_estimated_as_free(played):
    """If the longer of two samples happened to be the quicker one, 5 minutes were estimated as 3 seconds."""
    played(3.0, lambda match, runs: 0.01)
    duration = estimate(parse_study(LONG), 1)
    assert duration.low <= 4 * 400 <= duration.high


def test_samples_end_when_their_time_is_over(played):
    simulation = played(0.0, lambda match, runs: 0.05)
    estimate(parse_study(LONG), 1)
    assert simulation.now < 8  # the time for samples, and a block of one of them


def test_the_source_of_an_estimate_without_measurements(monkeypatch):
    def failing(*_, **__):
        raise ValueError("no")

    monkeypatch.setattr("coebl.study.progress.simulate", failing)
    study = parse_study(small_study(**SIZES | {"rounds": 4000}))
    duration = estimate(study, 1)
    assert duration.source == "by the costs that the learners declare, since nothing could be measured"
    whole = 1e-6 * sum(map(work_of, study.cells))
    assert (duration.low, duration.high) == (pytest.approx(2 + whole / 10), pytest.approx(2 + whole * 10))


def test_a_single_long_cell_is_not_divided_among_the_workers(played):
    played(0.0, lambda match, runs: 0.01 if match.row.name == "coebl" else 0.001)
    study = parse_study(small_study(**SIZES | {"games": ["diagonal:n=5"]}))
    assert estimate(study, 2).high == pytest.approx(2 * 0.4)


def test_the_estimated_disk_use_is_near_the_written_size(tmp_path):
    study = parse_study(STUDY)
    go(study, tmp_path / "results")
    written = sum(path.stat().st_size for path in (tmp_path / "results" / "cells").iterdir())
    assert written / 2 < disk_use(study) < 2 * written


def test_the_disk_use_of_very_many_rounds_is_computed_without_listing_them():
    study = parse_study(small_study(rounds=10**8, record="all"))
    tracemalloc.start()
    assert disk_use(study) > 10**9
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**7


def test_each_mistake_of_a_study_file_has_its_line(coebl, tmp_path):
    (tmp_path / "bad.toml").write_text('name = "bad"\nrounds = 0\nseeds = 0\ngames = ["rps"]\n')
    done = coebl("run", tmp_path / "bad.toml", "--out", tmp_path / "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 3)
    assert re.findall(r", line \d, (\w+): ", done.stderr) == ["rounds", "seeds"]


@pytest.mark.parametrize("seconds", [math.inf, 1e10])
def test_a_time_limit_that_no_timer_can_keep_is_rejected(tmp_path, seconds):
    with pytest.raises(InputError, match="accepted: seconds above 0, at most 10,000,000"):
        run(parse_study(EXAMPLE), tmp_path / "out", cell_timeout=seconds)
    assert not (tmp_path / "out").exists()


def test_a_stopped_run_prints_the_command_that_continues_it(coebl, tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.setattr("coebl.study.run", stopped)
    monkeypatch.setattr("coebl.study.workers.dask_executor", lambda address: nullcontext())
    words = ["run", "study.toml", "--out", "results", "--workers", 2, "--dask", "tcp://a b:1", "--cell-timeout", 5]
    done = coebl(*words, cwd=tmp_path)
    again = "coebl run study.toml --out results --workers 2 --dask 'tcp://a b:1' --cell-timeout 5"
    assert (done.returncode, done.stderr) == (130, f"\ncoebl: stopped; finished cells are kept; to continue: {again}\n")


def test_causes_are_escaped_and_the_most_frequent_are_printed(coebl, tmp_path, monkeypatch):
    (tmp_path / "study.toml").write_text(STUDY)
    cells = parse_study(STUDY).cells[:2]
    causes = {"ValueError: \x1b[2J": 2} | {f"ValueError: {number}": 1 for number in range(13)}
    ended = RunSummary(finished=0, found=0, failed=cells, notes=(), seconds=1.0, causes=causes)
    monkeypatch.setattr("coebl.study.run", lambda *_, **__: ended)
    done = coebl("run", "study.toml", "--out", "results", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == r"2 cells failed: ValueError: \x1b[2J"
    assert done.stderr.count("1 cell failed: ValueError") == 11
    assert "and 2 more causes\n" in done.stderr


def test_a_study_that_has_grown_reports_the_cells_that_it_uses(coebl, tmp_path):
    path = small_study(tmp_path, learners=["exp3", "uniform"], seeds=4)
    words = ["run", path, "--out", tmp_path / "out", "--workers", 1]
    assert "2 cells run, 0 found, in" in coebl(*words).stdout
    small_study(tmp_path, learners=["exp3", "uniform"], seeds=6)
    assert "2 cells run, 0 found (2 cells of earlier runs are used), in" in coebl(*words).stdout
