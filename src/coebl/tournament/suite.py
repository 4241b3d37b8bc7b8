"""Suites: the games of a tournament with their rounds, and the learners that play by default.

A suite is a TOML file; `suites/standard.toml` shows its keys. The suites in that folder are known by their names. A
suite with a `subject` is a test of one learner against the others, by statements that are written down before it is
played: `suites/pre-registered.toml`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import resources
from itertools import chain
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from coebl.backend import Device
from coebl.core.errors import InputError, check_integer, nearest, reason_of
from coebl.core.files import read_whole
from coebl.core.specs import expand, split_specs
from coebl.core.text import counted, least_to_most
from coebl.evidence.statistics import ALPHA
from coebl.games import GAMES, is_zero_sum, parse_game
from coebl.learners import LEARNERS, Learner, parse_learner
from coebl.learners.base import PLAYS, Responder
from coebl.metrics import metric_class
from coebl.search import Search
from coebl.study import Study, StudyError
from coebl.study.errors import first_mistake
from coebl.study.studies import parse_toml

DEFAULT = "standard"
SEEDS = 50  # of a tournament that is not quick
ROUNDS = 1000  # of a game that is in no suite
TOURNAMENT_METRICS = ("pseudo_regret", "exploitability")
GENERAL_METRICS = ("payoff", "swap_regret", "nash_conv")  # of a tournament on games that are not zero-sum
YARDSTICK = "best-response"  # meets every learner in both seats, to measure how far it can be exploited

_OPTIONS = {key: f"--{key}" for key in ("games", "seeds", "rounds", "learners", "device")}

StatementKind = Literal["head-to-head", "best-response", "self-play", "single-runs"]

_STANDARD, _TEST = (f"a value as in suites/{name}.toml" for name in (DEFAULT, "pre-registered"))


def _made(entry: Any) -> list[Learner]:
    """Return the learner of an entry of a list: an object or its spec; those of a grid, if it is one."""
    return [_learner(spec) for spec in (expand(entry) if isinstance(entry, str) else [entry])]


def _learner(entry: Any) -> Learner:
    """Return a learner, or that of a spec; an InputError if it cannot be made."""
    try:
        return parse_learner(entry)
    except Exception as error:  # of user code
        raise InputError(reason_of(error)) from None


Text = Annotated[StrictStr, Field(description="a string")]
_Line = Annotated[StrictStr, Field(pattern=r"\S", description="a string, not empty")]
Learners = Annotated[
    tuple[Annotated[Learner, PlainValidator(_made)], ...],
    Field(min_length=1, description="a list of specs, not empty"),
    AfterValidator(lambda made: tuple(chain.from_iterable(made))),
]
Count = Annotated[StrictInt, Field(ge=1, description="an integer, >= 1")]
Seeds = Annotated[StrictInt, Field(ge=2, description="an integer, >= 2")]


class _Table(BaseModel):
    """A table of a suite's file; messages quote the descriptions of its fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Part(_Table):
    """Games that are played for the same number of rounds."""

    rounds: Count
    games: tuple[StrictStr, ...] = Field(min_length=1, description="a list of specs, not empty")


class Quick(Part):
    """The only part of the short version of a suite."""

    seeds: Seeds


class Statement(_Table):
    """A statement about the subject of a suite: its computation, its test and its aim.

    Its aim is reached if at most `misses` pairs of game and opponent, or games, miss it; or if at least this `share` of
    the games do not. It is missed if any ratio is above `never_above`.
    """

    id: _Line
    kind: Annotated[StatementKind, Field(description=f"one of {', '.join(get_args(StatementKind))}")]
    sentence: _Line  # the statement, in one line
    computed: _Line  # the exact computation and test, in words
    aim: _Line  # the aim, in words
    metric: _Line  # the metric that decides
    alpha: float = Field(ge=ALPHA, le=ALPHA, strict=True, description=str(ALPHA))
    correction: Annotated[Literal["holm"], Field(description='"holm"')]
    # best-response: times the least of the opponents' regrets; single-runs: times that of the median run
    ratio: float = Field(1.0, gt=0, strict=True, description="a number above 0")
    never_above: float | None = Field(None, gt=0, strict=True, description="a number above 0")
    misses: StrictInt | None = Field(None, ge=0, description="an integer, >= 0")
    share: float | None = Field(None, gt=0, le=1, strict=True, description="a number, above 0 and <= 1")
    reported: tuple[StrictStr, ...] = Field((), description="a list of metrics")  # that do not decide

    def allowed(self, games: int) -> int:
        """Return the largest number of pairs, or games, that may miss an aim that is still reached."""
        return int((1 - (self.share or 0)) * games + 1e-9) if self.misses is None else self.misses

    @model_validator(mode="after")
    def _check(self) -> Statement:
        if (self.misses is None) == (self.share is None):
            raise InputError("accepted: one of the keys misses and share, which define when the aim is reached.")
        alone = self.kind == "self-play"
        accepted = "about both players, such as exploitability" if alone else "with a sign, such as pseudo_regret"
        for metric in (self.metric, *self.reported):
            if metric_class(metric).signed == alone:
                raise InputError(f"metric is {metric!r}; accepted for {self.kind}: one {accepted}.")
        return self


