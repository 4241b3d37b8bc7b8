"""Statements of a suite, written down before it is played: what is computed, how it is tested, what is aimed at.

A suite that has a `subject` has statements about it. `suites/pre-registered.toml` shows their keys. Three kinds can be
judged, by `coebl.tournament.trial`:

    head-to-head     the subject against an opponent, the mean of both seats
    best-response    what a best response takes from the subject, compared with the least that it takes from an opponent
    self-play        the subject against itself, compared with an opponent against itself
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from coebl.core.errors import InputError, nearest, shorten
from coebl.evidence.statistics import ALPHA
from coebl.metrics import metric_class

StatementKind = Literal["head-to-head", "best-response", "self-play"]
CORRECTION = "holm"


@dataclass(frozen=True)
class Statement:
    """A statement about the subject of a suite; the fields are the keys of its table in the file."""

    id: str
    kind: StatementKind
    sentence: str  # what is stated, in a line
    computed: str  # exactly what is computed and tested, in words
    aim: str  # what is hoped for, in words
    metric: str  # the one that decides
    alpha: float
    correction: str
    ratio: float = 1.0  # best-response: of the least of the opponents' regrets
    never_above: float | None = None  # best-response: the aim is missed if any ratio is
    misses: int | None = None  # the aim: on at most so many, pairs of game and opponent head to head, else games
    share: float | None = None  # the aim: on at least this share of the games
    reported: tuple[str, ...] = ()  # metrics that are also reported; they do not decide

    def allowed(self, games: int) -> int:
        """On how many pairs, or games, it may miss so that the aim is reached."""
        if self.misses is not None:
            return self.misses
        return int((1 - (self.share or 0)) * games + 1e-9)


def check_keys(table: Iterable[str], known: Collection[str], where: str) -> None:
    """Reject keys of a suite's file, or of a table in it, that are not known."""
    for key in table:
        if key not in known:
            raise InputError(f"{where}: unknown key {key!r}{nearest(key, known)} Accepted: {', '.join(known)}.")


def read_statement(table: Any, where: str) -> Statement:
    """The statement of a table of a suite's file."""
    if not isinstance(table, dict):
        raise InputError(f"{where} is {shorten(table)}; accepted: a table, as suites/pre-registered.toml has them.")
    check_keys(table, [field.name for field in fields(Statement)], where)
    for key in ("id", "kind", "sentence", "computed", "aim", "metric", "alpha", "correction"):
        if key not in table:
            raise InputError(f"{where}: there is no key {key!r}. Add it.")
    _check(table, where)
    return Statement(**{**table, "reported": tuple(table.get("reported", ()))})


def _check(table: Mapping[str, Any], where: str) -> None:
    """Refuse values that nothing here computes."""
    accepted: dict[str, tuple[bool, str]] = {
        "kind": (table["kind"] in get_args(StatementKind), f"one of {', '.join(get_args(StatementKind))}"),
        "alpha": (table["alpha"] == ALPHA, f"{ALPHA}"),
        "correction": (table["correction"] == CORRECTION, f'"{CORRECTION}"'),
        "ratio": (_is_number(table.get("ratio", 1.0)), "a number above 0"),
        "never_above": (_is_number(table.get("never_above", 1.0)), "a number above 0"),
        "misses": (isinstance(table.get("misses", 0), int) and table.get("misses", 0) >= 0, "an integer, >= 0"),
        "share": (_is_number(table.get("share", 1.0)) and table.get("share", 1.0) <= 1, "a number, above 0 and <= 1"),
        "reported": (isinstance(table.get("reported", []), list), "a list of metrics"),
    }
    for key in ("id", "sentence", "computed", "aim", "metric"):
        accepted[key] = (isinstance(table[key], str) and bool(table[key].strip()), "a text")
    for key, (fits, words) in accepted.items():
        if not fits:
            raise InputError(f"{where}: {key} is {shorten(table[key])}; accepted: {words}.")
    if ("misses" in table) == ("share" in table):
        raise InputError(f"{where}: accepted: one of the keys misses and share, which say when the aim is reached.")
    for metric in (table["metric"], *table.get("reported", [])):
        metric_class(metric)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
