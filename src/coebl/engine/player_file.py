"""The base of all players: a learner that is seated alone, and the file of its state.

The file holds JSON and arrays in one .npz, and no code. Within a major version of coebl, every later version can read
it: a format only gains keys, and unknown keys are ignored.
"""

from __future__ import annotations

import copy
import io
import json
import os
import secrets
import threading
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

import coebl
from coebl.core.arrays import Floats, Ints, machine_memory
from coebl.core.errors import InputError, check_integer, shorten
from coebl.core.files import check_path, read_whole, write_whole
from coebl.core.specs import files_in, split_spec, without_folder
from coebl.engine.state import State
from coebl.engine.table import Seated
from coebl.engine.units import Units
from coebl.games.noise import Gaussian
from coebl.games.spaces import Space
from coebl.learners import LEARNERS, Learner, parse_learner

_FORMAT = 3  # coebl 0.1 wrote format 1, with the whole history; 2 was never released
_MEMORY = "memory-"  # prefix of the names of the learner's arrays
_MOST_HORIZON = 10**15  # learners take its logarithm


class Saved(NamedTuple):
    """The content of a file."""

    path: str
    content: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    state: State  # of the learner


class Contestant:
    """The base class of players: a learner seated alone, for one run, that can be copied and saved."""

    _settings: tuple[str, ...]  # arguments that are stored in a file
    _units: Units
    _restarts = 0  # of the learner, each with its own random numbers
    _round = 1  # the next round
    _policy: Floats | None = None  # (actions,), of the next round if it was asked for

    def __init__(self, learner: Learner, spaces: tuple[Space, Space], horizon: int | None, seed: int | None) -> None:
        self.learner, self._spaces = learner, spaces  # its actions, and those of the others as one opponent
        self.horizon = None if horizon is None else check_integer("horizon", horizon, 1, _MOST_HORIZON)
        self.seed = secrets.randbits(63) if seed is None else check_integer("seed", seed, 0)
        self._lock = threading.RLock()

    def _seat_learner(self, state: State | None = None) -> Seated:
        """Start the learner in the only seat of a game without payoffs, in the state of an equal player if given."""
        contest: Any = SimpleNamespace(
            seats=("row",),
            spaces=self._spaces,
            ranges=(self._units.payoff_range,),
            noise=Gaussian(self._units.noise),
        )
        seated = Seated(contest, 0, self.learner, [self.seed + (self._restarts << 128)], self.horizon)
        seated.begin_block(1)
        if state is not None:
            seated.restore(state)
        return seated

    def _next_policy(self) -> Floats:
        """Return the policy of the next round: (actions,)."""
        if self._policy is None:
            self._seated.move(self._round, 0)
            self._seated.check(self._round, 1)
            self._policy = self._seated.policies[0, 0].copy()
        return self._policy

    def _draw(self, policy: Floats) -> Ints:
        """Draw an action from a policy: a number, or a genome, (genes,)."""
        self._seated.policies[0, 0] = policy
        return self._seated.draw(0)[0]

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickle and copy, with the learner's state as JSON and bytes."""
        with self._lock:
            plain = {name: value for name, value in vars(self).items() if name not in ("_lock", "_seated")}
            return copy.deepcopy(plain) | {"_seated": self._seated.state(self._seat_learner())}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        vars(self).update(attributes)
        self._lock = threading.RLock()
        self._seated = self._seat_learner(attributes["_seated"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to continue from, as JSON and arrays, to the .npz file `path`, in full or not at all.

        The file holds the attributes of the learner and, for a `Player`, the open tickets, the sums and the recent
        outcomes, so its size and the time to write it do not depend on the rounds played. An attribute that cannot be
        stored, such as an open file, is reported by name.
        """
        with self._lock:
            content, arrays = self._describe()
            state = self._seated.state(self._seat_learner())
            content |= {"learner": str(self.learner), "horizon": self.horizon, "seed": self.seed, "state": state.tree}
            settings = json.dumps({"format": _FORMAT, "version": coebl.__version__, **content}).encode()
            arrays |= {f"{_MEMORY}{number:06}": part for number, part in enumerate(state.memory)}
            buffer = io.BytesIO()
            np.savez(buffer, settings=np.frombuffer(settings, np.uint8), **arrays)  # compression would triple the time
            write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str], learner: str | Learner | None = None) -> Self:
        """Return a player that continues where `save` stopped.

        If another version of coebl saved a `Player`, and its learner has changed, the learner learns again from the
        recent outcomes, with a warning. Files of coebl 0.1, which hold the whole history, are replayed; if this version
        plays differently, the learner learns again from all of it, with a warning. A copy plays first, so that a file
        that does not fit the learner is reported here and not later. If your learner writes to a file or a server, it
        also does so in these rounds.

        Args:
            path: the path of a file that `save` wrote.
            learner: an equal learner, or its spec; needed if the learner or a part of it is in a file of yours. Python
                files that the saved player names, at any depth of its learner's spec, are never run.
        """
        saved = _read(path)
        if ("genes" in saved.content) != ("genes" in cls._settings):
            raise InputError(f"{path} is another kind of player; accepted: a file that {cls.__name__}.save wrote.")
        settings = {name: saved.content[name] for name in cls._settings if name in saved.content}
        try:
            player = cls(_choose_learner(saved, learner), **{"noise": 1.0} | settings)  # type: ignore[arg-type]
        except MemoryError:
            name = shorten(saved.content["learner"])
            raise InputError(f"{path} holds {name}, which needs more memory than there is.") from None
        player._resume(saved)
        return player

    def _resume(self, saved: Saved) -> None:
        """Continue from the file of a player with these settings."""
        try:
            self._restore(saved)
            copy.deepcopy(self)._rehearse()
        except Exception as error:  # a state that does not fit the learner may raise any, Numba's too
            raise InputError(
                f"{saved.path} is damaged, or was saved by another version of coebl or of its learner: "
                f"{shorten(error)}."
            ) from None

    def _describe(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of its file, without the entries of every player, and its arrays."""
        raise NotImplementedError

    def _restore(self, saved: Saved) -> None:
        """Continue from the state that an equal player saved."""
        raise NotImplementedError

    def _rehearse(self) -> None:
        """Play some rounds, which fails if the state does not fit the learner."""
        raise NotImplementedError


def _read(path: str | os.PathLike[str]) -> Saved:
    """Return the content of a file; nothing in it is run."""
    check_path("path", path)
    try:
        with np.load(io.BytesIO(read_whole(path, None)), allow_pickle=False) as stored:
            if sum(entry.file_size for entry in stored.zip.infolist()) > machine_memory() / 2:
                raise MemoryError  # a small archive may expand to any size
            arrays = dict(stored)
        content = json.loads(arrays.pop("settings").tobytes())
        if not isinstance(content["learner"], str) or not isinstance(content["seed"], int):
            raise TypeError
        for name in ("format", "actions", "opponent_actions", "horizon", "payoff_range"):
            _ = content[name]
        if content["format"] == 1:
            _ = content["acted"]
            history = (arrays[name].tolist() for name in ("action", "opponent", "reward"))
            content["history"] = list(zip(*history, strict=True))
            arrays["policy"] = arrays["policy"].astype(np.float64)
    except FileNotFoundError:
        raise InputError(f"no file {str(path)!r}; accepted: a file that Player.save wrote.") from None
    except Exception:  # a damaged archive may raise zlib's errors, RecursionError, MemoryError, ...
        raise InputError(f"{path} is not a saved player; accepted: a file that Player.save wrote.") from None
    if content["format"] not in (1, _FORMAT):
        raise InputError(f"{path} has a format other than 1 or {_FORMAT}; load it with the coebl that wrote it.")
    memory = [arrays.pop(name) for name in sorted(arrays) if name.startswith(_MEMORY)]
    return Saved(os.fspath(path), content, arrays, State(content.get("state"), memory))


def _choose_learner(saved: Saved, learner: str | Learner | None) -> str | Learner:
    """Return the learner of a saved player: the given one, which has to be equal, or one that is built in."""
    spec: str = saved.content["learner"]
    if learner is None:
        if split_spec(spec).name not in LEARNERS or files_in(spec):
            raise InputError(
                f"{saved.path} holds {shorten(spec)}, which is not built in, and files that it names are never run; "
                f"pass an equal learner: Player.load({saved.path!r}, learner={shorten(spec)})."
            )
        return spec
    given = parse_learner(learner)
    if without_folder(str(given)) != without_folder(spec):
        raise InputError(f"{saved.path} holds {shorten(spec)}, and learner is {given}; pass an equal one.")
    return given
