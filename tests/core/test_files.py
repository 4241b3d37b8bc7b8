"""Files are written completely or not at all, and no other file is touched."""

import os
import threading

import pytest
from matplotlib.figure import Figure

from coebl import Game, Player, Study
from coebl.core.errors import InputError
from coebl.core.files import read_whole, write_whole
from coebl.plots import save
from coebl.study import Results, Store, read_study
from report.pages import page_text


def test_text_and_bytes_are_written_with_the_usual_permissions(tmp_path):
    (tmp_path / "usual").touch()
    for durable, data, content in ((False, "é", "é".encode()), (True, b"new", b"new")):
        assert write_whole(tmp_path / "text", data, durable=durable) == tmp_path / "text"
        assert (tmp_path / "text").read_bytes() == content
        assert (tmp_path / "text").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert {path.name for path in tmp_path.iterdir()} == {"text", "usual"}


WRITE_A_FILE = {
    "file": lambda path: write_whole(path, "new", durable=True),
    "game.csv": lambda path: Game([[3, 4]]).write(path),
    "figure.svg": lambda path: save(Figure(), path.parent, "figure", ["svg"]),
    "page.html": lambda path: page_text(path.parent),
}


@pytest.mark.parametrize(("name", "function"), [("file", "fsync"), *((name, "replace") for name in WRITE_A_FILE)])
@pytest.mark.parametrize(
    ("failure", "error", "message"),
    [
        (OSError(28, "No space left on device"), InputError, r"{name} cannot be written \(No space left on device\)"),
        (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
    ],
)
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, name, function, failure, error, message):
    path = tmp_path / name
    WRITE_A_FILE[name](path)
    whole = path.read_bytes()

    def fail(*arguments):
        if function == "replace":
            assert arguments[0].parent == tmp_path  # a rename is atomic only within a folder
            assert arguments[0].read_bytes() == whole
        raise failure

    path.write_text("old")
    monkeypatch.setattr(os, function, fail)
    with pytest.raises(error, match=message.format(name=name)):
        WRITE_A_FILE[name](path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_pipe_is_written_to_and_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_whole(tmp_path / "pipe", "through")
    reader.join(timeout=10)
    assert read == ["through"]
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", r"is a folder; accepted: the name of a file"),
        ("nowhere/file", r"nowhere/file: the folder .*nowhere does not exist"),
        ("x" * 300, r", a name that is too long"),
    ],
)
def test_rejections_name_the_path_and_the_repair(tmp_path, name, message):
    with pytest.raises(InputError, match=message.format(name=name)):
        write_whole(tmp_path / name, "x")


def test_pipes_and_devices_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    for name in ("pipe", "endless"):
        for pipes in (False, True):
            with pytest.raises(OSError, match="this is a pipe or a device, not a file"):
                read_whole(tmp_path / name, pipes=pipes)
    os.close(free := os.dup(0))
    with pytest.raises(IsADirectoryError):
        read_whole(tmp_path)
    os.close(still_free := os.dup(0))
    assert still_free == free  # the folder is closed again


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    (tmp_path / "file").write_bytes(bytes(2 << 20))
    assert len(read_whole(tmp_path / "file", 2 << 20)) == len(read_whole(tmp_path / "file", None)) == 2 << 20
    with pytest.raises(OSError, match="this is larger than the limit of 1 MiB"):
        read_whole(tmp_path / "file", 1 << 20)


def test_the_pipe_of_a_shell_is_read(tmp_path):
    """A shell passes such a pipe for <(command)."""
    reading, writing = os.pipe()
    timer = threading.Timer(0.2, lambda: (os.write(writing, b"late"), os.close(writing)))
    timer.start()
    try:
        assert read_whole(f"/dev/fd/{reading}", pipes=True) == b"late"
        with pytest.raises(OSError, match="a pipe or a device"):
            read_whole(f"/dev/fd/{reading}")
    finally:
        timer.join()
        os.close(reading)


TAKE_A_PATH = {
    "Study.run": ("folder", lambda path: Study(games=["rps"], learners=["ucb"], seeds=1, rounds=2).run(path)),
    "read_study": ("path", read_study),
    "Results": ("folder", Results),
    "Store.create": ("folder", lambda path: Store.create(path, 'name = "x"')),
    "Player.save": ("path", lambda path: Player("exp3", 2).save(path)),
    "Player.load": ("path", Player.load),
    "Game.read": ("path", Game.read),
    "Game.write": ("path", lambda path: Game([[1, 0], [0, 1]]).write(path)),
}


@pytest.mark.parametrize("path", ["out\0", "", "a" * 300, "b/" * 5000, None, 3, b"out"])
@pytest.mark.parametrize("function", TAKE_A_PATH)
def test_impossible_file_names_are_rejected_in_one_line(tmp_path, monkeypatch, function, path):
    monkeypatch.chdir(tmp_path)
    argument, call = TAKE_A_PATH[function]
    with pytest.raises(InputError) as caught:
        call(path)
    assert str(caught.value).startswith(f"{argument} is ")
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
