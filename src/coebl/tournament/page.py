"""The ranking of a tournament as the page of its study shows it: learners by their titles, columns in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from coebl.core.text import with_minus
from coebl.naming.described import NOTHING, Known
from coebl.naming.sweeps import learner_titles
from coebl.tournament.duels import Cycle
from coebl.tournament.standings import Estimate, Standing, Standings
from coebl.tournament.words import numbers_of, sentences

HEADER = [
    "Rank",
    "95 %",
    "Learner",
    "Kind",
    "Advantage, %",
    "Rank in its kind",
    "Nash mass",
    "In its kind",
    "Worst case, %",
    "Self-play, %",
    "µs a round",
]


def page_of(found: Standings, own: Sequence[str], known: Known = NOTHING) -> dict[str, Any]:
    """What `coebl.report.sections` reads: a table, and what to say above and below it.

    Args:
        found: the standings.
        own: learners of a user's own, which the sentences begin with.
        known: what the results say of their learners.
    """
    titles = learner_titles([one.learner for one in found.standings], known)
    named = _named(found, titles)
    return {
        "header": HEADER,
        "rows": [_row(one) for one in named.standings],
        "sentences": sentences(named, [titles[learner] for learner in own]),
        "legend": _legend(found),
    }


def _named(found: Standings, titles: Mapping[str, str]) -> Standings:
    """The standings with the titles of the learners in the place of their specs."""
    return replace(
        found,
        standings=[replace(one, learner=titles[one.learner]) for one in found.standings],
        cycles=[
            Cycle(*(tuple(map(titles.__getitem__, part)) for part in (c.members, c.example))) for c in found.cycles
        ],
    )


def _row(one: Standing) -> list[str]:
    alone = one.kind_nash_mass is None
    return [
        str(one.rank),
        f"{one.rank_low} to {one.rank_high}",
        one.learner,
        one.kind,
        _signed(one.advantage),
        "–" if alone else f"{one.kind_rank} of {one.kind_size}",
        *numbers_of(one, "–"),
    ]


def _signed(estimate: Estimate) -> str:
    value, low, high = (with_minus(f"{100 * number:+.2f}") for number in (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def _legend(found: Standings) -> str:
    return (
        "Ranked by advantage: what a learner earns above the value, in % of the payoff range per round, mean over all "
        f"opponents, seats and games, with 95 % intervals by {found.resamples} resamples of games and seeds. "
        "Nash mass: in the equilibrium of the meta-game, of all learners and of its kind alone. Worst case: regret "
        "against a best response. Self-play: exploitability of the last policies. µs: microseconds of computing."
    )
