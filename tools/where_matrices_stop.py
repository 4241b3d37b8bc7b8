"""results/large-games: rounds to an equilibrium by the number of bits, for learners of matrices and of genomes.

Run in the root of a checkout: python -m tools.where_matrices_stop DIR. It runs studies/where-matrices-stop.toml into
DIR, or resumes it, and writes times.csv, table.md and the figure of docs/large-games.md and of the README. Without DIR
it draws them again from times.csv.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from coebl.core.files import write_whole
from coebl.core.text import markdown_table
from coebl.evidence import Runtimes, read_runtimes
from coebl.games import GAMES
from coebl.naming import learner_titles
from coebl.plots import save
from coebl.plots.style import WIDTH, drawing
from coebl.study import Results, read_study
from tools.templates import read_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

STUDY, RESULTS = Path("studies", "where-matrices-stop.toml"), Path("results", "large-games")
TITLES = {"diagonal": "Diagonal", "bigger-number": "BiggerNumber"}
MATRICES = ("kin", "k-learning", "coebl:c=2", "ucb")  # these treat each bit string as an action; drawn as squares
COLOURS = {
    "gene-lr": "#CC79A7",
    "pbil": "#009E73",
    "pbil:step=safe": "#8FD9BF",
    "pbil:step=smart": "#00513B",
    "umda": "#E69F00",
    "kin": "#333333",
    "k-learning": "#999999",
    "coebl:c=2": "#0072B2",
    "ucb": "#D55E00",
}
Times = Mapping[str, Mapping[str, Mapping[int, Runtimes]]]  # by game, learner and number of bits


def read_times(folder: Path) -> Times:
    """Return the times in a folder of the study."""
    times: dict[str, dict[str, dict[int, Runtimes]]] = {game: {} for game in TITLES}
    for match, runs in read_runtimes(Results(folder).last(["hitting_time"])).items():
        entry, arguments = GAMES.parse(match.game)
        times[entry.name].setdefault(match.players[0], {})[arguments["n"]] = runs
    return times


def read_published(path: Path) -> Times:
    """Return the times in times.csv."""
    runs: dict[tuple[str, str, int, int], list[int | None]] = {}
    for row in read_csv(path):
        key = row["game"], row["learner"], int(row["n"]), int(row["budget"])
        runs.setdefault(key, []).append(int(row["time"]) if row["time"] else None)
    times: dict[str, dict[str, dict[int, Runtimes]]] = {game: {} for game in TITLES}
    for (game, learner, n, budget), listed in runs.items():
        times[game].setdefault(learner, {})[n] = Runtimes(tuple(listed), budget)
    return times


def as_csv(times: Times) -> str:
    """Return a line per run; the time of a run that did not hit is empty."""
    lines = ["game,learner,n,budget,seed,time"]
    for game, by_learner in times.items():
        for learner, by_size in sorted(by_learner.items()):
            for n, runs in sorted(by_size.items()):
                written = ("" if time is None else str(time) for time in runs.times)
                lines += [f"{game},{learner},{n},{runs.budget},{seed},{time}" for seed, time in enumerate(written)]
    return "\n".join(lines) + "\n"


def table(times: Times) -> str:
    """Return the Markdown table of medians, with the runs that hit where not all did."""
    sizes = sorted({n for by_learner in times.values() for by_size in by_learner.values() for n in by_size})
    rows = [["game", "learner", *(f"n = {n}" for n in sizes)]]
    for game, by_learner in times.items():
        for learner in _ordered(by_learner):
            rows.append([TITLES[game], f"`{learner}`", *(_cell(by_learner[learner].get(n)) for n in sizes)])
    return markdown_table(rows)


def _cell(runs: Runtimes | None) -> str:
    if runs is None:
        return ""
    median, count = runs.quantile(0.5), len(runs.times)
    if runs.hits == count:
        return f"{median:,}"
    return f"{'-' if median is None else f'{median:,}'} ({runs.hits} of {count})"


def _ordered(learners: Mapping[str, object]) -> list[str]:
    """Return the learners of genomes, then those of matrices."""
    return sorted(learners, key=lambda spec: (spec in MATRICES, MATRICES.index(spec) if spec in MATRICES else 0, spec))


def draw(times: Times) -> Figure:
    """Return the figure: medians by the number of bits; a cross at the budget where fewer than half of the runs hit."""
    with drawing(WIDTH, 3.6) as figure:
        axes = figure.subplots(1, 2, sharey=True, width_ratios=[1.25, 1])
        specs = _ordered({spec: None for by_learner in times.values() for spec in by_learner})
        titles = learner_titles(specs)
        handles = {}
        for ax, (game, by_learner) in zip(axes, times.items(), strict=True):
            failed = 0  # the number of lines that end in crosses, which would hide each other
            for spec in (spec for spec in specs if spec in by_learner):
                line = _line(ax, by_learner[spec], COLOURS[spec], spec in MATRICES, 1.16**failed)
                failed += any(runs.quantile(0.5) is None for runs in by_learner[spec].values())
                handles[f"{titles[spec]}{', 2^n actions' * (spec in MATRICES)}"] = line
            ax.set(xscale="log", yscale="log", title=TITLES[game], xlabel="bits n of an action")
            ticks = [5, 7, 10, 20, 50, 100, *([1000] if game == "diagonal" else [])]
            ax.set_xticks(ticks, [str(tick) for tick in ticks])
            ax.minorticks_off()
        axes[0].set_ylabel("rounds until exploitability < 0.1")
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def _line(ax: Axes, by_size: Mapping[int, Runtimes], colour: str, matrix: bool, lift: float) -> Line2D:
    """Draw a learner: filled marks where all runs hit, open ones where at least half did, crosses elsewhere."""
    medians = {n: runs.quantile(0.5) for n, runs in sorted(by_size.items())}
    reached = {n: median for n, median in medians.items() if median is not None}
    marker, style = ("s", "--") if matrix else ("o", "-")
    (line,) = ax.plot(list(reached), list(reached.values()), style, marker=marker, markersize=4, color=colour)
    for n, runs in by_size.items():
        if n not in reached:
            ax.plot([n], [lift * runs.budget], "x", color=colour, markersize=5)
        elif runs.hits < len(runs.times):
            ax.plot([n], [reached[n]], marker, color=colour, markersize=4, markerfacecolor="white", zorder=3)
    return line


def main(folder: Path) -> None:
    """Run the study, or resume it, and publish it."""
    read_study(STUDY).run(folder, workers=1)
    times = read_times(folder)
    write_whole(RESULTS / "times.csv", as_csv(times))
    publish(times)


def publish(times: Times) -> None:
    """Write the table and the figure."""
    write_whole(RESULTS / "table.md", table(times))
    save(draw(times), RESULTS, "where-matrices-stop", ["svg", "png"])


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        publish(read_published(RESULTS / "times.csv"))
