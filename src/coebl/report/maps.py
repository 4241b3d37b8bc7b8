"""Heat maps of who beats the one whom all meet: a panel for each preset, all on one scale."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from coebl.report.content import Content
from coebl.report.numbers import interval_texts
from coebl.report.standings import SURE, Duel, duels

_WIDTH = 11  # letters of a learner's name in a line


def heat_maps(content: Content) -> dict[str, Any] | None:
    """All that the script draws except for the size, and what it says in words; None if nobody met such a one."""
    met = {(duel.place, duel.row, duel.column): duel for duel in duels(content)}
    learners = {learner["spec"]: place for place, learner in enumerate(content.learners)}
    rows: list[dict[str, Any]] = []
    opponents: set[int] = set()
    for preset in content.presets:
        for place, game in enumerate(content.curves.games if preset.opponent is not None else ()):
            parts = [learners.get(spec, -1) for spec in preset.on(game["spec"])]
            opponent = parts[preset.opponent or 0]
            found = [met[place, part, opponent] for part in parts if (place, part, opponent) in met]
            rows += [_row(content, preset.name, duel) for duel in found]
            opponents |= {duel.column for duel in found}
    if not rows:
        return None
    who, metric = _title(content, opponents), content.table_title
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    counts = [f"{panel}: {_ahead(row for row in rows if row['panel'] == panel)}" for panel in panels]
    return {
        "rows": rows,
        "panels": panels,
        "games": list(dict.fromkeys(row["game"] for row in rows)),
        "lines": max(row["learner"].count("\n") + 1 for row in rows),
        "title": f"Who beats {who}?",
        "text": f"Heat maps of who beats {who}. {who}: {'; '.join(counts)}. The numbers are in the head-to-head table.",
        "note": f"{metric} at the last round. Blue: {who} is ahead. Orange: the learner above is ahead. "
        "The deeper, the more. Grey: undecided; °: decided only before correction.",
    }


def _row(content: Content, panel: str, duel: Duel) -> dict[str, Any]:
    mean, half = duel.mean or 0, duel.half or 0
    number = "–" if duel.mean is None else interval_texts(mean, mean - half, mean + half)[0]
    words = textwrap.wrap(content.learners[duel.row]["title"], _WIDTH, break_long_words=False, break_on_hyphens=False)
    return {
        "panel": panel,
        "game": duel.game,
        "learner": "\n".join(words),
        "mean": duel.mean,
        "columnAhead": mean > 0,
        "decided": duel.standing == SURE,
        "text": number + "°" * (duel.standing == 1),
    }


def _title(content: Content, opponents: set[int]) -> str:
    """What the one whom all meet is called: by its family, if its settings differ."""
    known = [content.learners[one] for one in sorted(opponents)]
    sweeps = {one["sweep"] for one in known}
    if len(known) == 1:
        return str(known[0]["title"])
    return content.sweeps[sweeps.pop()]["title"] if len(sweeps) == 1 and None not in sweeps else "the opponent"


def _ahead(rows: Iterable[dict[str, Any]]) -> str:
    outcomes = [row["decided"] and row["mean"] > 0 for row in rows]
    return f"ahead in {sum(outcomes)} of {len(outcomes)}"
