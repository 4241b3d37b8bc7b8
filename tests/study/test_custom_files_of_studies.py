"""Custom files that a study names: metrics, noises, and what nested specs name; part of the identity of its cells."""

import importlib
import os
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from cells import rewrite
from coebl.games import GAMES, NOISES
from coebl.learners import LEARNERS
from coebl.learners.evolution import MUTATIONS
from coebl.study import Results, Store, Study, read_study, run
from coebl.study.cell import Cell
from sources import OPERATOR, SURPRISE, WOBBLE
from study_runs import go
from study_texts import mistakes_of, small_study

CODES = {"mine.py": SURPRISE, "wobble.py": WOBBLE, "own.py": OPERATOR, "g.csv": "1,0\n0,2\n"}
NAMED = {
    "metric": ("mine.py", {"metrics": ["mine.py:Surprise"]}),
    "noise": ("wobble.py", {"noise": "wobble.py:Wobble:width=3"}),
    "operator": ("own.py", {"learners": ["coebl:mutation=own.py:Constant"]}),
    "table": ("g.csv", {"games": ["g.csv"]}),
    "game": ("own.py", {"games": ["own.py:game"]}),
    "inner operator": ("own.py", {"learners": ["coebl:mutation=sparse:of=own.py:Constant:size=0.2+probability=0.5"]}),
    "inner game": ("own.py", {"games": ["permuted:game=own.py:game"]}),
    "innermost game": ("own.py", {"games": ["permuted:game=scaled:game=own.py:game:n=2+scale=2"]}),
}


def written(folder, kind, code=None, **keys):
    """The file of a study that names a custom file, with this code in it."""
    file, named = NAMED[kind]
    path = small_study(folder, **named | keys)
    (folder / file).write_text(CODES[file] if code is None else code)
    return path


def mistake_of(path):
    [mistake] = mistakes_of(path.read_text(), str(path))
    assert "\n" not in mistake
    return mistake


@pytest.mark.parametrize("kind", NAMED)
def test_the_digest_depends_on_the_content_of_the_file_and_not_on_its_place(tmp_path, kind):
    file, _ = NAMED[kind]
    first, elsewhere, changed = (
        read_study(written(tmp_path / folder, kind, CODES[file] + more)).cells[0]
        for folder, more in (("a", ""), ("b", ""), ("c", "\n"))
    )
    assert list(first.description().files) == ["game" if kind in ("table", "game") else file]
    assert str(tmp_path) not in first.description().model_dump_json()
    assert first.digest() == elsewhere.digest() != changed.digest()


@pytest.mark.parametrize("kind", NAMED)
def test_cells_of_a_file_that_has_changed_are_run_again(tmp_path, kind):
    file, _ = NAMED[kind]
    assert go(read_study(written(tmp_path / "a", kind)), tmp_path / "out").finished == 1
    assert go(read_study(written(tmp_path / "a", kind)), tmp_path / "out").found == 1
    changed = written(tmp_path / "a", kind, CODES[file] + "\n", seeds=6, seeds_per_cell=3)
    outcome = go(read_study(changed), tmp_path / "out")
    assert (outcome.finished, outcome.causes) == (2, {})
    [note] = outcome.notes
    assert note.startswith(f"1 cell was made from {file}, which has changed since: moved to set-aside")
    results = Results(tmp_path / "out")
    assert sorted(seed for record in results.records() for seed in record.seeds) == list(range(6))


EARNED = "abs(block.reward - block.outcomes.earned)"


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "message"),
    [
        ("metric", EARNED, "1 / 0", "mine.py, line 8: ZeroDivisionError"),
        ("metric", EARNED, "__import__('sys').exit(0)", "mine.py, line 8: SystemExit: 0"),
        ("noise", "self.width / 2, size", "self.breadth, size", "wobble.py, line 8: AttributeError"),
    ],
)
def test_an_error_names_the_line_of_the_file(tmp_path, kind, right, wrong, message):
    path = written(tmp_path / "a", kind, CODES[NAMED[kind][0]].replace(right, wrong))
    [(cause, count)] = go(read_study(path), tmp_path / "out").causes.items()
    assert count == 1
    assert message in cause


def test_workers_in_another_folder_find_the_files(tmp_path, monkeypatch):
    path = written(tmp_path / "a", "operator")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(path.parent)
    study = read_study("study.toml")
    with ProcessPoolExecutor(1, initializer=os.chdir, initargs=(tmp_path / "elsewhere",)) as executor:
        outcome = run(study, tmp_path / "out", executor=executor, quiet=True)
    assert (outcome.finished, outcome.causes) == (1, {})


