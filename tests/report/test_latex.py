"""LaTeX tables: a line per game and opponent, the best mean in bold, and escaped characters."""

import math
import re

from coebl.naming import Known, LearnerWords
from coebl.report.latex import latex_tables


def row(row, column, mean, half, game="diagonal:n=2", metric="exploitability"):
    labels = {"game": game, "noise": "gaussian", "row": row, "column": column, "horizon": 30, "round": 30}
    labels |= {"players": [row, column]}
    return labels | {"metric": metric, "mean": mean, "low": mean - half, "high": mean + half, "sd": 1.0, "n": 5}


def lines(text):
    return re.findall(r"^(.*) \\\\$", text, re.M)


def test_the_best_mean_of_a_line_is_bold():
    rows = [row("ucb", "exp3", -12.34, 1.5), row("exp3", "exp3", 3.0, 0.25), row("coebl:c=2", "exp3", 7.0, 0.02)]
    head, against_exp3, itself = lines(latex_tables(rows))
    assert head == "Game & Opponent & COEBL, c~=~2 & Exp3 & UCB"
    assert against_exp3 == r"Diagonal, n~=~2 & Exp3 & $7.000 \pm 0.020$ & -- & $\mathbf{-12.3 \pm 1.5}$"
    assert itself == r"Diagonal, n~=~2 & itself & -- & $3.00 \pm 0.25$ & --", "a single mean is not bold"


def test_there_is_a_table_per_metric_with_its_title_and_titles_are_escaped():
    known = Known({"my_file.py:Mine": LearnerWords("50 % & _mine_ <b>|", 5, "bandit", {})})
    rows = [row("my_file.py:Mine", "ucb", 1.0, 0.5, metric=metric) for metric in ("exploitability", "tv")]
    text = latex_tables(rows, known)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == text.count(r"\toprule") == 2
    assert r"50 \% \& \_mine\_ \textless{}b\textgreater{}\textbar{}" in text
    assert [caption in text for caption in ("Exploitability after round 30", "TV distance after round 30")] == [
        True
    ] * 2
    assert "5 seeds" in text


def test_a_number_without_an_interval_is_in_math_mode():
    rows = [row("ucb", "exp3", 6.384e-16, 0.0), row("exp3", "ucb", 0.0, 0.0), row("coebl", "ucb", float("inf"), 0.0)]
    text = latex_tables(rows)
    assert r"$6.384 \times 10^{-16}$" in text
    assert r"$\infty$" in text


def test_an_interval_may_have_no_upper_end():
    """The bootstrap interval of an expected running time, if few runs hit."""
    entry = row("ucb", "exp3", 2700.0, 0.0, metric="hitting_time") | {"low": 270.0, "high": math.inf, "n": 1}
    text = latex_tables([entry])
    assert r"$2700 \pm \infty$" in text
    assert "interval, 1 seed. Bold" in text
