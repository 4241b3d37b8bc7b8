"""The origin of the numbers on a page: the study, its settings, and the runs that made it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coebl.core.text import counted, natural
from coebl.study.progress import duration

if TYPE_CHECKING:
    from coebl.study import Results


@dataclass(frozen=True)
class About:
    """The metadata of a study; the page leaves out empty fields."""

    name: str = ""
    text: str = ""  # the content of its file
    rounds: Sequence[int] = ()  # the lengths of its matches
    seeds: int = 0
    noises: Sequence[str] = ()
    metrics: Sequence[str] = ()
    cells: int = 0
    seconds: float = 0.0  # of computing, over all cells
    versions: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of each package, all that made any cell
    created: Sequence[str] = ()  # the first and the last time that a cell was finished
    notices: Sequence[str] = ()  # for readers, such as cells that failed
    runs: Sequence[Mapping[str, Any]] = ()  # seconds, cells, and perhaps workers, command, interrupted

    def settings(self, metrics: Iterable[str]) -> list[tuple[str, str]]:
        """Return the settings as pairs of strings; `metrics` are titles."""
        versions = (f"{package} {' and '.join(numbers)}" for package, numbers in self.versions.items())
        cells = f", summed over {counted(self.cells, 'cell')}" if self.cells else ""
        pairs = [
            ("Study", self.name),
            ("Rounds", ", ".join(map(str, self.rounds))),
            ("Seeds", str(self.seeds or "")),
            ("Noise", ", ".join(self.noises)),
            ("Metrics", ", ".join(metrics)),
            ("Made", " to ".join(dict.fromkeys(map(_time, self.created)))),
            ("Computing", f"{duration(self.seconds)}{cells}" if self.seconds else ""),
            ("Wall time", _wall_time(self.runs)),
            ("Versions", ", ".join(versions)),
        ]
        return [(word, text) for word, text in pairs if text]

    def commands(self, command: str) -> list[tuple[str, list[str]]]:
        """Return the command that makes the study, and those that have made its runs, each once."""
        made = dict.fromkeys(str(run["command"]) for run in self.runs if run.get("command"))
        pairs = [("Command", [command] if command else []), ("Run by", [other for other in made if other != command])]
        return [(word, lines) for word, lines in pairs if lines]


def about_results(results: Results) -> About:
    """Return the metadata that a study's folder stores."""
    store, records = results.store, results.records()
    created = [record.created for record in records]
    failures = [f"failed: {failure['cell']}: {_last_line(failure['traceback'])}" for failure in store.failures()]
    return About(
        name=store.name,
        text=store.text(),
        rounds=sorted({record.rounds for record in records}),
        seeds=len({seed for record in records for seed in record.seeds}),
        noises=sorted({record.noise for record in records}),
        metrics=list(dict.fromkeys(metric for record in records for metric in record.metrics)),
        cells=len(records),
        seconds=results.seconds(),
        versions=results.versions(),
        created=[min(created), max(created)] if created else [],
        notices=[*results.notices(), *failures],
        runs=store.log.runs(),
    )


def _wall_time(runs: Sequence[Mapping[str, Any]]) -> str:
    """Format how long the runs of a study took.

    >>> _wall_time([{"seconds": 100, "workers": 2}, {"seconds": 30.5, "interrupted": True}])
    '2 min 10 s in 2 runs, of which 1 was interrupted; 2 processes'
    """
    if not runs:
        return ""
    stopped = sum(bool(run.get("interrupted")) for run in runs)
    workers = sorted({str(run["workers"]) for run in runs if run.get("workers")}, key=natural)
    return "".join(
        (
            f"{duration(sum(run.get('seconds') or 0 for run in runs))} in {counted(len(runs), 'run')}",
            f", of which {stopped} {'was' if stopped == 1 else 'were'} interrupted" if stopped else "",
            f"; {' and '.join(workers)} process{'es' * (workers != ['1'])}" if workers else "",
        )
    )


def _time(moment: str) -> str:
    """Format a time that the store has written.

    >>> _time("2026-11-15T10:33:18+00:00")
    '2026-11-15 10:33 UTC'
    """
    known = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+\+00:00", moment)
    return f"{known[1]} {known[2]} UTC" if known else moment


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason is known"])[-1]
