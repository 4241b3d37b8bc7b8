"""The file of a player: JSON and arrays in one .npz, nothing that runs.

Within a major version of coebl every later version reads it: a format only gains keys, and keys that are not known are
ignored.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import machine_memory
from coebl.core.errors import InputError, shorten
from coebl.core.files import check_path, read_whole, write_whole
from coebl.core.modules import load
from coebl.core.specs import files_in, split_spec, without_folder
from coebl.engine.state import State
from coebl.learners import LEARNERS, Learner, parse_learner

_FORMAT = 3  # 1 is that of coebl 0.1, with the whole history; 2 was never released
_MEMORY = "memory-"  # begins the names of the learner's arrays


class Saved(NamedTuple):
    """The content of a file."""

    content: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    memory: list[NDArray[Any]]  # of the learner's state

    @property
    def format(self) -> int:
        """The format of the file."""
        return int(self.content["format"])

    @property
    def state(self) -> State:
        """The learner's state."""
        return State(self.content["state"], self.memory)

    @property
    def is_of_this_version(self) -> bool:
        """True if this version of coebl wrote it."""
        return bool(self.content.get("version") == _version())


def write_player(
    path: str | os.PathLike[str], content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], state: State
) -> None:
    """Write a player's settings and numbers, its arrays, and the state of its learner."""
    settings = json.dumps({"format": _FORMAT, "version": _version(), **content, "state": state.tree}).encode()
    parts: dict[str, Any] = {"settings": np.frombuffer(settings, np.uint8), **arrays}
    parts |= {f"{_MEMORY}{number:06}": part for number, part in enumerate(state.memory)}
    buffer = io.BytesIO()
    np.savez(buffer, **parts)  # to compress would take three times as long
    write_whole(path, buffer.getvalue())


def read_player(path: str | os.PathLike[str]) -> Saved:
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
    except Exception:  # a damaged archive raises anything: zlib's errors, RecursionError, MemoryError, ...
        raise InputError(f"{path} is not a saved player; accepted: a file that Player.save wrote.") from None
    if content["format"] not in (1, _FORMAT):
        raise InputError(f"{path} has another format than 1 or {_FORMAT}; load it with the coebl that wrote it.")
    memory = [arrays.pop(name) for name in sorted(arrays) if name.startswith(_MEMORY)]
    return Saved(content, arrays, memory)


def choose_learner(path: str | os.PathLike[str], saved: Saved, learner: str | Learner | None) -> str | Learner:
    """Return the learner to load with: the given one if it is equal to the saved one, or else one that is built in."""
    spec: str = saved.content["learner"]
    if learner is None:
        if split_spec(spec).name not in LEARNERS or files_in(spec):
            raise InputError(
                f"{path} holds {shorten(spec)}, which is not built in, and no file that data name is run; "
                f"pass an equal learner: Player.load({os.fspath(path)!r}, learner={shorten(spec)})."
            )
        return spec
    given = parse_learner(learner)
    if without_folder(str(given)) != without_folder(spec):
        raise InputError(f"{path} holds {shorten(spec)}, and learner is {given}; pass an equal one.")
    return given


@contextmanager
def reports_damage(path: str | os.PathLike[str]) -> Iterator[None]:
    """Report content that does not fit a player, in one line."""
    try:
        yield
    except Exception as error:  # a learner in a state that does not fit it raises any of them, Numba's too
        raise InputError(
            f"{path} is damaged, or was saved by another version of coebl or of its learner: {shorten(error)}."
        ) from None


def _version() -> str:
    return str(load("coebl:__version__"))  # coebl itself imports the engine
