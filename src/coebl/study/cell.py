"""The cell, one match and one block of seeds: its description, which identifies it, and its record once it is finished.

A cell is the unit of work, of storage and of resuming. Its record is stored with its numbers, and validated here.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from importlib import metadata as packages
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

import coebl
from coebl.backend import Device, backend_class, backend_for
from coebl.core.arrays import Floats
from coebl.core.errors import InputError, printable, shorten
from coebl.core.registry import Component, Registry
from coebl.core.sources import source_of
from coebl.core.specs import files_in, inner_files, move_files, split_spec, without_folder
from coebl.engine import Match, Record, Result, simulate
from coebl.engine.match import MatchKey
from coebl.engine.policy_paths import frames_for, policy_paths
from coebl.engine.result import Keep
from coebl.games import GAMES, NOISES, is_zero_sum, parse_game
from coebl.games.game import SEATS, NamedGame
from coebl.learners import LEARNERS, Learner, parse_learner
from coebl.metrics import METRICS, Metric
from coebl.naming import REGISTRIES, LearnerWords, MetricWords, describe_learner, describe_metric
from coebl.study.errors import DamagedFileError, StoreError, first_mistake

FORMAT: Literal[4] = 4  # of the stored files
EARLIER: Literal[3] = 3  # still read; it has row, column and horizon in place of players and rounds
_RUNS = 3  # part of every digest; it changes if the same seed no longer leads to the same run
_MOST_BYTES = 1 << 26  # far more than a million seeds need

ObjectKey = tuple[str, str]  # the kind of an object, as its registry has it, and the spec that represents it


def _seat_key(seat: int) -> str:
    """Return the key under which the file of a player is listed."""
    return SEATS[seat] if seat < len(SEATS) else f"player {seat + 1}"


def _distinct(seeds: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"{shorten(seeds)} has a seed twice.")
    return seeds


def _spec(spec: str) -> str:
    files_in(spec)  # raises an InputError if the spec is nested too deep
    return spec


def _complete(learner: LearnerWords) -> LearnerWords:
    if learner.kind is None or not 0 <= (learner.colour or 0) < 1 << 31:
        raise ValueError("it has no kind, or a colour beyond every palette.")
    return learner


Count = Annotated[int, Field(ge=0, lt=1 << 63)]
Seconds = Annotated[float, Field(ge=0, lt=1e12)]
Spec = Annotated[str, AfterValidator(_spec)]
Specs = Annotated[tuple[Spec, ...], Field(min_length=2)]
Names = Annotated[tuple[str, ...], Field(min_length=1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
_Thousandths = tuple[tuple[Annotated[int, Field(ge=0, le=1000)], ...], ...]


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Description(_Stored):
    """Everything that the numbers of a cell depend on: specs as requested, files by their checksums."""

    game: Spec  # or the name of a file
    players: Specs  # in the order of the seats
    rounds: Count
    seeds: Annotated[tuple[Count, ...], Field(min_length=1), AfterValidator(_distinct)]
    noise: Spec | None  # None: the default of the game
    record: Literal["all", "log", "last"] | Annotated[int, Field(ge=1)]
    metrics: Names  # names, or file.py:Name
    files: dict[str, str]  # checksums, by "game", "row", "column" or the name of the file
    device: Device = "cpu"
    until: str | None = None  # the condition that ends a run
    keep: tuple[Literal["policies"], ...] = ()  # other data kept of the runs

    def digest(self) -> str:
        """Return the name under which the cell is stored: equal for equal descriptions, anywhere."""
        layout = self.model_dump(exclude_defaults=True, warnings=False)
        if len(self.players) == 2:  # the earlier format, which had two seats, has a key for each
            layout |= dict(zip(SEATS, layout.pop("players"), strict=True))
        text = json.dumps(layout | {"format": _RUNS}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def run_files(self) -> list[str]:
        """Return the keys of `files` that the runs depend on; the others are of metrics."""
        specs = (self.game, *self.players)
        inner = [file for spec in specs for file in inner_files(spec)]
        seats = [_seat_key(seat) for seat in range(len(self.players))]
        return ["game", *seats, *dict.fromkeys([*inner, *files_in(self.noise or "")])]


class KeptPolicies(_Stored):
    """The policies of the first run of a cell at a few rounds, in thousandths, and the game for their pictures."""

    seed: Count
    payoff: Annotated[tuple[Annotated[tuple[Finite, ...], Field(min_length=1)], ...], Field(min_length=1)]
    labels: tuple[Names, Names]  # of the actions of each seat
    rounds: Annotated[tuple[Count, ...], Field(min_length=1)]
    policies: tuple[_Thousandths, _Thousandths]  # per seat: (rounds, actions)
    averages: tuple[_Thousandths, _Thousandths]  # likewise, averaged up to the round

    @model_validator(mode="after")
    def _check(self) -> KeptPolicies:
        shape = len(self.payoff), len(self.payoff[0])
        sizes = {len(row) for row in self.payoff} | {shape[1]}
        for kind in (self.policies, self.averages):
            for actions, labels, numbers in zip(shape, self.labels, kind, strict=True):
                lengths = {len(labels), *map(len, numbers)}
                if len(sizes) > 1 or lengths != {actions} or len(numbers) != len(self.rounds):
                    raise ValueError("its policies do not fit its game.")
        return self

    @classmethod
    def of(cls, result: Result) -> KeptPolicies:
        """Return the policies of the first run of a result."""
        paths = policy_paths(result, points=frames_for(result.match.game) // 2)

        def thousandths(kind: Iterable[Floats]) -> Any:
            return tuple(tuple(map(tuple, (1000 * seat).round().astype(int).tolist())) for seat in kind)

        return cls(
            seed=paths.seed,
            payoff=tuple(map(tuple, paths.game.payoff.tolist())),
            labels=paths.labels,
            rounds=tuple(paths.rounds.tolist()),
            policies=thousandths(paths.policies),
            averages=thousandths(paths.averages),
        )


@dataclass(frozen=True)
class Cell:
    """A match and its seeds in plain values, which travel to workers and into files.

    >>> cell = Cell("rps", ("ucb", "exp3"), rounds=100, seeds=(0, 1, 2))
    >>> print(cell)
    rps, ucb v exp3, 100 rounds, seeds 0..2
    >>> cell.run().final("pseudo_regret").shape
    (3,)
    """

    game: str  # a spec, or the path of a game's file
    players: tuple[str, ...]  # canonical specs of learners, in the order of the seats
    rounds: int  # of every run
    seeds: tuple[int, ...]  # of the runs, increasing
    noise: str | None = None  # None: the default of the game
    record: Record = "log"  # the rounds at which metrics are kept: see `coebl.simulate`
    metrics: tuple[str, ...] = ("regret", "pseudo_regret")  # names, or path/to/file.py:Name
    device: Device = "cpu"  # the same seed leads to different runs on different devices
    objects: Mapping[ObjectKey, Any] = field(default_factory=dict, compare=False, repr=False)  # not made by specs
    until: str | None = None  # the condition that ends a run before its last round
    keep: tuple[Keep, ...] = ()  # other data to keep of its runs; only in a cell of one seed
    shape: tuple[int, ...] = field(default=(), compare=False, repr=False)  # the numbers of actions; (): unknown
    default_noise: str = field(default="", compare=False, repr=False)  # of the game; "": unknown
    cost: float = field(default=1.0, compare=False, repr=False)  # declared microseconds of a round per run

    def learners(self) -> tuple[Learner, ...]:
        """Return the learners, in the order of the seats."""
        return tuple(parse_learner(self._object(LEARNERS, spec)) for spec in self.players)

    def match(self) -> Match:
        """Return the match that the cell plays."""
        noise = self.noise and self._object(NOISES, self.noise)
        return Match(parse_game(self._object(GAMES, self.game), noise), self.learners(), self.rounds)

    def measures(self) -> list[str | type[Metric]]:
        """Return the metrics, by their names or as classes."""
        return [self._object(METRICS, name) for name in self.metrics]

    def _object(self, registry: Registry[Any], spec: str) -> Any:
        """Return the object that a spec of this kind represents, if the cell has it; otherwise the spec."""
        return self.objects.get((registry.kind, spec), spec)

    def run(self, progress: Callable[[int], None] | None = None) -> Result:
        """Play the match once per seed; `progress` is called with the number of rounds done."""
        return simulate(
            self.match(),
            self.seeds,
            record=self.record,
            metrics=self.measures(),
            progress=progress,
            device=self.device,
            until=self.until,
            keep=self.keep,
        )

    def named(self) -> list[tuple[str, Registry[Any], str]]:
        """Return a unique key, a registry and a spec for all that the cell names, in the order of its fields."""
        named: list[tuple[str, Registry[Any], str]] = [("game", GAMES, self.game)]
        named += ((_seat_key(seat), LEARNERS, spec) for seat, spec in enumerate(self.players))
        named += [("noise", NOISES, self.noise)] if self.noise else []
        return [*named, *((metric, METRICS, metric) for metric in self.metrics)]

    def labels(self) -> MatchKey:
        """Return the match as tables label it."""
        file = self._game_file()
        game = Path(file).name if file else without_folder(self.game)
        noise = without_folder(self.default_noise if self.noise is None else self.noise)
        return MatchKey(game, tuple(map(without_folder, self.players)), noise, self.rounds)

    def absolute(self) -> Cell:
        """Return a copy with absolute paths, for a process that may run in another folder."""

        def moved(spec: str) -> str:
            return move_files(spec, os.path.abspath)

        return replace(
            self,
            game=os.path.abspath(self.game) if self._game_file() else moved(self.game),
            players=tuple(map(moved, self.players)),
            noise=self.noise and moved(self.noise),
            metrics=tuple(map(moved, self.metrics)),
        )

    def description(self) -> Description:
        """Return the identity of the cell; its files are identified by their content, not their paths."""
        files = {"game": self._game_file()}
        sources = {}
        for key, registry, spec in self.named():
            own = split_spec(spec).file if registry in (GAMES, LEARNERS) else ""  # others are listed by their names
            files |= {key if file == own else Path(file).name: file for file in files_in(spec)}
            if (value := self._object(registry, spec)) is not spec:
                sources[key] = _source_checksum(value)
        checksums = {key: _checksum(Path(file).read_bytes()) for key, file in files.items() if file and is_file(file)}
        labels = self.labels()
        values = {name: getattr(self, name) for name in ("rounds", "record", "device", "until", "keep")}
        return Description.model_construct(  # these values need no validation
            **values,
            game=labels.game,
            players=labels.players,
            seeds=tuple(self.seeds),
            noise=None if self.noise is None else labels.noise,
            metrics=tuple(map(without_folder, self.metrics)),
            files=checksums | sources,
        )

    def _game_file(self) -> str:
        """Return the file that holds the game's payoffs, or ""; a file called "rps" does not hide the game."""
        return self.game if Path(self.game).suffix and is_file(self.game) else ""

    def digest(self) -> str:
        """Return the name under which the cell's results are stored."""
        return self.description().digest()

    def __str__(self) -> str:
        first, last, count = self.seeds[0], self.seeds[-1], len(self.seeds)
        seeds = f"seed{'s' * (count > 1)} {first}{f'..{last}' * (count > 1)}"
        some = f" ({count} of them)" * (last - first >= count)
        where = f", on {self.device}" * backend_class(self.device).is_gpu
        where += f", with {' and '.join(self.keep)}" * bool(self.keep)
        return printable(f"{self.game}, {' v '.join(self.players)}, {self.rounds} rounds, {seeds}{some}{where}")


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _source_checksum(value: Any) -> str:
    """Return a checksum of a game's payoffs, and of the sources of the custom classes of an object, or of a class."""
    parts = [value.fingerprint()] if isinstance(value, NamedGame) else []
    inner = value.noise if isinstance(value, NamedGame) else value
    custom = [inner] if isinstance(inner, type) else _custom_classes(inner)
    return _checksum("\n".join([*parts, *map(source_of, custom)]).encode())


