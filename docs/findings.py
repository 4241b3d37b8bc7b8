"""Write docs/findings.md from its template and the numbers in results/ijcai2025, so that no number is typed by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jinja2

from coebl.learners import LEARNERS
from coebl.learners.coebl import Coebl
from coebl.papers.ijcai2025.experiments import ROLES, SETTING, VARIANTS, actions_of

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "results" / "ijcai2025"


def render(results: Path = RESULTS) -> str:
    """The text of docs/findings.md."""
    claims: dict[str, dict[str, Any]] = {}
    for verdict in json.loads((results / "claims.json").read_text(encoding="utf-8")):
        claims.setdefault(verdict["id"], {})[verdict["variant"]] = verdict
    means = {
        (row["game"], row["row"], row["column"], row["metric"]): row
        for row in json.loads((results / "means.json").read_text(encoding="utf-8"))
    }
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["number"] = number
    environment.filters["against_best_response"] = lambda spec, game: mean(game, spec, "best-response")

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
        return mean(*VARIANTS[variant].against_coebl(role, game))

    def own(role: str, game: str, variant: str) -> str:
        return mean(*VARIANTS[variant].self_play(role, game), "absolute_pseudo_regret")

    template = environment.from_string((DOCS / "findings.md.jinja").read_text(encoding="utf-8"))
    return template.render(
        claims=claims,
        mean=mean,
        measured=measured,
        failing=lambda claim, variant="text": counted("fails", claim, variant),
        holding=lambda claim, variant="text": counted("holds", claim, variant),
        reported=reported,
        duel=duel,
        own=own,
        bound=lambda game: number(Coebl.regret_bound(actions_of(game), actions_of(game), SETTING.rounds) or math.nan),
        line=lambda game: 0.1 * math.sqrt(actions_of(game) ** 2 * SETTING.rounds),
        floor=lambda: math.sqrt(2 * SETTING.rounds / math.pi),
        titles={role: LEARNERS[role].title for role in ROLES},
        made=json.loads((results / "made.json").read_text(encoding="utf-8")),
        table=(results / "claims.md").read_text(encoding="utf-8"),
    )


def interval(numbers: dict[str, Any], centre: str = "mean") -> str:
    """A mean with its interval, as "-24.6 [-36.3, -12.9]"."""
    return f"{number(numbers[centre])} [{number(numbers['low'])}, {number(numbers['high'])}]"


def number(value: float | None) -> str:
    """Three digits, or all of those before the point."""
    if value is None:
        return "unbounded"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    (DOCS / "findings.md").write_text(render(), encoding="utf-8")
