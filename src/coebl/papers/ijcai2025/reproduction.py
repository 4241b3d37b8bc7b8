"""The whole reproduction: what to run for it, and what is written of its results."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from coebl.core.errors import look_up
from coebl.core.files import write_whole
from coebl.papers.ijcai2025.claims import SPAN, Verdict, as_json, as_markdown, needed
from coebl.papers.ijcai2025.experiments import (
    NAME,
    QUICK_SIZES,
    ROLES,
    ROUNDS,
    SIZES,
    VARIANTS,
    Pairing,
    all_pairings,
    size_of,
)
from coebl.papers.ijcai2025.figures import FIGURES
from coebl.report.page import Preset, about_results, write_page
from coebl.statistics import mean_interval
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


def write_report(results: Results, path: Path, verdicts: Sequence[Verdict]) -> Path:
    """The page of the reproduction."""
    plain = [verdict.as_dict() for verdict in verdicts]
    commands = [run["command"] for run in results.store.runs() if run.get("command")]
    return write_page(
        results,
        path,
        title=TITLE,
        question=QUESTION,
        verdicts=plain,
        presets=presets(),
        command=commands[-1] if commands else "coebl reproduce",
        reference=("0.1 √(K² t)", 0.1),
    )


def write_summary(results: Results, folder: Path, verdicts: Sequence[Verdict], command: str) -> None:
    """The verdicts as JSON and Markdown, the final means with their intervals, and how all this was made."""
    about = about_results(results)
    made = {
        "command": command,
        "runs": results.store.runs(),
        "processor_seconds": round(about["seconds"], 1),
        **{key: about[key] for key in ("cells", "seeds", "rounds", "noises", "versions")},
    }
    rows = [json.dumps(row, allow_nan=False) for row in means(results)]
    write_whole(folder / "claims.json", as_json(verdicts) + "\n")
    write_whole(folder / "claims.md", as_markdown(verdicts))
    write_whole(folder / "means.json", "[\n" + ",\n".join(rows) + "\n]\n")
    write_whole(folder / "made.json", json.dumps(made, indent=2) + "\n")


def means(results: Results) -> list[dict[str, Any]]:
    """Means with intervals: of every metric in the last round of every match, and of the distance over the last 100."""
    rows: list[dict[str, Any]] = [dict(row) for row in results.summary()]
    for game, row, column in results.matches():
        runs = results.runs(game, row, column, "tv")
        interval = mean_interval(runs.values[runs.rounds > ROUNDS - SPAN].mean(axis=0))
        match = {"game": game, "row": row, "column": column, "metric": "tv_last_100"}
        rows.append({**match, **{key: getattr(interval, key) for key in ("mean", "low", "high", "sd", "n")}})
    kept = ("game", "row", "column", "metric", "mean", "low", "high", "sd", "n")
    return [{key: _rounded(row[key]) for key in kept} for row in rows]


def _rounded(value: Any) -> Any:
    """Six digits are more than the intervals bear; JSON has no infinity."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.6g}") if math.isfinite(value) else None
