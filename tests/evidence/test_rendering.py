"""Verdicts as JSON, as Markdown and as lines for a terminal."""

import json
import math
from dataclasses import replace

import pytest

from coebl.evidence.checks import Bound
from coebl.evidence.judge import CheckResult, Verdict, as_json, as_markdown, reasons
from coebl.evidence.statistics import Estimate

TITLES = {"text": "the text", "c=2": "c = 2 everywhere", "unused": "not judged"}


def check(measured, p_for, p_against, **corrected):
    p_values = {"p_for": p_for, "p_against": p_against, "p_for_holm": p_for, "p_against_holm": p_against}
    estimate = Estimate(measured, measured - 1, measured + 1, 1.0, 50, **{**p_values, **corrected})
    return CheckResult(Bound((), 5, "above"), "ucb v coebl on rps", estimate)


def verdict(id, variant, outcome, measured=7.0, reported=(), note="what decided"):
    text = f"The claim {id} is a sentence of the paper, which is long enough to be wrapped in a table."
    decisive = check(measured, 0.0, 1.0)
    return Verdict(id, variant, outcome, "pseudo_regret", text, note, [decisive], decisive, list(reported))


REGRET = replace(verdict("C2", "c=2", "holds", 8.0), metric="regret")


@pytest.fixture
def verdicts():
    return [
        verdict("C1", "text", "holds"),
        verdict("C1", "c=2", "holds"),
        verdict("C2", "text", "fails", math.inf),
        verdict("C2", "c=2", "not significant", reported=[REGRET]),
        verdict("C3", "text", "holds", reported=[REGRET]),
        verdict("C3", "c=2", "not testable", math.nan, note="missing: rps"),
    ]


def test_json_has_no_infinity_and_no_nan(verdicts):
    def reject(constant):
        raise AssertionError(constant)

    read = json.loads(as_json(verdicts), parse_constant=reject)
    assert [result["measured"] for result in read] == [7, 7, None, 7, 7, None]
    assert read[0]["checks"][0]["verdict"] == "holds"
    assert (read[0]["decisive"], read[0]["checks"][0]["before"]) == (0, "")
    assert read[3]["reported"] == [{"metric": "regret", "verdict": "holds", "measured": 8, "low": 7, "high": 9}]
    keys = {"id", "variant", "verdict", "measured", "low", "high", "threshold", "text", "note", "metric", "n"}
    assert all(keys <= result.keys() for result in read)


def test_markdown_has_a_column_per_variant_that_is_judged(verdicts):
    header, rule, *rows = as_markdown(verdicts, TITLES).splitlines()
    assert header == "| id | claim | the text | c = 2 everywhere |"
    assert rule == "|---|---|---|---|"
    assert [row.split("|")[1].strip() for row in rows] == ["C1", "C2", "C3"]
    assert {row.count("|") for row in rows} == {5}
    assert "| **holds** 7 [6, 8] against 5<br>what decided |" in rows[0]
    assert rows[1].endswith("what decided<br>on regret: holds |")
    assert "on regret" not in rows[2], "only where the verdicts differ"


def test_reasons_have_the_numbers_the_note_and_other_metrics(verdicts):
    first, second, third, fourth, _, last = map(reasons, verdicts)
    assert first == second == ("holds           7 [6, 8] against 5", "what decided")
    assert third[0] == "fails           inf [inf, inf] against 5"
    assert fourth[-1] == "on regret: holds 8 [7, 9]"
    assert last == ("not testable", "missing: rps")


def test_a_check_that_is_decided_before_the_correction_only_says_so():
    def text(p_for, p_against, **corrected):
        return str(check(4.0, p_for, p_against, **corrected))

    undecided = {"p_for_holm": 1.0, "p_against_holm": 0.2}
    assert text(0.99, 0.01, **undecided).endswith("4 is not shown to be above 5, refuted before Holm's correction only")
    assert text(0.01, 0.99, **undecided).endswith("above 5, shown before Holm's correction only")
    assert text(0.9, 0.1, **undecided).endswith("is not shown to be above 5")
    assert text(0.99, 0.01).endswith("is not above 5")
