"""results/error-threshold from the folder of the study: how PDCoEA's error threshold moves with noise.

Run in the root of a checkout: python -m tools.error_threshold DIR, after `coebl run studies/error-threshold.toml --out
DIR`. It writes times.csv, the figure, and the table in docs/large-games.md.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from coebl.core.errors import InputError
from coebl.core.files import write_whole
from coebl.core.text import markdown_table
from coebl.evidence import Runtimes, read_runtimes
from coebl.games.noise import Gaussian, parse_noise
from coebl.learners import parse_learner
from coebl.plots import save
from coebl.plots.heat_map import draw_times
from coebl.plots.style import WIDTH, canvas
from coebl.study import Results
from tools.templates import read_csv

RESULTS = Path("results", "error-threshold")
BUDGET = 3_000_000
Grid = Mapping[float, Mapping[float, Runtimes]]  # by sigma, then by chi


def read_grid(folder: Path) -> Grid:
    """Return the times in a folder of the study."""
    grid: dict[float, dict[float, Runtimes]] = {}
    for match, times in read_runtimes(Results(folder).last(["hitting_time"])).items():
        model = parse_noise(match.noise)
        sigma = model.sigma if isinstance(model, Gaussian) else 0.0
        grid.setdefault(sigma, {})[parse_learner(match.players[0]).hyper_parameters()["chi"]] = times
    return {sigma: dict(sorted(by_rate.items())) for sigma, by_rate in sorted(grid.items())}


def read_published(path: Path) -> Grid:
    """Return the times in times.csv."""
    times: dict[float, dict[float, list[int | None]]] = {}
    for row in read_csv(path):
        by_rate = times.setdefault(float(row["sigma"]), {})
        by_rate.setdefault(float(row["chi"]), []).append(int(row["time"]) if row["time"] else None)
    return {
        sigma: {chi: Runtimes(tuple(runs), BUDGET) for chi, runs in by_rate.items()} for sigma, by_rate in times.items()
    }


def as_csv(grid: Grid) -> str:
    """Return a line per run; the time of a run that did not hit is empty."""
    lines = ["sigma,chi,seed,time"]
    for sigma, by_rate in grid.items():
        for chi, runs in by_rate.items():
            lines += [f"{sigma:g},{chi:g},{n},{'' if t is None else t}" for n, t in enumerate(runs.times)]
    return "\n".join(lines) + "\n"


def table(grid: Grid) -> str:
    """Return the Markdown table: where most runs hit, where most do not, and the fastest rate."""
    rows = [["sigma", "most runs hit up to chi", "most do not from chi", "best chi", "median queries there"]]
    for sigma, by_rate in grid.items():
        most = [chi for chi, runs in by_rate.items() if 2 * runs.hits > len(runs.times)]
        few = [chi for chi, runs in by_rate.items() if 2 * runs.hits <= len(runs.times) and chi > max(most, default=0)]
        medians = {chi: median for chi in most if (median := by_rate[chi].quantile(0.5)) is not None}
        best = min(medians, key=medians.__getitem__, default=None)
        ends = [f"{max(most):g}" if most else "none", f"{min(few):g}" if few else "beyond the grid"]
        fastest = ["none", ""] if best is None else [f"{best:g}", f"{medians[best]:,}"]
        rows.append([f"{sigma:g}", *ends, *fastest])
    return markdown_table(rows)


def publish(folder: Path, target: Path) -> None:
    """Write the times, the table and the figure of a folder of the study."""
    grid = read_grid(folder)
    if not grid:
        raise InputError(f"{folder}: no cell is finished; run: coebl run studies/error-threshold.toml --out {folder}")
    write_whole(target / "times.csv", as_csv(grid))
    write_whole(target / "table.md", table(grid))
    rows = {f"σ = {sigma:g}" if sigma else "no noise": list(by_rate.values()) for sigma, by_rate in grid.items()}
    with canvas(None, WIDTH, 2.6) as ax:
        draw_times(ax, rows, [f"{chi:g}" for chi in next(iter(grid.values()))])
        ax.set(xlabel="mutation rate χ", title="expected queries, and runs that hit within 3,000,000")
    save(ax.figure, target, "figure", ["svg", "png"])


if __name__ == "__main__":
    publish(Path(sys.argv[1]), RESULTS)
