"""Write docs/findings.md from its template and the numbers in results/ijcai2025, so that no number is typed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jinja2

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

    def mean(game: str, row: str, column: str, metric: str = "pseudo_regret") -> str:
        return interval(means[game, row, column, metric])

    def measured(claim: str, variant: str = "text") -> str:
        return interval(claims[claim][variant], "measured")

    def failing(claim: str, variant: str = "text") -> str:
        checks = claims[claim][variant]["checks"]
        return f"{sum(check['verdict'] == 'fails' for check in checks)} of {len(checks)}"

    template = environment.from_string((DOCS / "findings.md.jinja").read_text(encoding="utf-8"))
    return template.render(
        claims=claims,
        mean=mean,
        measured=measured,
        failing=failing,
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
