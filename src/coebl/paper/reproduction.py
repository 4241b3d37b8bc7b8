"""The whole reproduction: what to run for it, and what is written of its results."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from coebl.errors import look_up
from coebl.paper.claims import Verdict, as_json, as_markdown, needed
from coebl.paper.experiments import NAME, QUICK_SIZES, ROLES, SIZES, VARIANTS, Pairing, all_pairings, size_of
from coebl.paper.figures import FIGURES
from coebl.report.page import Preset, about_results, write_page
from coebl.study import Results

TITLE = "Randomised optimism via competitive co-evolution: the paper, reproduced"
QUESTION = (
    "Lin (IJCAI 2025) proposes COEBL, a learner for unknown zero-sum matrix games with noisy payoffs. Each round it "
    "mutates its estimate of the payoffs and plays the maximin strategy of the mutant. Does it do what the paper says, "
    "and which of the differences between the paper's text and its released program decide that?"
)
_NOTES = {
    "text": "The algorithms as the text states them: c = 2 on rock-paper-scissors, c = 8 elsewhere.",
    "c=2": "The same with c = 2 everywhere, as in the released program.",
    "as-released": "The same with c = 2, and with Exp3 and Exp3-IX updated as in the released program.",
}


def pairings(figures: Iterable[str] = (), claims: Iterable[str] = (), quick: bool = False) -> list[Pairing]:
    """What these figures and claims need, or everything; with `quick`, on games of up to 16 actions.

    >>> pairings(claims=["C1"])
    [Pairing(game='rps', row='ucb', column='coebl:c=2')]
    """
    sizes = QUICK_SIZES if quick else SIZES
    of_figures = [
        pairing
        for figure in look_up("figure", figures, FIGURES)
        for variant in VARIANTS.values()
        for pairing in figure.needs(variant, sizes)
    ]
    of_claims = [pairing for claim in claims for pairing in needed(claim)]
    chosen = [*of_figures, *of_claims] or all_pairings(sizes)
    return list(dict.fromkeys(pairing for pairing in chosen if (size_of(pairing.game) or sizes[0]) in sizes))


def is_reproduction(results: Results) -> bool:
    """Whether these are results of the paper's study."""
    return results.store.name == NAME


def presets() -> list[Preset]:
    """The lines of the page that belong to each variant."""
    return [
        Preset(
            variant.title,
            {"rps": [variant.spec(role, "rps") for role in ROLES], "*": [variant.spec(role, "") for role in ROLES]},
            id=variant.id,
            note=_NOTES[variant.id],
        )
        for variant in VARIANTS.values()
    ]


def write_report(results: Results, path: Path, verdicts: Sequence[Verdict], command: str) -> Path:
    """The page of the reproduction."""
    plain = [verdict.as_dict() for verdict in verdicts]
    return write_page(results, path, title=TITLE, question=QUESTION, verdicts=plain, presets=presets(), command=command)


def write_summary(results: Results, folder: Path, verdicts: Sequence[Verdict], command: str) -> None:
    """The verdicts as JSON and Markdown, the final means with their intervals, and how all this was made."""
    folder.mkdir(parents=True, exist_ok=True)
    about = about_results(results)
    made: dict[str, Any] = {
        "command": command,
        "runs": results.store.runs(),
        "processor_seconds": round(about["seconds"], 1),
        **{key: about[key] for key in ("cells", "seeds", "rounds", "noises", "versions")},
    }
    rows = [
        {key: _rounded(row[key]) for key in ("game", "row", "column", "metric", "mean", "low", "high", "sd", "n")}
        for row in results.summary()
    ]
    for name, text in {
        "claims.json": as_json(verdicts) + "\n",
        "claims.md": as_markdown(verdicts),
        "means.json": "[\n" + ",\n".join(json.dumps(row, allow_nan=False) for row in rows) + "\n]\n",
        "made.json": json.dumps(made, indent=2) + "\n",
    }.items():
        partial = folder / f"{name}.partial"
        partial.write_text(text, encoding="utf-8")
        partial.replace(folder / name)


def _rounded(value: Any) -> Any:
    """Six digits are more than the intervals bear; JSON has no infinity."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.6g}") if math.isfinite(value) else None
