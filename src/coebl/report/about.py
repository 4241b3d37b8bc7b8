"""What a study says about itself: where its numbers come from, and how they were made."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypedDict

from coebl.core.text import natural
from coebl.study import Results
from coebl.study.progress import duration


class About(TypedDict, total=False):
    """What is known of a study besides its numbers; whatever is left out is not shown."""

    name: str
    text: str  # its file
    rounds: list[int]  # that matches have
    seeds: int
    noises: list[str]
    metrics: list[str]
    cells: int
    seconds: float  # of computing, over all cells
    versions: dict[str, list[str]]  # of each package, all that cells were made with
    created: list[str]  # the first and the last time that a cell was finished
    notices: list[str]  # what a reader should know, such as cells that failed
    runs: list[dict[str, Any]]  # what made the cells: seconds, cells, and perhaps workers, command, interrupted


def about_results(results: Results) -> About:
    """What a study's folder says about itself."""
    store = results.store
    cells = results.metadata()
    created = [cell["created"] for cell in cells]
    return {
        "name": store.name,
        "text": store.text(),
        "rounds": sorted({cell["description"]["rounds"] for cell in cells}),
        "seeds": len({seed for cell in cells for seed in cell["description"]["seeds"]}),
        "noises": sorted({cell["labels"]["noise"] for cell in cells}),
        "metrics": list(dict.fromkeys(metric for cell in cells for metric in cell["metrics"])),
        "cells": len(cells),
        "seconds": results.seconds(),
        "versions": results.versions(),
        "created": [min(created), max(created)] if created else [],
        "notices": results.notices()
        + [f"failed: {record['cell']}: {_last_line(record['traceback'])}" for record in store.failures()],
        "runs": store.log.runs(),
    }


def settings(about: About, metrics: Iterable[str]) -> list[tuple[str, str]]:
    """What the settings list says, as pairs of a word and a text; `metrics` has the titles of the metrics."""
    versions = about.get("versions", {})
    pairs = [
        ("Study", about.get("name", "")),
        ("Rounds", ", ".join(map(str, about.get("rounds", ())))),
        ("Seeds", str(about["seeds"]) if "seeds" in about else ""),
        ("Noise", ", ".join(about.get("noises", ()))),
        ("Metrics", ", ".join(metrics)),
        ("Made", " to ".join(dict.fromkeys(map(_time, about.get("created", ()))))),
        ("Computing", _computing(about)),
        ("Wall time", _wall_time(about)),
        ("Versions", ", ".join(f"{package} {' and '.join(found)}" for package, found in versions.items())),
    ]
    return [(word, text) for word, text in pairs if text]


def commands(about: About, command: str | None) -> list[tuple[str, list[str]]]:
    """The command that makes the study, and those that have made its runs, each once."""
    made = dict.fromkeys(str(run["command"]) for run in about.get("runs", ()) if run.get("command"))
    pairs = [("Command", [command] if command else []), ("Run by", [one for one in made if one != command])]
    return [(word, found) for word, found in pairs if found]


def _computing(about: About) -> str:
    if "seconds" not in about:
        return ""
    cells = f", summed over {about['cells']:,} cells" if "cells" in about else ""
    return duration(about["seconds"]) + cells


def _wall_time(about: About) -> str:
    """How long the runs of a study took, for people.

    >>> _wall_time({"runs": [{"seconds": 100, "workers": 2}, {"seconds": 30.5, "interrupted": True}]})
    '2 min 10 s in 2 runs, of which 1 was interrupted; 2 processes'
    """
    runs = about.get("runs", ())
    if not runs:
        return ""
    stopped = sum(bool(run.get("interrupted")) for run in runs)
    workers = sorted({str(run["workers"]) for run in runs if run.get("workers")}, key=natural)
    return "".join(
        (
            f"{duration(sum(run.get('seconds') or 0 for run in runs))} in {len(runs)} run{'s' * (len(runs) > 1)}",
            f", of which {stopped} {'was' if stopped == 1 else 'were'} interrupted" if stopped else "",
            f"; {' and '.join(workers)} process{'es' * (workers != ['1'])}" if workers else "",
        )
    )


def _time(moment: str) -> str:
    """A time for people, from one that the store has written.

    >>> _time("2026-11-15T10:33:18+00:00")
    '2026-11-15 10:33 UTC'
    """
    known = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+\+00:00", moment)
    return f"{known[1]} {known[2]} UTC" if known else moment


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no reason is known"