def test_a_cell_of_a_file_that_changes_while_it_runs_is_not_stored(tmp_path):
    path = written(tmp_path / "a", "table")

    class Late(ThreadPoolExecutor):
        def submit(self, *task):
            (path.parent / "g.csv").write_text("1,0\n0,3\n")
            return super().submit(*task)

    with Late(1) as executor:
        outcome = run(read_study(path), tmp_path / "out", executor=executor, quiet=True)
    reason = "a file that it names changed while it ran, or differs on the worker; run again."
    assert (outcome.finished, outcome.causes) == (0, {reason: 1})
    assert Store.open(tmp_path / "out").digests() == []


# Metrics


def test_a_metric_next_to_the_study_is_a_column_of_its_results(tmp_path):
    path = written(tmp_path / "a", "metric", metrics=["mine.py:Half", "regret", "mine.py:Surprise"])
    assert go(read_study(path), tmp_path / "out").finished == 1
    results = Results(tmp_path / "out")
    assert results.metrics == ["regret", "half", "surprise"]
    table = results.curves().to_pandas()
    assert (table["surprise"] > 0).all()  # with Gaussian noise
    np.testing.assert_array_equal(table["half"] * 2, table["surprise"])
    assert [row["metric"] for row in results.summary()] == ["regret", "half", "surprise"]


def test_metrics_in_files_are_a_set(tmp_path):
    def digest(*names):
        [cell] = read_study(written(tmp_path, "metric", metrics=list(names))).cells
        return cell.digest()

    two = digest("mine.py:Half", "mine.py:Surprise", "mine.py:Half")
    assert digest("./mine.py:Surprise", "mine.py:Half") == two
    assert len({digest("mine.py:Half"), digest("mine.py:Surprise"), two}) == 3


def test_a_metric_of_a_file_may_name_a_seat(tmp_path):
    code = SURPRISE.replace("    def", "    by_seat = True\n\n    def", 1).replace(
        EARNED, "self.seat + 0 * block.reward"
    )
    names = ["mine.py:Surprise:2", "mine.py:Surprise:1", "mine.py:Surprise"]
    go(read_study(written(tmp_path / "a", "metric", code, metrics=names)), tmp_path / "out")
    frame = Results(tmp_path / "out").last()
    assert set(frame["surprise:2"]) == {1}
    assert set(frame["surprise"]) == {0}


UNDEFINED = "    @classmethod\n    def reason_undefined(cls, game):\n        return 'no'\n    def"


@pytest.mark.parametrize(
    ("metric", "old", "new", "message"),
    [
        ("other.py:M", "", "", "other.py: no such file"),
        ("mine.py:Surprse", "", "", "has no metric 'Surprse': did you mean 'Surprise'?"),
        ("mine.py:Surprise:c=2", "", "", "a metric has no parameters"),
        ("mine.py:Surprise", '"surprise"', '"seed"', "another metric or column is called 'seed'"),
        ("mine.py:Surprise", '"surprise"', '"a b"', "the class attribute name is 'a b'"),
        ("mine.py:M", SURPRISE, "1 / 0\n", "ZeroDivisionError"),
        ("mine.py:Surprise", "    def", UNDEFINED, "not for the game rps: no"),
        ("mine.py:Half", '"half"', '"surprise"', "mine.py:Half: another metric or column is called 'surprise'"),
    ],
)
def test_a_metric_that_cannot_be_used(tmp_path, metric, old, new, message):
    metrics = ["mine.py:Surprise", metric] if metric == "mine.py:Half" else [metric]
    mistake = mistake_of(written(tmp_path, "metric", SURPRISE.replace(old, new, 1) if old else None, metrics=metrics))
    assert f"line 7, metrics[{len(metrics) - 1}]: " in mistake
    assert message in mistake


# Noises


@pytest.mark.parametrize("noise", ["wobble.py:Wobbel", "wobble.py:dataclass", "elsewhere.py:Wobble"])
def test_an_unknown_noise_is_rejected(tmp_path, noise):
    assert "line 8, noise: " in mistake_of(written(tmp_path / "a", "noise", noise=noise))


def test_a_noise_that_registers_itself_is_named_by_its_file_so_that_workers_find_it(tmp_path, monkeypatch):
    monkeypatch.setattr(NOISES, "_entries", dict(NOISES._entries))  # it is not left there for other tests
    code = WOBBLE.replace("import Noise", "import NOISES, Noise").replace("@data", '@NOISES.add("wobble")\n@data')
    path = written(tmp_path / "a", "noise", code)
    [noise] = {cell.noise for cell in read_study(path).cells}
    assert noise.endswith("wobble.py:Wobble:width=3")
    outcome = run(read_study(path), tmp_path / "out", workers=2, quiet=True)
    assert (outcome.finished, outcome.causes) == (1, {})
    assert Results(tmp_path / "out").records()[0].noise == "wobble.py:Wobble:width=3"
    changed = run(read_study(written(tmp_path / "a", "noise", code + "\n")), tmp_path / "out", workers=1, quiet=True)
    assert (changed.finished, changed.causes) == (1, {})


