"""Hitting times as files that IOHanalyzer reads: an .info file with a .dat file for each size of a game.

The value of a run is 0 until it hits and 1 from then on, to be maximised: at the target 1, the tool's expected running
time is that of `Runtimes.ert`. See https://iohprofiler.github.io for the format; the .dat files are its two columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from coebl.core.files import make_folder, write_whole
from coebl.evidence.runtimes import Runtimes

_HEADER = '"function evaluation" "best-so-far f(x)"'


class Problem(NamedTuple):
    """A game of one size, as IOHanalyzer numbers them.

    >>> Problem(1, "diagonal", 100).size
    100
    """

    number: int  # of the game
    name: str  # of the game, without its size
    size: int  # of the game: its dimension


def write_ioh(folder: Path, algorithm: str, runs: Mapping[Problem, Runtimes]) -> list[Path]:
    """Write the times of an algorithm as files for IOHanalyzer, into a folder of its own, and return the paths.

    Args:
        folder: it is created if it does not exist.
        algorithm: the name of the algorithm.
        runs: the times on each game.

    >>> from coebl.evidence import Runtimes
    >>> runs = {Problem(1, "diagonal", 100): Runtimes((257250, None), budget=10**6)}
    >>> [path.name for path in write_ioh(Path("ioh"), "pdcoea", runs)]
    ['IOHprofiler_f1_DIM100.dat', 'IOHprofiler_f1.info']
    """
    home = make_folder(folder / _file_name(algorithm))
    paths, infos = [], dict[int, list[str]]()
    for problem, times in runs.items():
        data = f"data_f{problem.number}/IOHprofiler_f{problem.number}_DIM{problem.size}.dat"
        make_folder(home / f"data_f{problem.number}")
        paths.append(write_whole(home / data, _blocks(times)))
        hits = [f"1:{int(spent)}|{time is not None:.1f}" for spent, time in zip(times.spent, times.times, strict=True)]
        fields = f"funcId = {problem.number}, funcName = '{_plain(problem.name)}', DIM = {problem.size}"
        infos.setdefault(problem.number, []).append(
            f"suite = 'coebl', {fields}, maximization = T, algId = '{_plain(algorithm)}'\n"
            f"% f(x) is 1 from the hit on, else 0\n{', '.join([data, *hits])}\n"
        )
    for number, parts in infos.items():
        paths.append(write_whole(home / f"IOHprofiler_f{number}.info", "".join(parts)))
    return paths


def _blocks(times: Runtimes) -> str:
    """Return the table of each run: its first and its last evaluation."""
    lines = []
    for spent, time in zip(times.spent, times.times, strict=True):
        lines += [_HEADER, *(["1 0"] if spent > 1 else []), f"{int(spent)} {int(time is not None)}"]
    return "\n".join(lines) + "\n"


def _plain(name: str) -> str:
    """Return a name without the characters that separate fields."""
    return name.replace(",", " ").replace("'", "").replace('"', "")


def _file_name(name: str) -> str:
    return "".join(character if character.isalnum() or character in "-_.=+" else "_" for character in name)
