"""What comes of a tournament: the standings, what to say of them, and the files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coebl.core.specs import split_spec
from coebl.plots import known_to
from coebl.study import Results, Study
from coebl.tournament.files import write_files
from coebl.tournament.measured import measure
from coebl.tournament.standings import Standings, standings
from coebl.tournament.suite import Suite
from coebl.tournament.words import sentences


@dataclass(frozen=True)
class Finished:
    """The standings of a tournament, in numbers, words and files."""

    standings: Standings
    sentences: list[str]
    files: Path  # the folder that they are in


def finish(suite: Suite, study: Study, folder: Path, command: str) -> Finished:
    """Rank what is finished of a tournament, and write its files.

    Args:
        suite: what was played.
        study: the study of the tournament; sentences begin with the learners that are a user's own.
        folder: where it was run.
        command: what makes the same again.
    """
    results = Results(folder)
    found = standings(measure(study, results))
    files = {split_spec(cell.row).without_folder for cell in study.cells if split_spec(cell.row).file}
    own = [one.learner for one in found.standings if one.learner in files]
    about = about_run(suite, results, command)
    return Finished(found, sentences(found, own), write_files(found, folder, about, own, known_to(results)))


def about_run(suite: Suite, results: Results, command: str) -> dict[str, Any]:
    """What was run and how: the beginning of the summary."""
    return {
        "suite": suite.id,
        "title": suite.title,
        "description": suite.description,
        "command": command,
        "cells": len(results.cells()),
        "worker_seconds": round(results.seconds()),
        "versions": results.versions(),
    }
