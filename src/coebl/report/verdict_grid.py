"""The verdicts on the page: the finding in words and in bars, and a grid of claims by variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from coebl.core.text import few_digits
from coebl.evidence.judge import Outcome, Verdict, outcome_word
from coebl.naming import game_title
from coebl.report.content import Presentation
from coebl.report.legend import DIGITS, interval_texts, unbroken

OUTCOMES: dict[Outcome, str] = {
    "holds": "holds",
    "fails": "fails",
    "not significant": "undecided",
    "not testable": "not run",
}
"""The words for the verdict on a single check."""

_SHOWN = ["subject", "quantity", "measured", "low", "high", "wanted", "threshold", "published", "verdict", "before"]


def finding(template: str, outcomes: Mapping[str, Sequence[str]]) -> str:
    """Return the finding in words, from the outcomes of the checks of the main claim by variant.

    The template refers to counts as {text[holds]}; {tested} is the number of checks with data, and {which} the
    total number if there are more. If the template names a variant that was not judged, the result is "".

    >>> finding("{tested} checks{which}: {a[holds]} hold.", {"a": ["holds", "fails", "not testable"]})
    '2 checks that were run (3 in all): 1 hold.'
    """
    counts = {variant: Counter(words) for variant, words in outcomes.items()}
    first = next(iter(counts.values()), Counter())
    total, tested = first.total(), first.total() - first["not testable"]
    which = f" that were run ({total} in all)" if tested < total else ""
    try:
        return template.strip().format_map({"tested": tested, "which": which, **counts})
    except KeyError:
        return ""


def outcomes_of(claim: str, verdicts: Iterable[Verdict]) -> dict[str, list[Outcome]]:
    """Return the outcomes of the checks of a claim, by variant."""
    return {verdict.variant: [check.verdict for check in verdict.checks] for verdict in verdicts if verdict.id == claim}


def scores(show: Presentation, verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """Return a bar for each variant: the numbers of checks of the main claim that hold, are undecided, and fail."""
    presets = {preset.id: preset for preset in show.presets}
    kinds: tuple[Outcome, ...] = ("holds", "not significant", "fails")
    return [
        {
            "title": presets[variant].name if variant in presets else variant,
            "note": presets[variant].note if variant in presets else "",
            "parts": [
                (kind.replace(" ", "-"), word, words.count(kind)) for kind, word in zip(kinds, show.words, strict=True)
            ],
        }
        for variant, words in outcomes_of(show.headline, verdicts).items()
    ]


def verdict_grid(verdicts: Sequence[Verdict], titles: Mapping[str, str], learners: Mapping[str, str]) -> dict[str, Any]:
    """Return the grid of variants (columns) and claims (rows); titles are those of the variants, by id."""
    counts = Counter((verdict.variant, verdict.verdict) for verdict in verdicts)
    variants = {verdict.variant: titles.get(verdict.variant, verdict.variant) for verdict in verdicts}
    squares = {
        (verdict.id, verdict.variant): _square(verdict, learners)
        | {"place": place, "variant": variants[verdict.variant]}
        for place, verdict in enumerate(verdicts)
    }
    return {
        "variants": [
            {"title": title, "counts": {word: counts[variant, word] for word in get_args(Outcome)}}
            for variant, title in variants.items()
        ],
        "rows": [
            {"id": id, "text": text, "squares": [squares.get((id, variant)) for variant in variants]}
            for id, text in {verdict.id: verdict.text for verdict in verdicts}.items()
        ],
        "outcomes": list(OUTCOMES.values()),
    }


def _square(verdict: Verdict, learners: Mapping[str, str]) -> dict[str, Any]:
    decisive = verdict.decisive
    return {
        "verdict": verdict,
        "tally": _tally(verdict),
        "strip": [OUTCOMES[check.verdict] for check in verdict.checks if check.verdict != "not testable"],
        "subject": f"{_by_title(decisive.subject, verdict, learners)}: {decisive.check.words[0]}" if decisive else "",
        "number": _interval(verdict),
        "wanted": decisive.check.words[1] if decisive else "",
        "note": _by_title(verdict.note, verdict, learners),
        "reported": [(other, _interval(other)) for other in verdict.reported],
    }


def _tally(verdict: Verdict) -> str:
    """Return a verdict in a word, with the number of failed checks, or of checks that were run out of those needed."""
    outcomes = [check.verdict for check in verdict.checks]
    run = len(outcomes) - outcomes.count("not testable")
    if verdict.verdict == "fails":
        return f"fails {outcomes.count('fails')}/{run}"
    if verdict.verdict == "not testable" and run:
        return f"{run}/{len(outcomes)} run"
    return outcome_word(verdict.verdict)


def _interval(verdict: Verdict) -> tuple[str, str]:
    return interval_texts(verdict.estimate.mean, verdict.estimate.low, verdict.estimate.high)


def _by_title(text: str, verdict: Verdict, learners: Mapping[str, str]) -> str:
    """Return a string about a verdict with the specs of matches replaced by the titles in the charts."""
    matches = {sample.pairing for check in verdict.checks for sample in check.check.samples}
    for match in sorted(matches, key=lambda match: -len(str(match))):  # one may be a prefix of another
        names = [learners.get(spec, spec) for spec in match.players]
        players = " v ".join(names) if len({*match.players}) > 1 else f"{names[0]} in self-play"
        text = text.replace(str(match), f"{players} on {game_title(match.game)}")
    return unbroken(text)


def verdict_entry(verdict: Verdict, learners: Mapping[str, str]) -> dict[str, Any]:
    """Return a verdict for the script and for the download, with the fields of its checks that the page shows."""
    plain = verdict.as_dict()
    plain["checks"] = [
        {key: few_digits(values[key], DIGITS) for key in _SHOWN}
        | {"title": _by_title(check.subject, verdict, learners), "outcome": OUTCOMES[check.verdict]}
        | {"match": check.check.samples[0].pairing}
        | {"before": {"shown": "holds", "refuted": "fails"}.get(values["before"], "")}
        for check, values in zip(verdict.checks, plain["checks"], strict=True)
    ]
    return plain
