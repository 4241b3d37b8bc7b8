"""The study of a tournament: an ordinary study file, from a suite, a field of learners and a number of seeds."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from coebl.backend import Device
from coebl.core.errors import InputError, check_integer
from coebl.core.specs import files_in, move_files, split_spec
from coebl.core.text import counted
from coebl.learners import LEARNERS, parse_learner
from coebl.learners.base import Responder
from coebl.study import Study, StudyError, parse_study
from coebl.study.cell import is_file
from coebl.study.sweep import expand
from coebl.tournament.standings import TOURNAMENT_METRICS
from coebl.tournament.suite import YARDSTICK, Suite

_PARAMETER = re.compile(r"\s*[\w-]+=")  # how a piece begins that continues the spec before it


def split_list(texts: Iterable[str]) -> list[str]:
    """The specs of options that hold one spec or several, separated by commas.

    Commas also separate the parameters of a spec: a piece such as `n=30` belongs to the spec before it.

    >>> split_list(["coebl:c=2,selection=none,ucb", "random-gaussian:m=2,n=[3,4]"])
    ['coebl:c=2,selection=none', 'ucb', 'random-gaussian:m=2,n=[3,4]']
    """
    specs: list[str] = []
    for text in texts:
        if not text.replace(",", "").strip():
            raise InputError(f"a list is {text!r}; accepted: specs, separated by commas. Leave the option out for all.")
        own: list[str] = []
        for piece in text.split(","):
            open_list = own and own[-1].count("[") > own[-1].count("]")
            if own and (_PARAMETER.match(piece) or open_list):
                own[-1] += f",{piece}"
            elif piece.strip():
                own.append(piece.strip())
        specs += own
    return list(dict.fromkeys(specs))


def field_of(suite: Suite, named: Sequence[str]) -> list[str]:
    """Who plays: the suite's learners; with new ones only, these too; else exactly those that are named.

    >>> from coebl.tournament import read_suite
    >>> field_of(read_suite(), ["coebl:c=4"])[-2:]
    ['regret-matching-plus', 'coebl:c=4']
    >>> field_of(read_suite(), ["coebl:c=4", "ucb"])
    ['coebl:c=4', 'ucb']
    """
    own = set(shortest(suite.learners))
    specs = shortest(named)
    field = specs if own & set(specs) else [*suite.learners, *specs]
    _check_field(field)
    if len(field) < 2:
        raise InputError(f"--learners names {field[0]} alone; accepted: two or more, or learners that are new here.")
    return field


def subjects_of(suite: Suite, named: Sequence[str]) -> list[str]:
    """Who is tested in a suite with a subject: those that are named, each by itself, or the suite's own."""
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
    """Whom a subject meets; it is not its own opponent."""
    return [spec for spec in shortest(suite.learners) if spec != subject]


def left_out(field: Iterable[str]) -> list[str]:
    """The learners of the package that could play and do not, by name: no oracles, and none that needs a parameter.

    >>> from coebl.tournament import read_suite
    >>> "kin" in left_out(read_suite().learners), "ucb" in left_out(read_suite().learners)
    (True, False)
    """
    there = {split_spec(spec).name for spec in field}
    able = (entry for entry in LEARNERS if not any(parameter.required for parameter in entry.parameters))
    found: list[tuple[str, Any]] = [(entry.name, entry.factory) for entry in able if entry.name not in there]
    return [name for name, learner in found if learner.kind() != "oracle"]


def shortest(specs: Iterable[str]) -> list[str]:
    """Specs in their shortest form, grids expanded, each once; files as they are."""
    expanded = [each for spec in specs for each in expand(spec)]
    return list(dict.fromkeys(spec if split_spec(spec).file else LEARNERS.canonical(spec) for spec in expanded))


def _check_field(field: Iterable[str]) -> None:
    for spec in field:
        if isinstance(parse_learner(spec), Responder):
            raise InputError(
                f"{spec} answers the policy that its opponent is about to play, and {YARDSTICK} measures all others; "
                "accepted: learners that do not. Leave it out."
            )


