"""Ask and tell: one learner as a player in a real repeated contest."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coebl.engine.loop import sample
from coebl.engine.streams import BatchRandom
from coebl.errors import InputError, shorten
from coebl.learners import SEES, Learner, Seat, parse_learner

_FORMAT = 1


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
        for name, number in (("actions", actions), ("opponent_actions", opponent_actions)):
            if not isinstance(number, int) or number < 1:
                raise InputError(f"{name} is {number!r}; accepted: a whole number, >= 1.")
        if self.learner.sees in ("game", "policy"):
            raise InputError(
                f"{self.learner} sees {SEES[self.learner.sees]}, which a player is not told; pick another learner."
            )
        if self.learner.needs_horizon and horizon is None:
            raise InputError(f"{self.learner} needs the horizon; pass horizon=, about how many rounds will be played.")
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
        self.learner.start(
            Seat(
                runs=1,
                actions=self.actions,
                opponent_actions=self.opponent_actions,
                horizon=self.horizon,
                payoff_range=self.payoff_range,
                random=BatchRandom([self.seed], "row learner"),
            )
        )

    @property
    def round(self) -> int:
        """The round now being played, from 1."""
        return len(self._history) + 1

    @property
    def policy(self) -> NDArray[np.float64]:
        """The mixed strategy of this round: (actions,)."""
        if self._policy is None:
            self._policy = np.array(self.learner.policy(self.round)[0])
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
        if not np.isfinite(reward):
            raise InputError(f"reward is {reward!r}; accepted: a finite number.")
        if self.learner.sees == "opponent":
            if not isinstance(opponent, (int, np.integer)) or not 0 <= opponent < self.opponent_actions:
                raise InputError(
                    f"opponent is {opponent!r}; accepted: the opponent's action, 0 .. {self.opponent_actions - 1}, "
                    f"since {self.learner} learns from it."
                )
        else:
            opponent = None
        self._tell(self._action, -1 if opponent is None else int(opponent), float(reward))

    def _tell(self, action: int, opponent: int, reward: float) -> None:
        seen = None if opponent < 0 else np.array([opponent])
        self.learner.observe(self.round, np.array([action]), seen, np.array([reward]))
        self._history.append((action, opponent, reward))
        self._action = self._policy = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that is needed to go on: settings as JSON and the history as arrays, in one .npz file.

        A learner is a function of its settings, its seed and what it was told, so that is what is kept.
        """
        settings = {
            "format": _FORMAT,
            "learner": str(self.learner),
            "actions": self.actions,
            "opponent_actions": self.opponent_actions,
            "horizon": self.horizon,
            "seed": self.seed,
            "payoff_range": list(self.payoff_range),
            "acted": self._action is not None,
        }
        target = Path(path)
        arrays: dict[str, Any] = {
            "settings": np.frombuffer(json.dumps(settings).encode(), np.uint8),
            "action": np.array([action for action, _, _ in self._history], np.int64),
            "opponent": np.array([opponent for _, opponent, _ in self._history], np.int64),
            "reward": np.array([reward for _, _, reward in self._history], np.float64),
            "policy": self.policy,
        }
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, **arrays)
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Player:
        """Go on where `save` left off, to the last bit. The history is played through again: a moment per round."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                settings = json.loads(stored["settings"].tobytes())
                columns = [stored[name].tolist() for name in ("action", "opponent", "reward")]
                policy = stored["policy"]
        except FileNotFoundError:
            raise InputError(f"no file {str(path)!r}; accepted: a file that Player.save wrote.") from None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{path} is not a saved player ({shorten(str(error))}); use a file of Player.save."
            ) from None
        if settings.pop("format", None) != _FORMAT:
            raise InputError(
                f"{path} has another format than {_FORMAT}; load it with the version of coebl that wrote it."
            )
        acted = settings.pop("acted")
        settings["payoff_range"] = tuple(settings["payoff_range"])
        player = cls(**settings)
        for action, opponent, reward in zip(*columns, strict=True):
            player.act()
            player._tell(action, opponent, reward)
        if not np.array_equal(player.policy, policy):
            raise InputError(f"{path} was saved by a version of coebl that plays differently; use that version.")
        if acted:
            player.act()
        return player
