"""Made-up verdicts on claims."""

import math

from coebl.engine.match import MatchName
from coebl.evidence.checks import Bound, Missing, Near, Setting
from coebl.evidence.judge import CheckResult, Verdict
from coebl.evidence.statistics import Estimate

MATCH = "rps", "ucb", "coebl"
SETTING = Setting(3000, "gaussian")
P_VALUES = {"holds": (0.001, 1.0), "fails": (1.0, 0.001), "not significant": (0.3, 0.7), "not testable": (1.0, 1.0)}


def make_check(
    subject=None, verdict="holds", numbers=(2.0, 1.5, 2.5), threshold=1.0, *, match=MATCH, before=None, near=False
):
    """A check with this verdict; `before` is its p value before correction, `near` is for a published threshold."""
    sample = SETTING.end(MatchName(*match))
    is_missing = verdict == "not testable"
    mean, low, high = (math.nan,) * 3 if is_missing else numbers
    p_for, p_against = P_VALUES[verdict]
    p_values = {"p_for": before or p_for, "p_against": p_against, "p_for_holm": p_for, "p_against_holm": p_against}
    return CheckResult(
        Near((sample,), threshold, "largest") if near else Bound((sample,), threshold, "above"),
        str(sample) if subject is None else subject,
        Estimate(mean, low, high, 1.0, 20, **p_values),
        [Missing(sample.match, "no data")] * is_missing,
    )


def make_verdict(id, variant, verdict, *, checks=None, text="", note="", metric="pseudo_regret", reported=()):
    """A verdict whose first check with data has decided."""
    checks = [make_check(verdict=verdict)] if checks is None else checks
    decisive = next((check for check in checks if not check.missing), None)
    return Verdict(id, variant, verdict, metric, text, note, checks, decisive, list(reported))
