"""Suites: the games that a tournament is played on, with their rounds, and the learners that play by default.

A suite is a TOML file; `suites/standard.toml` shows its keys. The suites in that folder go by their names. A suite with
a `subject` is a test of one learner against the others: `suites/pre-registered.toml`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from coebl.core.errors import InputError, check_integer, nearest, shorten
from coebl.core.files import read_whole
from coebl.core.registry import Registry
from coebl.core.specs import split_spec
from coebl.games import GAMES
from coebl.learners import LEARNERS
from coebl.study.reading import parse_toml
from coebl.tournament.statements import Statement, check_keys, read_statement

DEFAULT = "standard"
SEEDS = 50  # of a tournament that is not quick
ROUNDS = 1000  # of a game that is in no suite


@dataclass(frozen=True)
class Part:
    """Games that are played for the same number of rounds."""

    rounds: int
    games: tuple[str, ...]


@dataclass(frozen=True)
class Suite:
    """Games with their rounds, and who plays."""

    name: str  # as on the command line
    version: int  # a change of what is played is another one
    title: str  # for people
    description: str  # for people
    learners: tuple[str, ...]  # who plays, by spec
    parts: tuple[Part, ...]  # what is played
    seeds: int = SEEDS  # how many runs each match has
    quick: tuple[Part, int] | None = None  # the short version: its only part, and how many seeds
    subject: str | None = None  # who is tested, unless others are named; the learners are then its opponents
    statements: tuple[Statement, ...] = ()  # about the subject
    digest: str = ""  # SHA-256 of the file; empty if games, rounds or seeds are not those of the file

    @property
    def games(self) -> tuple[str, ...]:
        """All games, in order."""
        return tuple(game for part in self.parts for game in part.games)

    @property
    def id(self) -> str:
        """Its name with its version, which is also the name of its study.

        >>> read_suite("standard").id
        'standard-1'
        """
        return f"{self.name}-{self.version}"

    def shortened(self) -> Suite:
        """The quick version: fewer games, rounds and seeds; its title says so."""
        if self.quick is None:
            raise InputError(f"the suite {self.name} has no quick version; leave out --quick, or use another suite.")
        part, seeds = self.quick
        about = (
            f"A quick look, not the suite itself: {len(part.games)} {'of its ' * (set(part.games) <= set(self.games))}"
            f"games with {part.rounds} rounds and {seeds} seeds. To be sure, run it without --quick."
        )
        name, title = f"{self.name}-quick", f"{self.title}, quick"
        return replace(self, name=name, title=title, description=about, parts=(part,), seeds=seeds, digest="")

    def played_on(self, games: Sequence[str], rounds: int | None) -> Suite:
        """The suite on other games or with other rounds; games that it has keep its rounds unless `rounds` is given."""
        if not games and rounds is None:
            return self
        of_suite = {_canonical(game): part.rounds for part in self.parts for game in part.games}
        by_rounds: dict[int, list[str]] = {}
        for game in dict.fromkeys(games or self.games):
            by_rounds.setdefault(rounds or of_suite.get(_canonical(game), ROUNDS), []).append(game)
        parts = tuple(Part(number, tuple(its)) for number, its in by_rounds.items())
        about = f"Games or rounds were chosen by hand: this is not the suite {self.id}."
        title = "Tournament on chosen games"
        return replace(self, name="tournament", title=title, description=about, parts=parts, digest="")


def _canonical(spec: str, names: Registry[Any] = GAMES) -> str:
    """The shortest spec of a game or a learner; that of a file, or of what is unknown, as it is."""
    try:
        return spec if split_spec(spec).file else names.canonical(spec)
    except InputError:
        return spec


def read_suite(name: str = DEFAULT) -> Suite:
    """The suite of a name, or that of a TOML file.

    >>> suite = read_suite("standard")
    >>> len(suite.games), suite.seeds, suite.learners[:3]
    (13, 50, ('exp3', 'exp3-ix', 'exp3-ix-neu'))
    """
    if name.endswith(".toml"):
        try:
            text = read_whole(name, pipes=True).decode("utf-8").replace("\r\n", "\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise InputError(f"{name} cannot be read ({reason}); accepted: a suite's TOML file.") from None
    else:
        known = suites()
        if name not in known:
            raise InputError(
                f"unknown suite {name!r}{nearest(name, known)} Accepted: {', '.join(known)}, or a .toml file."
            )
        text = resources.files("coebl.tournament").joinpath("suites", f"{name}.toml").read_text(encoding="utf-8")
    return replace(_suite(parse_toml(text, name), name), digest=hashlib.sha256(text.encode()).hexdigest())


def suites() -> list[str]:
    """The names of the suites that come with the package."""
    folder = resources.files("coebl.tournament").joinpath("suites")
    return sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))


_NEEDED = {"name": str, "version": int, "title": str, "description": str, "learners": list, "parts": list}
_NOT_EMPTY = ("parts", "subject", "statements")
_KEYS = _NEEDED | {"quick": dict, "seeds": int, "subject": str, "statements": list}


def _suite(contents: Mapping[str, Any], where: str) -> Suite:
    check_keys(contents, _KEYS, where)
    for key, value in contents.items():
        if not isinstance(value, _KEYS[key]) or (key in _NOT_EMPTY and not value):
            example = "pre-registered" if key in ("subject", "statements") else "standard"
            raise InputError(f"{where}: {key} is {shorten(value)}; accepted: what suites/{example}.toml has there.")
    for key in _NEEDED:
        if key not in contents:
            raise InputError(f"{where}: there is no key {key!r}. Add it.")
    if ("subject" in contents) != ("statements" in contents):
        raise InputError(f"{where}: accepted: the keys subject and statements together, or neither of them.")
    statements = enumerate(contents.get("statements", []))
    quick = contents.get("quick")
    if quick is not None:
        quick = _part(quick, f"{where}: quick", "seeds"), check_integer(f"{where}: quick.seeds", quick.get("seeds"), 2)
    parts = tuple(_part(table, f"{where}: parts[{place}]") for place, table in enumerate(contents["parts"]))
    learners = _specs(contents, "learners", where)
    _check_once("learners", learners, LEARNERS, where)
    _check_once("games", [game for part in parts for game in part.games], GAMES, where)
    return Suite(
        name=contents["name"],
        version=check_integer(f"{where}: version", contents["version"], 1),
        title=contents["title"],
        description=contents["description"],
        learners=learners,
        parts=parts,
        seeds=check_integer(f"{where}: seeds", contents.get("seeds", SEEDS), 2),
        subject=contents.get("subject"),
        statements=tuple(read_statement(table, f"{where}: statements[{place}]") for place, table in statements),
        quick=quick,
    )


def _part(table: Any, where: str, *more: str) -> Part:
    if not isinstance(table, dict):
        raise InputError(f"{where} is {shorten(table)}; accepted: a table with rounds and games.")
    check_keys(table, ("rounds", "games", *more), where)
    return Part(check_integer(f"{where}.rounds", table.get("rounds"), 1), _specs(table, "games", where))


def _check_once(key: str, specs: Sequence[str], names: Registry[Any], where: str) -> None:
    """Reject a list that has the same learner or game twice, also by two specs."""
    seen: set[str] = set()
    for spec in specs:
        if _canonical(spec, names) in seen:
            raise InputError(f"{where}: {key} has {spec} twice; accepted: each once. Take one out.")
        seen.add(_canonical(spec, names))


def _specs(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    specs = table.get(key)
    if not isinstance(specs, list) or not specs or not all(isinstance(spec, str) for spec in specs):
        raise InputError(f"{where}: {key} is {shorten(specs)}; accepted: a list of specs, not empty.")
    return tuple(specs)
