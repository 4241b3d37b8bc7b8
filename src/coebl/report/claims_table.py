"""The verdicts on the page: a grid of claims by variants, with what was found in each square."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

from coebl.claims.judging import Outcome, Reported, Verdict
from coebl.core.text import few_digits
from coebl.report.legend import Preset
from coebl.report.numbers import DIGITS

_VERDICTS = get_args(Outcome)
_CHECK_FIELDS = ("subject", "quantity", "measured", "low", "high", "wanted", "verdict")  # of many more
_REPORTED_FIELDS = tuple(field.name for field in fields(Reported))

VERDICT_KINDS = {word: word.replace(" ", "-") for word in _VERDICTS}  # to the class of the style sheet
VerdictValues = Mapping[str, Any]  # a `coebl.claims.judging.Verdict` as plain values


def claims_table(verdicts: Sequence[VerdictValues], presets: Sequence[Preset]) -> dict[str, Any]:
    """The grid: variants across, claims down, and in each square what was found, the first verdict is shown."""
    whole = [
        dict.fromkeys(field.name for field in fields(Verdict))
        | dict(verdict)
        | {"place": place, "reported": [_some(other, _REPORTED_FIELDS) for other in verdict.get("reported") or ()]}
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
    }


def _row(claim: str, squares: list[list[VerdictValues]]) -> dict[str, Any]:
    texts = [verdict["text"] for square in squares for verdict in square if verdict["text"]]
    return {"id": claim, "text": texts[0] if texts else "", "squares": squares}


def _counts(squares: Mapping[tuple[str, str], list[VerdictValues]], variant: str) -> dict[str, int]:
    """How often each verdict is in front, in the squares of a variant."""
    fronts = [str(square[0]["verdict"]) for (_, its), square in squares.items() if its == variant]
    return {word: fronts.count(word) for word in dict.fromkeys([*_VERDICTS, *fronts])}


def short_verdict(verdict: VerdictValues) -> dict[str, Any]:
    """A verdict with no more of its checks than the page shows: they are by far the most that a verdict has."""
    fields = {"checks": _CHECK_FIELDS, "reported": _REPORTED_FIELDS}
    return dict(verdict) | {
        key: [_some(one, fields[key]) for one in verdict[key]] for key in fields if verdict.get(key)
    }


def _some(values: VerdictValues, fields: Sequence[str]) -> dict[str, Any]:
    """These fields, with few digits."""
    found = {name: values.get(name) for name in fields}
    return {name: few_digits(value, DIGITS) if isinstance(value, float) else value for name, value in found.items()}
