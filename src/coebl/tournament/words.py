"""The standings in words: a table of a screen's height, and a few sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coebl.core.errors import printable
from coebl.learners.base import Kind
from coebl.tournament.duels import Cycle
from coebl.tournament.standings import Estimate, Standing, Standings, kinds_in

MARKS: dict[Kind, str] = {"bandit": "b", "informed bandit": "i", "full information": "F", "oracle": "O"}
_PLURAL: dict[Kind, str] = {
    "bandit": "bandits",
    "informed bandit": "informed bandits",
    "full information": "full information, for reference",
    "oracle": "oracles, for reference",
}


def as_table(found: Standings, titles: Mapping[str, str] | None = None) -> str:
    """The ranking as text. Amounts are in % of the payoff range per round."""
    rows = [_row(one, titles or {}) for one in found.standings]
    header = ["rank", "95 %", "", "learner", "advantage", "in its kind", "Nash", "worst case", "self-play", "us/round"]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    left = (1, 3)  # columns of words
    lines = [
        "  ".join(
            f"{word:<{w}}" if at in left else f"{word:>{w}}"
            for at, (word, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in [header, *rows]
    ]
    return "\n".join(line.rstrip() for line in lines)


def _row(one: Standing, titles: Mapping[str, str]) -> list[str]:
    kind_rank = "alone" if one.kind_rank is None else f"{one.kind_rank} of {one.kind_size}"
    return [
        str(one.rank),
        f"{one.rank_low}-{one.rank_high}",
        MARKS[one.kind],
        printable(titles.get(one.learner, one.learner)),
        f"{100 * one.advantage.value:+.2f} [{100 * one.advantage.low:+.2f}, {100 * one.advantage.high:+.2f}]",
        kind_rank,
        f"{one.nash_mass:.2f}",
        f"{100 * one.regret.value:.2f}",
        f"{100 * one.exploitability.value:.1f}",
        f"{one.microseconds:.1f}",
    ]


def legend(found: Standings) -> list[str]:
    """What the columns of the table are."""
    kinds = ", ".join(f"{MARKS[kind]} {_PLURAL[kind]}" for kind in kinds_in(found.standings))
    return [
        f"{kinds}. Ranked by advantage, % of the payoff range per round, mean over opponents, seats and games;",
        f"brackets and ranks: 95 % by {found.resamples} resamples of games and seeds. Nash: mass in the meta-game's",
        "equilibrium. Worst case: regret against best-response, %. Self-play: exploitability of the last policies, %.",
    ]


def sentences(found: Standings, own: Sequence[str] = ()) -> list[str]:
    """The answer: who leads each kind, who is hardest to exploit, where the learners of a user's own are, cycles."""
    lines = [_of_own(found, found.of(learner)) for learner in own]
    lines.append(_leaders(found))
    lines.append(_cycle_sentence(found))
    if not found.nash_unique:
        lines.append("The meta-game has several equilibria; the Nash masses are those of the largest entropy.")
    return lines


def _leaders(found: Standings) -> str:
    kinds = kinds_in(found.standings)
    groups = {kind: [one for one in found.standings if one.kind == kind] for kind in kinds}
    ahead = [(min(rows, key=lambda one: one.kind_rank or 1), kind) for kind, rows in groups.items()]
    safest = [min(rows, key=lambda one: one.regret.value) for rows in groups.values()]
    leads = ", ".join(f"{one.learner} among {_short(kind)} ({_lead(one)})" for one, kind in ahead)
    holds = ", ".join(f"{one.learner} ({_percent(one.regret)})" for one in safest)
    return f"Largest advantage over its own kind: {leads}; least worst-case regret, in the same order: {holds}."


def _lead(one: Standing) -> str:
    return f"{100 * (one.kind_advantage or one.advantage).value:+.2f} %"


def _short(kind: Kind) -> str:
    return _PLURAL[kind].partition(",")[0]


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.2f} %"


def _of_own(found: Standings, one: Standing) -> str:
    among = "" if one.kind_rank is None else f", {one.kind_rank} of {one.kind_size} among {_short(one.kind)}"
    return (
        f"{one.learner} is {one.rank} of {len(found.standings)} (95 %: {one.rank_low} to {one.rank_high}){among}: it "
        f"beats {one.beats} and loses to {one.loses_to} after Holm, and best-response takes {_percent(one.regret)} of "
        "the payoff range per round from it."
    )


def _cycle_sentence(found: Standings) -> str:
    on_games = f"; on single games, {len(found.cycles_by_game)} of {len(found.games)} have cycles"
    if not found.cycles:
        return f"Over all games nobody beats each other in a cycle, after Holm{on_games}."
    return f"Over all games there are cycles, after Holm: {'; '.join(map(_cycle, found.cycles))}{on_games}."


def _cycle(cycle: Cycle) -> str:
    chain = " beats ".join([*cycle.example, cycle.example[0]])
    more = len(cycle.members) - len(cycle.example)
    return chain + (f" (and {more} more learners in cycles with these)" if more else "")
