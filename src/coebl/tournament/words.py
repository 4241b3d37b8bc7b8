"""The standings in words: a table of a screen's height, and a few sentences."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from coebl.core.errors import printable
from coebl.learners import LEARNERS
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


HEADER = ["rank", "95 %", "", "learner", "advantage", "kind rank", "Nash", "kind Nash", "worst", "self", "us"]
_WORDS = (1, 3)  # columns that stand on the left


def rows_of(found: Standings) -> list[list[str]]:
    """The ranking, a row per learner under `HEADER`. Amounts are in % of the payoff range per round."""
    return [_row(one) for one in _told_apart(found).standings]


def _told_apart(found: Standings) -> Standings:
    """The same with names that tell learners apart: a default is named where another value stands beside it."""
    names = LEARNERS.disambiguate(one.learner for one in found.standings)

    def cycle(one: Cycle) -> Cycle:
        return Cycle(tuple(map(names.__getitem__, one.members)), tuple(map(names.__getitem__, one.example)))

    rows = [replace(one, learner=names[one.learner]) for one in found.standings]
    return replace(found, standings=rows, cycles=list(map(cycle, found.cycles)))


def as_table(found: Standings) -> str:
    """The ranking for a terminal."""
    rows = [HEADER, *rows_of(found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            f"{word:<{width}}" if place in _WORDS else f"{word:>{width}}"
            for place, (word, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _row(one: Standing) -> list[str]:
    alone = one.kind_nash_mass is None
    return [
        str(one.rank),
        f"{one.rank_low}-{one.rank_high}",
        MARKS[one.kind],
        printable(one.learner),
        f"{100 * one.advantage.value:+.2f} [{100 * one.advantage.low:+.2f}, {100 * one.advantage.high:+.2f}]",
        "" if alone else f"{one.kind_rank}/{one.kind_size}",
        *numbers_of(one, ""),
    ]


def numbers_of(one: Standing, missing: str) -> list[str]:
    """The columns that follow the ranks: Nash, kind Nash, worst, self and microseconds.

    Args:
        one: a learner.
        missing: what stands for the Nash mass within its kind, if it is the only one.
    """
    return [
        f"{one.nash_mass:.2f}",
        missing if one.kind_nash_mass is None else f"{one.kind_nash_mass:.2f}",
        f"{100 * one.regret.value:.2f}",
        f"{100 * one.exploitability.value:.1f}",
        f"{one.microseconds:.1f}",
    ]


def sentences(found: Standings, own: Collection[str] = ()) -> list[str]:
    """The answer: where a user's own learners are, who leads each kind, who is hardest to exploit, cycles.

    Args:
        found: the standings.
        own: the learners that the user asked about, as they are called there.
    """
    places = [place for place, one in enumerate(found.standings) if one.learner in own]
    found = _told_apart(found)
    lines = [_of_own(found, found.standings[place]) for place in places]
    lines.append(_leaders(found))
    lines.append(_cycle_sentence(found))
    if not found.nash_unique:
        lines.append("The meta-game has several equilibria; the Nash masses are those of the largest entropy.")
    lines += [f"{sentence}." for sentence in found.missing]
    return lines


def _leaders(found: Standings) -> str:
    kinds = kinds_in(found.standings)
    groups = {kind: [one for one in found.standings if one.kind == kind] for kind in kinds}
    safest = [min(rows, key=lambda one: one.regret.value) for rows in groups.values()]
    holds = ", ".join(f"{one.learner} ({_percent(one.regret)})" for one in safest)
    regret = f"least worst-case regret{' of each kind' * (len(kinds) > 1)}: {holds}."
    leads = [
        f"{one.learner} among {_short(kind)} ({100 * one.kind_advantage.value:+.2f} %)"
        for kind, rows in groups.items()
        for one in rows
        if one.kind_rank == 1 and one.kind_advantage is not None
    ]
    if not leads:  # everybody is alone
        first = found.standings[0]
        return f"Largest advantage: {first.learner} ({100 * first.advantage.value:+.2f} %); {regret}"
    return f"Largest advantage over its own kind: {', '.join(leads)}; {regret}"


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
        return f"Over all games there is no cycle of learners that beat each other, after Holm{on_games}."
    return f"Over all games there are cycles, after Holm: {'; '.join(map(_cycle, found.cycles))}{on_games}."


def _cycle(cycle: Cycle) -> str:
    chain = " beats ".join([*cycle.example, cycle.example[0]])
    more = len(cycle.members) - len(cycle.example)
    return chain + (f" (and {more} more learners in cycles with these)" if more else "")
