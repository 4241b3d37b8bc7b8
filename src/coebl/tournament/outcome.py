"""What comes of a tournament: the standings, what to say of them, and the files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coebl.core.specs import without_folder
from coebl.learners import LEARNERS
from coebl.naming import known_to
from coebl.study import Results, Study
from coebl.tournament.files import write_files
from coebl.tournament.measured import measure
from coebl.tournament.plan import shortest
from coebl.tournament.standings import Standings, standings
from coebl.tournament.suite import Suite
from coebl.tournament.words import sentences


@dataclass(frozen=True)
class Finished:
    """The standings of a tournament, in numbers, words and files."""

    standings: Standings
    sentences: list[str]
    files: Path  # the folder that they are in


def finish(suite: Suite, study: Study, folder: Path, command: str, named: Iterable[str] = ()) -> Finished:
    """Rank what is finished of a tournament, and write its files.

    Args:
        suite: what was played.
        study: the study of the tournament.
        folder: where it was run.
        command: what makes the same again.
        named: the learners that the user asked about, by their specs: the sentences begin with them.
    """
    results = Results(folder)
    found = standings(measure(study, results))
    subjects = {without_folder(LEARNERS.canonical(spec)) for spec in shortest(named)}
    own = [one.learner for one in found.standings if one.learner in subjects]
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
