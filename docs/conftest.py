"""The pages of the documentation are tests: their examples are run, in an empty folder with the files that they show.

A block with a title is a file. Lines with Python's prompt are doctests. In a block of the language `console`, lines
that begin with `$ coebl` are run, one after the other; the lines below a command must match its output.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from coebl.cli import main

collect_ignore = ["generate"]

_FILE = re.compile(r'^``` ?\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^``` ?console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (coebl .*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_SLOW = "<!-- slow -->"  # in a page whose commands take long
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@contextlib.contextmanager
def _folder_of(page: Path) -> Iterator[None]:
    """Work in an empty folder with the files that the page shows."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        for name, content in _FILE.findall(page.read_text("utf-8")):
            Path(folder, name).write_text(content, "utf-8")
        os.chdir(folder)
        sys.path.insert(0, folder)
        try:
            yield
        finally:
            os.chdir(before)
            sys.path.remove(folder)
            for name in [name for name, module in sys.modules.items() if _is_in(module, folder)]:
                del sys.modules[name]


def _is_in(module: object, folder: str) -> bool:
    return (getattr(module, "__file__", None) or "").startswith(folder)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(request: pytest.FixtureRequest) -> Iterator[None]:
    with _folder_of(request.path):
        yield


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    """Collect the pages that have commands."""
    if file_path.suffix == ".md" and _CONSOLE.search(file_path.read_text("utf-8")):
        return CommandsFile.from_parent(parent, path=file_path)
    return None


class CommandsFile(pytest.File):
    """A page that has commands."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one test for all commands: each may use the files that earlier ones left."""
        commands = Commands.from_parent(self, name="commands")
        if _SLOW in self.path.read_text("utf-8"):
            commands.add_marker("slow")
        yield commands


class Commands(pytest.Item):
    """The commands of a page."""

    def runtest(self) -> None:
        """Run the commands, and compare their output."""
        with _folder_of(self.path):
            for block in _CONSOLE.findall(self.path.read_text("utf-8")):
                for command, expected in _COMMAND.findall(block):
                    _run(command, expected)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the location of the commands."""
        return self.path, None, f"commands of {self.path.name}"


def _run(command: str, expected: str) -> None:
    printed, words = io.StringIO(), sys.argv
    sys.argv = shlex.split(command, comments=True)
    try:
        with contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as stopped:
            main()
    finally:
        sys.argv = words
    assert stopped.value.code == 0, f"$ {command}\nends with {stopped.value.code}"
    if expected.strip() and not doctest.OutputChecker().check_output(expected, printed.getvalue(), _FLAGS):
        raise AssertionError(f"$ {command}\nexpected:\n{expected}\nprinted:\n{printed.getvalue()}")
