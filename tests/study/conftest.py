"""What the tests of studies share."""

import pytest

from cells import TEXT
from coebl.study.store import Store


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path / "study", "demo", TEXT)
