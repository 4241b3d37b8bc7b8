"""The examples of docstrings are tests. They are run in a folder that has what they read: a study and its results."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coebl.study import read_study, run

_STUDY = """\
name = "small"
rounds = 100
seeds = 5
games = ["rps"]
record = 10
metrics = ["pseudo_regret", "exploitability"]

[match-ups]
self-play = ["ucb"]
pairs = [["ucb", "exp3"]]
"""


@pytest.fixture(scope="session")
def folder_with_results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with study.toml, and in results/ what came out of it; notes on it are not left in the user's home."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "study.toml").write_text(_STUDY, "utf-8")
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as executor:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        run(read_study(folder / "study.toml"), folder / "results", executor=executor, quiet=True)
        yield folder


@pytest.fixture(autouse=True)
def _in_a_folder_with_results(folder_with_results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder_with_results)