class Suite(_Table):
    """Games with their rounds, and the learners that play: objects, or specs, of which it makes the objects.

    Games are named by their specs and files, as in a study, since large ones are made when they are played.

    >>> suite = read_suite("standard")
    >>> suite.id, len(suite.games), suite.seeds
    ('standard-2', 13, 50)
    """

    name: _Line  # as on the command line
    version: Count  # a change of the games or rounds needs a new version
    title: Text  # for people
    description: Text  # for people
    learners: Learners
    parts: tuple[Part, ...] = Field(min_length=1, description=_STANDARD)  # the games
    seeds: Seeds = SEEDS  # runs per match
    quick: Quick | None = Field(None, description=_STANDARD)  # the short version
    subject: Annotated[Learner, BeforeValidator(_learner)] | None = None  # the tested learner, or its spec
    statements: tuple[Statement, ...] = Field((), min_length=1, description=_TEST)  # about the subject
    digest: StrictStr = Field("", exclude=True)  # SHA-256 of the file; empty if other games or rounds are played

    @property
    def games(self) -> tuple[str, ...]:
        """All games, in order."""
        return tuple(game for part in self.parts for game in part.games)

    @property
    def id(self) -> str:
        """Its name with its version, which is also the name of its study."""
        return f"{self.name}-{self.version}"

    def shortened(self) -> Suite:
        """Return the quick version, with fewer games, rounds and seeds, and another title."""
        if self.quick is None:
            raise InputError(f"the suite {self.name} has no quick version; leave out --quick, or use another suite.")
        part, seeds = Part(rounds=self.quick.rounds, games=self.quick.games), self.quick.seeds
        about = (
            f"A quick look, not the suite itself: {len(part.games)} {'of its ' * (set(part.games) <= set(self.games))}"
            f"games with {part.rounds} rounds and {seeds} seeds. To be sure, run it without --quick."
        )
        changed = {"name": f"{self.name}-quick", "title": f"{self.title}, quick", "description": about}
        return self.model_copy(update={**changed, "parts": (part,), "seeds": seeds, "digest": ""})

    def played_on(self, games: Sequence[str], rounds: int | None) -> Suite:
        """Return the suite on other games or with other rounds.

        Args:
            games: the games to play; if empty, those of the suite, whose games keep their rounds.
            rounds: the rounds of all games, if given.
        """
        if not games and rounds is None:
            return self
        of_suite = {GAMES.shortest(game): part.rounds for part in self.parts for game in part.games}
        by_rounds: dict[int, list[str]] = {}
        for game in dict.fromkeys(games or self.games):
            by_rounds.setdefault(rounds or of_suite.get(GAMES.shortest(game), ROUNDS), []).append(game)
        parts = tuple(Part(rounds=number, games=tuple(members)) for number, members in by_rounds.items())
        about = f"Games or rounds were chosen by hand: this is not the suite {self.id}."
        changed = {"name": "tournament", "title": "Tournament on chosen games", "description": about}
        return self.model_copy(update={**changed, "parts": parts, "digest": ""})

    @model_validator(mode="after")
    def _check(self) -> Suite:
        if (self.subject is None) != (not self.statements):
            raise InputError("accepted: the keys subject and statements together, or neither of them.")
        _check_once("learners", map(str, self.learners))
        _check_once("games", map(GAMES.shortest, self.games))
        _check_once("statements", (f"the id {statement.id}" for statement in self.statements))
        return self


