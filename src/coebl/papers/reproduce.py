"""Reproduce a paper: run its study, judge its claims, draw its figures, write a summary and a page.

A figure is a function that lists its panels in a variant. Its drawing and the matches that it needs follow from them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coebl.core.errors import InputError, look_up
from coebl.core.files import make_folder, write_whole
from coebl.core.frames import pl
from coebl.core.text import counted, few_digits
from coebl.engine.match import MatchName
from coebl.evidence.judge import Verdict, as_json, as_markdown
from coebl.evidence.statistics import mean_interval
from coebl.naming import game_titles
from coebl.papers import Paper, Variant
from coebl.plots import FORMATS, save
from coebl.plots.style import COLUMN, WIDTH, drawing, legend_entries
from coebl.report.page import write_page
from coebl.study import Results, RunSummary, Study
from coebl.study import run as run_study
from coebl.study.workers import LocalPool, cores

if TYPE_CHECKING:
    from matplotlib import figure as matplotlib_figure
    from matplotlib.axes import Axes

# Figures

Parts = Mapping[str, Sequence[MatchName]]  # matches by label: of a line, of a row, of a point


@dataclass(frozen=True)
class Panel:
    """A part of a figure: matches by label, and the function that draws them."""

    parts: Parts
    draw: Callable[[Results, Axes, Parts, str], object]  # the last argument is the choice of measures
    width: float  # in inches
    height: float
    part_height: float = 0.0  # added for each part
    alike: bool = False  # one scale for the panels of a row
    whole: bool = False  # leave out the panel if any part lacks a match; otherwise only that part

    def within(self, present: Collection[tuple[str, ...]]) -> Panel | None:
        """Return the panel with the parts whose matches are present; None if it is not to be drawn."""
        parts = {label: matches for label, matches in self.parts.items() if all(match in present for match in matches)}
        return replace(self, parts=parts) if parts and not (self.whole and len(parts) < len(self.parts)) else None


@dataclass(frozen=True, eq=False)  # hashed by identity
class Figure:
    """A figure of panels on a grid, with one legend. Call it to draw it."""

    name: str  # on the command line, and of its files without the suffix
    title: str
    panels: Callable[[Variant], list[list[Panel]]]  # of a variant, in groups that each begin a new row
    heading: Callable[[str, list[MatchName], Variant], str] = lambda title, shown, variant: title
    suffixes: Mapping[str, str] = field(default_factory=lambda: {"paper": ""})  # of its files, by choice of measures
    varied: bool = True  # True if it depends on the variant

    def needs(self, variant: Variant) -> list[MatchName]:
        """Return all matches of the figure, with data or without."""
        return _needs(self.panels(variant))

    def rows(self, results: Results, variant: Variant) -> list[list[Panel]]:
        """Return the panels that have data, in rows as wide as the page."""
        present, rows = set(results.matches()), list[list[Panel]]()
        for group in self.panels(variant):
            panels = [part for panel in group if (part := panel.within(present))]
            across = round(WIDTH / panels[0].width) if panels else 1
            rows += [panels[first : first + across] for first in range(0, len(panels), across)]
        return rows

    def __call__(self, results: Results, variant: Variant, measures: str) -> matplotlib_figure.Figure:
        """Draw the panels that have data."""
        if measures not in self.suffixes:
            raise InputError(f"measures is {measures!r}; accepted: {', '.join(self.suffixes)}.")
        rows = self.rows(results, variant)
        if not rows:
            raise _no_data(self, variant)
        width = max(COLUMN, max(map(len, rows)) * rows[0][0].width)
        heights = [row[0].height + row[0].part_height * len(row[0].parts) for row in rows]
        with drawing(width, 0.5 + sum(heights)) as figure:
            _draw_grid(figure, rows, results, measures)
            entries = legend_entries(figure.axes)
            labels = sorted(entries, key=lambda label: label.startswith("band"))  # at the end
            handles = [entries[label] for label in labels]
            columns = max(1, len(labels)) if figure.get_figwidth() > 6 else 2
            heading = self.heading(self.title, _needs(rows), variant)
            figure.legend(handles, labels, loc="outside upper center", ncols=columns, title=heading)
        return figure


def draw(
    paper: Paper,
    results: Results,
    folder: str | os.PathLike[str],
    names: Iterable[str] | None = None,
    variants: Iterable[str] | None = None,
    formats: Sequence[str] = FORMATS,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    within: str | os.PathLike[str] | None = None,
) -> list[Path]:
    """Write figures as folder/variant/name.format, and return the paths.

    Args:
        paper: the paper.
        results: the results of the paper's study.
        folder: the output folder.
        names: the figures; by default all that have data.
        variants: the variants; by default all that have data. A figure that does not depend on the variant is written
            once, under the paper's first.
        formats: any of "pdf", "svg", "png".
        workers: the number of processes that write files.
        progress: called after each figure with the number of figures drawn, and their total.
        within: the folder of the results; links inside it are not followed.
    """
    first = next(iter(paper.variants.values()))
    figures = look_up("figure", names, paper.figures)
    selected = dict.fromkeys(
        (figure, variant if figure.varied else first)
        for variant in look_up("variant", variants, paper.variants)
        for figure in figures
    )
    present = [(figure, variant) for figure, variant in selected if figure.rows(results, variant)]
    drawn = {figure for figure, _ in present}
    for figure, variant in selected:
        if not present or (names is not None and figure not in drawn):
            raise _no_data(figure, variant, paper.command_in(results.store.folder))

    def jobs() -> Iterator[tuple[Any, ...]]:
        for done, (figure, variant) in enumerate(present, 1):
            for measures, suffix in figure.suffixes.items():
                drawing = figure(results, variant, measures)
                yield drawing, Path(folder) / variant.id, figure.name + suffix, formats, within
            if progress is not None:
                progress(done, len(present))

    if workers == 1:
        written = [save(*job) for job in jobs()]
    else:
        with LocalPool(workers) as pool:
            written = [future.result() for future in [pool.submit(save, *job) for job in jobs()]]
    return [path for paths in written for path in paths]


def _no_data(figure: Figure, variant: Variant, command: str = "coebl reproduce") -> InputError:
    return InputError(
        f"there is no data for figure {figure.name} ({variant.title}); to compute it into the same folder, run: "
        f"{command} --figure {figure.name}"
    )


def _needs(groups: list[list[Panel]]) -> list[MatchName]:
    """Return the matches of the panels, each once."""
    parts = [matches for group in groups for panel in group for matches in panel.parts.values()]
    return list(dict.fromkeys(match for matches in parts for match in matches))


def _draw_grid(figure: matplotlib_figure.Figure, rows: list[list[Panel]], results: Results, measures: str) -> None:
    """Draw the panels on a grid; labels are not repeated if the neighbour to the left or below has the same."""
    axes = figure.subplots(len(rows), max(map(len, rows)), squeeze=False)
    for row, row_axes in zip(rows, axes, strict=True):
        for panel, ax in zip(row, row_axes, strict=False):
            panel.draw(results, ax, panel.parts, measures)
        if row[0].alike:
            ends = [end for ax in row_axes[: len(row)] for end in ax.get_ylim()]
            for ax in row_axes[: len(row)]:
                ax.set_ylim(min(ends), max(ends))
        for neighbour, right in reversed(list(pairwise(row_axes))):
            if neighbour.get_ylabel() == right.get_ylabel():
                right.set_ylabel("")
        for ax in row_axes[len(row) :]:
            ax.remove()
    for upper, lower in pairwise(axes):
        for above, below in zip(upper, lower, strict=True):
            if below.figure and above.get_xlabel() == below.get_xlabel():
                above.set_xlabel("")
                above.tick_params(labelbottom=above.get_xlim() != below.get_xlim())


# A reproduction


@dataclass(frozen=True)
class Reproduction:
    """The outcome of a reproduction."""

    ran: RunSummary
    verdicts: list[Verdict]
    figures: list[Path]
    page: Path | None


def reproduce(
    paper: Paper,
    out: Path,
    *,
    quick: bool = False,
    figures: Sequence[str] = (),
    claims: Sequence[str] = (),
    workers: int | None = None,
    run: Callable[[Study, Path], RunSummary] = run_study,
    command: str = "",
    drawing: Callable[[], AbstractContextManager[Callable[[int, int], None] | None]] = nullcontext,
) -> Reproduction:
    """Run a paper's study, or the rest of it, judge the claims, draw the figures, and write a summary and a page.

    Args:
        paper: the paper.
        out: the folder of the results; it is created, or resumed.
        quick: only small games and few seeds, and the main figures.
        figures: if any figures or claims are named, only these are made, from the matches that they need.
        claims: likewise.
        workers: the number of processes that draw; by default one per core.
        run: the function that runs a study into a folder.
        command: the command that the summary states; by default the paper's.
        drawing: a context for drawing figures; its value is called with the number of figures done, and the total.
    """
    ran = run(experiments(paper, quick, figures, claims), out)
    results = Results(out)
    everything = not figures and not claims
    verdicts = paper.judge(results, claims or None) if claims or everything else []
    drawn: list[Path] = []
    if figures or everything:
        names = figures or (paper.quick.figures if quick else None)
        with drawing() as progress:
            drawn = draw(
                paper, results, out / "figures", names, workers=workers or cores(), progress=progress, within=out
            )
    if not everything:
        return Reproduction(ran, verdicts, drawn, None)
    write_summary(paper, results, out / "summary", verdicts, command or paper.command_in())
    return Reproduction(ran, verdicts, drawn, write_report(paper, results, out / "report.html", verdicts))


def experiments(paper: Paper, quick: bool = False, figures: Sequence[str] = (), claims: Sequence[str] = ()) -> Study:
    """Return the part of a paper's study that these figures and claims need, or all of it; if quick, its quick part."""
    needed = paper.needed(figures, claims)
    study = paper.study
    matches = [match for match in needed or study.matches() if not quick or match.game in paper.quick.games]
    return study.select(matches, paper.quick.seeds if quick else None)


