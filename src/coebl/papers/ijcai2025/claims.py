"""The paper's claims, each as checks on the results of its experiments, and the verdicts that the results give.

A claim holds if every one of its checks is shown, and fails if any is refuted, at 5 % after Holm's correction over the
checks of the claim in a variant. Its number and interval are those of the check that decided: the one most strongly
refuted, else the one nearest to not being shown. The interval is Student's, two-sided at 95 %, and not corrected. What
a claim would be on the other metrics that fit it is reported beside the verdict.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, get_args

from coebl.claims.checks import (
    Check,
    CheckResult,
    Largest,
    Near,
    Outcome,
    Reader,
    Sample,
    above,
    below,
    judge_family,
    shorten_number,
    sublinear,
)
from coebl.core.errors import look_up
from coebl.learners.coebl import Coebl
from coebl.papers.ijcai2025.experiments import (
    BASELINES,
    FAMILIES,
    ROLES,
    ROUNDS,
    SIZES,
    VARIANTS,
    Pairing,
    Variant,
    VariantId,
    actions_of,
    best_responses,
    coebl,
    games,
    size_of,
)

if TYPE_CHECKING:
    from coebl.study.results import Source

Checks = Callable[[Variant], list[Check]]

# the metric that decides, which has no reward noise, then those that are reported as well
LEAD = "pseudo_regret", "regret"  # head to head: positive if the column player, COEBL, wins
SIZE = "absolute_pseudo_regret", "absolute_regret", "regret_magnitude"  # self-play: the text's measure, the program's
DISTANCE = ("tv",)

CONVERGED = 0.05  # TV(x) + TV(y), on average over the last rounds
SPAN = 100  # how many rounds the first and the last ones are


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and the checks that it stands or falls with."""

    id: str
    where: str
    sentence: str
    metrics: tuple[str, ...]  # the one that decides, then those that are reported
    checks: Checks
    silence: str  # why a variant has no checks

    def needs(self, variant: Variant) -> list[Pairing]:
        """The matches that the checks are about, each once."""
        return list(dict.fromkeys(sample.pairing for check in self.checks(variant) for sample in check.samples))


CLAIMS: dict[str, Claim] = {}


def _claim(
    name: str, where: str, sentence: str, metrics: tuple[str, ...], silence: str = ""
) -> Callable[[Checks], Checks]:
    def register(checks: Checks) -> Checks:
        CLAIMS[name] = Claim(name, where, sentence, metrics, checks, silence)
        return checks

    return register


def _family(name: str, sizes: Sequence[int] = SIZES) -> list[str]:
    return [game for game in games(sizes) if game.partition(":")[0] == name]


def _duels(variant: Variant, chosen: Iterable[str]) -> list[Sample]:
    """The ends of the matches of the baselines against COEBL."""
    return [Sample(variant.against_coebl(role, game)) for game in chosen for role in BASELINES]


def _last(pairing: Pairing) -> Sample:
    return Sample(pairing, ROUNDS - SPAN + 1, ROUNDS)


@_claim(
    "C1",
    "RPS, UCB v COEBL",
    "COEBL has a smaller advantage over UCB: the mean regret is above 5 but below 10 after iteration 2000.",
    LEAD,
)
def _small_advantage(variant: Variant) -> list[Check]:
    pairing = variant.against_coebl("ucb", "rps")
    samples = [Sample(pairing, round, round) for round in (2010, 2500, ROUNDS)]
    return [check for sample in samples for check in (above(sample, 5), below(sample, 10))]


@_claim("C2", "RPS, Exp3 and Exp3-IX v COEBL", "COEBL clearly outperforms the Exp3 family, Exp3 and Exp3-IX.", LEAD)
def _clear_advantage(variant: Variant) -> list[Check]:
    return [above(Sample(variant.against_coebl(role, "rps"))) for role in ("exp3", "exp3-ix")]


