"""Custom files that nested specs name: found next to the study, part of the identity of its cells."""

import os
from concurrent.futures import ProcessPoolExecutor

import pytest

from cells import rewrite
from coebl.study import Results, Store, read_study, run
from coebl.study.cell import Cell
from sources import OPERATOR
from study_runs import runs_of
from study_texts import exp3_study

SPECS = {
    "coebl:mutation=own.py:Constant": "row",
    "coebl:mutation=sparse:of=own.py:Constant:size=0.2+probability=0.5": "row",
    "permuted:game=own.py:game": "game",
    "permuted:game=scaled:game=own.py:game:n=2+scale=2": "game",
}


def written(folder, spec, code=OPERATOR, seeds=3):
    folder.mkdir(exist_ok=True)
    (folder / "own.py").write_text(code)
    text = exp3_study('metrics = ["regret"]').replace("seeds = 3", f"seeds = {seeds}\nseeds_per_cell = 3")
    text = text.replace('"exp3"' if SPECS[spec] == "row" else '"rps"', f'"{spec}"')
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


@pytest.mark.parametrize("spec", SPECS)
def test_the_digest_depends_on_the_content_of_the_file_and_not_on_its_place(tmp_path, spec):
    first, elsewhere, changed = (
        read_study(written(tmp_path / folder, spec, code)).cells[0]
        for folder, code in (("a", OPERATOR), ("b", OPERATOR), ("c", OPERATOR.replace("0.1", "0.3")))
    )
    assert list(first.description().files) == ["own.py"]
    assert str(tmp_path) not in first.description().model_dump_json()
    assert first.digest() == elsewhere.digest() != changed.digest()


@pytest.mark.parametrize("spec", ["coebl:mutation=own.py:Constant", "permuted:game=own.py:game"])
def test_cells_of_a_file_that_has_changed_are_run_again(tmp_path, spec):
    out = tmp_path / "out"
    assert run(read_study(written(tmp_path / "a", spec)), out, workers=1, quiet=True).finished == 1
    assert run(read_study(written(tmp_path / "a", spec)), out, workers=1, quiet=True).finished == 0
    changed = written(tmp_path / "a", spec, OPERATOR.replace("size: float = 0.1", "size: float = 9.0"), seeds=6)
    outcome = run(read_study(changed), out, workers=1, quiet=True)
    assert outcome.finished == 2
    assert "made from own.py, which has changed since" in outcome.notes[0]
    [match] = Results(out).matches()
    assert len(Results(out).records()) == 2
    assert len(set(runs_of(Results(out), *match, "regret").seeds)) == 6


def test_a_cell_of_an_earlier_version_that_does_not_know_the_file_is_run_again(tmp_path):
    path = written(tmp_path / "a", "coebl:mutation=own.py:Constant")
    run(read_study(path), tmp_path / "out", workers=1, quiet=True)
    store = Store.open(tmp_path / "out")
    [digest] = store.digests()

    def forget(about):
        about["description"]["files"] = {}

    rewrite(store.path(digest), forget)
    description = read_study(path).cells[0].description().model_copy(update={"files": {}})
    store.path(digest).rename(store.path(description.digest()))
    outcome = run(read_study(path), tmp_path / "out", workers=1, quiet=True)
    assert (outcome.finished, len(Results(tmp_path / "out").records())) == (1, 1)
    assert "made from own.py, which has changed since" in outcome.notes[0]


def test_two_files_of_one_name_are_rejected_at_any_depth(tmp_path):
    path = written(tmp_path / "a", "coebl:mutation=own.py:Constant")
    (tmp_path / "own.py").write_text(OPERATOR)
    text = path.read_text().replace('Constant"]', 'Constant", "coebl:mutation=sparse:of=../own.py:Constant"]')
    path.write_text(text)
    with pytest.raises(Exception, match=r"own\.py have the same name, and results identify files by name"):
        read_study(path)


def test_digests_of_cells_without_such_files_are_what_they_were(tmp_path, monkeypatch):
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


def test_workers_in_another_folder_find_the_files(tmp_path, monkeypatch):
    path = written(tmp_path / "a", "coebl:mutation=own.py:Constant")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(path.parent)
    study = read_study("study.toml")
    with ProcessPoolExecutor(1, initializer=os.chdir, initargs=(tmp_path / "elsewhere",)) as executor:
        outcome = run(study, tmp_path / "out", executor=executor, quiet=True)
    assert (outcome.finished, outcome.causes) == (1, {})
