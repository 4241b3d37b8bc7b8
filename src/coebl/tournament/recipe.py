"""The study of a tournament, from a suite, the learners that play and a number of seeds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from coebl.backend import Device
from coebl.core.errors import InputError, check_integer
from coebl.core.specs import split_spec
from coebl.core.text import counted
from coebl.learners import LEARNERS, parse_learner
from coebl.learners.base import Responder
from coebl.study import Study, StudyError
from coebl.study.schema import expand
from coebl.tournament.suite import TOURNAMENT_METRICS, YARDSTICK, Suite

_PARAMETER = re.compile(r"\s*[\w-]+=")  # the beginning of a piece that continues the spec before it
_OPTIONS = {"games": "--games", "seeds": "--seeds", "rounds": "--rounds", "learners": "--learners"}


def split_list(texts: Iterable[str]) -> list[str]:
    """Return the specs of options that hold one spec or several, separated by commas.

    Commas also separate the parameters of a spec: a piece such as `n=30` belongs to the spec before it.

    >>> split_list(["coebl:c=2,selection=none,ucb", "random-gaussian:m=2,n=[3,4]"])
    ['coebl:c=2,selection=none', 'ucb', 'random-gaussian:m=2,n=[3,4]']
    """
    specs: list[str] = []
    for text in texts:
        if not text.replace(",", "").strip():
            raise InputError(f"a list is {text!r}; accepted: specs, separated by commas. Leave the option out for all.")
        listed: list[str] = []
        for piece in text.split(","):
            if listed and (_PARAMETER.match(piece) or listed[-1].count("[") > listed[-1].count("]")):
                listed[-1] += f",{piece}"
            elif piece.strip():
                listed.append(piece.strip())
        specs += listed
    return list(dict.fromkeys(specs))


def field_of(suite: Suite, named: Sequence[str]) -> list[str]:
    """Return who plays: the suite's learners; with new ones only, these too; else exactly those that are named.

    >>> from coebl.tournament import read_suite
    >>> field_of(read_suite(), ["coebl:c=4"])[-2:]
    ['regret-matching-plus', 'coebl:c=4']
    >>> field_of(read_suite(), ["coebl:c=4", "ucb"])
    ['coebl:c=4', 'ucb']
    """
    specs = shortest(named)
    field = specs if set(shortest(suite.learners)) & set(specs) else [*suite.learners, *specs]
    _check_field(field)
    if len(field) < 2:
        raise InputError(f"--learners names {field[0]} alone; accepted: two or more, or learners that are new here.")
    return field


def subjects_of(suite: Suite, named: Sequence[str]) -> list[str]:
    """Return who is tested in a suite with a subject: those that are named, each by itself, or the suite's."""
    subjects = shortest(named or [suite.subject or ""])
    _check_field(subjects)
    for subject in subjects:
        if not opponents_of(suite, subject):
            raise InputError(
                f"the suite {suite.name} has {subject} as its subject and its only opponent; accepted: other learners. "
                "Add one to its learners."
            )
    return subjects


def opponents_of(suite: Suite, subject: str) -> list[str]:
    """Return the opponents of a subject, without itself."""
    return [spec for spec in shortest(suite.learners) if spec != subject]


def left_out(field: Iterable[str]) -> list[str]:
    """Return the learners of the package that could play and do not: no oracles, and none that needs a parameter.

    >>> from coebl.tournament import read_suite
    >>> "kin" in left_out(read_suite().learners), "ucb" in left_out(read_suite().learners)
    (True, False)
    """
    there = {split_spec(spec).name for spec in field}
    able = (entry for entry in LEARNERS if not any(parameter.required for parameter in entry.parameters))
    found: list[tuple[str, Any]] = [(entry.name, entry.factory) for entry in able if entry.name not in there]
    return [name for name, learner in found if learner.kind() != "oracle"]


def shortest(specs: Iterable[str]) -> list[str]:
    """Return specs in their shortest form, grids expanded, each once; files as they are."""
    expanded = [entry for spec in specs for entry in expand(spec)]
    return list(dict.fromkeys(spec if split_spec(spec).file else LEARNERS.canonical(spec) for spec in expanded))


def _check_field(field: Iterable[str]) -> None:
    for spec in field:
        if isinstance(parse_learner(spec), Responder):
            raise InputError(
                f"{spec} answers the policy that its opponent is about to play, and {YARDSTICK} measures all others; "
                "accepted: learners that do not. Leave it out."
            )


def read_tournament(suite: Suite, learners: Sequence[str], seeds: int, folder: Path, device: Device = "cpu") -> Study:
    """Return the study of a tournament that is run into a folder, or continued there.

    Args:
        suite: what is played.
        learners: who plays; in a suite with a subject, who is tested.
        seeds: runs per match.
        folder: of its results.
        device: where it is run.
    """
    check_integer("--seeds", seeds, 2)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out is {folder}: File exists; accepted: a folder, or the path of a new one.")
    match_ups: dict[str, Any] = {"pairs": _test_pairs(suite, learners)}
    if not suite.subject:
        pairs = [pair for spec in learners for pair in ((spec, YARDSTICK), (YARDSTICK, spec))]
        match_ups = {"learners": learners, "self_play": True, "all_pairs": True, "pairs": pairs}
    stated = [metric for statement in suite.statements for metric in (statement.metric, *statement.reported)]
    try:
        return Study(
            suite.id,
            title=suite.title,
            description=suite.description,
            seeds=seeds,
            metrics=list(dict.fromkeys(stated or TOURNAMENT_METRICS)),
            parts=[{"rounds": part.rounds, "games": part.games} for part in suite.parts],
            device=device,
            **match_ups,
        )
    except StudyError as error:  # the user did not write these arguments: name the option instead
        raise InputError(" ".join(map(_of_option, error.mistakes, error.places))) from None


def _of_option(mistake: str, place: Sequence[str | int]) -> str:
    """A mistake in the study of a tournament, with the option that it comes from."""
    option = next((_OPTIONS[part] for part in reversed(place) if part in _OPTIONS), "--suite")
    option = "--learners" if "match-ups" in place else option
    return f"{option}: {mistake.partition(': ')[2]}"


def _test_pairs(suite: Suite, subjects: Sequence[str]) -> list[tuple[str, str]]:
    """Each subject against its opponents in both seats; all of them against themselves and against the yardstick."""
    pairs: list[tuple[str, str]] = []
    for subject in subjects if suite.subject else ():
        others = opponents_of(suite, subject)
        pairs += [pair for other in others for pair in ((subject, other), (other, subject))]
        pairs += [pair for spec in (subject, *others) for pair in ((spec, spec), (spec, YARDSTICK), (YARDSTICK, spec))]
    return list(dict.fromkeys(pairs))


def size_text(study: Study) -> str:
    """Return how much is played: learners, games, rounds, seeds and matches, in words."""
    learners = {cell.players[0] for cell in study.cells} - {YARDSTICK}
    rounds = sorted({cell.rounds for cell in study.cells})
    seeds = {seed for cell in study.cells for seed in cell.seeds}
    games = {cell.game for cell in study.cells}
    span = f"{rounds[0]} to {rounds[-1]}" if len(rounds) > 1 else f"{rounds[0]}"
    sizes = f"{len(learners)} learners, {counted(len(games), 'game')}, {span} rounds, {len(seeds)} seeds"
    return f"{sizes}, {len(study.matches())} matches"
