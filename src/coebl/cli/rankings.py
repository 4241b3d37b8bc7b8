"""Rankings on a terminal: the learners of a study by their wins, those of a tournament by their advantage."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from coebl.cli.screen import print_table, say
from coebl.core.errors import printable

if TYPE_CHECKING:
    from coebl.study import Results, Study
    from coebl.tournament.outcome import Finished
    from coebl.tournament.standings import Standings

_MOST = 24  # learners that fit a screen


def print_notices(results: Results) -> None:
    """Print what somebody who compares these results should know."""
    for notice in results.notices():
        print(printable(notice), file=sys.stderr)


def print_ranking(results: Results, study: Study | None = None) -> None:
    """Print the ranking of a study and what came out in a sentence; nothing if no two learners met.

    Args:
        results: a folder.
        study: what counts of it; by default everything.
    """
    from coebl.evidence.ranking import rank

    ranking = rank(results, study)
    if ranking is None:
        return
    names = ranking.names
    header = ["rank", "learner", "won", "level", "lost", "score"]
    rows = [
        [*map(str, (one.rank, names[one.learner], one.won, one.level, one.lost)), f"{one.score:+.2f}"]
        for one in ranking.learners
    ]
    if not ranking.everybody_met:
        header.insert(5, "pairings")
        for row, one in zip(rows, ranking.learners, strict=True):
            row.insert(5, f"{one.met} of {ranking.most}")
    print()
    print_table(header, rows[:_MOST], right=[*header[:1], *header[2:]])
    if len(rows) > _MOST:
        print(f"and {len(rows) - _MOST} more")
    print()
    say(str(ranking), "bold")
    say("Ranked by score: wins minus losses, per pairing.")
    if not ranking.everybody_met:
        say(
            "Not everybody met everybody, so the scores are against different opponents. For two learners on common "
            "ones: coebl compare."
        )
    left_out = ", ".join(names[spec] for spec in ranking.left_out)
    say(
        f"A pairing is two learners on a game, won by {ranking.metric} after the last round, paired by seed, Holm at "
        "5 %." + (f" Left out, since they see more: {left_out}." if left_out else "")
    )


def _columns(found: Standings) -> dict[str, str]:
    """What each column of all standings is."""
    from coebl.tournament.standings import kinds_in
    from coebl.tournament.words import MARKS

    share = "in % of the payoff range per round"
    return {
        "rank": "by advantage",
        "95 %": f"from which to which rank, in 95 % of {found.resamples} resamples of games and seeds",
        ", ".join(f"{MARKS[kind]} {kind}" for kind in kinds_in(found.standings)): "how much a learner sees",
        "advantage": f"what it earns above the value, {share}, mean over opponents, seats and games, 95 % interval",
        "kind rank": "its rank among the learners of its kind, and how many these are",
        "Nash": "its mass in the equilibrium of the meta-game",
        "kind Nash": "the same, among the learners of its kind",
        "worst": f"what a best response takes from it, {share}",
        "self": "exploitability of its last policies in self-play, in % of the payoff range",
        "us": "microseconds per round",
    }


def print_standings(finished: Finished, details: bool) -> None:
    """Print the ranking of a tournament and what came out; with details, all columns, and what they mean."""
    from coebl.tournament.words import HEADER, as_table, rows_of

    found = finished.standings
    if details:
        print(f"{as_table(found)}\n")
        for name, meaning in _columns(found).items():
            say(f"{name}: {meaning}", hang=2)
    else:
        cells = [
            dict(zip(HEADER, row, strict=True)) | {"kind": one.kind}
            for row, one in zip(rows_of(found), found.standings, strict=True)
        ]
        names = ["rank", "95 %", "learner", "kind", "advantage", "worst"]
        print_table(names, [[row[name] for name in names] for row in cells], right=["rank", "advantage", "worst"])
    print()
    for number, sentence in enumerate(finished.sentences):
        say(sentence, "" if number else "bold")
    if not details:
        say(
            "advantage: what a learner earns above the value; worst: what a best response takes from it; both in % of "
            "the payoff range per round. For all columns, add --details."
        )
