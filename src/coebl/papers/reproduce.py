"""Reproduce a paper: run its study, judge its claims, draw its figures, write a summary and a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coebl.core.files import make_folder, write_whole
from coebl.core.modules import require
from coebl.core.text import counted, few_digits
from coebl.evidence.judge import Verdict
from coebl.evidence.rendering import as_json, as_markdown
from coebl.evidence.statistics import mean_interval
from coebl.naming import game_titles
from coebl.papers import Paper
from coebl.papers.drawing import draw
from coebl.report.page import about_results, write_page
from coebl.study import Results, RunSummary, Study, parse_study
from coebl.study import run as run_study
from coebl.study.workers import cores


@dataclass(frozen=True)
class Reproduction:
    """The outcome of a reproduction."""

    ran: RunSummary
    verdicts: list[Verdict]
    figures: list[Path]
    summary: Path | None  # a folder
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
        figures: if any are named, only these figures and the claims named are made, from the matches that they need.
        claims: likewise.
        workers: the number of processes that draw; by default one per core.
        run: runs a study into a folder.
        command: the command that the summary states; by default the paper's.
        drawing: entered while figures are drawn; its value is called with the number of figures done, and of all.
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
        return Reproduction(ran, verdicts, drawn, None, None)
    summary = write_summary(paper, results, out / "summary", verdicts, command or paper.command)
    return Reproduction(ran, verdicts, drawn, summary, write_report(paper, results, out / "report.html", verdicts))


def experiments(paper: Paper, quick: bool = False, figures: Sequence[str] = (), claims: Sequence[str] = ()) -> Study:
    """Return the part of a paper's study that these figures and claims need, or all of it; if quick, its quick part."""
    needed = paper.needed(figures, claims)
    study = parse_study(paper.study)
    matches = [match for match in needed or study.matches() if not quick or match[0] in paper.quick.games]
    return study.select(matches, paper.quick.seeds if quick else None)


def write_report(paper: Paper, results: Results, path: Path, verdicts: Sequence[Verdict]) -> Path:
    """Write the page of a study with the paper's question, verdicts and selections of lines."""
    commands = [run["command"] for run in results.store.log.runs() if run.get("command")]
    return write_page(
        results,
        path,
        paper.page,
        verdicts=verdicts,
        command=commands[-1] if commands else paper.command,
        whole=paper.command,
        left_out=left_out(paper, results),
    )


def left_out(paper: Paper, results: Results) -> str:
    """Return the games, matches and seeds of a paper's study that a folder lacks, in words."""
    study = parse_study(paper.study)
    present = set(results.matches())
    absent = [match for match in study.matches() if tuple(match[:3]) not in present]
    games = {game for game, _, _ in present}
    missing = dict.fromkeys(match[0] for match in absent if match[0] not in games)
    partly = sum(match[0] in games for match in absent)
    needed = len({seed for cell in study.cells for seed in cell.seeds})
    done = len({seed for record in results.records() for seed in record.seeds})
    parts = [
        f"{counted(len(missing), 'game')} ({'; '.join(game_titles(missing))})" if missing else "",
        f"{counted(partly, 'match', 'matches')} on the other games" if partly else "",
        f"{needed - done} of {counted(needed, 'seed')}, so {done} were run" if done < needed else "",
    ]
    return "; ".join(filter(None, parts))


def write_summary(paper: Paper, results: Results, folder: Path, verdicts: Sequence[Verdict], command: str) -> Path:
    """Write the verdicts as JSON and Markdown, the final means with their intervals, and the provenance."""
    about = about_results(results)
    made = {
        "command": command,
        "runs": results.store.log.runs(),
        "processor_seconds": round(about.seconds, 1),
        **{key: getattr(about, key) for key in ("cells", "seeds", "rounds", "noises", "versions")},
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
    return folder


def means(paper: Paper, results: Results) -> list[dict[str, Any]]:
    """Return means with intervals of every metric in the last round of every match, then over the last rounds."""
    rows: list[dict[str, Any]] = [dict(row) for row in results.summary()]
    for metric, span in paper.averaged.items():
        rows += _over_the_last_rounds(results, metric, span)
    kept = ("game", "row", "column", "metric", "mean", "low", "high", "sd", "n")  # six digits: more than is known
    return [{key: few_digits(row[key], 6) if isinstance(row[key], float) else row[key] for key in kept} for row in rows]


def _over_the_last_rounds(results: Results, metric: str, span: int) -> Iterator[dict[str, Any]]:
    pl = require("polars")
    for game, row, column in results.matches():
        runs = results.curves([metric], game=game, players=(row, column))
        late = runs.filter(pl.col("round") > pl.col("round").max() - span)
        estimate = mean_interval(late.group_by("seed").agg(pl.col(metric).mean()).sort("seed")[metric].to_numpy())
        yield {"game": game, "row": row, "column": column, "metric": f"{metric}_last_{span}"} | vars(estimate)
