"""The table: a game, the learners seated at it, and nature."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from coebl.core.arrays import Ints
from coebl.core.devices import Device, array_module, on_host
from coebl.engine.match import Match
from coebl.engine.seated import PolicyError, Seated, build_seat
from coebl.engine.streams import Stream, generator
from coebl.games.game import SEATS
from coebl.learners import Responder
from coebl.metrics import Block

_NOISE_AHEAD = 256


class Table:
    """Plays the rounds of every run of a batch, block by block.

    A graphics processor leaves a matrix unsolved now and then. Whether it does is not known before it is done, and to
    wait for that in every solve takes time. So the rest of such a run is void, and `unsolved` names it; unless `wait`
    is true, and the processor solves what the other cannot.
    """

    def __init__(self, match: Match, seeds: Sequence[int], device: Device = "cpu", wait: bool = False) -> None:
        self.match = match
        self.seeds = seeds
        self.device: Device = device
        game = match.game
        arrays = array_module(device)
        self._unsolved = None if wait or device == "cpu" else arrays.zeros(len(seeds), bool)
        self.seats = []
        for name, learner in zip(SEATS, match.learners, strict=True):
            payoff, payoff_range = game.own_view(name)
            shape = payoff.shape[0], payoff.shape[1]
            seat = build_seat(
                learner,
                seeds,
                shape,
                match.rounds,
                payoff_range,
                name=name,
                payoff=payoff,
                arrays=arrays,
                unsolved=self._unsolved,
            )
            self.seats.append(Seated(learner, seat, seeds, name, payoff))
        pairs = zip(self.seats, reversed(self.seats), strict=True)
        self._order = sorted(pairs, key=lambda pair: isinstance(pair[0].learner, Responder))  # these move last
        self._nature = Stream(
            [generator(seed, "nature", "noise") for seed in seeds],
            lambda random, out: np.copyto(out, game.noise.draw(random, out.size)),
            ahead=_NOISE_AHEAD,
            arrays=arrays,
        )
        self._payoff = arrays.asarray(game.payoff)
        self._playing = 0.0  # seconds, the learners' included

    @property
    def seconds(self) -> dict[str, float]:
        """The time taken so far, by phase."""
        learners = {f"{seated.name} learner": seated.seconds for seated in self.seats}
        return learners | {"actions and rewards": self._playing - sum(learners.values())}

    def unsolved(self) -> Ints:
        """The numbers of the runs that have to be played again."""
        return np.arange(0) if self._unsolved is None else np.flatnonzero(on_host(self._unsolved))

    def play(self, first: int, length: int) -> Block:
        """Play `length` rounds, starting with round `first`."""
        started = time.perf_counter()
        for seated in self.seats:
            seated.begin_block(length)
        played = 0
        try:
            for at in range(length):
                for seated, facing in self._order:
                    seated.move(first + at, at, facing)
                played = at + 1
                actions = [seated.draw(at) for seated in self.seats]
                rewards = self.match.game.rewards(actions, self._nature.take(1)[:, 0], self._payoff)
                for seated, own, opponent, reward in zip(self.seats, actions, actions[::-1], rewards, strict=True):
                    seated.observe(first + at, at, own, opponent, reward)
        except PolicyError:
            raise
        except Exception:
            self._check(first, played)  # most likely what a bad policy led to: then say that instead
            raise
        self._check(first, length)
        self._playing += time.perf_counter() - started
        policies, actions_played, rewards_seen = (
            [getattr(seated, part) for seated in self.seats] for part in ("policies", "actions", "rewards")
        )
        return Block(self.match.game, first, policies, actions_played, rewards_seen)

    def _check(self, first: int, length: int) -> None:
        for seated in self.seats:
            seated.check(first, length, self._unsolved)
