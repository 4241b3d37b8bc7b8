"""Sections of the page: the ranking, hitting times, and plain tables for readers without scripts."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from coebl.core.specs import split_spec
from coebl.core.text import number_text, with_minus
from coebl.engine.until import HittingTime
from coebl.evidence.runtimes import CAPTION
from coebl.naming import game_title
from coebl.plots import plot_panels
from coebl.plots.style import drawn
from coebl.report.content import Content

if TYPE_CHECKING:
    from coebl.study import Results

_MOST_LINES = 12  # in the picture of hitting times; more cannot be distinguished


class Section(BaseModel):
    """A section of a page: plain strings, and optionally a table and an SVG picture, whose scripts are not run."""

    model_config = ConfigDict(frozen=True, strict=True)

    id: str = "ranking"
    title: str = "Ranking"
    answer: str = ""  # the finding in a sentence, for the top of the page; further lines are smaller
    header: list[str] = []
    rows: list[list[str]] = []
    marked: dict[str, int] = {}  # the rows of the learners that the page emphasises, by spec
    sentences: list[str]
    legend: str  # of the table
    picture: bytes | None = Field(default=None, exclude=True)
    picture_text: str = ""
    is_wide: bool = Field(default=False, exclude=True)  # True if the picture is scrolled in a narrow window

    @property
    def picture_data(self) -> str:
        """The picture as a data URL, or ""."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.picture).decode()}" if self.picture else ""


def plain_tables(content: Content) -> dict[str, list[tuple[str, str, str, str]]]:
    """Return the row, the column, the number with its interval, and the outcome of every head-to-head, by game."""
    titles = list(content.titles.values())
    tables: dict[str, list[tuple[str, str, str, str]]] = {}
    for match, curve in content.duels:
        outcome = "undecided" if match.decided == "no" else "not tested"
        if match.winner is not None:
            outcome = titles[match.winner] + (" wins" if match.decided == "after" else ", before correction only")
        number = " ".join(curve.last_texts()).strip()
        rows = tables.setdefault(content.games[match.game].title, [])
        rows.append((titles[match.row], titles[match.column], number, outcome))
    return tables


def ranking_section(content: Content) -> Section | None:
    """Return the ranking of the learners, as in `coebl run`; None if no two of them met."""
    ranking = content.ranking
    if ranking is None:
        return None
    titles = content.titles
    table = []
    for row, entry in zip(ranking.table(titles), ranking.learners, strict=True):
        first = {key: row[key] for key in ("rank", "learner")} | {"score": with_minus(row["score"])}
        table.append(first | {"mean gain per round": with_minus(number_text(entry.taken, 3))} | row | first)
    own = {entry.learner: place for place, entry in enumerate(ranking.learners) if split_spec(entry.learner).file}
    return Section(
        answer=ranking.sentence(titles),
        sentences=[ranking.caveat] if ranking.caveat else [],
        header=[title.capitalize() for title in table[0]],
        rows=[list(row.values()) for row in table],
        marked=own if len(own) < len(table) else {},
        legend=f"{ranking.caption(titles)} Mean gain per round: over the pairings.",
    )


def times_section(results: Results, content: Content) -> Section | None:
    """Return the hitting times of every match, with the share of runs by budget; None if no run ends at a condition."""
    times = results.runtimes()
    if not times:
        return None
    noises = list(dict.fromkeys(match.noise for match in times))
    rows = [
        [
            game_title(match.game) + f", {match.noise}" * (len(noises) > 1),
            " v ".join(content.titles[spec] for spec in match.apart),
            *runs.described().values(),
        ]
        for match, runs in times.items()
    ]
    matches = [(match.game, *match.players) for match in times if match.noise == noises[0]]
    picture = None
    if len({match[1:] for match in matches}) <= _MOST_LINES:
        figure = plot_panels(results, HittingTime.name, matches, noise=noises[0], known=content.known)
        picture = drawn(figure, "svg")
    with_noise = f", with noise {noises[0]}" if len(noises) > 1 else ""
    return Section(
        id="times",
        title="Times",
        sentences=[f"A run ends at {results.condition()}."],
        header=["Game", "Learner", *(title.capitalize() for title in next(iter(times.values())).described())],
        rows=rows,
        legend=CAPTION,
        picture=picture,
        picture_text=f"The share of runs that have hit, by rounds or queries{with_noise}",
        is_wide=True,
    )
