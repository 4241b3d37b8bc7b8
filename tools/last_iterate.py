"""results/last-iterate from the folder of the study: which last policies of self-play are worth keeping.

Run in the root of a checkout: python -m tools.last_iterate DIR, after `coebl run studies/last-iterate.toml --out DIR`.
It writes means.csv, the figure, and the table in docs/evolution.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

from coebl.core.errors import InputError
from coebl.core.files import write_whole
from coebl.core.text import csv_text, markdown_table
from coebl.evidence.statistics import Estimate, mean_interval
from coebl.games import parse_game
from coebl.naming import learner_titles
from coebl.plots import save
from coebl.plots.style import WIDTH, canvas
from coebl.study import Results
from coebl.tournament.standings import payoff_width
from tools.templates import read_csv

RESULTS = Path("results", "last-iterate")
METRICS = {"last": "exploitability", "average": "average_exploitability"}
Means = dict[str, dict[str, dict[str, float]]]  # by learner, game, and last or average; in percent of the payoff range


def read_means(folder: Path) -> Means:
    """Return the means over seeds in a folder of the study."""
    means: Means = {}
    by_match = Results(folder).last(list(METRICS.values())).group_by("game", "players", maintain_order=True)
    for row in by_match.agg(pl.col(*METRICS.values()).mean()).iter_rows(named=True):
        width = payoff_width(parse_game(row["game"]))
        percentages = {which: float(f"{100 * row[metric] / width:.6g}") for which, metric in METRICS.items()}
        means.setdefault(row["players"][0], {})[row["game"]] = percentages
    return means


def read_published(path: Path) -> Means:
    """Return the means in means.csv."""
    means: Means = {}
    for row in read_csv(path):
        means.setdefault(row["learner"], {})[row["game"]] = {which: float(row[which]) for which in METRICS}
    return means


def over_games(means: Means) -> list[tuple[str, dict[str, Estimate], int]]:
    """Return learners, best last policies first, with means over games and the number of games with the least."""
    games = next(iter(means.values()))
    least = {game: min(by_game[game]["last"] for by_game in means.values()) for game in games}
    rows = [
        (
            learner,
            {
                which: mean_interval(np.array([percentages[which] for percentages in by_game.values()]))
                for which in METRICS
            },
            sum(by_game[game]["last"] == number for game, number in least.items()),
        )
        for learner, by_game in means.items()
    ]
    return sorted(rows, key=lambda row: row[1]["last"].mean)


def table(means: Means) -> str:
    """Return the Markdown table."""
    rows = [["learner", "last policies, %", "averaged policies, %", "games with the least"]]
    titles = learner_titles(list(means))
    for learner, estimates, least in over_games(means):
        ends = (
            f"{estimates[which].mean:.1f} [{estimates[which].low:.1f}, {estimates[which].high:.1f}]"
            for which in METRICS
        )
        rows.append([titles[learner], *ends, str(least)])
    return markdown_table(rows)


def publish(folder: Path, target: Path) -> None:
    """Write the means, the table and the figure of a folder of the study."""
    means = read_means(folder)
    if not means or len({len(by_game) for by_game in means.values()}) > 1:
        raise InputError(f"{folder} is not finished; run: coebl run studies/last-iterate.toml --out {folder}")
    flat = [
        {"learner": learner, "game": game} | percentages
        for learner, by_game in means.items()
        for game, percentages in by_game.items()
    ]
    target.mkdir(parents=True, exist_ok=True)
    write_whole(target / "means.csv", csv_text(flat, list(flat[0])))
    write_whole(target / "table.md", table(means))
    rows = over_games(means)[::-1]
    titles = learner_titles([learner for learner, _, _ in rows])
    with canvas(None, WIDTH, 1 + 0.22 * len(rows)) as ax:
        for place, (_, estimates, _) in enumerate(rows):
            ax.plot([estimates[which].mean for which in METRICS], [place] * 2, color="0.75", linewidth=1, zorder=1)
        for which, marker, fill in (("average", "o", "white"), ("last", "o", "C0")):
            numbers = [estimates[which].mean for _, estimates, _ in rows]
            policies = "averaged over all rounds" if which == "average" else "of the last round"
            ax.plot(numbers, range(len(rows)), marker, color="C0", markerfacecolor=fill, linestyle="", label=policies)
        ax.set_yticks(range(len(rows)), [titles[learner] for learner, _, _ in rows])
        most = max(estimates[which].mean for _, estimates, _ in rows for which in METRICS)
        ax.set(xlim=(0, 1.05 * most), xlabel="exploitability in self-play, % of the payoff range, mean over games")
        ax.legend(title="policies")
    save(ax.figure, target, "figure", ["svg", "png"])


if __name__ == "__main__":
    try:
        publish(Path(sys.argv[1]), RESULTS)
    except InputError as error:
        sys.exit(str(error))