def _custom_classes(component: Component) -> list[type]:
    """Return the classes of an object and of the objects in its fields that are not part of coebl."""
    own = [] if type(component).__module__.startswith("coebl.") else [type(component)]
    inner = (value for value in component.hyper_parameters().values() if isinstance(value, Component))
    return own + [kind for value in inner for kind in _custom_classes(value)]


def is_file(name: str) -> bool:
    """Return True if a string is the path of a file."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # for instance, a spec longer than a file name may be
        return False


# Records


class CellRecord(_Stored):
    """A stored cell without its numbers.

    >>> from coebl.study import Results
    >>> record = Results("results").records()[0]
    >>> record.game, record.players, record.rounds, record.seeds, record.metrics
    ('rps', ('ucb', 'exp3'), 100, (0, 1, 2, 3, 4), ('pseudo_regret', 'exploitability'))
    """

    format: Literal[3, 4] = FORMAT  # of the file
    description: Description
    game: str  # canonical specs, as the tables have them
    players: Names
    noise: str
    metrics: Names  # the columns of the table
    rows: Annotated[int, Field(ge=1)]
    checksum: str
    learners: dict[str, Annotated[LearnerWords, AfterValidator(_complete)]] = {}  # by spec; empty in older files
    metric_info: dict[str, MetricWords] = {}  # by name; likewise
    payoff_range: tuple[Finite, Finite] | None = None  # of the first seat; likewise
    seats: Names | None = None  # the names of the seats, of a game that is not zero-sum
    payoff_ranges: tuple[tuple[Finite, Finite], ...] | None = None  # of these seats
    policies: KeptPolicies | None = None  # if `keep` of the description includes them
    versions: dict[str, str]  # versions of everything that the numbers may depend on
    seconds: dict[str, Seconds]  # by phase of the run
    created: str

    @model_validator(mode="after")
    def _check(self) -> CellRecord:
        description = self.description
        recorded, rest = divmod(self.rows, len(description.seeds))
        if rest or recorded > description.rounds:
            raise ValueError(f"its description has rows = {self.rows}.")
        if self.payoff_range is not None and self.payoff_range[0] > self.payoff_range[1]:
            raise ValueError(f"its description has payoff_range = {shorten(self.payoff_range)}.")
        if not _same("game", self.game, description.game):
            raise ValueError(f"its game is {shorten(self.game)} instead of {shorten(description.game)}.")
        if description.noise is not None and not _same("noise", self.noise, description.noise):
            raise ValueError(f"its noise is {shorten(self.noise)} instead of {shorten(description.noise)}.")
        pairs = zip(self.players, description.players, strict=False)
        if len(self.players) != len(description.players) or not all(_same("player", *pair) for pair in pairs):
            ours, expected = " v ".join(self.players), " v ".join(description.players)
            raise ValueError(f"its players are {shorten(ours)} instead of {shorten(expected)}.")
        if len(self.players) != (seats := 2 if self.seats is None else len(self.seats)):
            raise ValueError(f"its game has {seats} seats, and its players are {shorten(' v '.join(self.players))}.")
        return self

    @property
    def match(self) -> MatchKey:
        """The match, as the tables label it."""
        return MatchKey(self.game, self.players, self.noise, self.description.rounds)

    @cached_property
    def digest(self) -> str:
        """The name of the cell."""
        return self.description.digest()

    @property
    def rounds(self) -> int:
        """The length of the match."""
        return self.description.rounds

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the runs."""
        return self.description.seeds

    @property
    def recorded(self) -> int:
        """The number of recorded rounds."""
        return self.rows // len(self.seeds)


