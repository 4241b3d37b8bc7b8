"""The published verdicts on a paper's claims, as objects, and the comparison of published numbers."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from coebl.evidence.checks import Bound
from coebl.evidence.judge import CheckResult, Verdict
from coebl.evidence.statistics import Estimate

CLAIMS = Path(__file__).parents[1] / "results" / "ijcai2025" / "claims.json"


def read_verdicts(path=CLAIMS):
    return [
        replace(
            verdict(values, [check(values) for values in values["checks"]]),
            reported=[verdict(reported, []) for reported in values["reported"]],
        )
        for values in json.loads(path.read_text())
    ]


def verdict(values, checks):
    labels = (values.get(key, "") for key in ("id", "variant", "verdict", "metric", "text", "note"))
    return Verdict(*labels, checks, check(values))


def check(values):
    mean, low, high = (math.nan if values[key] is None else values[key] for key in ("measured", "low", "high"))
    p_values = {key: values.get(key, math.nan) for key in ("p_for", "p_against")}
    p_values |= {f"{key}_holm": values.get(f"{key}_adjusted", 1.0) for key in ("p_for", "p_against")}
    estimate = Estimate(mean, low, high, math.nan, values.get("n", 0), **p_values)
    words = values.get("quantity", ""), values.get("wanted", "")
    kind = type("Stated", (Bound,), {"words": words, "beside": values.get("beside", False)})
    threshold = values.get("threshold")
    stated = kind((), math.nan if threshold is None else threshold, "above")
    return CheckResult(stated, values.get("subject", ""), estimate, values.get("missing", []))


def different(actual: Any, expected: Any, where: str = "", rel: float = 1e-9, near: float = 1e-12) -> list[str]:
    """The places at which two nested values differ; numbers may differ by `rel` of their size, or by `near`."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if list(map(str, actual)) != list(expected):
            return [f"{where}: keys {list(actual)} instead of {list(expected)}"]
        pairs = [
            (f"{where}.{key}", first, second)
            for (key, second), first in zip(expected.items(), actual.values(), strict=True)
        ]
    elif isinstance(expected, list) and isinstance(actual, list | tuple):
        if len(actual) != len(expected):
            return [f"{where}: {len(actual)} entries instead of {len(expected)}"]
        pairs = [(f"{where}[{place}]", *two) for place, two in enumerate(zip(actual, expected, strict=True))]
    elif isinstance(expected, float) and isinstance(actual, float):
        alike = math.isclose(actual, expected, rel_tol=rel, abs_tol=near) or (actual != actual and expected != expected)
        return [] if alike else [f"{where}: {actual!r} instead of {expected!r}"]
    else:
        same = actual == expected and isinstance(actual, bool) == isinstance(expected, bool)
        return [] if same else [f"{where}: {actual!r} instead of {expected!r}"]
    return [line for place, first, second in pairs for line in different(first, second, place, rel, near)]


def frozen_row(difference: Any) -> dict[str, Any]:
    """A difference of the ablation as the frozen numbers have it, with an older word for the suggestion."""
    return {"wish" if key == "suggestion" else key: value for key, value in difference.row().items()}
