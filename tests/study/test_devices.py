"""The device of a study: part of the identity of its cells, and the same for a whole folder."""

import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from coebl.backend import backend_class
from coebl.cli import app
from coebl.core.errors import InputError
from coebl.evidence.pairwise import rank
from coebl.games import parse_game
from coebl.learners import parse_learner
from coebl.report.page import Presentation, write_page
from coebl.study import Results, parse_study, run
from coebl.study.errors import StoreError
from coebl.study.plan import make_plan
from coebl.study.store import Store
from coebl.tournament.standings import measure
from study_texts import small_study

TEXT = small_study(rounds=5, seeds=120, learners=["uniform"], record="log")


def test_the_device_of_a_study():
    assert {cell.device for cell in parse_study(TEXT).cells} == {"cpu"}
    study = parse_study('device = "cuda"\n' + TEXT)
    assert [(cell.device, len(cell.seeds)) for cell in study.cells] == [("cuda", 120)]  # larger cells by default
    assert str(study.cells[0]).endswith(", on cuda")


def stored(folder, *cells):
    """The store of the study with these cells, all run on the CPU."""
    store = Store.create(folder, parse_study(TEXT).text)
    for cell in cells:
        store.save(cell, replace(cell, device="cpu").run())
    return store


def test_a_folder_is_of_one_device(tmp_path):
    store = stored(tmp_path, *parse_study(TEXT).cells)
    with pytest.raises(StoreError, match="its cells were run on cpu, and the study is to be run on cuda"):
        make_plan(parse_study(TEXT, device="cuda"), store)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("asked", [0, 1])
def test_a_run_in_a_folder_that_mixes_devices_has_the_same_message_on_both(tmp_path, device, asked):
    """The message of each device recommended the other."""
    [cell, *_] = parse_study(TEXT).cells
    other = replace(cell, seeds=tuple(range(500, 510)), device="cuda")
    store = stored(tmp_path, other, cell if asked else replace(other, seeds=(600, 601), device="cpu"))
    with pytest.raises(StoreError, match=r"on cpu and on cuda; accepted: those of one device.*two folders"):
        make_plan(parse_study(TEXT, device=device), store)


def test_a_device_that_cannot_be_used_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(InputError, match="cupy"):
        run(parse_study(TEXT, device="cuda"), tmp_path / "new", workers=1, quiet=True)
    ran = CliRunner().invoke(app, ["tournament", "--quick", "--device", "cuda", "--out", str(tmp_path / "new")])
    assert (type(ran.exception), ran.output) == (InputError, "")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("text", [TEXT, f'device = "cuda"\n{TEXT}', f'# a study\ndevice="cuda" # there\n{TEXT}'])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_kept_text_names_the_device(text, device):
    study = parse_study(text, device=device)
    again = parse_study(study.text)
    assert again.cells == study.cells
    assert {cell.device for cell in again.cells} == {device}


def test_a_study_on_a_gpu_is_shown_without_cupy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    study = parse_study(TEXT, device="cuda")
    assert set(make_plan(study, stored(tmp_path / "results")).todo) == set(study.cells)
    (tmp_path / "study.toml").write_text(study.text)
    shown = CliRunner().invoke(app, ["study", "show", str(tmp_path / "study.toml")])
    assert "on the CPU of this machine, whose GPU may be much faster or slower" in shown.output
    stored(tmp_path / "results", study.cells[0])
    results = Results(tmp_path / "results")
    assert (results.devices(), results.notices()) == (["cuda"], ["the cells were run on a GPU (cuda)"])


def test_one_process_uses_a_gpu_by_default():
    assert (backend_class("cpu").workers, backend_class("cuda").workers) == (None, 1)


def test_what_cannot_run_on_a_gpu():
    cpu, cuda = map(backend_class, ("cpu", "cuda"))
    cases = [((parse_game("rps"),), ""), ((parse_game("chicken"),), "chicken is not a zero-sum matrix game")]
    cases += [((None, parse_learner("cga")), "cga is a search"), ((None, None, ["beliefs"]), "keep has beliefs")]
    for arguments, reason in cases:
        assert (cpu.reason_not_to_run(*arguments), cuda.reason_not_to_run(*arguments)) == ("", reason)


READERS = {
    "summary": lambda results: results.summary(),
    "last": lambda results: results.last(),
    "curves": lambda results: results.curves(),
    "records": lambda results: results.records(),
    "lazy": lambda results: results.lazy(),
    "plot": lambda results: results.plot(),
    "compare": lambda results: results.compare("uniform", "exp3"),
    "ranking": rank,
    "tournament": lambda results: measure(parse_study(TEXT), results),
    "page": lambda results: write_page(results, results.store.folder / "page.html", Presentation("Mixed")),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_folder_that_mixes_devices_is_rejected_by_every_reader(reader, tmp_path):
    here, other = parse_study(TEXT).cells[:2]
    stored(tmp_path, here, replace(other, device="cuda"))
    results = Results(tmp_path)
    for _ in range(2):  # also when asked again
        with pytest.raises(StoreError, match=r"that were run on cpu and on cuda; accepted: those of one device"):
            READERS[reader](results)
