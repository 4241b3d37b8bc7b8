"""The page: the results of a study as one HTML file that needs no network, with figures that answer to a reader.

The page is made from a `Source`, which says what was measured, and an `About`, which says where it comes from. All that
they hold is data, never markup: Jinja2 escapes what becomes HTML, `_embed` what becomes JSON, and the script writes
text nodes only. A content security policy in the page forbids every connection.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from coebl.core.errors import InputError
from coebl.metrics import METRICS
from coebl.report._page_data import (
    _TABLE_METRICS,
    Preset,
    _curves,
    _drawn,
    _game,
    _game_order,
    _learners,
    _metric,
    _natural,
    _preset,
)
from coebl.report._page_text import (
    About,
    _claims,
    _commands,
    _embed,
    _finite,
    _last_line,
    _measured_texts,
    _metric_text,
    _number_text,
    _settings,
    _short_verdict,
)
from coebl.report.files import write_whole
from coebl.report.plots import LAST
from coebl.study import Results, Runs, Source

__all__ = ["About", "Preset", "about_results", "render_page", "write_page"]


class _ByNoise:
    """Results with several noises as a source in which every game is there once for each of its noises."""

    def __init__(self, results: Results, cells: Sequence[Mapping[str, str]]) -> None:
        self._results = results
        self._cells = [{**cell, "name": f"{cell['game']}, {cell['noise']}"} for cell in cells]
        self.parts = {cell["name"]: (cell["game"], cell["noise"]) for cell in self._cells}

    def matches(self) -> list[tuple[str, str, str]]:
        return list(dict.fromkeys((cell["name"], cell["row"], cell["column"]) for cell in self._cells))

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        name, noise = self.parts[game]
        return self._results.runs(name, row, column, metric, noise=noise)


def write_page(
    results: Source,
    path: str | os.PathLike[str],
    *,
    title: str,
    question: str | None = None,
    verdicts: Sequence[Mapping[str, Any]] | None = None,
    presets: Sequence[Preset] | None = None,
    command: str | None = None,
    about: About | None = None,
    reference: bool = False,
) -> Path:
    """Write the page of a study's results, whole or not at all, and say where it is.

    Args:
        results: what to show. Results with several noises have each game once per noise.
        path: the file.
        title: the heading of the page.
        question: what the study is about, in a paragraph.
        verdicts: dictionaries with the keys id, variant, verdict, measured, low, high, threshold, text, note, metric,
            n, checks (with subject, quantity, measured, low, high, wanted, verdict) and reported (with metric, verdict,
            measured, low, high); all but the first three may be missing or None.
        presets: choices of lines, the first of which is shown first.
        command: what makes the study anew.
        about: what is known of the study; by default it is read from its folder.
        reference: whether the line 0.1 sqrt(K² t) is drawn beside what adds up in self-play, on games of K by K.
    """
    if about is None:
        about = about_results(results) if isinstance(results, Results) else {}
    html = render_page(
        results,
        about,
        title=title,
        question=question,
        verdicts=verdicts,
        presets=presets,
        command=command,
        reference=reference,
    )
    return write_whole(path, html)


def render_page(
    source: Source,
    about: About,
    *,
    title: str,
    question: str | None = None,
    verdicts: Sequence[Mapping[str, Any]] | None = None,
    presets: Sequence[Preset] | None = None,
    command: str | None = None,
    reference: bool = False,
) -> str:
    """The text of the page; what the arguments are, `write_page` says."""
    plotly_script, jinja2, markupsafe = _libraries()
    presets = presets or ()
    metrics = about.get("metrics") or METRICS.names
    source = _with_noises_apart(source)
    parts = source.parts if isinstance(source, _ByNoise) else {}
    games = [
        _game(name, *parts.get(name, (name, ""))) for name in dict.fromkeys(match[0] for match in source.matches())
    ]
    games.sort(key=_game_order)
    matches = sorted(source.matches(), key=lambda match: (*map(_natural, match[1:]), match[0]))
    learners = _learners(matches, [preset.on(game["spec"]) for preset in presets for game in games])
    curves = _curves(source, matches, games, metrics, learners)
    present = _drawn(curves, metrics)
    duels = _drawn(curves, metrics, among=lambda row, column: row != column)
    table_metric = next((metrics.index(metric) for metric in _TABLE_METRICS if metric in duels), None)
    claims = _claims(verdicts or (), presets)
    data = {
        "name": about.get("name") or title,
        "games": curves.games,
        "learners": learners,
        "metrics": [_metric(metric) for metric in metrics],
        "rounds": curves.rounds,
        "presets": [_preset(preset, curves.games) for preset in presets],
        "tableMetric": table_metric,
        "frontiers": curves.frontiers,
        "last": LAST,
        "reference": reference,
        "verdicts": [_short_verdict(verdict) for verdict in verdicts or ()],
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["number"] = _number_text
    environment.filters["metric"] = _metric_text
    return str(
        environment.from_string(_asset("page.html")).render(
            title=title,
            question=question,
            command=command,
            about=about,
            notices=[*about.get("notices", ()), *curves.notices],
            settings=_settings(about),
            commands=_commands(about, command),
            claims=claims,
            texts=_measured_texts,
            metrics=[_metric(metric) for metric in present],
            has_curves=bool(curves.games),
            has_table=table_metric is not None,
            has_frontier=any(curves.frontiers),
            css=markupsafe.Markup(_asset("page.css")),
            script=markupsafe.Markup(_asset("tools.js") + _asset("page.js")),
            plotly_script=markupsafe.Markup(plotly_script.replace("</script", "<\\/script")),
            data=markupsafe.Markup(_embed(_finite(data))),
            blocks=[markupsafe.Markup(_embed(block)) for block in curves.blocks],
        )
    )


def about_results(results: Results) -> About:
    """What a study's folder says about itself."""
    store = results.store
    cells = [store.metadata(path.stem) for path in store.paths()]
    versions: dict[str, set[str]] = {}
    for cell in cells:
        for package, version in cell["versions"].items():
            versions.setdefault(package, set()).add(version)
    created = sorted(cell["created"] for cell in cells)
    return {
        "name": store.name,
        "text": store.text(),
        "rounds": sorted({cell["description"]["rounds"] for cell in cells}),
        "seeds": len({seed for cell in cells for seed in cell["description"]["seeds"]}),
        "noises": sorted({cell["labels"]["noise"] for cell in cells}),
        "metrics": list(dict.fromkeys(metric for cell in cells for metric in cell["metrics"])),
        "cells": len(cells),
        "seconds": sum(sum(cell["seconds"].values()) for cell in cells),
        "versions": {package: sorted(found) for package, found in sorted(versions.items())},
        "created": [created[0], created[-1]] if created else [],
        "notices": [f"failed: {record['cell']}: {_last_line(record['traceback'])}" for record in store.failures()],
        "runs": store.runs(),
    }


def _with_noises_apart(source: Source) -> Source:
    """Results with several noises, which would not say which one is meant, as a source that asks for each."""
    if not isinstance(source, Results):
        return source
    cells = [source.store.metadata(path.stem)["labels"] for path in source.store.paths()]
    return _ByNoise(source, cells) if len({cell["noise"] for cell in cells}) > 1 else source


def _asset(name: str) -> str:
    return resources.files("coebl.report").joinpath("assets", name).read_text(encoding="utf-8")


def _libraries() -> tuple[str, Any, Any]:
    """plotly.js, Jinja2 and MarkupSafe, imported when they are first needed."""
    try:
        import jinja2
        import markupsafe
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise InputError("this needs plotly and jinja2; run: pip install 'coebl[report]'") from None
    return get_plotlyjs(), jinja2, markupsafe
