"""The table: a game, the learners seated at it, and nature."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from coebl.backend import CPU, Backend
from coebl.backend.streams import NATURE
from coebl.engine.match import Match
from coebl.engine.seated import PolicyError, Seated, build_seat
from coebl.games.game import SEATS
from coebl.learners import Responder
from coebl.metrics import Block

_NOISE_AHEAD = 256


class Table:
    """Plays the rounds of every run of a batch, block by block."""

    def __init__(self, match: Match, seeds: Sequence[int], backend: Backend = CPU) -> None:
        self.match = match
        self.seeds = seeds
        self.backend = backend
        game = match.game
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
                backend=backend,
            )
            self.seats.append(Seated(learner, seat, seeds, name, payoff))
        pairs = zip(self.seats, reversed(self.seats), strict=True)
        self._order = sorted(pairs, key=lambda pair: isinstance(pair[0].learner, Responder))  # these move last
        self._nature = backend.stream(
            seeds, NATURE, "noise", lambda random, out: np.copyto(out, game.noise.draw(random, out.size)), _NOISE_AHEAD
        )
        self._payoff = backend.arrays.asarray(game.payoff)
        self._playing = 0.0  # seconds, the learners' included

    @property
    def seconds(self) -> dict[str, float]:
        """The time taken so far, by phase."""
        learners = {f"{seated.name} learner": seated.seconds for seated in self.seats}
        return learners | {"actions and rewards": self._playing - sum(learners.values())}

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
        return Block(self.match.game, first, policies, actions_played, rewards_seen, self.backend)

    def _check(self, first: int, length: int) -> None:
        for seated in self.seats:
            seated.check(first, length)
