"""How the learners and metrics of a cell are called and drawn.

It is stored with the cell's numbers, so that whoever reads these needs neither the files nor the packages that the
learners and metrics came from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from coebl.core.specs import without_folder
from coebl.engine import Result
from coebl.learners import KINDS, LEARNERS, Learner
from coebl.metrics import Metric, all_metrics, metric_class
from coebl.naming.described import parameters_of

_MOST_SLOT = 1 << 31  # of a palette


def things_of(labels: Mapping[str, str], result: Result, metrics: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The table "things" of a cell: its game, its learners by their specs, and its metrics by their names."""
    seats = ((labels["row"], result.match.row), (labels["column"], result.match.column))
    classes = {metric.name: metric for metric in all_metrics()}
    classes |= {metric.name: metric for metric in (metric_class(spec) for spec in metrics if spec != "all")}
    return {
        "game": {"payoff_range": [float(end) for end in result.match.game.ranges[0]]},
        "learners": {spec: _of_learner(learner, spec) for spec, learner in seats},
        "metrics": {name: _of_metric(classes[name]) for name in result.metrics if name in classes},
    }


def _of_learner(learner: Learner, spec: str) -> dict[str, Any]:
    colour = learner.colour
    return {
        "title": without_folder(str(LEARNERS.entry_of(type(learner), spec).title)),
        "colour": colour if _is_slot(colour) else None,
        "kind": learner.kind(),
        "parameters": parameters_of(learner),
    }


def _of_metric(metric: type[Metric]) -> dict[str, Any]:
    texts = ("title", "formula", "meaning", "definition")
    return {
        **{key: str(getattr(metric, key, "")) for key in texts},
        "cumulative": bool(metric.cumulative),
        "signed": bool(metric.signed),
        "in_payoffs": bool(metric.in_payoffs),
        "better": "higher" if metric.better == "higher" else "lower",
    }


def are_things(value: object) -> bool:
    """Whether a value is such a table. Cells of older versions lack it."""
    return value is None or (
        isinstance(value, dict)
        and {*value, "game"} == {"game", "learners", "metrics"}
        and _is_game(value.get("game"))
        and _is_table(value["learners"], _LEARNER)
        and _is_table(value["metrics"], _METRIC)
    )


def _is_game(value: object) -> bool:
    """Whether a value is what is stored of a game: the range of its payoffs. Cells of older versions lack it."""
    if value is None:
        return True
    ends = value.get("payoff_range") if isinstance(value, dict) and len(value) == 1 else None
    return (
        isinstance(ends, list)
        and len(ends) == 2
        and all(type(end) in (int, float) and math.isfinite(end) for end in ends)
        and ends[0] <= ends[1]
    )


def _is_table(value: object, kinds: Mapping[str, Callable[[Any], bool]]) -> bool:
    return isinstance(value, dict) and all(
        isinstance(entry, dict)
        and set(entry) <= set(kinds)
        and all(fits(entry.get(key)) for key, fits in kinds.items())
        for entry in value.values()
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_slot(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST_SLOT


_LEARNER: dict[str, Callable[[Any], bool]] = {
    "title": _is_text,
    "colour": lambda value: value is None or _is_slot(value),
    "kind": lambda value: _is_text(value) and value in KINDS,
    "parameters": lambda value: value is None or (isinstance(value, dict) and all(map(_is_text, value.values()))),
}
_METRIC: dict[str, Callable[[Any], bool]] = {
    "title": _is_text,
    "formula": _is_text,
    "meaning": _is_text,
    "definition": _is_text,
    "cumulative": lambda value: isinstance(value, bool),
    "signed": lambda value: value is None or isinstance(value, bool),  # cells of older versions lack it
    "in_payoffs": lambda value: value is None or isinstance(value, bool),  # likewise
    "better": lambda value: _is_text(value) and value in ("lower", "higher"),
}