def _check_once(key: str, names: Iterable[str]) -> None:
    """Reject a list that has the same learner, game or statement twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{key} has {name} twice; accepted: each once. Take one out.")
        seen.add(name)


def read_suite(name: str = DEFAULT) -> Suite:
    """Return the suite with a name, or that of a TOML file.

    >>> read_suite("standard").learners[:3]
    (Exp3(rewards='unit'), Exp3Ix(), Exp3IxNeu())
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
    try:
        suite = Suite.model_validate(parse_toml(text, name))
    except ValidationError as error:
        raise InputError(f"{name}: {first_mistake(error, Suite)}") from None
    return suite.model_copy(update={"digest": hashlib.sha256(text.encode()).hexdigest()})


def suites() -> list[str]:
    """Return the names of the suites that come with the package."""
    folder = resources.files("coebl.tournament").joinpath("suites")
    return sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))


# The learners that play, and their study


def split_list(option: str, values: Iterable[str]) -> list[str]:
    """Return the specs in the values of an option, each one spec or several, separated by commas; each spec once."""
    specs: list[str] = []
    for text in values:
        if not (listed := split_specs(text)):
            raise InputError(f"{option} is {text!r}; accepted: specs, separated by commas. Leave it out for all.")
        specs += listed
    return list(dict.fromkeys(specs))


def read_learners(values: Iterable[str]) -> list[Learner]:
    """Return the learners in the values of --learners, grids expanded, each once."""
    learners: list[Learner] = []
    mistakes = []
    for spec in split_list("--learners", values):
        try:
            learners += _made(spec)
        except InputError as error:
            mistakes.append(f"--learners: {error}")
    if mistakes:
        raise InputError(_first_of(mistakes))
    return list({str(learner): learner for learner in learners}.values())


def field_of(suite: Suite, named: Sequence[Learner]) -> list[Learner]:
    """Return the learners that play: exactly those named if the suite has any of them, else also those of the suite."""
    replaced = any(learner in suite.learners for learner in named)
    field = [*named] if replaced else [*suite.learners, *named]
    _check_field(field)
    if len(field) < 2:
        raise InputError(f"--learners names {field[0]} alone; accepted: two or more, or learners outside the suite.")
    return field


def subjects_of(suite: Suite, named: Sequence[Learner]) -> list[Learner]:
    """Return the learners that are tested in a suite with a subject: those named, or the subject of the suite."""
    subjects = [*named] or ([suite.subject] if suite.subject else [])
    _check_field(subjects)
    for subject in subjects:
        if not opponents_of(suite, subject):
            raise InputError(
                f"the suite {suite.name} has {subject} as its subject and its only opponent; accepted: other learners. "
                "Add one to its learners."
            )
    return subjects


def opponents_of(suite: Suite, subject: Learner) -> list[Learner]:
    """Return the opponents of a subject: the learners of the suite without itself."""
    return [learner for learner in suite.learners if learner != subject]


def other_learners(field: Iterable[Learner]) -> list[str]:
    """Return the learners of the package that could play but do not, without oracles and those that need a parameter.

    >>> from coebl.tournament import read_suite
    >>> other_learners(read_suite().learners)[:2]
    ['exp3-as-released', 'exp3-ix-as-released']
    """
    playing = {LEARNERS.entry_of(type(learner)).name for learner in field}
    plays = set(PLAYS).intersection(*(learner.plays for learner in field))
    able = (entry for entry in LEARNERS if not any(parameter.required for parameter in entry.parameters))
    learners: list[tuple[str, Any]] = [(entry.name, entry.factory) for entry in able if entry.name not in playing]
    fit = [(name, learner.kind()) for name, learner in learners if plays & set(learner.plays)]
    return [name for name, kind in fit if kind not in ("oracle", "search")]


def _check_field(field: Iterable[Learner]) -> None:
    for learner in field:
        if isinstance(learner, Responder):
            raise InputError(
                f"--learners: {learner} answers the policy that its opponent is about to play, and {YARDSTICK} "
                "measures all others; accepted: learners that do not. Leave it out."
            )
        if isinstance(learner, Search):
            name = LEARNERS.entry_of(type(learner)).name
            raise InputError(
                f"--learners: {learner} is a search; accepted: learners. To measure it: coebl runtime {name}."
            )


