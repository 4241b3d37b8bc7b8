"""Exit codes and last lines of commands: too little memory, unexpected errors, the end of a reproduction."""

import errno
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from coebl.papers import reproduce


def test_too_little_memory_is_one_line(coebl, monkeypatch):
    monkeypatch.setattr("coebl.cli.app", Mock(side_effect=MemoryError))
    done = coebl("list", "games")
    assert done.returncode == 1
    assert done.stderr == "coebl: there is not enough memory for this; use fewer seeds or a smaller game.\n"


@pytest.mark.parametrize("error", [OSError(errno.EACCES, "Permission denied"), ZeroDivisionError("ours")])
def test_an_unexpected_error_keeps_its_traceback(coebl, monkeypatch, error):
    monkeypatch.setattr("coebl.cli.app", Mock(side_effect=error))
    with pytest.raises(type(error)):
        coebl("list", "games")


def reproduction(**parts):
    return SimpleNamespace(**{"verdicts": [], "figures": [], "page": None, "ran": run_summary()} | parts)


def run_summary(finished=3, failed=()):
    return SimpleNamespace(finished=finished, failed=failed)


@pytest.mark.parametrize(
    ("outcome", "code", "last"),
    [
        (reproduction(figures=["a.pdf", "a.svg"]), 0, "2 files of figures: reproduction/figures"),
        (reproduction(page=Path("reproduction/report.html")), 0, "page: reproduction/report.html"),
        (reproduction(), 0, "the page is older than these results; for a new one: coebl report reproduction"),
        (reproduction(ran=run_summary(finished=0)), 0, ""),
        (reproduction(ran=run_summary(finished=0, failed=("a cell",))), 1, ""),
    ],
)
def test_the_last_line_of_a_reproduction(coebl, monkeypatch, tmp_path, outcome, code, last):
    monkeypatch.setattr(reproduce, "reproduce", lambda *_, **__: outcome)
    (tmp_path / "reproduction").mkdir()
    if outcome.figures == []:
        (tmp_path / "reproduction" / "report.html").touch()
    done = coebl("reproduce", cwd=tmp_path)
    assert done.returncode == code
    assert (done.stdout.splitlines() or [""])[-1] == last


def test_a_quick_reproduction_is_announced_as_such_and_its_command_is_recorded(coebl, monkeypatch, tmp_path):
    given = {}

    def record(*_, **options):
        given.update(options)
        return reproduction(page=Path("reproduction/report.html"))

    monkeypatch.setattr(reproduce, "reproduce", record)
    done = coebl("reproduce", "--quick", cwd=tmp_path)
    assert "This was a quick run: small games, few seeds. For the full run: coebl reproduce\npage:" in done.stdout
    assert given["command"] == "coebl reproduce --quick"
    elsewhere = coebl("reproduce", "--quick", "--out", "x", cwd=tmp_path)
    assert "For the full run: coebl reproduce --out x\npage:" in elsewhere.stdout
    coebl("reproduce", "--figure", "a b", "--figure", "c", "--workers", 2, "--out", "x", "aaai2025", cwd=tmp_path)
    assert given["command"] == "coebl reproduce aaai2025 --figure 'a b' --figure c"