@lru_cache(maxsize=4096)
def _same(kind: str, label: str, spec: str) -> bool:
    """Return True if a canonical spec is the shortest form of another, as far as can be seen without running a file."""
    if label == spec:
        return True
    if REGISTRIES[kind].known(spec):
        return REGISTRIES[kind].shortest(spec) == label
    return split_spec(label).name == split_spec(spec).name  # in a file, or of a package that is not installed here


def make_record(description: Description, result: Result) -> CellRecord:
    """Return the record of a cell that was run, without its checksum; an InputError if the result is not of it."""
    match = result.match
    players = tuple(without_folder(str(player)) for player in match.players)
    general = not is_zero_sum(match.game)
    ranges = tuple((float(low), float(high)) for low, high in match.game.ranges)
    words = {}
    for spec, player in zip(players, match.players, strict=True):
        title = str(LEARNERS.entry_of(type(player)).title)
        words[spec] = replace(describe_learner(player), title=without_folder(title))
    try:
        return CellRecord(
            description=description,
            game=without_folder(match.game.spec) if match.game.spec else description.game,
            players=players,
            noise=without_folder(str(match.game.noise)),
            metrics=tuple(result.metrics),
            rows=len(result.seeds) * len(result.rounds),
            checksum="",
            learners=words,
            metric_info={name: describe_metric(metric) for name, metric in result.classes.items()},
            payoff_range=ranges[0],
            seats=match.game.seats if general else None,
            payoff_ranges=ranges if general else None,
            policies=KeptPolicies.of(result) if description.keep else None,
            versions=versions(result.device),
            seconds={phase: float(seconds) for phase, seconds in result.seconds.items()},
            created=now(),
        )
    except ValidationError as error:
        raise InputError(f"the result is not of this cell: {first_mistake(error, CellRecord)}") from None