REGISTERS = """
from coebl.games import GAMES, NOISES
from coebl.learners import LEARNERS
from coebl.learners.evolution import MUTATIONS
from coebl.learners.exp3 import Exp3

for names, added in ((NOISES, Wobble), (LEARNERS, type("Added", (Exp3,), {})), (MUTATIONS, Constant), (GAMES, game)):
    names.add("added")(added)
    globals()[added.__name__] = added
"""


@pytest.mark.parametrize(
    "named",
    [
        {"noise": "added:width=3"},
        {"learners": ["added"]},
        {"learners": ["coebl:mutation=sparse:of=added:size=0.2+probability=0.5"]},
        {"games": ["added"]},
        {"games": ["permuted:game=added:n=3"]},
    ],
)
def test_names_that_an_imported_module_registers_are_played_in_other_processes(tmp_path, monkeypatch, named):
    for names in (GAMES, LEARNERS, MUTATIONS, NOISES):
        monkeypatch.setattr(names, "_entries", dict(names._entries))
    (tmp_path / "registers_names.py").write_text(WOBBLE + OPERATOR + REGISTERS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "registers_names", raising=False)
    importlib.import_module("registers_names")
    study = Study(**{"games": ["rps"], "learners": ["exp3"], "seeds": 2, "rounds": 5, **named})
    outcome = study.run(tmp_path / "out", workers=1, quiet=True)
    assert (outcome.finished, outcome.causes) == (1, {})


# Nested specs


def test_a_cell_of_an_earlier_version_that_does_not_list_the_file_is_run_again(tmp_path):
    path = written(tmp_path / "a", "operator")
    go(read_study(path), tmp_path / "out")
    store = Store.open(tmp_path / "out")
    [digest] = store.digests()

    def forget(about):
        about["description"]["files"] = {}

    rewrite(store.path(digest), forget)
    description = read_study(path).cells[0].description().model_copy(update={"files": {}})
    store.path(digest).rename(store.path(description.digest()))
    outcome = go(read_study(path), tmp_path / "out")
    assert (outcome.finished, len(Results(tmp_path / "out").records())) == (1, 1)
    assert "made from own.py, which has changed since" in outcome.notes[0]


@pytest.mark.parametrize(
    ("key", "specs"),
    [
        ("games", ["g.csv", "../a/g.csv", "../g.csv"]),
        ("games", ["own.py:game", "../own.py:game"]),
        ("learners", ["coebl:mutation=own.py:Constant", "coebl:mutation=sparse:of=../own.py:Constant"]),
    ],
)
def test_two_files_of_one_name_are_rejected_at_any_depth(tmp_path, key, specs):
    for folder in (tmp_path, tmp_path / "a"):
        folder.mkdir(exist_ok=True)
        (folder / "g.csv").write_text(CODES["g.csv"])
        (folder / "own.py").write_text(OPERATOR)
    mistake = mistake_of(small_study(tmp_path / "a", **{key: specs}))
    assert f", {key}[{len(specs) - 1}]: " in mistake
    assert "have the same name, and results identify files by name; rename one of them." in mistake


def test_digests_of_cells_have_not_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("mine.py", "noise.py", "metric.py", "game.py"):
        (tmp_path / "sub" / name).write_text(f"# {name}\n")
    (tmp_path / "sub" / "game.csv").write_text("1,2\n3,4\n")
    inner = "coebl:c=2,mutation=sparse:of=student:freedom=4++x=1+probability=0.5"
    noise, metrics = "sub/noise.py:Silent:width=2", ("regret", "sub/metric.py:M")
    own = Cell("sub/game.csv", ("sub/mine.py:Mine:rate=2", "sub/mine.py:Mine"), 100, (0, 1, 2), noise, metrics=metrics)
    cells = [
        Cell("rps", ("ucb", "exp3"), 100, (0, 1, 2)),
        Cell("permuted:game=rps,seed=2", (inner, "exp3"), 100, (0,), "laplace"),
        own,
        Cell("sub/game.py:f:n=3", ("exp3", "sub/mine.py:Mine:a=b+c,d=1/2"), 100, (5,), record=7, device="cuda"),
    ]
    assert [cell.digest() for cell in cells] == [
        "cdd573e536c4ccc0f9ef29da51fdde6a",
        "1a3145416b0f69057738c615fda09cef",
        "8d96bc8b232d9dc254b2c025a548b2a6",
        "0321b48f0817bb677ce4d1e3adac0764",
    ]
    assert [cell.absolute().digest() for cell in cells] == [cell.digest() for cell in cells]
    assert own.absolute().noise == f"{tmp_path}/{noise}"
