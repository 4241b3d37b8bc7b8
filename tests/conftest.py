"""Fixtures and settings for all tests."""

import signal
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings

from coebl.cli import main

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]  # so that `from oracles import ...` and `from tools import ...` work

# `nohup make test &` ignores these signals, and child processes would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def _temporary_cache(tmp_path_factory):
    """Keep the tests out of the user's cache folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


class Done(NamedTuple):
    """The outcome of a command, with the attributes of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def coebl(monkeypatch, capsys):
    """Run a command as `coebl WORD ...` does, but in this process, since a new one takes seconds to start."""

    def run(*words, cwd=None):
        if cwd is not None:
            monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["coebl", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        error = "".join(line for line in captured.err.splitlines(keepends=True) if "compiling the solver" not in line)
        return Done(stopped.value.code, captured.out, error)

    return run


def pytest_terminal_summary(terminalreporter):
    """Report why tests were skipped, one line for each reason."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")
