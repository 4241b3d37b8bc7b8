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

from coebl.core.files import write_whole
from coebl.core.modules import require
from coebl.metrics import METRICS
from coebl.plots.frontier import LAST
from coebl.plots.labels import learner_title, metric_words
from coebl.plots.looks import natural
from coebl.plots.sweeps import find_sweeps
from coebl.report.about import About, about_results, commands, settings
from coebl.report.claims_table import Verdict, claims_table, short_verdict
from coebl.report.curves import read_curves
from coebl.report.frontier import OPPONENT, REGRETS
from coebl.report.legend import Preset, game_entry, game_order, learner_entries, metric_entry, sweep_entry
from coebl.report.numbers import embed, finite, interval_texts, number_text
from coebl.runs import MatchSpecs, Runs, Source
from coebl.study import Results

__all__ = ["About", "Preset", "about_results", "render_page", "write_page"]

Reference = tuple[str, float]  # a label, and the factor of sqrt(K² t)


class _ByNoise:
    """Results with several noises as a source in which every game is there once for each of its noises."""

    def __init__(self, results: Results, labels: Sequence[Mapping[str, str]]) -> None:
        self._results = results
        self._labels = [{**label, "name": f"{label['game']}, {label['noise']}"} for label in labels]
        self.parts = {label["name"]: (label["game"], label["noise"]) for label in self._labels}

    def matches(self) -> list[MatchSpecs]:
        return list(dict.fromkeys((label["name"], label["row"], label["column"]) for label in self._labels))

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        name, noise = self.parts[game]
        return self._results.runs(name, row, column, metric, noise=noise)


def write_page(
    results: Source,
    path: str | os.PathLike[str],
    *,
    title: str,
    question: str | None = None,
    verdicts: Sequence[Verdict] | None = None,
    presets: Sequence[Preset] | None = None,
    command: str | None = None,
    about: About | None = None,
    reference: Reference | None = None,
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
        reference: a label and a factor, such as ("0.1 √(K² t)", 0.1): the line factor sqrt(K² t) is drawn beside what
            adds up in self-play, on games of K by K.
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
    verdicts: Sequence[Verdict] | None = None,
    presets: Sequence[Preset] | None = None,
    command: str | None = None,
    reference: Reference | None = None,
) -> str:
    """The text of the page; what the arguments are, `write_page` says."""
    jinja2, markupsafe = require("jinja2"), require("markupsafe")
    plotly_script = require("plotly.offline").get_plotlyjs()
    presets, verdicts = presets or (), verdicts or ()
    metrics = about.get("metrics") or METRICS.names
    source = _with_noises_apart(source)
    parts = source.parts if isinstance(source, _ByNoise) else {}
    matches = sorted(source.matches(), key=lambda match: (*map(natural, match[1:]), match[0]))
    games = [game_entry(name, *parts.get(name, (name, ""))) for name in dict.fromkeys(match[0] for match in matches)]
    games.sort(key=game_order)
    specs = list(dict.fromkeys(spec for match in matches for spec in match[1:]))
    sweeps = find_sweeps(specs)
    shown = [spec for preset in presets for game in games for spec in preset.on(game["spec"])]
    learners = learner_entries(specs, shown, sweeps)
    curves = read_curves(source, matches, games, metrics, learners)
    present = curves.drawn(metrics)
    duels = curves.drawn(metrics, among=lambda row, column: row != column)
    table_metric = next((metrics.index(metric) for metric in REGRETS if metric in duels), None)
    data = {
        "name": about.get("name") or title,
        "games": curves.games,
        "learners": learners,
        "sweeps": [sweep_entry(sweep) for sweep in sweeps],
        "metrics": [metric_entry(metric) for metric in metrics],
        "rounds": curves.rounds,
        "presets": [preset.entry(curves.games) for preset in presets],
        "tableMetric": table_metric,
        "frontiers": curves.frontiers,
        "frontierOpponent": OPPONENT,
        "last": LAST,
        "reference": reference and {"label": reference[0], "factor": reference[1]},
        "verdicts": [short_verdict(verdict) for verdict in verdicts],
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["number"] = number_text
    environment.filters["metric"] = lambda name: metric_words(str(name)).in_a_sentence
    return str(
        environment.from_string(_asset("page.html")).render(
            title=title,
            question=question,
            command=command,
            about=about,
            notices=[*about.get("notices", ()), *curves.notices],
            settings=settings(about),
            commands=commands(about, command),
            claims=claims_table(verdicts, presets),
            texts=lambda verdict: interval_texts(*(verdict[key] for key in ("measured", "low", "high"))),
            metrics=[metric_entry(metric) for metric in present],
            has_curves=bool(curves.games),
            has_table=table_metric is not None,
            frontier_sweeps=[
                data["sweeps"][place] for place in sorted({learners[one]["sweep"] for one in curves.in_frontiers()})
            ],
            frontier_opponent=learner_title(OPPONENT),
            css=markupsafe.Markup(_asset("page.css")),
            script=markupsafe.Markup(_asset("tools.js") + _asset("page.js")),
            plotly_script=markupsafe.Markup(plotly_script.replace("</script", "<\\/script")),
            data=markupsafe.Markup(embed(finite(data))),
            blocks=[markupsafe.Markup(embed(block)) for block in curves.blocks],
        )
    )


def _with_noises_apart(source: Source) -> Source:
    """Results with several noises, which would not say which one is meant, as a source that asks for each."""
    if not isinstance(source, Results):
        return source
    labels = [cell["labels"] for cell in source.metadata()]
    return _ByNoise(source, labels) if len({label["noise"] for label in labels}) > 1 else source


def _asset(name: str) -> str:
    return resources.files("coebl.report").joinpath("assets", name).read_text(encoding="utf-8")
