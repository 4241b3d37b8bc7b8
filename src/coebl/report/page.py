"""The page: the results of a study as one HTML file that needs no network, with figures that answer to a reader.

The page is made from a `Source`, which says what was measured, and an `About`, which says where it comes from. All that
they hold is data, never markup: Jinja2 escapes what becomes HTML, `embed` what becomes JSON, and the script writes
text nodes only. A content security policy in the page forbids every connection.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from coebl.core.files import write_whole
from coebl.core.modules import require
from coebl.core.plain import finite
from coebl.metrics import METRICS
from coebl.plots.curves import Reference
from coebl.plots.labels import metric_words
from coebl.report.about import About, about_results, commands, settings
from coebl.report.claims_table import VERDICT_KINDS, VerdictValues, claims_table, short_verdict
from coebl.report.content import read_content
from coebl.report.frontier import Frontier
from coebl.report.legend import Preset
from coebl.report.numbers import cell_text, embed, interval_texts
from coebl.report.sections import Section
from coebl.runs import Source
from coebl.study import Results

__all__ = ["About", "Frontier", "Preset", "Reference", "about_results", "render_page", "write_page"]


def write_page(
    results: Source,
    path: str | os.PathLike[str],
    *,
    title: str,
    question: str | None = None,
    verdicts: Sequence[VerdictValues] | None = None,
    presets: Sequence[Preset] | None = None,
    command: str | None = None,
    about: About | None = None,
    first: Sequence[str] = (),
    frontier: Frontier | None = None,
    reference: Reference | None = None,
    sections: Sequence[Section] = (),
) -> Path:
    """Write the page of a study's results, whole or not at all, and say where it is.

    Args:
        results: what to show. Results with several noises have each game once per noise.
        path: the file.
        title: the heading of the page.
        question: what the study is about, in a paragraph.
        verdicts: what `Verdict.as_dict` gives (see `coebl.claims.judging`); all keys but id, variant and verdict may be
            missing or None.
        presets: choices of lines, the first of which is shown first.
        command: what makes the study anew.
        about: what is known of the study; by default it is read from its folder.
        first: metrics that come before the others, in this order. In self-play the first one without a sign is drawn
            at first, head to head the first one whose sign says who is ahead.
        frontier: what the frontier shows; by default, matches against the first learner that sees the policy of the
            other, if there are any.
        reference: a line that is drawn beside what adds up in self-play, on games of K by K.
        sections: what comes before the figures, such as the ranking of a tournament.
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
        first=first,
        frontier=frontier,
        reference=reference,
        sections=sections,
    )
    return write_whole(path, html)


def render_page(
    source: Source,
    about: About,
    *,
    title: str,
    question: str | None = None,
    verdicts: Sequence[VerdictValues] | None = None,
    presets: Sequence[Preset] | None = None,
    command: str | None = None,
    first: Sequence[str] = (),
    frontier: Frontier | None = None,
    reference: Reference | None = None,
    sections: Sequence[Section] = (),
) -> str:
    """The text of the page; what the arguments are, `write_page` says."""
    jinja2, markupsafe = require("jinja2"), require("markupsafe")
    plotly_script = require("plotly.offline").get_plotlyjs()
    presets, verdicts = presets or (), verdicts or ()
    metrics = about.get("metrics") or METRICS.names
    ordered = dict.fromkeys([*(metric for metric in first if metric in metrics), *metrics])
    content = read_content(source, list(ordered), presets, frontier, reference)
    data = content.for_script() | {
        "name": about.get("name") or title,
        "verdictKinds": VERDICT_KINDS,
        "verdicts": [short_verdict(verdict) for verdict in verdicts],
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["number"] = cell_text
    environment.filters["metric"] = lambda name: metric_words(str(name), content.known).in_a_sentence
    return str(
        environment.from_string(_asset("page.html")).render(
            title=title,
            question=question,
            about=about,
            notices=[*about.get("notices", ()), *content.curves.notices],
            settings=settings(about, [metric_words(name, content.known).title for name in about.get("metrics", ())]),
            commands=commands(about, command),
            claims=claims_table(verdicts, presets),
            sections=sections,
            texts=lambda verdict: interval_texts(*(verdict[key] for key in ("measured", "low", "high"))),
            metrics=content.drawn_metrics,
            has_curves=bool(content.curves.games),
            has_table=content.table_metric is not None,
            frontier_sweeps=content.frontier_sweeps,
            frontier_opponent=content.frontier_opponent,
            css=markupsafe.Markup(_asset("page.css")),
            script=markupsafe.Markup(_script()),
            plotly_script=markupsafe.Markup(plotly_script.replace("</script", "<\\/script")),
            data=markupsafe.Markup(embed(finite(data))),
            blocks=[markupsafe.Markup(embed(block)) for block in content.curves.blocks],
        )
    )


def _script() -> str:
    """The page's program: its tools, then its parts in one scope."""
    parts = "\n".join(_asset(name) for name in ("state.js", "figures.js", "sections.js", "page.js"))
    return f"{_asset('tools.js')}\n(() => {{\n{parts}}})();\n"


def _asset(name: str) -> str:
    return resources.files("coebl.report").joinpath("assets", name).read_text(encoding="utf-8")
