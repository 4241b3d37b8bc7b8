r"""Means of a study as LaTeX tables, which need the package booktabs.

There is a table per metric, with a line per game and opponent and a column per row learner; the best mean of a line is
bold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from coebl.core.text import least_to_most, mean_and_half
from coebl.learners import LEARNERS
from coebl.naming import NOTHING, Known, game_title, learner_titles, metric_words
from coebl.study.results import SummaryRow

_SPECIAL = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\u00a0": "~"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}  # other characters in old encodings
)


def latex_tables(rows: Sequence[SummaryRow], known: Known = NOTHING) -> str:
    """Return the means of `Results.summary` as LaTeX."""
    by_metric: dict[str, list[SummaryRow]] = {}
    for row in rows:
        by_metric.setdefault(row["metric"], []).append(row)
    return "\n".join(_table(metric, chosen, known) for metric, chosen in by_metric.items())


def _table(metric: str, rows: Sequence[SummaryRow], known: Known) -> str:
    words = metric_words(metric, known)
    titles = learner_titles((spec for row in rows for spec in row["players"]), known)
    several = len({row["noise"] for row in rows}) > 1
    lines: dict[tuple[str, str], dict[str, SummaryRow]] = {}
    for row in rows:
        game = game_title(row["game"]) + (f", {row['noise']}" if several else "")
        first, *others = row["players"]
        opponent = "itself" if {*others} == {first} else " v ".join(titles[spec] for spec in others)
        lines.setdefault((game, opponent), {})[row["row"]] = row
    learners = sorted({row["row"] for row in rows}, key=LEARNERS.order)
    rounds, seeds = least_to_most(row["round"] for row in rows), least_to_most((row["n"] for row in rows), "seed")
    body = [
        " & ".join([_escaped(game), _escaped(opponent), *_cells(line, learners, words.better)]) + r" \\"
        for (game, opponent), line in lines.items()
    ]
    heads = ["Game", "Opponent", *(_escaped(titles[spec]) for spec in learners)]
    best = {"higher": "largest", "lower": "smallest", None: ""}[words.better]
    bold = f" Bold: the {best} mean of a line; differences are not tested." if best else ""
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(words.title)} after round {rounds}: mean $\pm$ half of the 95\,\% interval, "
            rf"{seeds}.{bold}}}",
            rf"\begin{{tabular}}{{ll{'r' * len(learners)}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _cells(line: dict[str, SummaryRow], learners: Sequence[str], better: str | None) -> list[str]:
    """Return the mean and the half width of each learner; a dash if it did not play."""
    means = [row["mean"] for row in line.values() if not math.isnan(row["mean"])]
    best = (max if better == "higher" else min)(means, default=None)
    cells = []
    for row in map(line.get, learners):
        if row is None:
            cells.append("--")
            continue
        text = r" \pm ".join(map(_in_math_mode, mean_and_half(row["mean"], (row["high"] - row["low"]) / 2)))
        is_best = better and len(means) > 1 and row["mean"] == best
        cells.append(rf"$\mathbf{{{text}}}$" if is_best else f"${text}$")
    return cells


def _in_math_mode(number: str) -> str:
    r"""Return a formatted number for LaTeX's math mode.

    >>> print(_in_math_mode("6.384e-16"), _in_math_mode("-inf"), _in_math_mode("0.25"))
    6.384 \times 10^{-16} -\infty 0.25
    """
    return re.sub(r"e([+-]\d+)", lambda match: rf" \times 10^{{{int(match[1])}}}", number).replace("inf", r"\infty")


def _escaped(text: str) -> str:
    r"""Return a title with the special characters of LaTeX escaped.

    >>> print(_escaped("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return text.translate(_SPECIAL)
