"""A study that grows in its folder: new cells are run, none is run twice, and the plan lists them in advance."""

import json
from collections import Counter

import pytest

from coebl.study import Results, Store, parse_study, read_study
from coebl.study.errors import StoreError
from coebl.study.plan import make_plan
from study_runs import go, rows, runs_of
from study_texts import small_study

KEYS = {
    "games": ["matching-pennies"],
    "learners": ["exp3", "uniform"],
    "rounds": 20,
    "seeds": 8,
    "seeds_per_cell": 5,
    "record": 10,
    "metrics": ["regret", "pseudo_regret"],
}


def grown(**keys):
    """The study with other values of some keys."""
    return small_study(**KEYS | keys)


TEXT = grown()


def measured(folder):
    """Return how often each metric of each run is stored."""
    return Counter(
        (record.game, record.players[0], seed, metric)
        for record in Results(folder).records()
        for seed in record.seeds
        for metric in record.metrics
    )


def planned_and_run(text, folder):
    """Return the seeds and metrics of the planned cells, and check that a run does exactly these."""
    study = parse_study(text)
    plan = make_plan(study, Store.open(folder), dry=True)
    before = set(Store.open(folder).digests())
    outcome = go(text, folder)
    assert (outcome.finished, outcome.found, outcome.failed) == (len(plan.todo), plan.found, ())
    assert set(Store.open(folder).digests()) - before == {cell.digest() for cell in plan.todo}
    assert go(text, folder).finished == 0
    assert max(measured(folder).values()) == 1  # nothing twice
    return [(cell.players[0], cell.seeds[0], cell.seeds[-1], cell.metrics) for cell in plan.todo]


BOTH, MORE = ("regret", "pseudo_regret"), ("regret", "exploitability")
MEASURED = {"metrics": list(MORE), "learners": ["exp3"]}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ({"seeds": 12}, [(row, *seeds, BOTH) for row in ("exp3", "uniform") for seeds in ((8, 9), (10, 11))]),
        ({"seeds": {"first": 3, "count": 7}}, [("exp3", 8, 9, BOTH), ("uniform", 8, 9, BOTH)]),
        ({"seeds": [2, 20, 7, 21]}, [("exp3", 20, 21, BOTH), ("uniform", 20, 21, BOTH)]),
        ({"seeds_per_cell": 3}, []),
        ({"seeds_per_cell": 3, "seeds": 9}, [("exp3", 8, 8, BOTH), ("uniform", 8, 8, BOTH)]),
        ({"learners": ["exp3", "uniform", "ucb"]}, [("ucb", 0, 4, BOTH), ("ucb", 5, 7, BOTH)]),
        (MEASURED, [("exp3", 0, 4, MORE[1:]), ("exp3", 5, 7, MORE[1:])]),
        (MEASURED | {"seeds": 10}, [("exp3", 0, 4, MORE[1:]), ("exp3", 5, 7, MORE[1:]), ("exp3", 8, 9, MORE)]),
    ],
)
def test_only_new_runs_are_made_and_the_numbers_are_those_of_a_fresh_run(tmp_path, lines, expected):
    go(TEXT, tmp_path / "grown")
    assert planned_and_run(grown(**lines), tmp_path / "grown") == expected
    go(grown(**lines), tmp_path / "fresh")
    fresh, summary = Results(tmp_path / "fresh"), Results(tmp_path / "grown")
    for game, row, column in fresh.matches():
        for metric in fresh.metrics:
            fresh_runs = runs_of(fresh, game, row, column, metric)
            grown_runs = runs_of(summary, game, row, column, metric)
            kept = [seed in fresh_runs.seeds for seed in grown_runs.seeds]
            assert grown_runs.seeds[kept].tolist() == fresh_runs.seeds.tolist()
            assert grown_runs.values[:, kept].tobytes() == fresh_runs.values.tobytes()


def test_an_interrupted_study_may_grow_and_shrink_back(tmp_path):
    study = parse_study(TEXT)
    go(study.select(study.matches(), seeds=5), tmp_path)
    assert planned_and_run(grown(seeds=14), tmp_path) == [
        (row, first, last, BOTH) for row in ("exp3", "uniform") for first, last in ((5, 9), (10, 13))
    ]
    assert planned_and_run(TEXT, tmp_path) == []
    assert len(rows(tmp_path)) == 2 * 14 * 2


def test_parts_that_overlap_run_each_seed_once(tmp_path):
    text = TEXT + '[[parts]]\nseeds = 4\n[[parts]]\nseeds = 6\nmetrics = ["regret"]\n'
    assert go(text, tmp_path).finished == 6  # of both learners 0..3, and of the second part 4 and 5
    assert max(measured(tmp_path).values()) == 1


def test_the_folder_keeps_every_file_that_it_was_run_with(tmp_path):
    studies = [TEXT, grown(seeds=9), grown(seeds=10)]
    for text in (*studies, "# a remark\n" + studies[2], studies[1], studies[2]):
        go(text, tmp_path)
    assert (tmp_path / "study.toml").read_text() == studies[2]
    kept = sorted(tmp_path.glob("study-*.toml"))
    assert [path.name for path in kept] == ["study-1.toml", "study-2.toml", "study-3.toml"]
    assert [path.read_text() for path in kept] == [studies[0], studies[1], studies[2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (grown(name="other"), "this is the folder of the study 'small', and the file is of 'other'"),
        (grown(rounds=30), "its rounds is now 30, and cells of exp3 v exp3 on matching-pennies are there"),
        (grown(record="all"), "put record back"),
    ],
)
def test_a_study_that_does_not_fit_is_rejected_before_anything_changes(tmp_path, text, message):
    go(TEXT, tmp_path)
    for attempt in (lambda: go(text, tmp_path), lambda: make_plan(parse_study(text), Store.open(tmp_path), dry=True)):
        with pytest.raises(StoreError, match=message):
            attempt()
    assert Store.open(tmp_path).text() == TEXT
    assert go(TEXT, tmp_path).found == 4


