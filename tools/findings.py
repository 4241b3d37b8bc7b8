"""The text of docs/findings.md, from a template and the summary of a reproduction: no number is typed by hand.

The picture of the README is drawn from the same numbers.

Run in the root of a checkout, where the summary is results/ijcai2025: python -m tools.findings
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coebl.core.files import write_whole
from coebl.core.text import number_text
from coebl.evidence.judge import MARKS, MEANINGS, mark, outcome_word
from coebl.learners import LEARNERS
from coebl.learners.coebl import Coebl
from coebl.papers.ijcai2025 import BEST_RESPONSE, PAPER, REFERENCE, ROLES, SETTING, VARIANTS, actions_of
from coebl.plots import save
from tools.picture import NAME, draw_by_c, draw_picture, draw_policies, read_checks
from tools.templates import read_json, render


def document(results: Path) -> str:
    """Return the text of docs/findings.md, from the folder of a summary."""
    claims: dict[str, dict[str, Any]] = {}
    for verdict in read_json(results / "claims.json"):
        claims.setdefault(verdict["id"], {})[verdict["variant"]] = verdict
    means = {(row["game"], row["row"], row["column"], row["metric"]): row for row in read_json(results / "means.json")}

    def mean(game: str, row: str, column: str, metric: str = "pseudo_regret") -> str:
        return interval(means[game, row, column, metric])

    def measured(claim: str, variant: str = "text") -> str:
        return interval(claims[claim][variant], "measured")

    def counted(outcome: str, claim: str, variant: str) -> str:
        checks = claims[claim][variant]["checks"]
        return f"{sum(check['verdict'] == outcome for check in checks)} of {len(checks)}"

    def reported(claim: str, metric: str, variant: str = "text") -> str:
        return next(str(other["verdict"]) for other in claims[claim][variant]["reported"] if other["metric"] == metric)

    def duel(role: str, game: str, variant: str) -> str:
        return mean(*VARIANTS[variant].match(game, role, "coebl"))

    def own(role: str, game: str, variant: str) -> str:
        match = VARIANTS[variant].match(game, role)
        return mean(match.game, match.row, match.column, "absolute_pseudo_regret")

    return render(
        "findings",
        {"number": number, "against_best_response": lambda spec, game: mean(game, spec, BEST_RESPONSE)},
        claims=claims,
        mean=mean,
        measured=measured,
        failing=lambda claim, variant="text": counted("fails", claim, variant),
        holding=lambda claim, variant="text": counted("holds", claim, variant),
        reported=reported,
        duel=duel,
        own=own,
        bound=lambda game: number(Coebl.regret_bound(actions_of(game), actions_of(game), SETTING.rounds) or math.nan),
        line=lambda game: float(REFERENCE.height(actions_of(game), np.array([SETTING.rounds]))[0]),
        floor=lambda: math.sqrt(2 * SETTING.rounds / math.pi),
        titles={role: LEARNERS[role].title for role in ROLES},
        made=read_json(results / "made.json"),
        variants=[variant.title for variant in VARIANTS.values()],
        marks=[[claim, *_marks(by_variant)] for claim, by_variant in claims.items()],
        meanings=", ".join(f"{MARKS[outcome]} {meaning}" for outcome, meaning in MEANINGS.items()),
        reasons={claim: list(_reasons(by_variant)) for claim, by_variant in claims.items()},
        answer=PAPER.page.filled_answer(
            {
                id: [check["verdict"] for check in verdict["checks"]]
                for id, verdict in claims[PAPER.page.headline].items()
            }
        ).replace("\n", " "),
    )


def _marks(by_variant: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the sentence of a claim, and its mark in each variant."""
    verdicts = [by_variant[variant] for variant in VARIANTS]
    marks = [mark(verdict["verdict"], [check["verdict"] for check in verdict["checks"]]) for verdict in verdicts]
    return [verdicts[0]["text"], *marks]


def _reasons(by_variant: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the checks that decided a claim, once for all variants in which they are the same."""
    said: dict[str, list[str]] = {}
    for id, verdict in by_variant.items():
        number = f" {interval(verdict, 'measured')}," if verdict["measured"] is not None else ""
        others = [other for other in verdict["reported"] if other["verdict"] != verdict["verdict"]]
        also = "".join(f"; on {other['metric']}: {outcome_word(other['verdict'])}" for other in others)
        note = verdict["note"].replace("not significant:", "undecided:")  # as an earlier version wrote it
        text = f"**{outcome_word(verdict['verdict'])}**,{number} {note}{also}"
        said.setdefault(text, []).append(VARIANTS[id].title)
    for text, titles in said.items():
        yield f"*{'all' if len(titles) == len(VARIANTS) else ', '.join(titles)}*: {text}"


def interval(numbers: dict[str, Any], centre: str = "mean") -> str:
    """Return a mean with its interval, as "-24.6 [-36.3, -12.9]"."""
    return f"{number(numbers[centre])} [{number(numbers['low'])}, {number(numbers['high'])}]"


def number(value: float | None) -> str:
    """Return a number to three digits, or to all digits before the point."""
    if value is None:
        return "unbounded"
    return number_text(value, 3, ",")


if __name__ == "__main__":
    RESULTS = Path("results", "ijcai2025")
    write_whole(Path("docs", "findings.md"), document(RESULTS))
    save(draw_picture(read_checks(RESULTS)), RESULTS / "figures", NAME, ["png"])
    save(draw_by_c(RESULTS), RESULTS / "figures", "by-c", ["png"])
    save(draw_policies(), Path("docs", "assets"), "policies", ["png"])
