"""The published verdicts on the paper's claims, as objects."""

import json
import math
from dataclasses import replace
from pathlib import Path

from coebl.evidence.checks import Bound
from coebl.evidence.judge import CheckResult, Verdict
from coebl.evidence.statistics import Estimate

CLAIMS = Path(__file__).parents[1] / "results" / "ijcai2025" / "claims.json"


def read_verdicts():
    return [
        replace(
            verdict(values, [check(values) for values in values["checks"]]),
            reported=[verdict(reported, []) for reported in values["reported"]],
        )
        for values in json.loads(CLAIMS.read_text())
    ]


def verdict(values, checks):
    labels = (values.get(key, "") for key in ("id", "variant", "verdict", "metric", "text", "note"))
    return Verdict(*labels, checks, check(values))


def check(values):
    mean, low, high = (math.nan if values[key] is None else values[key] for key in ("measured", "low", "high"))
    p_values = {f"{side}_holm": values.get(f"{side}_adjusted", 1.0) for side in ("p_for", "p_against")}
    estimate = Estimate(mean, low, high, math.nan, values.get("n", 0), **p_values)
    threshold = values.get("threshold")
    kind = Bound((), math.nan if threshold is None else threshold, "above")
    return CheckResult(kind, "", estimate, values.get("missing", []))
