"""Who beats whom, as plain tables: for readers without scripts, and as the ranking of an ordinary study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from coebl.core.text import number_text, with_minus
from coebl.evidence.ranking import Ranking
from coebl.report.content import Content
from coebl.report.numbers import interval_texts
from coebl.report.sections import Section

SURE = 2  # the standing of a head-to-head that is decided after correction
Tally = tuple[int, int, int]  # won, level, lost


class Duel(NamedTuple):
    """The outcome of a head-to-head on a game."""

    place: int  # of its game
    game: str
    row: int
    column: int
    round: int
    mean: float | None
    half: float | None
    standing: int


def duels(content: Content) -> Iterator[Duel]:
    """The head-to-heads of a page, game by game."""
    for place, (game, block) in enumerate(zip(content.curves.games, content.curves.blocks, strict=True)):
        for row, column, metrics in block:
            numbers: list[Any] | None = metrics.get(str(content.table_metric))
            if row != column and numbers:
                last = content.curves.rounds[numbers[0]][-1]
                yield Duel(place, game["title"], row, column, last, numbers[2][-1], numbers[3][-1], numbers[4])


def plain_tables(content: Content) -> dict[str, list[tuple[str, str, str, str]]]:
    """By game: row, column, the number with its interval, and who wins."""
    titles = [str(learner["title"]) for learner in content.learners]
    tables: dict[str, list[tuple[str, str, str, str]]] = {}
    for duel in duels(content):
        row = titles[duel.row], titles[duel.column], _number(duel), _winner(duel, titles)
        tables.setdefault(duel.game, []).append(row)
    return tables


def _number(duel: Duel) -> str:
    if duel.mean is None:
        return "not finite"
    if duel.half is None:
        return with_minus(number_text(duel.mean))
    return " ".join(interval_texts(duel.mean, duel.mean - duel.half, duel.mean + duel.half))


def _winner(duel: Duel, titles: list[str]) -> str:
    if not duel.standing or duel.mean is None:
        return "undecided"
    name = titles[duel.column if duel.mean > 0 else duel.row]
    return f"{name} wins" if duel.standing == SURE else f"{name}, before correction only"


def ranking(content: Content, known: Ranking | None = None) -> Section | None:
    """The learners by how often they beat others, wins less losses; None where no two of them met.

    Args:
        content: of the page.
        known: the ranking of the study, if there is one; else the head-to-heads of the page are counted.
    """
    if content.table_metric is None:
        return None
    tally = _known_tally(content, known) if known else _tally(content)
    if not tally:
        return None
    taken = _taken(content)
    shares = {learner: (won - lost) / (won + level + lost) for learner, (won, level, lost) in tally.items()}
    order = sorted(shares, key=lambda learner: (-shares[learner], -taken.get(learner, 0.0)))
    metric = list(content.metrics.values())[content.table_metric].in_a_sentence
    seeing = [str(one["title"]) for one in content.learners if one["sees"]]
    return Section(
        id="ranking",
        title="Ranking",
        sentences=[_leader(content, order, shares, tally)],
        header=["Rank", "Learner", "Won", "Level", "Lost", "Taken per round"],
        rows=[
            [
                str(1 + sum(other > shares[learner] for other in shares.values())),
                str(content.learners[learner]["title"]),
                *map(str, tally[learner]),
                with_minus(number_text(taken[learner], 3)) if learner in taken else "–",
            ]
            for learner in order
        ],
        caption=f"Ranked by wins less losses, per pairing: two learners on a game, won by {metric} at the last round, "
        "after Holm’s correction over all pairings. Taken per round: the mean over those whom it met."
        + (f" Left out, since they see more than a bandit does: {', '.join(seeing)}." if seeing else ""),
    )


def _known_tally(content: Content, known: Ranking) -> dict[int, Tally]:
    places = {learner["spec"]: place for place, learner in enumerate(content.learners)}
    return {places[one.learner]: (one.won, one.level, one.lost) for one in known.learners if one.learner in places}


def _tally(content: Content) -> dict[int, Tally]:
    """By learner, how many head-to-heads it won, left open and lost, among those that see no more than a bandit."""
    counts: dict[int, list[int]] = {}
    for duel in _fair(content):
        for learner, sign in ((duel.row, -1), (duel.column, 1)):
            outcome = 1 if duel.standing < SURE else 0 if sign * float(duel.mean or 0) > 0 else 2
            counts.setdefault(learner, [0, 0, 0])[outcome] += 1
    return {learner: (won, level, lost) for learner, (won, level, lost) in counts.items()}


def _taken(content: Content) -> dict[int, float]:
    """By learner, what it took per round, on average over its head-to-heads."""
    taken: dict[int, list[float]] = {}
    for duel in _fair(content):
        for learner, sign in ((duel.row, -1), (duel.column, 1)):
            taken.setdefault(learner, []).append(sign * float(duel.mean or 0) / duel.round)
    return {learner: sum(gains) / len(gains) for learner, gains in taken.items()}


def _fair(content: Content) -> list[Duel]:
    """The head-to-heads with a number, of learners that see no more than a bandit does."""
    sees = [bool(one["sees"]) for one in content.learners]
    return [duel for duel in duels(content) if duel.mean is not None and not (sees[duel.row] or sees[duel.column])]


def _leader(content: Content, order: list[int], shares: dict[int, float], tally: dict[int, Tally]) -> str:
    first = [one for one in order if shares[one] == shares[order[0]]]
    won, level, lost = tally[order[0]]
    names = [str(content.learners[one]["title"]) for one in first]
    if not won:
        return f"None of the {len(order)} learners is shown to beat another one."
    if len(first) > 1:
        return f"{', '.join(names[:-1])} and {names[-1]} share the first place of {len(order)} learners."
    met = won + level + lost
    return (
        f"{names[0]} comes first of {len(order)} learners: of its {met} pairing{'s' * (met != 1)} it wins {won} and "
        f"loses {lost}."
    )
