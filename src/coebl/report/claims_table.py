"""The verdicts on the page: a grid of claims by variants, with what was found in each square."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from coebl.core.text import few_digits
from coebl.evidence.judge import REPORTED_KEYS, Outcome
from coebl.evidence.statistics import ALPHA
from coebl.report.legend import Preset
from coebl.report.numbers import DIGITS

_VERDICTS = get_args(Outcome)
_VERDICT_FIELDS = (
    *("id", "variant", "verdict", "metric", "measured", "low", "high", "threshold", "n", "text", "note"),
    *("checks", "reported"),
)
_CHECK_FIELDS = ("subject", "quantity", "measured", "low", "high", "wanted", "threshold", "verdict")  # of many more

OUTCOMES = {"holds": "shown", "fails": "refuted", "not significant": "open", "not testable": "without data"}
"""What the verdict on a check is called."""

VERDICT_KINDS = {word: word.replace(" ", "-") for word in _VERDICTS}  # to the class of the style sheet
VerdictValues = Mapping[str, Any]  # a `coebl.evidence.judge.Verdict` as plain values


def claims_table(verdicts: Sequence[VerdictValues], presets: Sequence[Preset]) -> dict[str, Any]:
    """The grid of variants (columns) and claims (rows): each square has its verdicts, and shows the first."""
    whole = [
        dict.fromkeys(_VERDICT_FIELDS)
        | dict(verdict)
        | {
            "place": place,
            "strip": [OUTCOMES.get(str(check.get("verdict")), "without data") for check in verdict.get("checks") or ()],
            "decisive": decisive_check(verdict),
            "reported": [_some(other, REPORTED_KEYS) for other in verdict.get("reported") or ()],
        }
        for place, verdict in enumerate(verdicts)
    ]
    squares: dict[tuple[str, str], list[VerdictValues]] = {}
    for verdict in whole:
        squares.setdefault((str(verdict["id"]), str(verdict["variant"])), []).append(verdict)
    variants = list(dict.fromkeys(variant for _, variant in squares))
    titles = {preset.id: preset.name for preset in presets if preset.id}
    return {
        "variants": [
            {"id": variant, "title": titles.get(variant, variant), "counts": _counts(squares, variant)}
            for variant in variants
        ],
        "rows": [
            _row(claim, [squares.get((claim, variant), []) for variant in variants])
            for claim in dict.fromkeys(claim for claim, _ in squares)
        ],
        "kinds": VERDICT_KINDS,
        "outcomes": list(OUTCOMES.values()),
    }


def decisive_check(verdict: VerdictValues) -> VerdictValues | None:
    """The check whose number a verdict carries, so that the page can say whose number it is."""
    numbers = [verdict.get(key) for key in ("measured", "low", "high", "threshold")]
    found = (
        check
        for check in verdict.get("checks") or ()
        if check.get("measured") is not None
        and [check.get(key) for key in ("measured", "low", "high", "threshold")] == numbers
    )
    return next(found, None)


def _row(claim: str, squares: list[list[VerdictValues]]) -> dict[str, Any]:
    texts = [verdict["text"] for square in squares for verdict in square if verdict["text"]]
    return {"id": claim, "text": texts[0] if texts else "", "squares": squares}


def _counts(squares: Mapping[tuple[str, str], list[VerdictValues]], variant: str) -> dict[str, int]:
    """How often each verdict is in front, in the squares of a variant."""
    fronts = [str(square[0]["verdict"]) for (_, its), square in squares.items() if its == variant]
    return {word: fronts.count(word) for word in dict.fromkeys([*_VERDICTS, *fronts])}


def short_verdict(verdict: VerdictValues, said: Callable[[object], str] = str) -> dict[str, Any]:
    """A verdict with no more of its checks than the page shows: they are by far the most that a verdict has.

    Args:
        verdict: the whole one.
        said: how the page says what a check is about.
    """
    found = dict(verdict)
    if verdict.get("reported"):
        found["reported"] = [_some(other, REPORTED_KEYS) for other in verdict["reported"]]
    if verdict.get("checks"):
        found["checks"] = [
            _some(check, _CHECK_FIELDS) | _marks(check) | _said(check, said) for check in verdict["checks"]
        ]
    return found


def _said(check: VerdictValues, said: Callable[[object], str]) -> dict[str, str]:
    """What a check is about in the words of the page, if these are others."""
    words = said(check.get("subject") or "")
    return {} if words == check.get("subject") else {"said": words}


def _marks(check: VerdictValues) -> dict[str, Any]:
    """What the verdict on a check is called; which way it points before Holm's correction only; what was published."""
    outcome = OUTCOMES.get(str(check.get("verdict")), str(check.get("verdict")))
    marks: dict[str, Any] = {"outcome": outcome, "published": str(check.get("wanted")).startswith("within")}
    sides = {"shown": check.get("p_for"), "refuted": check.get("p_against")}
    before = [word for word, p in sides.items() if isinstance(p, float) and p <= ALPHA]
    return marks | ({"before": before[0]} if outcome == "open" and before else {})


def _some(values: VerdictValues, fields: Sequence[str]) -> dict[str, Any]:
    """These fields, with few digits."""
    found = {name: values.get(name) for name in fields}
    return {name: few_digits(value, DIGITS) if isinstance(value, float) else value for name, value in found.items()}
