"""Fixtures of the tests of tournaments."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from coebl import study as study_package
from coebl.study import run


@pytest.fixture
def coebl(coebl, tmp_path, monkeypatch):
    """The command in the test's folder, its cells run in this process: exit code, stdout, stderr."""

    def here(study, out, **options):
        return run(study, out, **options | {"executor": ThreadPoolExecutor(1), "quiet": True})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(study_package, "run", here)
    return coebl
