"""The page: the results of a study as one HTML file that needs no network, with interactive figures.

The page is made from a `Source`, which says what was measured, and an `About`, which says where it comes from. All that
they hold is data, never markup: Jinja2 escapes what becomes HTML, `embed` what becomes JSON, and the script writes
text nodes only. A content security policy in the page forbids every connection.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path

from coebl.core.files import write_whole
from coebl.core.modules import require
from coebl.core.text import finite
from coebl.evidence.ranking import rank
from coebl.metrics import METRICS
from coebl.naming import metric_words
from coebl.plots.curves import Reference
from coebl.report.about import About, about_results, commands, settings
from coebl.report.answer import answer
from coebl.report.charts import charts_for_script, library
from coebl.report.claims_table import VERDICT_KINDS, VerdictValues, claims_table, short_verdict
from coebl.report.content import read_content
from coebl.report.frontier import Frontier
from coebl.report.legend import Preset, learner_colours
from coebl.report.maps import heat_maps
from coebl.report.numbers import cell_text, embed, interval_texts
from coebl.report.sections import Section
from coebl.report.standings import plain_tables, ranking
from coebl.report.wording import by_title
from coebl.runs import Source
from coebl.study import Results

__all__ = ["About", "Frontier", "LeftOut", "Preset", "Reference", "about_results", "write_page"]

# Unless a caller says otherwise, what has no noise comes first: it tells learners apart with fewer seeds.
_FIRST = ("absolute_pseudo_regret", "pseudo_regret", "exploitability")


@dataclass(frozen=True)
class LeftOut:
    """What a page does not show since it was not run, and the command that runs it."""

    what: str
    command: str


def write_page(
    results: Source,
    path: str | os.PathLike[str],
    *,
    title: str,
    question: str | None = None,
    verdicts: Sequence[VerdictValues] = (),
    headline: str = "",
    presets: Sequence[Preset] = (),
    command: str | None = None,
    about: About | None = None,
    first: Sequence[str] = _FIRST,
    frontier: Frontier | None = None,
    reference: Reference | None = None,
    sections: Sequence[Section] = (),
    left_out: LeftOut | None = None,
    switches: Mapping[str, str] | None = None,
    citation: str = "",
) -> Path:
    """Write the page of a study's results, whole or not at all, and say where it is.

    Args:
        results: what to show. Results with several noises have each game once per noise.
        path: the file.
        title: the heading of the page.
        question: what the study is about, in a paragraph.
        verdicts: what `Verdict.as_dict` gives (see `coebl.evidence.judge`); all keys but id, variant and verdict may be
            missing or None.
        headline: the id of the claim whose checks the answer at the top counts.
        presets: choices of lines, the first of which is shown first.
        command: the command that runs the study again.
        about: what is known of the study; by default it is read from its folder.
        first: metrics that come before the others, in this order. In self-play the first one without a sign is drawn
            at first, head to head the first one whose sign says who is ahead.
        frontier: what the frontier shows; by default, matches against the first learner that sees the policy of the
            other, if there are any.
        reference: a line that is drawn beside what adds up in self-play, on games of K by K.
        sections: what comes before the figures, such as the ranking of a tournament; by default, where there are no
            verdicts, a ranking by who beats whom, that of `coebl run`.
        left_out: what was not run, for a banner.
        switches: what a learner that stands in for another in some preset is called beside the slider, by its spec.
        citation: how to cite what is shown, as text.
    """
    jinja2, markupsafe = require("jinja2"), require("markupsafe")
    script = library()
    if about is None:
        about = about_results(results) if isinstance(results, Results) else {}
    content = read_content(results, _ordered(about, first), presets, frontier, reference)
    if not sections and not verdicts:
        known = rank(results) if isinstance(results, Results) else None
        sections = [found] if (found := ranking(content, known)) else []
    maps = heat_maps(content)
    titles = {learner["spec"]: learner["title"] for learner in content.learners}
    said = partial(by_title, learners=titles)
    data = content.for_script() | {
        "name": about.get("name") or title,
        "verdictKinds": VERDICT_KINDS,
        "verdicts": [short_verdict(verdict, said) for verdict in verdicts],
        "charts": charts_for_script(),
        "maps": maps,
        "switches": dict(switches or {}),
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["number"] = cell_text
    environment.filters["metric"] = lambda name: metric_words(str(name), content.known).in_a_sentence
    environment.filters["said"] = said
    html = environment.from_string(_asset("page.html")).render(
        title=title,
        question=question,
        about=about,
        answer=answer(verdicts, {preset.id: preset.name for preset in presets if preset.id}, headline),
        left_out=left_out,
        citation=citation,
        notices=[*about.get("notices", ()), *content.curves.notices],
        settings=settings(about, [metric_words(name, content.known).title for name in about.get("metrics", ())]),
        commands=commands(about, command),
        claims=claims_table(verdicts, presets),
        sections=sections,
        presets=presets,
        count_words=_count_words,
        texts=lambda verdict: interval_texts(*(verdict[key] for key in ("measured", "low", "high"))),
        metrics=content.drawn_metrics,
        has_curves=bool(content.curves.games),
        has_table=content.table_metric is not None,
        has_maps=maps is not None,
        plain_tables=plain_tables(content),
        table_metric=content.table_title,
        frontier_sweeps=content.frontier_sweeps,
        sweeps=content.sweeps,
        frontier_opponent=content.frontier_opponent,
        css=markupsafe.Markup(_asset("page.css") + "\n" + learner_colours(content.learners)),
        script=markupsafe.Markup(_script()),
        library=markupsafe.Markup(script),
        data=markupsafe.Markup(embed(finite(data))),
        blocks=[markupsafe.Markup(embed(block)) for block in content.curves.blocks],
    )
    return write_whole(path, str(html), within=results.store.folder if isinstance(results, Results) else None)


def _ordered(about: About, first: Sequence[str]) -> list[str]:
    """The metrics of a study in the order of the page: those named, then the library's, then a user's own."""
    metrics = about.get("metrics") or METRICS.names
    known = [metric for metric in metrics if metric in METRICS]
    return list(dict.fromkeys([*(metric for metric in first if metric in metrics), *known, *metrics]))


def _count_words(outcomes: Sequence[str]) -> str:
    """How many checks have each outcome.

    >>> _count_words(["shown", "open", "shown"])
    '2 shown, 1 open'
    """
    return ", ".join(f"{count} {outcome}" for outcome, count in Counter(outcomes).items())


def _script() -> str:
    """The page's program, in one scope."""
    names = ("tools.js", "state.js", "charts.js", "figures.js", "sections.js", "frontier.js", "claims.js", "page.js")
    return '"use strict";\n(() => {\n' + "\n".join(map(_asset, names)) + "})();\n"


def _asset(name: str) -> str:
    return resources.files("coebl.report").joinpath("assets", name).read_text(encoding="utf-8")
