"""Times to equilibrium: the share of runs that hit, the expected running time and its growth, with intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError
from coebl.core.files import make_folder, write_whole
from coebl.core.frames import pl
from coebl.engine.match import MatchKey
from coebl.evidence.statistics import LEVEL, Estimate, share_interval

CAPTION = (
    "Expected time: the rounds, or queries, of all runs together, divided by the number of runs that hit, with a "
    "bootstrap interval. Median: the time by which half of the runs have hit."
)
"""What a table of `Runtimes.described` shows."""

_RESAMPLES = 9_999
_ENDS = 0.5 - LEVEL / 2, 0.5 + LEVEL / 2  # quantiles at the ends of an interval


@dataclass(frozen=True)
class Runtimes:
    """The hitting times of runs with one budget: None for a run that did not hit, which is censored at the budget.

    >>> runs = Runtimes((120, 80, None, 100), budget=1000)
    >>> print(runs.share())
    0.75 [0.3006, 0.9544]
    >>> runs.ert().mean, runs.quantile(0.5), runs.quantile(0.9)
    (433.3333333333333, 100, None)
    """

    times: tuple[int | None, ...]  # rounds of a match, or queries of a search
    budget: int  # the rounds after which a run was ended

    def __post_init__(self) -> None:
        if not self.times:
            raise InputError("times is empty; accepted: one hitting time per run, or None for a run that did not hit.")

    @property
    def hits(self) -> int:
        """The number of runs that hit."""
        return sum(time is not None for time in self.times)

    @property
    def spent(self) -> Floats:
        """The rounds of each run: to its hit, or the budget."""
        return np.array([self.budget if time is None else time for time in self.times], np.float64)

    def share(self) -> Estimate:
        """Return the share of runs that hit, with Wilson's score interval."""
        return share_interval(self.hits, len(self.times))

    def ert(self) -> Estimate:
        """Return the expected running time: all rounds of all runs, divided by the number of hits; possibly infinite.

        It is the mean time to a hit if a run that did not hit is repeated. The interval is that of the percentile
        bootstrap over runs, with fixed random numbers.
        """
        low, high = np.quantile(self._resampled(), _ENDS, method="inverted_cdf")
        sd = float(self.spent.std(ddof=1)) if len(self.times) > 1 else math.nan
        mean = float(self.spent.sum()) / self.hits if self.hits else math.inf
        return Estimate(mean, low, high, sd, len(self.times))

    def quantile(self, share: float) -> int | None:
        """Return the time by which at least this share of the runs has hit; None if fewer hit.

        Args:
            share: from 0 to 1.
        """
        times, shares = self.ecdf()
        reached = times[shares >= share - 1e-9]
        return int(reached[0]) if len(reached) else None

    def ecdf(self) -> tuple[Floats, Floats]:
        """Return the times of the hits, increasing, and the share of runs that have hit by each."""
        times = np.sort(np.array([time for time in self.times if time is not None], np.float64))
        return times, np.arange(1, len(times) + 1) / len(self.times)

    def described(self) -> dict[str, str]:
        """Return the cells of a table by their titles.

        >>> Runtimes((1200, 800, None, 1000), budget=10_000).described()
        {'runs that hit': '3 of 4', 'expected time': '4,333', '95 % interval': '900 to 31,000', 'median': '1,000'}
        """
        ert, median = self.ert(), self.quantile(0.5)
        return {
            "runs that hit": f"{self.hits} of {len(self.times)}",
            "expected time": time_text(ert.mean),
            "95 % interval": f"{time_text(ert.low)} to {time_text(ert.high)}",
            "median": "not yet" if median is None else f"{median:,}",
        }

    def _resampled(self) -> Floats:
        """Return the expected running times of many samples of the runs, drawn with replacement."""
        random = np.random.default_rng(0)
        drawn = random.integers(len(self.times), size=(_RESAMPLES, len(self.times)))
        hit = np.array([time is not None for time in self.times])
        with np.errstate(divide="ignore"):
            ratio: Floats = self.spent[drawn].sum(axis=1) / hit[drawn].sum(axis=1)
        return ratio