def write_record(record: CellRecord) -> bytes:
    """Return a record as the bytes that a file stores."""
    general = set() if record.seats else {"seats", "payoff_ranges"}
    return json.dumps(record.model_dump(mode="json", exclude=general), sort_keys=True).encode()


def read_record(path: Path, raw: bytes) -> CellRecord:
    """Return the record that the file at a path stores; a DamagedFileError if it is damaged."""
    if len(raw) > _MOST_BYTES:
        raise DamagedFileError(f"{path}: its description has {len(raw)} bytes.")
    try:
        stored = json.loads(raw)
    except (ValueError, RecursionError):
        raise DamagedFileError(f"{path}: its description is not JSON.") from None
    if not isinstance(stored, dict) or type(number := stored.get("format")) is not int:
        raise DamagedFileError(f"{path}: its description does not name its format.")
    ours = number in (EARLIER, FORMAT)
    try:
        layout = stored if number == FORMAT else _from_earlier(stored) if ours else stored | {"format": FORMAT}
        record = CellRecord.model_validate_json(raw if layout is stored else json.dumps(layout))
    except ValidationError as error:
        if ours:
            raise DamagedFileError(f"{path}: {first_mistake(error, CellRecord)}") from None
        raise _other_format(path, number, stored) from None
    except (LookupError, TypeError, ValueError):
        raise DamagedFileError(f"{path}: its description is not of format {number}.") from None
    if record.digest != path.stem:
        raise DamagedFileError(f"{path}: its name should be {record.digest}.parquet.")
    if not ours:
        raise DamagedFileError(
            f"{path}: it is of format {FORMAT}, and its description has format {shorten(number, 20)}."
        )
    return record