def write_report(paper: Paper, results: Results, path: Path, verdicts: Sequence[Verdict]) -> Path:
    """Write the page of a study with the paper's question, verdicts and selections of lines."""
    commands = [run.command for run in results.store.log.runs() if run.command]
    whole = paper.command_in(results.store.folder)
    return write_page(
        results,
        path,
        paper.page,
        verdicts=verdicts,
        command=commands[-1] if commands else whole,
        whole=whole,
        left_out=left_out(paper, results),
    )


def left_out(paper: Paper, results: Results) -> str:
    """Return the games, matches and seeds of a paper's study that a folder lacks, in words."""
    study = paper.study
    present = set(results.matches())
    absent = [match for match in study.matches() if match not in present]
    games = {match.game for match in present}
    missing = dict.fromkeys(match.game for match in absent if match.game not in games)
    partly = sum(match.game in games for match in absent)
    needed = len({seed for cell in study.cells for seed in cell.seeds})
    done = len({seed for record in results.records() for seed in record.seeds})
    parts = [
        f"{counted(len(missing), 'game')} ({'; '.join(game_titles(missing))})" if missing else "",
        f"{counted(partly, 'match', 'matches')} on the other games" if partly else "",
        f"{needed - done} of {counted(needed, 'seed')}, so {done} were run" if done < needed else "",
    ]
    return "; ".join(filter(None, parts))