def test_a_changed_file_replaces_its_cells_of_any_seeds_and_metrics(tmp_path):
    game, file = tmp_path / "g.csv", tmp_path / "study.toml"
    game.write_text("1,0\n0,2\n")

    def play(text):
        file.write_text(text)
        return go(read_study(file), tmp_path / "out")

    keys = {"games": ["g.csv", "rps"], "learners": ["exp3"]}
    play(grown(**keys))
    game.write_text("1,0\n0,3\n")
    text = grown(**keys, seeds=10, metrics=["regret"])
    file.write_text(text)
    plan = make_plan(read_study(file), Store.open(tmp_path / "out"), dry=True)
    assert len(list((tmp_path / "out" / "set-aside").iterdir())) == 0
    outcome = play(text)
    assert (len(plan.todo), plan.found, plan.stored) == (outcome.finished, outcome.found, 2) == (3, 1, 2)
    [note] = outcome.notes
    assert note.startswith("2 cells were made from g.csv, which has changed since: moved to set-aside")
    assert [plain.replace("to be moved", "moved") for plain in plan.notes] == [note]
    assert runs_of(Results(tmp_path / "out"), "g.csv", "exp3", "exp3", "regret").seeds.tolist() == list(range(10))


@pytest.mark.parametrize("earlier", [False, True])
def test_a_failure_is_forgotten_when_its_seeds_are_split_differently(tmp_path, earlier):
    store = Store.create(tmp_path, TEXT)
    study = parse_study(TEXT)
    for cell in study.cells[:2]:
        path = store.record_failure(cell, "too large")
        if earlier:  # as format 3 had it
            record = json.loads(path.read_text())
            row, column = record["description"].pop("players")
            record["description"] |= {"row": row, "column": column, "format": 3}
            path.write_text(json.dumps(record))
    go(study.select(study.matches(), seeds=5), tmp_path)
    assert [record.cell for record in store.failures()] == [str(study.cells[1])]  # not asked for
    go(grown(seeds_per_cell=2), tmp_path)
    assert store.failures() == []


# The command line


def test_a_dry_run_lists_the_cells_to_run_and_counts_those_left_alone(tmp_path, coebl):
    go(TEXT, tmp_path / "out")
    victim = Store.open(tmp_path / "out").paths()[0]
    (tmp_path / "study.toml").write_text(grown(learners=["exp3"], seeds=[0, 3, 20, 22], metrics=["regret", "tv"]))
    done = coebl("run", "study.toml", "--out", "out", "--dry-run", cwd=tmp_path)
    assert done.stdout.splitlines() == [
        "matching-pennies, exp3 v exp3, 20 rounds, seeds 0..3 (2 of them), only tv",
        "matching-pennies, exp3 v exp3, 20 rounds, seeds 20..22 (2 of them)",
        "2 of 2 cells to run",
    ]
    assert done.stderr == "left alone: 3 cells in the folder that the study does not ask for\n"
    victim.write_bytes(victim.read_bytes()[:200])
    (tmp_path / "study.toml").write_text(TEXT)
    done = coebl("run", "study.toml", "--out", "out", "--dry-run")
    assert done.stdout.endswith("\n1 of 4 cells to run\n")
    assert "To be moved to set-aside." in done.stderr
    assert victim.exists()
    assert "Moved to set-aside/" in coebl("run", "study.toml", "--out", "out", "--workers", 1).stderr


def test_the_number_of_cells_stays_right(tmp_path, coebl):
    """Also with cells that the study no longer asks for, and with blocks of seeds that are in two files."""
    go(TEXT, tmp_path)
    text = grown(learners=["exp3"], seeds=12)
    go(text, tmp_path)
    assert coebl("results", tmp_path).stdout.endswith("\nfrom 6 of 6 cells\n")
    (added,) = (path for path in Store.open(tmp_path).paths() if path_seeds(path) == (10, 11))
    added.unlink()
    assert coebl("results", tmp_path).stdout.endswith("\nfrom 5 of 6 cells\n")
    go(TEXT, tmp_path)  # asks for less, and nothing is missing
    assert coebl("results", tmp_path).stdout.endswith("\nfrom 5 of 5 cells\n")


def path_seeds(path):
    return Store.open(path.parent.parent).record(path.stem).seeds


@pytest.mark.parametrize("first", ["gaussian:sigma=1.0", None])
def test_the_default_noise_of_a_game_is_the_same_match_named_or_not(tmp_path, first):
    (tmp_path / "game.json").write_text('{"payoff": [[1, -1], [-1, 1]], "noise": "gaussian"}')

    def play(noise, seeds):
        named = {"noise": noise} if noise else {}
        return go(read_study(small_study(tmp_path, games=["rps", "game.json"], seeds=seeds, **named)), tmp_path / "out")

    [second] = {"gaussian:sigma=1.0", None} - {first}
    assert play(first, 3).finished == 2
    again = play(second, 5)
    assert (again.finished, again.left_alone) == (2, 0)
    results = Results(tmp_path / "out")
    assert sorted(seed for record in results.records() for seed in record.seeds) == sorted(2 * [0, 1, 2, 3, 4])
    other = play("none", 3)
    assert (other.finished, other.left_alone) == (2, 4)
