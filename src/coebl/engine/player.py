"""A learner as a player in a real repeated contest."""

from __future__ import annotations

import io
import json
import os
import secrets
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import MOST_ENTRIES, Floats, machine_memory
from coebl.core.errors import InputError, check_integer, shorten
from coebl.core.files import read_whole, write_whole
from coebl.core.specs import files_in, split_spec, without_folder
from coebl.engine.state import State, StateError
from coebl.engine.table import Seated, build_seat
from coebl.games import Indices
from coebl.learners import LEARNERS, Learner, parse_learner

_FORMAT = 2
_TOLERANCE = 1e-6  # of a replayed policy: exp and log of another CPU differ by less, another version by more
_SETTINGS = ("actions", "opponent_actions", "horizon", "seed", "payoff_range")


class Player:
    """A learner in a real contest: ask it for an action, then report the outcome to it.

    It plays as in a simulation with a single run, and maximises its reward. A copy, also by pickle, continues as the
    original would.

    Args:
        learner: a spec, or a `Learner`.
        actions: the number of its actions.
        opponent_actions: the number of the opponent's; not needed by a learner that does not see what the opponent
            does.
        horizon: the approximate number of rounds; some learners need it.
        seed: the seed of its draws. With None it is random, so that no two players are alike.
        payoff_range: the least and the largest payoff that an action can have, before noise, in the units of the
            rewards: with rewards in euros from -50 to 50, (-50, 50). Many learners scale rewards by it, and a reward
            further outside than its width causes a warning, once. docs/how-to/play-a-real-contest.md has more on units.

    >>> player = Player("exp3", actions=2, seed=1)
    >>> for _ in range(200):
    ...     action = player.act()
    ...     player.observe(reward=1.0 if action == 1 else -1.0)
    >>> bool(player.policy[1] > 0.8)
    True
    """

    def __init__(
        self,
        learner: str | Learner,
        actions: int,
        opponent_actions: int | None = None,
        horizon: int | None = None,
        seed: int | None = 0,
        payoff_range: tuple[float, float] = (-1.0, 1.0),
    ) -> None:
        self.learner = parse_learner(learner)
        self.actions = check_integer("actions", actions, 1)
        if opponent_actions is None and self.learner.sees:
            raise InputError(
                f"opponent_actions is None, and {self.learner} learns from what the opponent does; accepted: the "
                "number of the opponent's actions. Pass opponent_actions=."
            )
        self.opponent_actions = (
            1 if opponent_actions is None else check_integer("opponent_actions", opponent_actions, 1)
        )
        if self.actions * self.opponent_actions > MOST_ENTRIES:
            raise InputError(
                f"actions x opponent_actions is {self.actions:,} x {self.opponent_actions:,}; accepted: at most "
                f"{MOST_ENTRIES:,} together. Leave out actions that are alike."
            )
        self.horizon = None if horizon is None else check_integer("horizon", horizon, 1)
        self.seed = secrets.randbits(63) if seed is None else check_integer("seed", seed, 0)
        try:
            low, high = (float(end) for end in payoff_range)
        except (TypeError, ValueError):
            raise InputError(f"payoff_range is {shorten(payoff_range)}; accepted: two numbers, (low, high).") from None
        if not (np.isfinite([low, high]).all() and low < high):
            raise InputError(f"payoff_range is ({low}, {high}); accepted: finite numbers, low < high.")
        self.payoff_range = low, high
        self._warned = False  # that a reward does not fit the payoff range
        self.reset()

    def reset(self) -> None:
        """Forget everything and begin again, with the same seed."""
        self._round = 1
        self._action: int | None = None
        self._policy: Floats | None = None  # (actions,)
        self._sit_down()

    def _sit_down(self, state: State | None = None) -> None:
        """Start the learner, in the state of an equal player if one is given."""
        self._seated = self._seat_learner()
        self._seated.begin_block(1)
        if state is not None:
            self._seated.restore(state)
        if self._policy is not None:
            self._seated.policies[0] = self._policy

    def _seat_learner(self) -> Seated:
        shape = self.actions, self.opponent_actions
        seat = build_seat(self.learner, [self.seed], shape, self.horizon, self.payoff_range)
        return Seated(self.learner, seat, [self.seed], Indices(self.actions))

    @property
    def round(self) -> int:
        """The current round, from 1."""
        return self._round

    @property
    def policy(self) -> Floats:
        """The mixed strategy of this round: (actions,)."""
        if self._policy is None:
            self._seated.move(self.round, 0)
            self._seated.check(self.round, 1)
            self._policy = self._seated.policies[0, 0].copy()
        return self._policy.copy()

    def act(self) -> int:
        """Return the action to play in this round, the same until `observe` is called."""
        if self._action is None:
            _ = self.policy  # calls the learner, unless that was done already
            self._action = int(self._seated.draw(0)[0])
        return self._action

    def observe(self, *, reward: float, opponent: int | None = None) -> None:
        """Report the reward of this round and, to learners that see it, the opponent's action.

        Args:
            reward: the reward of the action, in the units of `payoff_range`.
            opponent: the index of the opponent's action.
        """
        if self._action is None:
            raise InputError("observe came before act; ask act() for an action, play it, then call observe().")
        if not isinstance(reward, (int, float, np.number)) or not np.isfinite(reward):
            raise InputError(f"reward is {reward!r}; accepted: a finite number.")
        if "opponent" in self.learner.sees:
            if not isinstance(opponent, (int, np.integer)) or not 0 <= opponent < self.opponent_actions:
                raise InputError(
                    f"opponent is {opponent!r}; accepted: the opponent's action, 0 .. {self.opponent_actions - 1}, "
                    f"since {self.learner} learns from it."
                )
        else:
            opponent = None
        self._check_units(float(reward))
        shown = None if opponent is None else np.array([int(opponent)])
        self._seated.observe(self._round, 0, np.array([self._action]), shown, np.array([float(reward)]))
        self._round += 1
        self._action = self._policy = None

    def _check_units(self, reward: float) -> None:
        """Warn once about a reward so far outside the payoff range that the units seem to differ."""
        low, high = self.payoff_range
        if self._warned or max(low - reward, reward - high) <= high - low:
            return
        self._warned = True
        warnings.warn(
            f"reward is {reward:g} in round {self.round}, further outside payoff_range ({low:g}, {high:g}) than its "
            "width; unless that is noise, set payoff_range to the range of your payoffs, in the units of the rewards.",
            stacklevel=3,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to continue from, as JSON and arrays, in one .npz file.

        The file holds the attributes of the learner, so its size and the time do not depend on the rounds played. An
        attribute that cannot be stored, such as an open file, is reported by its name.

        Args:
            path: of the file, which is replaced whole or not at all.
        """
        state = self._seated.state(self._seat_learner())
        content = {
            "format": _FORMAT,
            "learner": str(self.learner),
            "round": self._round,
            "warned": self._warned,
            "action": self._action,
            "policy": None if self._policy is None else self._policy.tolist(),
            **{name: getattr(self, name) for name in _SETTINGS},
            "state": state.tree,
        }
        arrays: dict[str, Any] = {f"memory-{number:06}": memory for number, memory in enumerate(state.memory)}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, settings=np.frombuffer(json.dumps(content).encode(), np.uint8), **arrays)
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str], learner: str | Learner | None = None) -> Player:
        """Continue where `save` stopped.

        Pass a custom learner as `learner`: no Python file that the saved player names is run, at any depth of its
        learner's spec. Files of coebl 0.1, which hold the history, are replayed.

        Args:
            path: of a file that `save` wrote.
            learner: an equal learner, or its spec, if it or a part of it is in a file of yours.
        """
        content, memory = _read(path)
        name = content["learner"]
        if learner is None and (split_spec(name).name not in LEARNERS or files_in(name)):
            raise InputError(f"{path} holds {shorten(name)}, which is not built in; pass an equal learner as learner=.")
        if learner is not None:
            learner = parse_learner(learner)
            if without_folder(str(learner)) != without_folder(name):
                raise InputError(f"{path} holds {shorten(name)}, and learner is {learner}; pass an equal one.")
        try:
            player = cls(learner or name, **{key: content[key] for key in _SETTINGS})
        except MemoryError:
            raise InputError(f"{path} holds {shorten(name)}, which needs more memory than there is.") from None
        if content["format"] == 1:
            player._replay(content, str(path))
            return player
        try:
            player._restore(content, memory)
        except (KeyError, TypeError, ValueError, StateError) as error:
            raise InputError(
                f"{path} is damaged, or was saved by another version of coebl or of its learner: {shorten(error)}."
            ) from None
        return player

    def _restore(self, content: Mapping[str, Any], memory: list[NDArray[Any]]) -> None:
        """Continue from the state that an equal player saved."""
        self._round, self._warned = check_integer("round", content["round"], 1), bool(content["warned"])
        if content["policy"] is not None:
            self._policy = np.array(content["policy"], np.float64).reshape(self.actions)
        if content["action"] is not None:
            self._action = check_integer("action", content["action"], 0, self.actions - 1)
        self._sit_down(State(content["state"], memory))

    def _replay(self, content: Mapping[str, Any], path: str) -> None:
        """Repeat the history of a player of the same settings."""
        for action, opponent, reward in content["history"]:
            self.act()  # its draw is ignored: the action that was played counts
            self._action = check_integer(f"{path}: a saved action", action, 0, self.actions - 1)
            self.observe(reward=reward, opponent=None if opponent < 0 else opponent)
        policy = content["policy"]
        if policy.shape != self.policy.shape or not np.allclose(self.policy, policy, atol=_TOLERANCE):
            raise InputError(f"{path} was saved by a version of coebl that plays differently; use that version.")
        if content["acted"]:
            self.act()

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickle and copy, with the learner's state as JSON and bytes."""
        return vars(self) | {"_seated": self._seated.state(self._seat_learner())}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        vars(self).update(attributes)
        self._sit_down(attributes["_seated"])

    def __repr__(self) -> str:
        return f"<Player {self.learner}, {self.actions} x {self.opponent_actions}, round {self.round}>"


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Return the content of a file, and the bytes of the state."""
    try:
        with np.load(io.BytesIO(read_whole(path, None)), allow_pickle=False) as stored:
            if sum(entry.file_size for entry in stored.zip.infolist()) > machine_memory() / 2:
                raise MemoryError  # a small archive may expand to any size
            arrays = dict(stored)
        content = json.loads(arrays.pop("settings").tobytes())
        content["payoff_range"] = tuple(content["payoff_range"])
        if not isinstance(content["learner"], str) or not isinstance(content["seed"], int):
            raise TypeError
        needed = {*_SETTINGS, "format"}
        if content["format"] == 1:
            needed.add("acted")
            history = (arrays[name].tolist() for name in ("action", "opponent", "reward"))
            content |= {"history": list(zip(*history, strict=True)), "policy": arrays["policy"].astype(np.float64)}
        if missing := needed - content.keys():
            raise KeyError(missing)
    except FileNotFoundError:
        raise InputError(f"no file {str(path)!r}; accepted: a file that Player.save wrote.") from None
    except Exception:  # a damaged archive raises anything: zlib's errors, RecursionError, MemoryError, ...
        raise InputError(f"{path} is not a saved player; accepted: a file that Player.save wrote.") from None
    if content["format"] not in (1, _FORMAT):
        raise InputError(f"{path} has another format than 1 or {_FORMAT}; load it with the coebl that wrote it.")
    return content, [memory for name, memory in sorted(arrays.items()) if name.startswith("memory-")]