def time_text(time: float) -> str:
    """Return a number of rounds as "4,333", or "infinite"."""
    return f"{time:,.0f}" if math.isfinite(time) else "infinite"


def slope(by_size: Mapping[int, Runtimes]) -> Estimate:
    """Return the slope of the logarithm of the expected running time in that of the size, by least squares.

    The interval is that of the percentile bootstrap over the runs of each size.

    Args:
        by_size: times by the size of the problem, at least two sizes, with a hit in each.

    >>> times = {10: Runtimes((98, 102), 999), 20: Runtimes((398, 402), 999), 40: Runtimes((1590, 1610), 9999)}
    >>> estimate = slope(times)
    >>> round(estimate.mean, 3), estimate.n
    (2.0, 6)
    """
    if len(by_size) < 2 or not all(runs.hits for runs in by_size.values()):
        raise InputError(f"a slope needs at least two sizes, with a hit in each; the sizes are {sorted(by_size)}.")
    x = np.log(np.array(sorted(by_size), np.float64))
    x -= x.mean()

    def fitted(times: Floats) -> Floats:  # (..., sizes)
        with np.errstate(invalid="ignore"):
            slopes: Floats = (np.log(times) * x).sum(axis=-1) / (x * x).sum()
        return slopes

    runs = [by_size[size] for size in sorted(by_size)]
    many = fitted(np.stack([runtimes._resampled() for runtimes in runs], axis=-1))
    finite = many[np.isfinite(many)]
    low, high = np.quantile(finite, _ENDS)
    mean = float(fitted(np.array([runtimes.ert().mean for runtimes in runs])))
    count = sum(len(runtimes.times) for runtimes in runs)
    return Estimate(mean, float(low), float(high), float(finite.std(ddof=1)), count)


def read_runtimes(frame: pl.DataFrame) -> dict[MatchKey, Runtimes]:
    """Return the times of every match in a frame of `Result.last` or `Results.last`.

    Args:
        frame: one row per match and seed, with the column `hitting_time`.

    >>> from coebl import simulate
    >>> result = simulate("rps", "ucb", "ucb", rounds=300, seeds=3, until="exploitability < 0.4")
    >>> read_runtimes(result.last())
    {('rps', ('ucb', 'ucb'), 'gaussian', 300): Runtimes(times=(111, 201, 165), budget=300)}
    """
    if "hitting_time" not in frame.columns:
        raise InputError("these runs have no hitting_time; accepted: runs with until, such as until=optimum.")
    matches = frame.group_by("game", "players", "noise", "rounds", maintain_order=True).agg(
        pl.col("hitting_time").fill_nan(None).cast(pl.Int64)
    )
    return {
        MatchKey(game, tuple(players), noise, rounds): Runtimes(tuple(times), rounds)
        for game, players, noise, rounds, times in matches.iter_rows()
    }


_HEADER = '"function evaluation" "best-so-far f(x)"'


class Problem(NamedTuple):
    """A game of one size, with a number for IOHanalyzer.

    >>> Problem(1, "diagonal", 100).size
    100
    """

    number: int  # of the game
    name: str  # of the game, without its size
    size: int  # of the game: its dimension


def write_ioh(folder: Path, algorithm: str, runs: Mapping[Problem, Runtimes]) -> list[Path]:
    """Write the times of an algorithm as files for IOHanalyzer, into a folder inside the given one; return the paths.

    Args:
        folder: the outer folder, which is created if it does not exist.
        algorithm: the name of the algorithm.
        runs: the times on each game.

    >>> from coebl.evidence import Runtimes
    >>> runs = {Problem(1, "diagonal", 100): Runtimes((257250, None), budget=10**6)}
    >>> [path.name for path in write_ioh(Path("ioh"), "pdcoea", runs)]
    ['IOHprofiler_f1_DIM100.dat', 'IOHprofiler_f1.info']
    """
    home = make_folder(folder / re.sub(r"[^\w.=+-]", "_", algorithm))
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