def read_tournament(suite: Suite, learners: Sequence[str], seeds: int, folder: Path, device: Device = "cpu") -> Study:
    """The study of a tournament that is run into a folder, or continued there.

    Args:
        suite: what is played.
        learners: who plays; in a suite with a subject, who is tested.
        seeds: runs per match.
        folder: where its results are kept.
        device: where it is run.
    """
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)  # files are found from there
    except OSError as error:
        raise InputError(
            f"--out is {folder}: {error.strerror}; accepted: a folder, or the path of a new one."
        ) from None
    try:
        return parse_study(study_text(suite, learners, seeds, folder, device), str(folder / "study.toml"))
    except InputError as error:
        if made:
            folder.rmdir()
        if isinstance(error, StudyError):  # nobody wrote that file: name the option instead
            raise InputError(" ".join(map(_of_option, error.mistakes))) from None
        raise


def _of_option(mistake: str) -> str:
    """A mistake in the study file of a tournament, with the option that it comes from in the place of its line."""
    place, _, words = mistake.partition(": ")
    options = {key: f"--{key}" for key in ("games", "seeds", "rounds", "learners")} | {"match-ups": "--learners"}
    option = next((option for key, option in options.items() if key in place), "--suite")
    return f"{option}: {words}"


def size_text(study: Study) -> str:
    """How much is played: learners, games, rounds, seeds and matches, in words."""
    learners = {cell.players[0] for cell in study.cells} - {YARDSTICK}
    rounds = sorted({cell.rounds for cell in study.cells})
    seeds = {seed for cell in study.cells for seed in cell.seeds}
    games = {cell.game for cell in study.cells}
    span = f"{rounds[0]} to {rounds[-1]}" if len(rounds) > 1 else f"{rounds[0]}"
    sizes = f"{len(learners)} learners, {counted(len(games), 'game')}, {span} rounds, {len(seeds)} seeds"
    return f"{sizes}, {len(study.matches())} matches"


def study_text(suite: Suite, learners: Sequence[str], seeds: int, folder: Path, device: Device = "cpu") -> str:
    """The study file of a tournament. Files of games and learners are named as seen from its folder."""
    check_integer("--seeds", seeds, 2)
    lines = [
        f"name = {_toml(suite.id)}",
        f"title = {_toml(suite.title)}",
        f"description = {_toml(suite.description)}",
        f"seeds = {seeds}",
        f"metrics = {_toml(metrics_of(suite))}",
        'record = "log"',
        *([f"device = {_toml(device)}"] if device != "cpu" else []),
    ]
    if suite.subject:
        lines += ["", "[match-ups]", f"pairs = {_toml(_test_pairs(suite, learners, folder))}"]
    else:
        field = [_seen_from(folder, spec) for spec in learners]
        pairs = [pair for spec in field for pair in _against_yardstick(spec)]
        lines += [f"learners = {_toml(field)}", "", "[match-ups]"]
        lines += ["self-play = true", "all-pairs = true", f"pairs = {_toml(pairs)}"]
    for part in suite.parts:
        games = [_seen_from(folder, game) for game in part.games]
        lines += ["", "[[parts]]", f"rounds = {part.rounds}", f"games = {_toml(games)}"]
    return "\n".join(lines) + "\n"


def metrics_of(suite: Suite) -> list[str]:
    """What is measured: what the statements need, if there are any."""
    stated = [metric for one in suite.statements for metric in (one.metric, *one.reported)]
    return list(dict.fromkeys(stated or TOURNAMENT_METRICS))


def _test_pairs(suite: Suite, subjects: Sequence[str], folder: Path) -> list[list[str]]:
    """Each subject against its opponents in both seats; all of them against themselves and against the yardstick."""
    pairs: list[list[str]] = []
    for subject in subjects:
        tested, *others = (_seen_from(folder, spec) for spec in (subject, *opponents_of(suite, subject)))
        pairs += [pair for other in others for pair in ([tested, other], [other, tested])]
        pairs += [pair for spec in (tested, *others) for pair in ([spec, spec], *_against_yardstick(spec))]
    return [list(pair) for pair in dict.fromkeys(map(tuple, pairs))]


def _against_yardstick(spec: str) -> list[list[str]]:
    return [[spec, YARDSTICK], [YARDSTICK, spec]]


def _toml(value: object) -> str:
    """A text or a list of texts; JSON's notation of them is also TOML's."""
    return json.dumps(value, ensure_ascii=False)


def _seen_from(folder: Path, spec: str) -> str:
    """A spec whose files, if it names any, are relative to the folder."""
    if files_in(spec):
        return move_files(spec, lambda file: _relative(file, folder))
    return _relative(spec, folder) if Path(spec).suffix and is_file(spec) else spec


def _relative(file: str, folder: Path) -> str:
    return Path(os.path.relpath(Path(file).resolve(), folder.resolve())).as_posix()