def write_summary(paper: Paper, results: Results, folder: Path, verdicts: Sequence[Verdict], command: str) -> None:
    """Write the verdicts as JSON and Markdown, the final means with their intervals, and the provenance."""
    records = results.records()
    made = {
        "command": command,
        "runs": [run.model_dump(exclude_unset=True) for run in results.store.log.runs()],
        "processor_seconds": round(results.seconds(), 1),
        "cells": len(records),
        "seeds": len({seed for record in records for seed in record.seeds}),
        "rounds": sorted({record.rounds for record in records}),
        "noises": sorted({record.noise for record in records}),
        "versions": results.versions(),
    }
    rows = [json.dumps(row, allow_nan=False) for row in means(paper, results)]
    contents = {
        "claims.json": as_json(verdicts) + "\n",
        "claims.md": as_markdown(verdicts, paper.titles),
        "means.json": "[\n" + ",\n".join(rows) + "\n]\n",
        "made.json": json.dumps(made, indent=2) + "\n",
    }
    within = results.store.folder
    make_folder(folder, within)
    for name, content in contents.items():
        write_whole(folder / name, content, within=within)


def means(paper: Paper, results: Results) -> list[dict[str, Any]]:
    """Return means with intervals of every metric in the last round of every match, then over the last rounds."""
    rows: list[dict[str, Any]] = [dict(row) for row in results.summary()]
    for metric, span in paper.averaged.items():
        for match in results.matches():
            runs = results.curves([metric], game=match.game, players=match.players)
            late = runs.filter(pl.col("round") > pl.col("round").max() - span)
            of_seeds = late.sort("seed", "round").group_by("seed", maintain_order=True).agg(metric)
            estimate = mean_interval(of_seeds[metric].list.mean().to_numpy())
            labels = dict(zip(("game", "row", "column"), match, strict=False))
            rows.append(labels | {"metric": f"{metric}_last_{span}"} | vars(estimate))
    kept = ("game", "row", "column", "metric", "mean", "low", "high", "sd", "n")
    return [{key: few_digits(row[key], 6) for key in kept} for row in rows]
