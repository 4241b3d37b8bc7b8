"""Sections of the page: the ranking, hitting times, the heat maps, and plain tables for readers without scripts.

The tables use the outcomes of the family of tests that the ranking names. So do the heat maps, except for the matches
that the main claim of a paper checks: they have the outcomes of its checks, which are a family of their own.
"""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from coebl.core.text import decimal_places, number_text, with_minus
from coebl.engine.until import HittingTime
from coebl.evidence.judge import Verdict
from coebl.evidence.runtimes import CAPTION
from coebl.naming import game_title
from coebl.plots import plot_panels
from coebl.plots.style import drawn
from coebl.report.content import Content, PageCurve, PageMatch

if TYPE_CHECKING:
    from coebl.study import Results

_LETTERS = 11  # letters of a learner's name per line above a heat map
_MOST_LINES = 12  # in the picture of hitting times; more cannot be distinguished


class Section(BaseModel):
    """A section of a page: plain strings, and perhaps a picture as SVG, whose scripts are not run."""

    model_config = ConfigDict(frozen=True, strict=True)

    id: str = "ranking"
    title: str = "Ranking"
    answer: str = ""  # the finding in a sentence, for the top of the page
    header: list[str]
    rows: list[list[str]]
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
        rows = tables.setdefault(content.games[match.game]["title"], [])
        rows.append((titles[match.row], titles[match.column], number, outcome))
    return tables


def ranking_section(content: Content) -> Section | None:
    """Return the ranking of the learners, as in `coebl run`; None if no two of them met."""
    ranking = content.ranking
    if ranking is None:
        return None
    titles = content.titles
    table = [
        row | {"score": with_minus(row["score"]), "mean gain per round": with_minus(number_text(entry.taken, 3))}
        for row, entry in zip(ranking.table(titles), ranking.learners, strict=True)
    ]
    return Section(
        answer=ranking.sentence(titles),
        sentences=[ranking.caveat] if ranking.caveat else [],
        header=[title.capitalize() for title in table[0]],
        rows=[list(row.values()) for row in table],
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


def heat_maps(content: Content, verdicts: Sequence[Verdict] = ()) -> dict[str, Any] | None:
    """Return heat maps of who beats the common opponent, a panel for each preset; None if there is no such opponent.

    Matches that the main claim checks have the outcome of the check, so that panels agree with the bars of the claim;
    the note names the families of the tests.
    """
    met = {(match.game, match.row, match.column): (match, curve) for match, curve in content.duels}
    checked = {
        (one.variant, *check.check.samples[0].pairing[:3]): check.verdict in ("holds", "fails")
        for one in verdicts
        if (one.id, one.metric) == (content.show.headline, content.table_metric)
        for check in one.checks
    }
    rows: list[dict[str, Any]] = []
    opponents: set[int] = set()
    by_claim: set[bool] = set()  # for each cell, True if the main claim checks it
    for preset in content.show.presets:
        if preset.opponent is None:
            continue
        for game, entry in enumerate(content.games):
            learners = [content.places.get(spec, -1) for spec in preset.on(entry["spec"])]
            opponent = learners[preset.opponent]
            for match, curve in filter(None, (met.get((game, learner, opponent)) for learner in learners)):
                key = (preset.id, entry["spec"], *content.specs(match))
                decided = checked.get(key, match.decided == "after")
                by_claim.add(key in checked)
                rows.append(_map_cell(content, preset.name, match, curve, decided))
                opponents.add(match.column)
    if not rows:
        return None
    family = str(content.show.family)
    if True in by_claim:
        others = f"; in matches that it does not check, over {family}" if False in by_claim else ""
        family = f"the checks of the main claim in a panel{others}"
    who = _common_title(content, sorted(opponents))
    panels = {panel: list(cells) for panel, cells in groupby(rows, key=itemgetter("panel"))}
    counts = [
        f"{panel}: ahead in {sum(cell['decided'] and cell['columnAhead'] for cell in cells)} of {len(cells)}"
        for panel, cells in panels.items()
    ]
    return {
        "rows": rows,
        "panels": list(panels),
        "games": list(dict.fromkeys(row["game"] for row in rows)),
        "lines": max(row["learner"].count("\n") + 1 for row in rows),
        "title": f"Who beats {who}?",
        "key": [f"{who} wins", "the learner above wins", "undecided"],
        "text": f"Heat maps of who beats {who}. {who}: {'; '.join(counts)}. The numbers are in the head-to-head table.",
        "note": f"Each number is what {who} wins from the learner above in a match: its {content.table_title.lower()} "
        "at the last round. A stronger colour means a larger number. Undecided: no significant difference after "
        f"correction over {family}.",
    }


def _map_cell(content: Content, panel: str, match: PageMatch, curve: PageCurve, decided: bool) -> dict[str, Any]:
    title = content.learners[match.row]["title"]
    words = textwrap.wrap(title, _LETTERS, break_long_words=False, break_on_hyphens=False)
    mean, half = curve.means[-1], curve.halves[-1]
    text = "–" if mean is None else curve.last_texts()[0]
    if mean is not None and half:  # to the first digit of half the width of its interval
        places = max(0, decimal_places(half) - 1)
        text = with_minus(f"{round(mean, places) + 0.0:,.{places}f}")
    return {
        "panel": panel,
        "game": content.games[match.game]["title"],
        "learner": "\n".join(words),
        "mean": mean,
        "columnAhead": (mean or 0) > 0,
        "decided": decided,
        "text": text,
        "at": [match.game, match.row, match.column],
    }


def _common_title(content: Content, opponents: Sequence[int]) -> str:
    """Return the title of the common opponent; if its settings differ, the title without them."""
    learners = [content.learners[opponent] for opponent in opponents]
    if len(learners) == 1:
        return str(learners[0]["title"])
    sweeps = {learner["sweep"] for learner in learners}
    return content.sweeps[sweeps.pop()]["title"] if len(sweeps) == 1 and None not in sweeps else "the opponent"
