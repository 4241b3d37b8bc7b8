"""Who beats whom, as plain tables: for readers without scripts, and as the ranking of an ordinary study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from coebl.core.text import number_text, with_minus
from coebl.report.content import Content
from coebl.report.numbers import interval_texts
from coebl.report.sections import Section

SURE = 2  # the standing of a head-to-head that is decided after correction
_WORDS = ("undecided", "before correction only", "")


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


def ranking(content: Content) -> Section | None:
    """Every learner by what it took per round from those whom it met; None where nobody met anybody."""
    found = [duel for duel in duels(content) if duel.mean is not None]
    if content.table_metric is None or not found:
        return None
    taken: dict[int, list[float]] = {}
    tally: dict[int, list[int]] = {}
    for duel in found:
        for learner, sign in ((duel.row, -1), (duel.column, 1)):
            gain = sign * float(duel.mean or 0) / duel.round
            taken.setdefault(learner, []).append(gain)
            outcome = 2 if duel.standing < SURE else 0 if gain > 0 else 1
            tally.setdefault(learner, [0, 0, 0])[outcome] += 1
    means = {learner: sum(gains) / len(gains) for learner, gains in taken.items()}
    order = sorted(means, key=lambda learner: -means[learner])
    metric = list(content.metrics.values())[content.table_metric].in_a_sentence
    return Section(
        id="ranking",
        title="Ranking",
        sentences=[_leader(content, order, means, tally)],
        header=["", "Learner", "Taken per round", "Wins", "Losses", "Undecided"],
        rows=[
            [str(rank), str(content.learners[learner]["marked"]), _per_round(means[learner]), *map(str, tally[learner])]
            for rank, learner in enumerate(order, 1)
        ],
        caption=f"By {metric} at the last round, over all games. Learners that met different opponents do not compare."
        + (" † sees more than a bandit does." if any(content.learners[one]["sees"] for one in order) else ""),
    )


def _leader(content: Content, order: list[int], means: dict[int, float], tally: dict[int, list[int]]) -> str:
    """Who took most, among those that see no more than a bandit does, if there are any."""
    equals = [learner for learner in order if not content.learners[learner]["sees"]]
    leader = (equals or order)[0]
    wins, losses, undecided = tally[leader]
    most = _per_round(means[leader])
    return (
        f"{content.learners[leader]['marked']} took most: {most} a round, on average over those whom it met. "
        f"After Holm’s correction it wins {wins} of its {wins + losses + undecided} head-to-heads and loses {losses}."
    )


def _per_round(number: float) -> str:
    return with_minus(number_text(number, 3))
