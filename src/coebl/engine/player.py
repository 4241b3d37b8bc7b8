"""Ask and tell: one learner as a player in a real repeated contest."""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coebl.core.errors import InputError, check_whole
from coebl.core.files import write_whole
from coebl.core.specs import split_spec
from coebl.engine.seated import build_seat, sample
from coebl.engine.streams import BatchRandom
from coebl.learners import LEARNERS, Learner, Seen, parse_learner

_FORMAT = 1
_OTHER_VERSION = "{} was saved by a version of coebl that plays differently; use that version."
_SETTINGS = ("actions", "opponent_actions", "horizon", "seed", "payoff_range")


class Player:
    """A learner that is asked for actions and told what happened.

    It is the learner of the simulations with a single run, in own view: its own actions, its own reward to maximise.

    >>> player = Player("exp3", actions=2, opponent_actions=2, seed=1)
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
        opponent_actions: int,
        horizon: int | None = None,
        seed: int = 0,
        payoff_range: tuple[float, float] = (-1.0, 1.0),
    ) -> None:
        self.learner = parse_learner(learner)
        actions = check_whole("actions", actions, 1)
        opponent_actions = check_whole("opponent_actions", opponent_actions, 1)
        horizon = None if horizon is None else check_whole("horizon", horizon, 1)
        seed = check_whole("seed", seed, 0)
        low, high = payoff_range
        if not (np.isfinite([low, high]).all() and low < high):
            raise InputError(f"payoff_range is ({low}, {high}); accepted: finite numbers, low < high.")
        self.actions = actions
        self.opponent_actions = opponent_actions
        self.horizon = horizon
        self.seed = seed
        self.payoff_range = payoff_range
        self.reset()

    def reset(self) -> None:
        """Forget everything and begin again, with the same seed."""
        self._history: list[tuple[int, int, float]] = []  # action, opponent's action or -1, reward
        self._action: int | None = None
        self._policy: NDArray[np.float64] | None = None  # (actions,)
        self._uniform = BatchRandom([self.seed], "row actions")
        shape = self.actions, self.opponent_actions
        seat = build_seat(self.learner, [self.seed], shape, self.horizon, self.payoff_range)
        self._seated = self.learner.seated(seat)

    @property
    def round(self) -> int:
        """The round now being played, from 1."""
        return len(self._history) + 1

    @property
    def policy(self) -> NDArray[np.float64]:
        """The mixed strategy of this round: (actions,)."""
        if self._policy is None:
            self._policy = np.array(self._seated.policy(self.round)[0])
        return np.array(self._policy)

    def act(self) -> int:
        """The action to play in this round. Asked twice before `observe`, it answers the same."""
        if self._action is None:
            self._action = int(sample(self.policy[None], self._uniform.uniform(1))[0])
        return self._action

    def observe(self, *, reward: float, opponent: int | None = None) -> None:
        """Tell what the action of this round earned and, to learners that see it, what the opponent did."""
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
        self._tell(self._action, -1 if opponent is None else int(opponent), float(reward))

    def _tell(self, action: int, opponent: int, reward: float) -> None:
        shown = None if opponent < 0 else np.array([opponent])
        self._seated.observe(self.round, Seen(np.array([action]), np.array([reward]), shown))
        self._history.append((action, opponent, reward))
        self._action = self._policy = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that is needed to go on: settings as JSON and the history as arrays, in one .npz file.

        A learner is a function of its settings, its seed and what it was told, so that is what is kept.
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
    def load(cls, path: str | os.PathLike[str], learner: Learner | None = None) -> Player:
        """Go on where `save` left off, to the last bit. The history is played through again: a moment per round.

        A learner of one's own is handed in as `learner`: nothing that a file names is imported or run.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                settings = json.loads(stored["settings"].tobytes())
                history = [stored[name].tolist() for name in ("action", "opponent", "reward")]
                policy = stored["policy"]
            name, acted = settings["learner"], settings["acted"]
            if settings["format"] != _FORMAT:
                raise InputError(f"{path} has another format than {_FORMAT}; load it with the coebl that wrote it.")
            if learner is None and split_spec(str(name)).name not in LEARNERS:
                raise InputError(f"{path} holds {name!r}, which is not built in; pass learner=, an equal one.")
            if learner is not None and str(learner) != name:
                raise InputError(f"{path} holds {name!r}, and learner is {learner}; pass an equal one.")
            settings["payoff_range"] = tuple(settings["payoff_range"])
            settings = {key: settings[key] for key in _SETTINGS}
            player = cls(learner or name, **settings)
            for action, opponent, reward in zip(*history, strict=True):
                if player.act() != action:
                    raise InputError(_OTHER_VERSION.format(path))
                player.observe(reward=reward, opponent=None if opponent < 0 else opponent)
        except FileNotFoundError:
            raise InputError(f"no file {str(path)!r}; accepted: a file that Player.save wrote.") from None
        except InputError:
            raise
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            raise InputError(f"{path} is not a saved player; accepted: a file that Player.save wrote.") from None
        if not np.array_equal(player.policy, policy):
            raise InputError(_OTHER_VERSION.format(path))
        if acted:
            player.act()
        return player

    def __repr__(self) -> str:
        return f"<Player {self.learner}, {self.actions} x {self.opponent_actions}, round {self.round}>"
