"""Fixtures of the tests of studies."""

import pytest

from cells import TEXT
from coebl.study.store import Store
from study_runs import CELLS, STUDY, go, rows


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path / "study", TEXT)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The folder of the small study, run without interruption; copy it before you change anything in it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    outcome = go(STUDY, folder)
    assert (outcome.finished, outcome.found, outcome.failed) == (CELLS, 0, ())
    return folder


@pytest.fixture(scope="session")
def undisturbed(finished):
    return rows(finished)


@pytest.fixture
def here(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path