@_claim("C3", "RPS, self-play", "COEBL exhibits sublinear regret, similar to the other bandit baselines.", SIZE)
def _sublinear_regret(variant: Variant) -> list[Check]:
    return [sublinear(variant.self_play(role, "rps")) for role in ROLES]


@_claim(
    "C4",
    "RPS, self-play",
    "Exp3's KL diverges; COEBL and UCB converge to the Nash equilibrium faster than Exp3-IX.",
    ("kl",),
)
def _speed(variant: Variant) -> list[Check]:
    """Diverging is to be farther off at the end than at the start, and faster who is nearer at the end.

    Not on average over all rounds: Exp3-IX begins at the uniform policy, which is the equilibrium of this game.
    """
    exp3 = variant.self_play("exp3", "rps")
    slow, coebl_, ucb = (_last(variant.self_play(role, "rps")) for role in ("exp3-ix", "coebl", "ucb"))
    return [above(_last(exp3), minus=Sample(exp3, 1, SPAN)), above(slow, minus=coebl_), above(slow, minus=ucb)]


@_claim("C5", "Diagonal, self-play, n = 2..7", "COEBL's regret is sublinear and stays beneath 0.1 sqrt(K² T).", SIZE)
def _beneath_the_line(variant: Variant) -> list[Check]:
    checks: list[Check] = []
    for game in _family("diagonal"):
        pairing = variant.self_play("coebl", game)
        checks.append(sublinear(pairing))
        for round in (ROUNDS // 3, 2 * ROUNDS // 3, ROUNDS):
            checks.append(below(Sample(pairing, round, round), 0.1 * actions_of(game) * math.sqrt(round)))
    return checks


def _convergence(variant: Variant, converges: Iterable[str], baselines_do_not: Iterable[str]) -> list[Check]:
    """COEBL converges in self-play on some games, the baselines do not on some."""
    return [
        *(below(_last(variant.self_play("coebl", game)), CONVERGED) for game in converges),
        *(above(_last(variant.self_play(role, game)), CONVERGED) for game in baselines_do_not for role in BASELINES),
    ]


@_claim(
    "C6",
    "Diagonal, self-play",
    "COEBL converges to the Nash equilibrium in TV for n = 2, 3, while the baselines do not converge.",
    DISTANCE,
)
def _convergence_on_diagonal(variant: Variant) -> list[Check]:
    return _convergence(variant, _family("diagonal", (2, 3)), _family("diagonal", (2, 3)))


@_claim("C7", "Diagonal, self-play", "For n >= 4 none of them converges to the Nash equilibrium.", DISTANCE)
def _no_convergence(variant: Variant) -> list[Check]:
    large = _family("diagonal", [size for size in SIZES if size >= 4])
    return [above(_last(variant.self_play(role, game)), CONVERGED) for game in large for role in ROLES]


@_claim(
    "C8",
    "Diagonal, {Exp3, Exp3-IX, UCB} v COEBL, n = 2..7",
    "The regrets across all algorithms exceed 16.2, with a maximum of 389.8 for n = 6.",
    LEAD,
)
def _numbers_on_diagonal(variant: Variant) -> list[Check]:
    duels = _duels(variant, _family("diagonal"))
    six_first = sorted(duels, key=lambda sample: size_of(sample.pairing.game) != 6)
    return [
        *(above(sample, 16.2) for sample in duels),
        Largest(tuple(six_first), 0, first=len(BASELINES)),
        Near(tuple(duels), 389.8, "largest"),
    ]


@_claim("C9", "Diagonal, head to head, n = 2..7", "COEBL outperforms the other bandit algorithms for every n.", LEAD)
def _wins_on_diagonal(variant: Variant) -> list[Check]:
    return [above(sample) for sample in _duels(variant, _family("diagonal"))]


@_claim("C10", "Diagonal, UCB v COEBL", "UCB v COEBL converges even at n = 4, but not at n = 5, 6, 7.", DISTANCE)
def _convergence_of_ucb(variant: Variant) -> list[Check]:
    four, *larger = (_last(variant.against_coebl("ucb", game)) for game in _family("diagonal", (4, 5, 6, 7)))
    return [below(four, CONVERGED), *(above(sample, CONVERGED) for sample in larger)]


@_claim(
    "C11",
    "BiggerNumber, self-play, n = 2..7",
    "COEBL converges to the Nash equilibrium for n = 2, 3, 4, while the baselines do not converge.",
    DISTANCE,
)
def _convergence_on_bigger_number(variant: Variant) -> list[Check]:
    return _convergence(variant, _family("bigger-number", (2, 3, 4)), _family("bigger-number"))


@_claim(
    "C12",
    "BiggerNumber, head to head, n = 2..7",
    "All regrets are positive, with minimum 8.39 and maximum 351.27.",
    LEAD,
)
def _numbers_on_bigger_number(variant: Variant) -> list[Check]:
    duels = _duels(variant, _family("bigger-number"))
    return [
        *(above(sample) for sample in duels),
        Near(tuple(duels), 8.39, "least"),
        Near(tuple(duels), 351.27, "largest"),
    ]


@_claim("C13", "Diagonal and BiggerNumber, self-play", "The regrets of all algorithms increase as n grows.", SIZE)
def _growth(variant: Variant) -> list[Check]:
    return [
        above(Sample(variant.self_play(role, larger)), minus=Sample(variant.self_play(role, smaller)))
        for family in FAMILIES
        for role in ROLES
        for smaller, larger in pairwise(_family(family))
    ]


@_claim("C14", "abstract", "COEBL consistently outperforms Exp3, Exp3-IX and UCB.", LEAD)
def _wins_everywhere(variant: Variant) -> list[Check]:
    return [above(sample) for sample in _duels(variant, games())]


@_claim(
    "C15",
    "discussion; against a best response",
    "Randomised optimism via evolution is more robust than deterministic optimism.",
    LEAD,
)
def _robustness(variant: Variant) -> list[Check]:
    return [
        above(
            Sample(variant.against_best_response("ucb", game)),
            minus=Sample(variant.against_best_response("coebl", game)),
        )
        for game in games()
        if best_responses(game)
    ]


@_claim(
    "C16",
    "theorem; against a best response",
    "The worst-case Nash regret of COEBL is at most 2 sqrt(2 c T m² log(2 T² m²)), for c >= 8 and T >= 2 m².",
    LEAD,
    silence="the theorem needs c >= 8",
)
def _theorem(variant: Variant) -> list[Check]:
    rate = 8
    if variant.rate is not None and variant.rate < rate:
        return []
    bounds = {game: Coebl.regret_bound(actions_of(game), actions_of(game), ROUNDS, rate) for game in games()}
    return [
        below(Sample(Pairing(game, coebl(rate), "best-response")), bound)
        for game, bound in bounds.items()
        if bound is not None
    ]


@dataclass(frozen=True)
class Reported:
    """A claim judged on another metric than the one that decides."""

    metric: str
    verdict: Outcome
    measured: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """What the results say of a claim in a variant; the numbers are those of the check that decided."""

    id: str
    variant: VariantId
    verdict: Outcome
    metric: str
    measured: float
    low: float
    high: float
    threshold: float
    n: int  # runs
    text: str  # the paper's sentence
    note: str  # what decided
    checks: list[CheckResult]
    reported: list[Reported]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, which has no infinity and no NaN: they are None."""
        plain: dict[str, Any] = _plain(asdict(self))
        for check, values in zip(self.checks, plain["checks"], strict=True):
            values["verdict"] = check.verdict
        return plain


def judge(
    source: Source, claims: str | Iterable[str] | None = None, variants: str | Iterable[str] | None = None
) -> list[Verdict]:
    """A verdict on each claim, or on those named, in each variant, or in those named."""
    reader = Reader(source)
    chosen = look_up("variant", variants, VARIANTS)
    return [_judge(claim, variant, reader) for claim in look_up("claim", claims, CLAIMS) for variant in chosen]


def needed(claim_id: str) -> list[Pairing]:
    """The matches that a claim needs in any variant.

    >>> needed("C1")
    [Pairing(game='rps', row='ucb', column='coebl:c=2')]
    """
    (claim,) = look_up("claim", claim_id, CLAIMS)
    return list(dict.fromkeys(pairing for variant in VARIANTS.values() for pairing in claim.needs(variant)))


def _judge(claim: Claim, variant: Variant, reader: Reader) -> Verdict:
    checks = claim.checks(variant)
    results = judge_family(checks, reader, claim.metrics[0])
    verdict, decisive = _decide(results)
    reported = []
    for metric in claim.metrics[1:]:
        outcome, number = _decide(judge_family(checks, reader, metric))
        reported.append(Reported(metric, outcome, *_interval(number)))
    return Verdict(
        claim.id,
        variant.id,
        verdict,
        claim.metrics[0],
        *_interval(decisive),
        decisive.threshold if decisive else math.nan,
        decisive.n if decisive else 0,
        claim.sentence,
        _note(verdict, decisive, results, claim.needs(variant)) or claim.silence,
        results,
        reported,
    )


def _decide(results: list[CheckResult]) -> tuple[Outcome, CheckResult | None]:
    """The verdict on all checks together, and the one that decides, if any has data."""
    tested = [result for result in results if not result.missing]
    outcomes = {result.verdict for result in results}
    if "fails" in outcomes:
        failing = [result for result in tested if result.verdict == "fails"]
        return "fails", min(failing, key=lambda result: (result.beside, result.refuted))
    weakest = max(tested, key=lambda result: result.shown, default=None)
    if not outcomes or "not testable" in outcomes:
        return "not testable", weakest
    return "not significant" if "not significant" in outcomes else "holds", weakest


def _interval(result: CheckResult | None) -> tuple[float, float, float]:
    return (result.measured, result.low, result.high) if result else (math.nan, math.nan, math.nan)


def _note(verdict: Outcome, decisive: CheckResult | None, results: list[CheckResult], needs: list[Pairing]) -> str:
    """A sentence on what decided; nothing if nothing was to be checked."""
    total = len(results)
    count = Counter(result.verdict for result in results)
    if verdict != "not testable":
        without = f"; without data: {count['not testable']}" if count["not testable"] else ""
        others = {
            "holds": f"the closest of {total} checks",
            "fails": f"failing: {count['fails']} of {total} checks{without}",
            "not significant": f"not significant: {count['not significant']} of {total} checks; failing: none",
        }
        return f"{decisive} ({others[verdict]})"
    missing = f"missing: {_gaps(results, needs)}" if results else ""
    tested = total - count["not testable"]
    if not tested:
        return missing
    hold = "all of them hold" if count["holds"] == tested else f"{count['holds']} of them hold, none fails"
    return f"{tested} of {total} checks have data, {hold}; {missing}"


def _gaps(results: list[CheckResult], needs: list[Pairing]) -> str:
    """What is missing: by families and sizes where nothing is there, else by matches, else by reasons."""
    gaps = list(dict.fromkeys(gap for result in results for gap in result.missing))
    absent = [gap.pairing for gap in gaps if not gap.reason]
    partly = {pairing.game for pairing in needs if pairing not in absent}
    sizes: dict[str, list[str]] = {}
    for game in dict.fromkeys(pairing.game for pairing in absent if pairing.game not in partly):
        family, _, size = game.partition(":n=")
        sizes.setdefault(family, []).append(size)
    parts = [f"{family} n = {', '.join(listed)}" if any(listed) else family for family, listed in sizes.items()]
    parts += [str(Sample(pairing)) for pairing in absent if pairing.game in partly]
    parts += dict.fromkeys(gap.reason for gap in gaps if gap.reason)
    return "; ".join(parts[:4]) + (f"; and {len(parts) - 4} more" if len(parts) > 4 else "")


def as_json(verdicts: Iterable[Verdict]) -> str:
    """The verdicts as a JSON list."""
    return json.dumps([verdict.as_dict() for verdict in verdicts], indent=2, ensure_ascii=False, allow_nan=False)


def as_markdown(verdicts: Sequence[Verdict]) -> str:
    """A table in Markdown: a row per claim, a column per variant, with what decided."""
    variants = [variant for variant in VARIANTS.values() if any(variant.id == verdict.variant for verdict in verdicts)]
    cells = {(verdict.id, verdict.variant): _cell(verdict) for verdict in verdicts}
    rows = [["id", "claim", *(variant.title for variant in variants)], ["---"] * (2 + len(variants))]
    for name, text in {verdict.id: verdict.text for verdict in verdicts}.items():
        rows.append([name, text, *(cells.get((name, variant.id), "") for variant in variants)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(verdict: Verdict) -> str:
    parts = [f"**{verdict.verdict}** {_measured(verdict)}".strip(), verdict.note]
    parts += [f"on {other.metric}: {other.verdict}" for other in verdict.reported if other.verdict != verdict.verdict]
    return "<br>".join(parts)


def as_table(verdicts: Iterable[Verdict], width: int = 100) -> str:
    """A table for a terminal: each claim in the paper's words, what is found of it in the variants, and a tally."""
    listed = list(verdicts)
    lines = [f"    {'verdict':<16}measured [95 % interval] against the threshold"]
    for _, claim in groupby(listed, key=lambda verdict: verdict.id):
        first, *rest = claim
        lines += ["", *_wrap(f"{first.id:<4}{first.text}", width, indent=4)]
        for said, alike in _alike([first, *rest]).items():
            lines.append(f"    {', '.join(VARIANTS[verdict.variant].title for verdict in alike)}")
            for line in said:
                lines += _wrap(f"{'':8}{line}", width, indent=8 + 16 * line.startswith(alike[0].verdict))
    lines += ["", *_tally(listed)]
    return "\n".join(lines)


def _alike(verdicts: list[Verdict]) -> dict[tuple[str, ...], list[Verdict]]:
    """What is said of a claim, line by line, and the variants of which it is said."""
    groups: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in verdicts:
        said = [f"{verdict.verdict:<16}{_measured(verdict)}".rstrip(), verdict.note]
        for other in verdict.reported:
            number = _interval_text(other.measured, other.low, other.high)
            said.append(f"on {other.metric}: {other.verdict} {number}".rstrip())
        groups.setdefault(tuple(said), []).append(verdict)
    return groups


def _tally(verdicts: list[Verdict]) -> list[str]:
    """How many claims hold, fail and so on in each variant."""
    lines = []
    for variant in dict.fromkeys(verdict.variant for verdict in verdicts):
        count = Counter(verdict.verdict for verdict in verdicts if verdict.variant == variant)
        counts = ", ".join(f"{count[outcome]} {outcome}" for outcome in get_args(Outcome))
        lines.append(f"{VARIANTS[variant].title:<18}{counts}")
    return lines


def _measured(verdict: Verdict) -> str:
    """Measured [low, high] against the threshold."""
    number = _interval_text(verdict.measured, verdict.low, verdict.high)
    return f"{number} against {shorten_number(verdict.threshold, 5)}" if number else ""


def _interval_text(measured: float, low: float, high: float) -> str:
    if math.isnan(measured):
        return ""
    return f"{shorten_number(measured)} [{shorten_number(low)}, {shorten_number(high)}]"


def _wrap(text: str, width: int, indent: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=" " * indent, break_on_hyphens=False, replace_whitespace=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
