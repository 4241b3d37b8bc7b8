"""Ask and tell: one learner as a player in a real repeated contest."""

from __future__ import annotations

import io
import json
import os
import secrets
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, check_whole, shorten
from coebl.core.files import read_whole, write_whole
from coebl.core.specs import files_in, split_spec, without_folder
from coebl.engine.table import Seated
from coebl.games import Indices
from coebl.learners import LEARNERS, Learner, parse_learner

_FORMAT = 1
_TOLERANCE = 1e-6  # of a replayed policy: another processor's exp and log differ by far less, another version by more
_SETTINGS = ("actions", "opponent_actions", "horizon", "seed", "payoff_range")

_Told = tuple[int, int, float]  # of a round: the action, the opponent's action or -1, the reward


class Player:
    """A learner that is asked for actions and told what happened.

    It is the learner of the simulations with a single run, in own view: its own actions, its own reward to maximise.
    With seed=None it draws its seed, so that no two players are alike. A copy, also by pickle, continues as the
    original would; to copy, what was observed is replayed.

    Args:
        learner: a spec, or a `Learner`.
        actions: how many actions it has.
        opponent_actions: how many the opponent has; not needed by a learner that does not see what the opponent does.
        horizon: about how many rounds will be played; some learners need it.
        seed: of its own draws.
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
        actions = check_whole("actions", actions, 1)
        if opponent_actions is None and self.learner.sees:
            raise InputError(
                f"opponent_actions is None, and {self.learner} learns from what the opponent does; accepted: how many "
                "actions the opponent has. Pass opponent_actions=."
            )
        opponent_actions = 1 if opponent_actions is None else check_whole("opponent_actions", opponent_actions, 1)
        horizon = None if horizon is None else check_whole("horizon", horizon, 1)
        seed = secrets.randbits(63) if seed is None else check_whole("seed", seed, 0)
        try:
            low, high = (float(end) for end in payoff_range)
        except (TypeError, ValueError):
            raise InputError(f"payoff_range is {shorten(payoff_range)}; accepted: two numbers, (low, high).") from None
        if not (np.isfinite([low, high]).all() and low < high):
            raise InputError(f"payoff_range is ({low}, {high}); accepted: finite numbers, low < high.")
        self.actions = actions
        self.opponent_actions = opponent_actions
        self.horizon = horizon
        self.seed = seed
        self.payoff_range = low, high
        self._warned = False  # that a reward does not fit the payoff range
        self.reset()

    def reset(self) -> None:
        """Forget everything and begin again, with the same seed."""
        self._history: list[_Told] = []
        self._action: int | None = None
        self._policy: Floats | None = None  # (actions,)
        space = Indices(self.actions)
        self._seated = Seated(self.learner, [self.seed], space, self.opponent_actions, self.horizon, self.payoff_range)
        self._seated.begin_block(1)

    @property
    def round(self) -> int:
        """The round now being played, from 1."""
        return len(self._history) + 1

    @property
    def policy(self) -> Floats:
        """The mixed strategy of this round: (actions,)."""
        if self._policy is None:
            self._seated.move(self.round, 0)
            self._seated.check(self.round, 1)
            self._policy = self._seated.policies[0, 0].copy()
        return self._policy.copy()

    def act(self) -> int:
        """The action to play in this round. Asked twice before `observe`, it answers the same."""
        if self._action is None:
            _ = self.policy  # asks the learner, unless it has been asked
            self._action = int(self._seated.draw(0)[0])
        return self._action

    def observe(self, *, reward: float, opponent: int | None = None) -> None:
        """Tell what the action of this round earned and, to learners that see it, what the opponent did.

        Args:
            reward: what the action earned, in the units of `payoff_range`.
            opponent: the number of the opponent's action.
        """
        if self._action is None:
            raise InputError("observe came before act; ask act() for an action, play it, then tell observe().")
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
        self._tell(self._action, -1 if opponent is None else int(opponent), float(reward))

    def _check_units(self, reward: float) -> None:
        """Warn, once, of a reward so far outside the payoff range that the two seem to have different units."""
        low, high = self.payoff_range
        if self._warned or max(low - reward, reward - high) <= high - low:
            return
        self._warned = True
        warnings.warn(
            f"reward is {reward:g} in round {self.round}, further outside payoff_range ({low:g}, {high:g}) than its "
            "width; unless that is noise, set payoff_range to the range of your payoffs, in the units of the rewards.",
            stacklevel=3,
        )

    def _tell(self, action: int, opponent: int, reward: float) -> None:
        shown = None if opponent < 0 else np.array([opponent])
        self._seated.observe(self.round, 0, np.array([action]), shown, np.array([reward]))
        self._history.append((action, opponent, reward))
        self._action = self._policy = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that is needed to continue: settings as JSON and the history as arrays, in one .npz file.

        A learner is a function of its settings, its seed and what it was told, so that is what is kept.

        Args:
            path: of the file, which is replaced whole or not at all.
        """
        settings = {
            "format": _FORMAT,
            "learner": str(self.learner),
            "acted": self._action is not None,
            **{name: getattr(self, name) for name in _SETTINGS},
        }
        arrays: dict[str, Any] = {
            "settings": np.frombuffer(json.dumps(settings).encode(), np.uint8),
            "action": np.array([action for action, _, _ in self._history], np.int64),
            "opponent": np.array([opponent for _, opponent, _ in self._history], np.int64),
            "reward": np.array([reward for _, _, reward in self._history], np.float64),
            "policy": self.policy,
        }
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str], learner: str | Learner | None = None) -> Player:
        """Continue where `save` stopped. What was observed is replayed, which takes a moment per round.

        On the same kind of processor the player is the same to the last bit. On another one, the last bits of exp and
        log may differ, and so may those of its policies.

        Pass a learner of your own as `learner`: no Python file that the saved player names is run, at any depth of its
        learner's spec.

        Args:
            path: of a file that `save` wrote.
            learner: an equal learner, or its spec, if it or a part of it is in a file of yours.
        """
        saved = _read(path)
        name = saved.settings["learner"]
        if learner is None and (split_spec(name).name not in LEARNERS or files_in(name)):
            raise InputError(f"{path} holds {shorten(name)}, which is not built in; pass an equal learner as learner=.")
        if learner is not None:
            learner = parse_learner(learner)
            if without_folder(str(learner)) != without_folder(name):
                raise InputError(f"{path} holds {shorten(name)}, and learner is {learner}; pass an equal one.")
        player = cls(learner or name, **{key: saved.settings[key] for key in _SETTINGS})
        for action, _, _ in saved.history:
            check_whole(f"{path}: a saved action", action, 0, player.actions - 1)
        player._replay(saved.history)
        player._check_policy(saved.policy, str(path))
        if saved.settings["acted"]:
            player.act()
        return player

    def _replay(self, history: Iterable[_Told]) -> None:
        """Repeat what a player of the same settings was told."""
        for action, opponent, reward in history:
            self.act()  # what it draws does not count: the action that was played does
            self._action = action
            self.observe(reward=reward, opponent=None if opponent < 0 else opponent)

    def _check_policy(self, policy: Floats, source: str) -> None:
        """Reject a player whose policy is not the one that was stored."""
        if policy.shape != self.policy.shape or not np.allclose(self.policy, policy, atol=_TOLERANCE):
            raise InputError(f"{source} was saved by a version of coebl that plays differently; use that version.")

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle and copy keep: all but the learner's state, which follows from what it was told."""
        return {name: value for name, value in vars(self).items() if name != "_seated"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.reset()
        self._replay(state["_history"])
        if state["_policy"] is not None:
            self._check_policy(state["_policy"], repr(self))
        if state["_action"] is not None:
            self.act()
            self._action = state["_action"]

    def __repr__(self) -> str:
        return f"<Player {self.learner}, {self.actions} x {self.opponent_actions}, round {self.round}>"


class _Saved(NamedTuple):
    """A player as it was saved."""

    settings: dict[str, Any]
    history: list[_Told]
    policy: Floats  # of the round that is next: (actions,)


def _read(path: str | os.PathLike[str]) -> _Saved:
    try:
        with np.load(io.BytesIO(read_whole(path, None)), allow_pickle=False) as stored:
            settings = json.loads(stored["settings"].tobytes())
            history = zip(*(stored[name].tolist() for name in ("action", "opponent", "reward")), strict=True)
            saved = _Saved(settings, list(history), np.asarray(stored["policy"], np.float64))
        settings["payoff_range"] = tuple(settings["payoff_range"])
        if not isinstance(settings["learner"], str) or not isinstance(settings["seed"], int):
            raise TypeError
        if missing := {*_SETTINGS, "acted", "format"} - settings.keys():
            raise KeyError(missing)
    except FileNotFoundError:
        raise InputError(f"no file {str(path)!r}; accepted: a file that Player.save wrote.") from None
    except Exception:  # a damaged archive raises anything: zlib's errors, RecursionError, MemoryError, ...
        raise InputError(f"{path} is not a saved player; accepted: a file that Player.save wrote.") from None
    if settings["format"] != _FORMAT:
        raise InputError(f"{path} has another format than {_FORMAT}; load it with the coebl that wrote it.")
    return saved
