"""The files of the ablation study in results/ablation, and docs/ablation.md from them: no number is typed by hand.

Run in the root of a checkout:

    coebl run studies/ablation.toml --out FOLDER
    python -m tools.ablation FOLDER    results/ablation again, and the page
    python -m tools.ablation           the page alone, from results/ablation
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from coebl.core.files import write_whole
from coebl.core.text import csv_text, decimal_places
from coebl.evidence.pairwise import ALL_GAMES
from coebl.evidence.statistics import Estimate
from coebl.learners import parse_learner
from coebl.learners.coebl import Coebl
from coebl.naming import PALETTE
from coebl.plots import save
from coebl.plots.style import GUIDE, NOTE, WIDTH, drawing
from coebl.study import Results, Study, read_study
from tools.suggestions import (
    KIN,
    NUMBERS,
    OUTCOMES,
    SELF_PLAY,
    SUGGESTIONS,
    Difference,
    Outcomes,
    label,
    plain,
)
from tools.templates import read_json, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STUDY = Path("studies", "ablation.toml")
FIGURES = {"coebl": SUGGESTIONS, "kin": (KIN,)}
TITLES = {
    "best-response": "v best-response\nregret per 100 rounds",
    "ucb": "v UCB\nregret per 100 rounds",
    "exp3": "v Exp3\nregret per 100 rounds",
    SELF_PLAY: "self-play\nexploitability",
}


class Files:
    """The files in results/ablation, with the numbers of the page."""

    def __init__(self, folder: Path) -> None:
        self.summary: dict[str, Any] = read_json(folder / "summary.json")
        tables = [pl.read_csv(folder / f"{name}.csv", infer_schema_length=None) for name in ("differences", "means")]
        self.differences = []
        for row in tables[0].fill_null(math.nan).iter_rows(named=True):
            numbers = {name: row.pop(name) for name in NUMBERS}
            estimate = Estimate(sd=math.nan, n=self.summary["seeds"], **numbers)
            self.differences.append(Difference(**row, estimate=estimate))
        self.means = {(learner, outcome, game): mean for learner, outcome, game, mean, *_ in tables[1].iter_rows()}

    def of_suggestion(
        self, suggestion: str, against_plain: bool = True
    ) -> dict[tuple[str, str], dict[str, Difference]]:
        """Return the tests of a suggestion against plain learners or second bases: by learner and base, by outcome."""
        tests: dict[tuple[str, str], dict[str, Difference]] = {}
        for test in self.differences:
            if test.suggestion == suggestion and test.game == ALL_GAMES:
                if (test.base == plain(test.learner)) == against_plain:
                    tests.setdefault((test.learner, test.base), {})[test.outcome] = test
        return tests

    def test(self, learner: str, outcome: str, base: str | None = None, game: str = ALL_GAMES) -> Difference:
        """Return one difference, by default from the plain learner and over all games."""
        wanted = learner, base or plain(learner), outcome, game
        return next(test for test in self.differences if test[1:5] == wanted)

    def counted(self, suggestion: str) -> tuple[int, int, int]:
        """Return the number of tests against plain learners: won, lost and in total."""
        signs = [test.estimate.sign for tests in self.of_suggestion(suggestion).values() for test in tests.values()]
        return signs.count(-1), signs.count(1), len(signs)


def summarise(results: Results, study: Study, folder: Path) -> None:
    """Write the summary, the tables and the figures of a finished study to the folder."""
    outcomes = Outcomes(results, study)
    differences = outcomes.differences()
    summary = {
        "command": f"coebl run {STUDY.as_posix()} --out FOLDER",
        "games": outcomes.games,
        "seeds": outcomes.seeds,
        "learners": len(outcomes.learners),
        "tests": sum(difference.game == ALL_GAMES for difference in differences),
        "versions": results.versions(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "summary.json", json.dumps(summary, indent=1) + "\n")
    rows = [difference.row() for difference in differences]
    write_whole(folder / "differences.csv", csv_text(rows, list(rows[0])))
    means = list(outcomes.means())
    write_whole(folder / "means.csv", csv_text(means, list(means[0])))
    files = Files(folder)
    for name, suggestions in FIGURES.items():
        save(plot_suggestions(files, suggestions), folder, name, ("svg", "png"))


# The figures


def plot_suggestions(files: Files, suggestions: Sequence[str]) -> Figure:
    """Plot the differences from plain learners: a row per variant, a panel per outcome, a colour per learner."""
    variants = {
        suggestion: list(dict.fromkeys(label(learner) for learner, _ in files.of_suggestion(suggestion)))
        for suggestion in suggestions
    }
    lines: dict[tuple[str, str], int] = {}
    for suggestion in suggestions:
        for name in ("", *variants[suggestion]):  # the suggestion has a line too
            lines[suggestion, name] = len(lines)
    with drawing(WIDTH, 0.9 + 0.165 * len(lines)) as figure:
        panels = figure.subplots(1, len(OUTCOMES), sharey=True)
        for ax, outcome in zip(panels, OUTCOMES, strict=True):
            _panel(ax, files, suggestions, outcome, lines)
        names = {place: name or suggestion.capitalize() for (suggestion, name), place in lines.items()}
        panels[0].set_yticks(list(names), list(names.values()))
        for tick, (_, name) in zip(panels[0].get_yticklabels(), lines, strict=True):
            tick.set_fontweight("normal" if name else "bold")
        panels[0].set_ylim(len(lines) - 0.5, -0.5)
        handles, labels = panels[0].get_legend_handles_labels()
        note = "95 % intervals of the paired difference; none where runs are identical. Hollow: undecided after Holm"
        figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), title=note, alignment="left")
    return figure


def _panel(ax: Axes, files: Files, suggestions: Sequence[str], outcome: str, lines: dict[tuple[str, str], int]) -> None:
    tests = [
        (suggestion, tests[outcome]) for suggestion in suggestions for tests in files.of_suggestion(suggestion).values()
    ]
    bases = list(dict.fromkeys(test.base for _, test in tests))
    ax.axvline(0, **GUIDE)
    for which, base in enumerate(bases):
        colour, marker = PALETTE[which][0], "os"[which]  # as in the titles of the panels
        learner = parse_learner(base)
        name = f"COEBL, c = {learner.c:g}" if isinstance(learner, Coebl) else learner.title
        ax.plot([], [], marker, color=colour, markersize=4, linestyle="none", label=f"{name}, variant − plain")
        for suggestion, test in tests:
            if test.base == base:
                y = lines[suggestion, label(test.learner)] + 0.36 * (which - (len(bases) - 1) / 2)
                estimate = test.estimate
                face = colour if estimate.sign else "white"
                ax.plot([estimate.low, estimate.high], [y, y], color=colour, linewidth=1.1)
                ax.plot(
                    estimate.mean, y, marker, color=colour, markerfacecolor=face, markersize=3.6, markeredgewidth=0.8
                )
    levels = "  ".join(
        f"{symbol} {files.means[base, outcome, ALL_GAMES]:.3g}" for symbol, base in zip("●■", bases, strict=False)
    )
    ax.set_title(f"{TITLES[outcome]}\nplain: {levels}", color=NOTE)
    ax.set_xlabel("better ←   → worse")
    ax.tick_params(axis="y", length=0)


# The page


def document(folder: Path) -> str:
    """Return the text of docs/ablation.md, from the folder of the files."""
    files = Files(folder)
    return render(
        "ablation",
        {"cell": cell, "label": label, "setting": setting},
        files=files,
        summary=files.summary,
        suggestions=SUGGESTIONS,
        outcomes=OUTCOMES,
        of=files.test,
        all_games=ALL_GAMES,
    )


def cell(difference: Difference) -> str:
    """Return a difference with its interval, in bold type if it is significant, as "**-1.2 [-1.5, -0.9]**"."""
    estimate = difference.estimate
    half = (estimate.high - estimate.low) / 2
    places = decimal_places(half) if half > 0 else 0
    text = f"{estimate.mean:.{places}f} [{estimate.low:.{places}f}, {estimate.high:.{places}f}]"
    return f"**{text}**" if estimate.sign else text


def setting(spec: str) -> str:
    """Return the c of a COEBL, for a table; "" for another learner.

    >>> setting("coebl:c=2,recombination=row"), setting("kin:c=0")
    ('2', '')
    """
    learner = parse_learner(spec)
    return f"{learner.c:g}" if isinstance(learner, Coebl) else ""


if __name__ == "__main__":
    target = Path("results", "ablation")
    if len(sys.argv) > 1:
        summarise(Results(sys.argv[1]), read_study(STUDY), target)
    write_whole(Path("docs", "ablation.md"), document(target))
