"""Findings in words: the answer first, then what failed, then all of it as Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from coebl.core.errors import printable
from coebl.core.text import number_text
from coebl.tournament.statements import StatementKind
from coebl.tournament.trial.judging import MISSING, WORDS, Finding, Row

HEADER = ["", "statement", "aim", "what came out"]
LEGEND = (
    "One-sided Student tests, paired by seed, Holm over the suite, 5 %. Over all games: tests with one number per "
    "game, Holm over the opponents."
)
_MOST_FAILURES = 12  # that the terminal lists for a statement
_FAILING: dict[StatementKind, str] = {
    "head-to-head": "behind",
    "best-response": "ratio above the limit",
    "self-play": "exploitability above",
}


def aim_word(finding: Finding) -> str:
    """Whether the aim is reached, in a word."""
    return {True: "reached", False: "missed", None: "open"}[finding.reached]


def rows_of(findings: Iterable[Finding]) -> list[list[str]]:
    """The answer, a row per statement under `HEADER`."""
    return [
        [finding.statement.id, finding.statement.sentence, aim_word(finding), sentence(finding)] for finding in findings
    ]


def sentence(finding: Finding) -> str:
    """What came out, in a line or two."""
    told = {"head-to-head": _duels, "best-response": _regrets, "self-play": _settled}[finding.statement.kind](finding)
    missing = finding.counts[MISSING]
    return told + (f" Without data: {missing} of {finding.total}." if missing else "")


def _duels(finding: Finding) -> str:
    counts = finding.counts
    return (
        f"Behind on {counts['behind']} of {finding.total} pairs of game and opponent (aim: at most {finding.allowed}), "
        f"ahead on {counts['ahead']}, level on {counts['level']}; the mean is below 0 on {counts['mean below 0']}. "
        f"Over all games {_overall(finding)}."
    )


def _regrets(finding: Finding) -> str:
    counts, statement = finding.counts, finding.statement
    far = statement.never_above
    beyond = f", above {far:g} on {counts['too far']} (aim: none)" if far is not None else ""
    whole = finding.overall[0]
    mean = "-" if math.isnan(whole.measured) else number_text(statement.ratio * math.exp(whole.measured), 3)
    return (
        f"The ratio is above {statement.ratio:g} on {finding.missed} of {finding.total} games (aim: at most "
        f"{finding.allowed}){beyond}. By the tests within {statement.ratio:g} on {counts['within']}, beyond it on "
        f"{counts['beyond']}, undecided on {counts['undecided']}. Over all games the geometric mean is {mean}: "
        f"{whole.outcome}."
    )


def _settled(finding: Finding) -> str:
    counts = finding.counts
    others = "".join(
        f" The same counts by {metric}, which decides nothing: {its['least']} and {its['least outright']}."
        for metric, its in finding.reported.items()
    )
    return (
        f"Significantly above no opponent on {counts['least']} of {finding.total} games (aim: at least "
        f"{finding.total - finding.allowed}); the mean is the least outright on {counts['least outright']}.{others} "
        f"Over all games {_overall(finding)}."
    )


def _overall(finding: Finding) -> str:
    """How many opponents compare how over all games, as in "by opponent, ahead: 8, level: 2"."""
    count = Counter(row.outcome for row in finding.overall)
    words = [*WORDS[finding.statement.kind].values(), MISSING]
    listed = ", ".join(f"{word}: {count[word]}" for word in words if count[word])
    return f"by opponent, {listed}"


def failures(finding: Finding) -> list[Row]:
    """The rows on which the aim is missed, the worst first."""
    if finding.statement.kind == "best-response":
        rows = [row for row in finding.rows if row.measured > finding.statement.ratio]
        return sorted(rows, key=lambda row: -row.measured)
    failing = WORDS[finding.statement.kind]["fails"]
    return sorted((row for row in finding.rows if row.outcome == failing), key=lambda row: -abs(row.relative))


def failure_lines(finding: Finding) -> list[str]:
    """What failed, a line each, for a terminal; of many the worst."""
    rows = failures(finding)
    shown = [f"  {printable(_failure(finding, row))}" for row in rows[:_MOST_FAILURES]]
    more = len(rows) - len(shown)
    return [*shown, f"  and {more} more"] if more else shown


def _failure(finding: Finding, row: Row) -> str:
    number = f"{number_text(row.measured)} [{number_text(row.low)}, {number_text(row.high)}]"
    return f"({finding.statement.id}) {_FAILING[finding.statement.kind]}: {row.game}, {row.opponent}, {number}"


def as_text(findings: Sequence[Finding]) -> list[str]:
    """The answer for a terminal: a paragraph per statement, not yet wrapped."""
    return [
        f"({finding.statement.id}) {aim_word(finding).upper()}: {finding.statement.sentence} {sentence(finding)}"
        for finding in findings
    ]


def as_markdown(title: str, trials: Sequence[Sequence[Finding]]) -> str:
    """All findings: for each subject the answer, then the rows of each statement."""
    lines = [f"# {title}", ""]
    for findings in trials:
        lines += [f"## {findings[0].contest.subject}", "", *_table([HEADER, *rows_of(findings)])]
        for finding in findings:
            lines += ["", f"### ({finding.statement.id}) {finding.statement.sentence}", "", finding.statement.computed]
            lines += ["", *_table(_detail(finding)), ""]
    return "\n".join(lines).rstrip() + "\n\n" + LEGEND + "\n"


def _detail(finding: Finding) -> list[list[str]]:
    """A table of a statement: games, opponents, outcomes and numbers with their 95 % intervals."""
    rows = [["game", "opponent", "outcome", "measured", "95 % interval", "n"]]
    for row in (*finding.rows, *finding.overall):
        numbers = number_text(row.measured), f"[{number_text(row.low)}, {number_text(row.high)}]"
        rows.append([f"`{row.game}`", f"`{row.opponent}`" * bool(row.opponent), row.outcome, *numbers, str(row.n)])
    return rows


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *rest = rows
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rest)]
