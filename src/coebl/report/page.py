"""The page: the results of a study as one HTML file that needs no network, with interactive figures.

All that results hold is data, never markup: Jinja2 escapes what becomes HTML, `embed` what becomes JSON, and the script
writes text nodes only. A content security policy in the page forbids every connection.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.errors import InputError
from coebl.core.files import write_whole
from coebl.core.modules import require
from coebl.core.text import finite
from coebl.evidence.judge import Verdict
from coebl.metrics import METRICS
from coebl.naming import metric_words
from coebl.plots.curves import Reference
from coebl.report.content import Presentation, read_content
from coebl.report.head_to_head import Section, heat_maps, plain_tables, ranking_section
from coebl.report.legend import Preset, learner_colours, unbroken
from coebl.report.provenance import About, about_results
from coebl.report.verdict_grid import (
    OUTCOMES,
    VERDICT_KINDS,
    finding,
    outcomes_of,
    scores,
    verdict_entry,
    verdict_grid,
)

if TYPE_CHECKING:
    from coebl.study import Results

__all__ = ["About", "Presentation", "Preset", "Reference", "about_results", "write_page"]

_ADDRESS_SPACE = 72 << 30  # bytes that V8 reserves; few of them are used
_SCRIPTS = ("tools.js", "state.js", "charts.js", "figures.js", "tables.js", "page.js")


def write_page(
    results: Results,
    path: str | os.PathLike[str],
    show: Presentation,
    *,
    verdicts: Sequence[Verdict] = (),
    sections: Sequence[Section] = (),
    command: str = "",
    about: About | None = None,
    left_out: str = "",
    whole: str = "",
) -> Path:
    """Write the page of a study's results, whole or not at all, and return its path.

    Args:
        results: those of the study. If they have several noises, each game is there once per noise.
        path: the file.
        show: the title, the selections of lines, and so on.
        verdicts: those on the claims of a paper.
        sections: come before the figures, such as the ranking of a tournament; without them and without verdicts, it is
            the ranking of `coebl run`.
        command: the command that runs the study again.
        about: the origin of the study; by default it is read from its folder.
        left_out: the part that was not run, for a banner.
        whole: the command that runs all of it.
    """
    jinja2, markup = require("jinja2"), require("markupsafe").Markup
    library = _vega(require("vl_convert"))
    about = about or about_results(results)
    content = read_content(results, _ordered(about, show.first), show)
    if not sections and not verdicts and (ranking := ranking_section(content)):
        sections = [ranking]
    maps = heat_maps(content)
    variants = {preset.id: preset.name for preset in show.presets if preset.id}
    data = content.for_script() | {
        "name": about.name or show.title,
        "verdictKinds": VERDICT_KINDS,
        "verdicts": [verdict_entry(verdict, content.titles) for verdict in verdicts],
        "outcomes": list(OUTCOMES.values()),
        "maps": maps,
        "switches": dict(show.switches),
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters |= {
        "metric": lambda name: metric_words(str(name), content.known).in_a_sentence,
        "unbroken": unbroken,
        "counts": _counts,
    }
    html = environment.from_string(_asset("page.html")).render(
        show=show,
        about=about,
        answer=finding(show.answer, show.headline, outcomes_of(show.headline, verdicts)),
        scores=scores(show, verdicts),
        left_out=left_out,
        whole=whole,
        notices=[*about.notices, *content.notices],
        settings=about.settings(metric_words(name, content.known).title for name in about.metrics),
        commands=about.commands(command),
        claims=verdict_grid(verdicts, variants, content.titles),
        sections=sections,
        content=content,
        has_maps=maps is not None,
        plain_tables=plain_tables(content),
        css=markup(_asset("page.css") + "\n" + learner_colours(content.learners)),
        script=markup('"use strict";\n(() => {\n' + "\n".join(map(_asset, _SCRIPTS)) + "})();\n"),
        library=markup(library),
        data=markup(embed(finite(data))),
        blocks=[markup(embed(matches)) for matches in content.matches],
    )
    return write_whole(path, str(html), within=results.store.folder)


@cache  # it takes seconds to put together
def _vega(package: Any) -> str:
    """Return the script of Vega and Vega-Lite from the installed package, in its own scope."""
    _check_address_space()
    bundle: str = package.javascript_bundle()
    return "(() => {" + bundle.replace("</script", "<\\/script") + "\n})();"


def _check_address_space() -> None:
    """Reject a limit of address space under which the engine in `vl_convert`, V8, would end the program."""
    try:
        import resource
    except ImportError:  # not on every system
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < _ADDRESS_SPACE:
        raise InputError(
            f"the address space of this process is limited to {limit / 2**30:.0f} GiB, and the charts of a page need "
            f"{_ADDRESS_SPACE / 2**30:.0f} GiB of addresses, not of memory; remove the limit: ulimit -v unlimited"
        )


def _ordered(about: About, first: Sequence[str]) -> list[str]:
    """Return the metrics of a study in the order of the page: the first ones, the library's, then custom ones."""
    metrics = about.metrics or METRICS.names
    known = [metric for metric in metrics if metric in METRICS]
    return list(dict.fromkeys([*(metric for metric in first if metric in metrics), *known, *metrics]))


def _counts(outcomes: Sequence[str]) -> str:
    """Return how many checks have each outcome.

    >>> _counts(["shown", "undecided", "shown"])
    '2 shown, 1 undecided'
    """
    return ", ".join(f"{count} {outcome}" for outcome, count in Counter(outcomes).items())


def embed(data: object) -> str:
    """Return JSON for a script element: without <, > and &, and without line separators that scripts once choked on.

    >>> print(embed("</script>"))
    "\\u003c/script\\u003e"
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_scalar)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _scalar(value: object) -> Any:
    """Convert values that JSON lacks: NumPy's numbers to Python's, the rest to strings."""
    return value.item() if isinstance(value, np.generic) else str(value)


def _asset(name: str) -> str:
    return resources.files("coebl.report").joinpath("assets", name).read_text(encoding="utf-8")
