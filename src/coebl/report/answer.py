"""What came out, in two sentences that are computed from the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


def answer(verdicts: Sequence[Mapping[str, Any]], titles: Mapping[str, str], headline: str = "") -> list[str]:
    """How many claims hold and fail in each variant, and how many checks of the main claim are refuted.

    Args:
        verdicts: as `Verdict.as_dict` gives them.
        titles: what each variant is called, by its id.
        headline: the id of the main claim, if there is one.

    >>> check = {"verdict": "fails"}
    >>> verdict = {"id": "C1", "variant": "text", "verdict": "fails", "text": "It wins.", "checks": [check]}
    >>> print(*answer([verdict], {"text": "the text"}, "C1"), sep="\\n")
    Under “the text”, of 1 claim 0 hold and 1 fails.
    C1, “It wins”: under “the text”, 1 of 1 check is refuted.
    >>> verdict["checks"] += [{"verdict": "not testable"}]  # as in a quick run
    >>> print(answer([verdict], {"text": "the text"}, "C1")[1])
    C1, “It wins”: under “the text”, 1 of 1 check run (2 in all) is refuted.
    """
    variants = list(dict.fromkeys(str(verdict["variant"]) for verdict in verdicts))
    sentences = [_counts(verdicts, variants, titles)] if variants else []
    main = {str(verdict["variant"]): verdict for verdict in verdicts if verdict["id"] == headline}
    if any(verdict.get("checks") for verdict in main.values()):
        sentences.append(_headline(main, titles))
    return sentences


def _counts(verdicts: Sequence[Mapping[str, Any]], variants: Sequence[str], titles: Mapping[str, str]) -> str:
    claims = len({verdict["id"] for verdict in verdicts})
    parts: list[str] = []
    for variant in variants:
        found = Counter(verdict["verdict"] for verdict in verdicts if str(verdict["variant"]) == variant)
        whole = f"of {claims} claim{'s' * (claims != 1)} " if not parts else ""
        under = f"under “{titles.get(variant, variant)}”, "
        found["not judged"] = claims - found.total()
        kinds = ("not significant", "not testable", "not judged")
        rest = ", ".join(f"{found[word]} {word}" for word in kinds if found[word])
        others = f" ({rest})" if rest else ""
        parts.append(f"{under}{whole}{_verb(found['holds'], 'hold')} and {_verb(found['fails'], 'fail')}{others}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _verb(count: int, verb: str) -> str:
    return f"{count} {verb}{'s' * (count == 1)}"


def _headline(main: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str]) -> str:
    first = next(iter(main.values()))
    parts: list[str] = []
    for variant, verdict in main.items():
        verdicts = [check["verdict"] for check in verdict.get("checks") or ()]
        refuted, run = verdicts.count("fails"), len(verdicts) - verdicts.count("not testable")
        asked = "" if run == len(verdicts) else f" run ({len(verdicts)} in all)"
        total = f" of {run} check{'s' * (run != 1)}{asked} {'is' if refuted == 1 else 'are'} refuted"
        parts.append(f"under “{titles.get(variant, variant)}”, {refuted}{total if not parts else f' of {run}'}")
    sentence = str(first.get("text") or "").removesuffix(".")
    return f"{first['id']}, “{sentence}”: {'; '.join(parts)}."