def _from_earlier(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of a file of the earlier format in today's layout; damage raises one of several errors."""
    layout = {key: value for key, value in stored.items() if key not in ("description", "labels", "things")}
    layout |= _with_players(dict(stored["labels"])) | {"description": _in_todays_layout(dict(stored["description"]))}
    if (metadata := stored.get("things")) is not None:
        layout |= {"learners": metadata["learners"], "metric_info": metadata["metrics"]} | (metadata.get("game") or {})
    return layout


def _in_todays_layout(description: dict[str, Any]) -> dict[str, Any]:
    """Return a stored description with today's keys; the earlier format has row and column, not players."""
    if "players" in description:
        return description
    if description.pop("format", None) != EARLIER:
        description["format"] = None  # rejected by the validation
    return _with_players(description)


def _with_players(specs: dict[str, Any]) -> dict[str, Any]:
    return specs | {"players": [specs.pop("row", None), specs.pop("column", None)]}


def _other_format(path: Path, number: int, stored: Mapping[str, Any]) -> StoreError:
    written = stored.get("versions")
    writer = written.get("coebl") if isinstance(written, dict) else None
    by = f" of coebl {shorten(writer, 20)}" if isinstance(writer, str) else ""
    return StoreError(
        f"{path}: this is format {shorten(number, 20)}{by}, and coebl {coebl.__version__} reads formats {EARLIER} and "
        f"{FORMAT}; use the coebl that wrote it, or another folder."
    )


def _read_description(stored: Any) -> Any:
    """Return the description in a stored failure; None if it is damaged."""
    if not isinstance(stored, dict):
        return stored
    with suppress(ValidationError):
        return Description.model_validate_json(json.dumps(_in_todays_layout(stored)))
    return None


class FailureRecord(BaseModel):
    """A cell that failed and has not been finished since."""

    digest: str = ""  # the name of the cell
    cell: str
    description: Annotated[Description | None, BeforeValidator(_read_description)] = None
    cause: str = ""
    traceback: str
    versions: dict[str, str] = {}
    time: str = ""


def versions(device: Device = "cpu") -> dict[str, str]:
    """Return the versions of everything that the numbers may depend on."""
    return backend_for(device).versions | {
        "coebl": coebl.__version__,
        "numpy": np.__version__,
        "numba": packages.version("numba"),
        "python": platform.python_version(),
        "exp and log": _exp_and_log(),
    }


@cache
def _exp_and_log() -> str:
    """Return the variant of NumPy's exp and log on this CPU: their last bits differ, and nothing else in a run does."""
    chosen = np.lib.introspect.opt_func_info("^(exp|log)$", "float64")
    targets = sorted({str(info["current"]) for variants in chosen.values() for info in variants.values()})
    return f"{platform.machine()} {' '.join(targets)}".strip()


def now() -> str:
    """Return the current time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