def study_of(suite: Suite, learners: Sequence[Learner], seeds: int, device: Device = "cpu") -> Study:
    """Return the study of a tournament between these learners; in a suite with a subject, of the test of them.

    >>> from coebl.learners import Coebl, Exp3
    >>> study = study_of(read_suite("standard").shortened(), [Coebl(c=2), Exp3()], seeds=5)
    >>> print(study.cells[2])
    permuted:game=biased-rps,seed=1, coebl:c=2 v exp3, 200 rounds, seeds 0..4
    """
    check_integer("seeds", seeds, 2)
    made: dict[str, Any] = {"title": suite.title, "description": suite.description, "seeds": seeds, "device": device}
    made["parts"] = [{"rounds": part.rounds, "games": part.games} for part in suite.parts]
    every_pair: dict[str, Any] = {"learners": learners, "self_play": True, "all_pairs": True}
    metrics = list(TOURNAMENT_METRICS)
    match_ups = every_pair | {"pairs": [pair for spec in learners for pair in ((spec, YARDSTICK), (YARDSTICK, spec))]}
    if suite.subject:
        named = (metric for statement in suite.statements for metric in (statement.metric, *statement.reported))
        metrics, match_ups = list(dict.fromkeys(named)), {"pairs": _test_pairs(suite, learners)}
    try:
        try:
            return Study(suite.id, metrics=metrics, **match_ups, **made)
        except StudyError:
            if not _is_general(suite):  # this makes each game again
                raise
            return Study(suite.id, metrics=list(GENERAL_METRICS), **every_pair, **made)
    except StudyError as error:  # the user did not write these arguments: name the option instead
        raise InputError(_first_mistake(error)) from None


def _is_general(suite: Suite) -> bool:
    """Return True if the games are not zero-sum; reject a suite with games of both kinds."""
    kinds: dict[bool, str] = {}  # a game of each kind
    for spec in (entry for game in suite.games for entry in expand(game)):
        with suppress(Exception):  # a game that cannot be made: the study reports it
            kinds.setdefault(not is_zero_sum(parse_game(spec)), spec)
    if len(kinds) > 1:
        raise InputError(
            f"--games: {kinds[False]} is zero-sum and {kinds[True]} is not; accepted: games of one kind, since "
            "the two kinds have different measures. Play two tournaments."
        )
    if suite.subject and True in kinds:
        raise InputError(
            f"--games: {kinds[True]} is not zero-sum, and the statements about {suite.subject} are about regret; "
            "accepted: zero-sum games, or a suite without a subject."
        )
    return True in kinds


def _first_mistake(error: StudyError) -> str:
    """Return the first mistake with the option that caused it, and the number of the others: one for each learner."""
    messages = []
    for place, message in error.found:
        option = next((_OPTIONS[part] for part in reversed(place) if part in _OPTIONS), "--suite")
        messages.append(f"{'--learners' if 'match-ups' in place else option}: {message}")
    mistakes = list(dict.fromkeys(messages))
    first = _first_of(mistakes)
    if len(mistakes) > 1 and all(mistake.startswith("--learners") for mistake in mistakes):
        first += " If --learners names a learner of the suite, such as uniform, only the named learners play."
    return first


def _first_of(mistakes: Sequence[str]) -> str:
    """Return the first mistake, and the number of the others."""
    more = f"{mistakes[0].rstrip('.')}. And {counted(len(mistakes) - 1, 'more mistake')}."
    return more if len(mistakes) > 1 else mistakes[0]


def _test_pairs(suite: Suite, subjects: Sequence[Learner]) -> list[tuple[Learner | str, Learner | str]]:
    """Return each subject with its opponents in both seats, and all of them with themselves and the yardstick."""
    pairs: list[tuple[Learner | str, Learner | str]] = []
    for subject in subjects:
        opponents = opponents_of(suite, subject)
        pairs += [pair for opponent in opponents for pair in ((subject, opponent), (opponent, subject))]
        pairs += [
            pair
            for learner in (subject, *opponents)
            for pair in ((learner, learner), (learner, YARDSTICK), (YARDSTICK, learner))
        ]
    return list({tuple(map(str, pair)): pair for pair in pairs}.values())


def size_text(study: Study) -> str:
    """Return the numbers of learners, games, rounds, seeds and matches, in words."""
    learners = {cell.players[0] for cell in study.cells} - {YARDSTICK}
    rounds = least_to_most((cell.rounds for cell in study.cells), "round")
    seeds = {seed for cell in study.cells for seed in cell.seeds}
    games = {cell.game for cell in study.cells}
    sizes = f"{len(learners)} learners, {counted(len(games), 'game')}, {rounds}, {len(seeds)} seeds"
    return f"{sizes}, {len(study.matches())} matches"
