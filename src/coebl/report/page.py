"""The page: the results of a study as one HTML file that needs no network, with interactive figures.

The content of results is data, never markup: Jinja escapes what becomes HTML, `embed` what becomes JSON, and the script
writes text nodes only. A content security policy in the page forbids every connection.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coebl.core.files import write_whole
from coebl.core.text import counted, duration
from coebl.engine.until import Hit, HittingTime
from coebl.evidence.judge import Verdict, outcome_word
from coebl.metrics import registered_metric
from coebl.naming import metric_words
from coebl.plots.curves import Reference
from coebl.report import embed, render, vega_script
from coebl.report.content import read_content
from coebl.report.head_to_head import Section, plain_tables, ranking_section, times_section
from coebl.report.legend import interval_texts, unbroken
from coebl.report.presentation import Presentation, Preset
from coebl.report.replay import kept_replays
from coebl.report.verdict_grid import OUTCOMES, verdict_entry, verdict_grid
from coebl.study.store import RunLine

if TYPE_CHECKING:
    from coebl.study import Results


__all__ = ["Presentation", "Preset", "Reference", "write_page"]


def write_page(
    results: Results,
    path: str | os.PathLike[str],
    show: Presentation | None = None,
    *,
    verdicts: Sequence[Verdict] = (),
    sections: Sequence[Section] = (),
    command: str = "",
    left_out: str = "",
    whole: str = "",
) -> Path:
    """Write the page of a study's results, whole or not at all, and return its path.

    Args:
        results: the results of the study. If they have several noises, each game is shown once per noise.
        path: the file.
        show: the title, the presets, and other parts that results do not contain; by default the title and the
            description of the study.
        verdicts: the verdicts on the claims of a paper.
        sections: shown before the figures, such as the ranking of a tournament; without sections and verdicts, the page
            shows the ranking of `coebl run`. The times of runs that end at a condition follow.
        command: the command that runs the study again.
        left_out: the part that was not run, for a banner.
        whole: the command that runs everything.
    """
    library = vega_script()
    store, metrics = results.store, results.metrics
    if show is None:
        show = Presentation(
            store.words("title") or store.name,
            store.words("description"),
            family="the pairings of a game" if sections else "all pairings",  # as in the duels of a tournament
        )
    in_figures = [metric for metric in _ordered(metrics, show.first) if metric not in (HittingTime.name, Hit.name)]
    content = read_content(results, in_figures, show)
    if not sections and not verdicts and (ranking := ranking_section(content)):
        sections = [ranking]
    if times := times_section(results, content):
        sections = [*sections, times]
    marked = {spec for section in sections for spec in section.marked}
    replays = kept_replays(results, content)
    failures = [f"failed: {failure.cell}: {_last_line(failure.traceback)}" for failure in store.failures()]
    variants = {preset.id: preset.name for preset in show.presets if preset.id}
    data = content.for_script() | {
        "name": store.name or show.title,
        "verdicts": [verdict_entry(verdict, content.titles) for verdict in verdicts],
        "outcomes": list(OUTCOMES.values()),
        "replays": replays,
        "own": [place for place, learner in enumerate(content.learners) if learner.spec in marked],
        "until": results.condition(),
        "switches": dict(show.switches),
    }
    values = {
        "show": show,
        "name": store.name,
        "study_file": re.sub(r"\bfiles/[0-9a-f]{12}/", "", store.text()),
        "answer": show.filled_answer(show.outcomes(verdicts)).split("\n"),
        "scores": show.scores(verdicts),
        "left_out": left_out,
        "whole": whole,
        "notices": [*results.notices(), *failures, *content.notices],
        "settings": _settings(results, (metric_words(name, content.known).title for name in metrics)),
        "commands": _commands(store.log.runs(), command),
        "verdicts": verdicts,
        "grid": verdict_grid(verdicts, content.titles | variants, content.titles),
        "sections": sections,
        "content": content,
        "replays": replays,
        "plain_tables": plain_tables(content),
        "library": library,
        "data": embed(data),
        "blocks": map(embed, content.matches),
    }
    html = render(
        "page.html",
        values,
        metric=lambda name: metric_words(name, content.known).in_a_sentence,
        unbroken=unbroken,
        counts=_counts,
        outcome=outcome_word,
        interval=lambda estimate: interval_texts(estimate.mean, estimate.low, estimate.high),
    )
    return write_whole(path, html, within=store.folder)


def _ordered(metrics: Sequence[str], first: Sequence[str]) -> list[str]:
    """Return the metrics of a study in the order of the page: those in `first`, the library's, then custom ones."""
    known = [metric for metric in metrics if registered_metric(metric)]
    return list(dict.fromkeys([*(metric for metric in first if metric in metrics), *known, *metrics]))


def _counts(outcomes: Sequence[str]) -> str:
    """Return how many checks have each outcome.

    >>> _counts(["holds", "undecided", "holds"])
    '2 holds, 1 undecided'
    """
    return ", ".join(f"{count} {outcome}" for outcome, count in Counter(outcomes).items())


def _settings(results: Results, metrics: Iterable[str]) -> list[tuple[str, str]]:
    """Return what a study's folder stores about its origin, as pairs of strings; `metrics` are titles."""
    records = results.records()
    created = sorted(record.created for record in records if record.created)
    seconds = results.seconds()
    versions = (f"{package} {' and '.join(numbers)}" for package, numbers in results.versions().items())
    pairs = [
        ("Study", results.store.name),
        ("Rounds", ", ".join(map(str, sorted({record.rounds for record in records})))),
        ("Seeds", str(len({seed for record in records for seed in record.seeds}) or "")),
        ("Noise", ", ".join(sorted({record.noise for record in records}))),
        ("Metrics", ", ".join(metrics)),
        (
            "Created",
            " to ".join(dict.fromkeys(f"{time[:10]} {time[11:16]} UTC" for time in created[:1] + created[-1:])),
        ),
        ("Computing time", f"{duration(seconds)}, summed over {counted(len(records), 'cell')}" if seconds else ""),
        ("Wall time", _wall_time(results.store.log.runs())),
        ("Versions", ", ".join(versions)),
    ]
    return [(word, text) for word, text in pairs if text]


def _commands(runs: Iterable[RunLine], command: str) -> list[tuple[str, list[str]]]:
    """Return the command that makes the study, if there is one, and the others that made its runs, each once."""
    others = list(dict.fromkeys(run.command for run in runs if run.command and run.command != command))
    pairs = [("Command", [command] if command else []), ("Also run by" if command else "Run by", others)]
    return [(word, lines) for word, lines in pairs if lines]


def _wall_time(runs: Sequence[RunLine]) -> str:
    """Format how long the runs of a study took.

    >>> _wall_time([RunLine(cells=9, seconds=100, workers=2), RunLine(cells=2, seconds=30.5, interrupted=True)])
    '2.2 min in 2 runs, of which 1 was interrupted; 2 processes'
    """
    if not runs:
        return ""
    stopped = sum(run.interrupted for run in runs)
    workers = [str(number) for number in sorted({run.workers for run in runs if run.workers})]
    text = f"{duration(sum(run.seconds for run in runs))} in {counted(len(runs), 'run')}"
    text += f", of which {stopped} {'was' if stopped == 1 else 'were'} interrupted" if stopped else ""
    return text + (f"; {' and '.join(workers)} process{'es' * (workers != ['1'])}" if workers else "")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["unknown reason"])[-1]
