"""A results folder keeps the files that its study names, and can be run again where these do not exist."""

import shutil
import tomllib

import pytest

from coebl.core.errors import InputError
from coebl.study import Results, parse_study, read_study
from coebl.study.studies import keep_files
from sources import MINE, OPERATOR, SURPRISE, WOBBLE
from study_runs import go, rows

TEXT = """\
# My learners: sub/mine.py:Mine
name = "shared"
title = "About sub/mine.py"
description = "sub/mine.py: what it does"
rounds = 12
seeds = 3
games = ["game.csv", "permuted:game=sub/own.py:game,seed=[1,2]"]  # two kinds
learners = ['sub/mine.py:Mine:rate=[0.5,1]', "coebl:mutation=sparse:of=sub/own.py:Constant+probability=0.5"]
noise = "sub/wobble.py:Wobble:width=3"
record = "last"
metrics = ["regret", "sub/surprise.py:Surprise"]
[match-ups]
self-play = true
one-against-all = "sub/mine.py:Mine:rate=1"
"""


def written(folder, text=TEXT):
    (folder / "sub").mkdir(parents=True, exist_ok=True)
    for name, code in (("mine", MINE), ("own", OPERATOR), ("wobble", WOBBLE), ("surprise", SURPRISE)):
        (folder / "sub" / f"{name}.py").write_text(code)
    (folder / "game.csv").write_text("1,-1\n-1,1\n")
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def kept_in(folder):
    return sorted(path.name for path in (folder / "files").rglob("*") if path.is_file())


def test_a_folder_that_was_moved_is_run_again_without_the_original_files(tmp_path, coebl):
    first = written(tmp_path / "here")
    done = coebl("run", "study.toml", "--out", "results", "--workers", 1, cwd=tmp_path / "here")
    assert done.returncode == 0, done.stderr
    before, digests = rows(first.parent / "results"), Results(first.parent / "results").store.digests()
    (tmp_path / "there").mkdir()
    shutil.move(first.parent / "results", tmp_path / "there" / "shared")
    shutil.rmtree(tmp_path / "here")
    done = coebl("run", "shared/study.toml", "--out", "again", "--workers", 1, cwd=tmp_path / "there")
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "there" / "again") == before
    assert Results(tmp_path / "there" / "again").store.digests() == digests
    assert kept_in(tmp_path / "there" / "again") == ["game.csv", "mine.py", "own.py", "surprise.py", "wobble.py"]
    kept = [(tmp_path / "there" / name / "study.toml").read_text() for name in ("shared", "again")]
    assert kept[0] == kept[1]
    assert "# two kinds" in kept[0]  # comments are kept
    assert str(tmp_path) not in kept[0]
    study = tomllib.loads(kept[0])
    assert (study["title"], study["description"]) == ("About sub/mine.py", "sub/mine.py: what it does")
    again = coebl("run", "shared/study.toml", "--out", "shared", "--workers", 1)  # into the folder that it is in
    assert "0 cells run" in again.stdout, again.stderr
    assert not (tmp_path / "there" / "shared" / "study-1.toml").exists()


def test_earlier_contents_are_kept_with_the_study_that_refers_to_them(tmp_path):
    path, out = written(tmp_path / "a"), tmp_path / "out"
    for _ in range(2):
        go(read_study(path), out)
    assert not (out / "study-1.toml").exists()
    (tmp_path / "a" / "sub" / "mine.py").write_text(MINE + "\n# changed\n")
    go(read_study(path), out)
    assert kept_in(out).count("mine.py") == 2
    old, new = (read_study(out / name) for name in ("study-1.toml", "study.toml"))
    assert {content for name, content in old.files.items() if "mine" in name} == {MINE.encode()}
    assert [cell.digest() for cell in new.cells] == [cell.digest() for cell in read_study(path).cells]


@pytest.mark.parametrize(
    "line",
    [
        'learners = ["sub/mine.py:Mine"]\ndescription = "[sub/mine.py:Mine]"',  # not a spec, and looks like one
        'learners = ["sub/\\u006dine.py:Mine"]',  # escapes
        'learners = ["coebl:mutation=[ sub/own.py:Constant , gaussian ]"]',
        'learners = ["{folder}/sub/mine.py:Mine", "./sub/mine.py:Mine:rate=2"]',
        'learners = ["coebl:mutation=sparse:of=s++++u++b/own.py:Constant"]',  # the folder s+u,b
        'learners = ["coebl:mutation=s++u+b/own.py:Constant", "s+u,b/mine.py:Mine"]',
    ],
)
def test_the_kept_study_has_the_same_cells_for_any_name_of_a_file(tmp_path, line):
    path = written(tmp_path / "a", "")
    shutil.copytree(tmp_path / "a" / "sub", tmp_path / "a" / "s+u,b")
    rest = 'name = "a"\nrounds = 2\nseeds = 1\ngames = ["rps"]\n[match-ups]\nself-play = true\n'
    path.write_text(line.replace("{folder}", str(path.parent)) + "\n" + rest)
    study = read_study(path)
    assert study.files
    for name, content in study.files.items():
        (tmp_path / "kept" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "kept" / name).write_bytes(content)
    digests = [cell.digest() for cell in study.cells]
    shutil.rmtree(tmp_path / "a")
    kept = parse_study(study.text, str(tmp_path / "kept" / "study.toml"))
    assert [cell.digest() for cell in kept.cells] == digests
    assert kept.text == study.text
    assert tomllib.loads(study.text).get("description") in (None, "[sub/mine.py:Mine]")


def test_a_study_without_files_is_kept_unchanged():
    text = 'name = "a"  # "x.py:Y"\n'
    assert keep_files(text, {}) == (text, {})


def test_a_link_in_the_place_of_a_kept_file_is_not_followed(tmp_path):
    path, out = written(tmp_path / "a"), tmp_path / "out"
    go(read_study(path), out)
    (tmp_path / "mine.txt").write_text("precious")
    kept = next((out / "files").rglob("mine.py"))
    kept.unlink()
    kept.symlink_to(tmp_path / "mine.txt")
    go(read_study(path), out)
    assert not kept.is_symlink()
    shutil.rmtree(out / "files")
    (out / "files").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="files is a symbolic link, and nothing is written through a link"):
        go(read_study(path), out)
    assert (tmp_path / "mine.txt").read_text() == "precious"
