"""What comes of the test of a subject: findings, what to say of them, and the files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coebl.core.files import make_folder, write_whole
from coebl.core.text import finite
from coebl.evidence.samples import Setting
from coebl.games import parse_game
from coebl.learners import parse_learner
from coebl.naming import known_to
from coebl.naming.described import NOTHING, Known
from coebl.plots import save
from coebl.study import Results, Study
from coebl.tournament.files import FOLDER, write_table
from coebl.tournament.measured import label
from coebl.tournament.outcome import about_run
from coebl.tournament.plan import opponents_of
from coebl.tournament.suite import Suite
from coebl.tournament.trial.figure import plot_findings
from coebl.tournament.trial.judging import Arena, Contest, Finding, OfSeeds, Row, judge_statements
from coebl.tournament.trial.words import HEADER, LEGEND, aim_word, as_markdown, as_text, failures, rows_of, sentence


@dataclass(frozen=True)
class TrialOutcome:
    """What the statements came to, for each subject, and where the files are."""

    trials: list[list[Finding]]  # per subject, a finding per statement
    files: Path
    notes: list[str]  # where this is not the test that the suite's file describes


def finish_trial(suite: Suite, subjects: Sequence[str], study: Study, folder: Path, command: str) -> TrialOutcome:
    """Judge the statements of a suite on what is finished of its study, and write the files.

    Args:
        suite: what was played.
        subjects: who is tested, each by itself.
        study: the study of the test.
        folder: where it was run.
        command: what makes the same again.
    """
    results = Results(folder)
    seeds = {seed for cell in study.cells for seed in cell.seeds}
    source = OfSeeds(results, seeds)
    games = {label(cell.game): _arena(cell.game, cell.rounds) for cell in study.cells}
    trials = []
    for subject in subjects:
        name = label(str(parse_learner(subject)))  # as the study spells it
        contest = Contest(name, tuple(map(label, opponents_of(suite, subject))), games)
        trials.append(judge_statements(source, contest, suite.statements))
    notes = []
    if not suite.digest:
        notes.append(suite.description)
    if len(seeds) != suite.seeds:
        notes.append(f"Not the test of the suite's file: {len(seeds)} seeds instead of {suite.seeds}.")
    about = about_run(suite, results, command) | {
        "begun": min((cell["created"] for cell in results.metadata()), default=""),  # when the first cell was finished
        "suite_sha256": suite.digest,
        "seeds": len(seeds),
        "notes": notes,
    }
    return TrialOutcome(trials, write_files(trials, folder, about, known_to(results)), notes)


def _arena(game: str, rounds: int) -> Arena:
    whole = parse_game(game)
    low, high = whole.payoff_range
    return Arena(Setting(rounds, str(whole.noise)), (high - low) or 1.0)


def write_files(
    trials: Sequence[Sequence[Finding]], folder: Path, about: Mapping[str, Any], known: Known = NOTHING
) -> Path:
    """Write the verdicts as JSON, Markdown, CSV and Parquet, and a figure per subject, into the folder of a study."""
    target = make_folder(folder / FOLDER, folder)
    for place, findings in enumerate(trials):
        name = f"figure-{place + 1}" if place else "figure"
        save(plot_findings(findings, known), target, name, ("svg", "png"), folder)
    rows = [row for findings in trials for finding in findings for row in _flat(finding)]
    write_table(rows, target / "verdicts", folder)
    write_whole(target / "verdicts.md", as_markdown(str(about["title"]), trials), within=folder)
    page = {
        "title": "Test",
        "header": ["subject", *HEADER],
        "rows": [[findings[0].contest.subject, *row] for findings in trials for row in rows_of(findings)],
        "sentences": [*as_text(trials[0]), *about.get("notes", ())],
        "legend": LEGEND,
        "picture_text": "The subject against each opponent on each game: ahead, level or behind",
    }
    summary = finite({**about, "trials": [_trial(findings) for findings in trials], "page": page})
    write_whole(target / "summary.json", json.dumps(summary, indent=1, ensure_ascii=False) + "\n", within=folder)
    return target


def _flat(finding: Finding) -> list[dict[str, Any]]:
    start = {"subject": finding.contest.subject, "statement": finding.statement.id}
    return [start | asdict(row) for row in (*finding.rows, *finding.overall)]


def _trial(findings: Sequence[Finding]) -> dict[str, Any]:
    contest = findings[0].contest
    return {
        "subject": contest.subject,
        "opponents": list(contest.opponents),
        "games": {
            game: {"rounds": arena.setting.rounds, "width": arena.width} for game, arena in contest.games.items()
        },
        "statements": {finding.statement.id: _as_dict(finding) for finding in findings},
    }


def _as_dict(finding: Finding) -> dict[str, Any]:
    return {
        **asdict(finding.statement),
        "reached": finding.reached,
        "word": aim_word(finding),
        "said": sentence(finding),
        "missed": finding.missed,
        "allowed": finding.allowed,
        "total": finding.total,
        "counts": finding.counts,
        "on_reported": finding.reported,
        "failing": [_rounded(row) for row in failures(finding)],
        "rows": [_rounded(row) for row in finding.rows],
        "overall": [_rounded(row) for row in finding.overall],
    }


def _rounded(row: Row) -> dict[str, Any]:
    """A row of the summary; the table has all digits."""
    return {key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in asdict(row).items()}
