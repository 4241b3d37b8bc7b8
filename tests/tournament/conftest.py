"""Fixtures of the tests of tournaments."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from coebl import study as study_package
from coebl.cli import main
from coebl.study import run


@pytest.fixture
def coebl(tmp_path, monkeypatch, capsys):
    """The command in the test's folder, its cells run in this process: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def here(study, out, **options):
        return run(study, out, **options | {"executor": ThreadPoolExecutor(1), "quiet": True})

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["coebl", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code, *capsys.readouterr()

    monkeypatch.setattr(study_package, "run", here)
    return call
