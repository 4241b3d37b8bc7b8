"""The table: a game, the learners seated at it, and the noise of nature."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from math import prod
from typing import NoReturn

import numpy as np

from coebl.backend import CPU, Backend, is_out_of_memory
from coebl.backend.streams import NATURE, actions_key, fill_uniform, learner_key
from coebl.core.arrays import Floats, Ints
from coebl.core.errors import CoeblError, InputError, UserCodeError, shorten, where
from coebl.engine.match import Match
from coebl.engine.state import State, pack, unpack
from coebl.engine.units import Units
from coebl.games import AnyGame
from coebl.learners import SIGHTS, Learner, Responder, Seat, Seen
from coebl.metrics import Block

_AHEAD = 256  # random numbers per run that are fetched at a time, for noise and for actions
_ROUNDS_AHEAD = 16  # the least number of rounds for which they are fetched


class PolicyError(CoeblError, ValueError):
    """A learner returned an invalid policy.

    >>> from coebl import simulate
    >>> class Careless(Learner):
    ...     def policy(self, t):
    ...         return np.array([[0.5, 0.5, 0.5]])
    >>> simulate("rps", Careless(), "uniform", rounds=5, seeds=1)
    Traceback (most recent call last):
        ...
    coebl.engine.table.PolicyError: Careless in the row seat, round 1, seed 0: its policy sums to 1.5; accepted: ...

    Its arguments are the spec of the learner and the rest of the message.
    """

    def __str__(self) -> str:
        return " ".join(map(str, self.args))


def deal(game: AnyGame, seeds: Sequence[int], backend: Backend = CPU) -> AnyGame:
    """Return the game that is played with these seeds; it may have something hidden for each, such as a mask."""
    return game.dealt(seeds, backend) if hasattr(game, "dealt") else game


def _view(game: AnyGame, number: int) -> Floats | None:
    """Return the payoffs of a seat, from its point of view and in its units, if the game has a matrix."""
    view = None if hasattr(game, "at") else getattr(game, "own_view", None)
    return None if view is None else Units.of(game, number).seen(view(game.seats[number]))


def seat_at(
    game: AnyGame, number: int, learner: Learner, seeds: Sequence[int], horizon: int | None, backend: Backend = CPU
) -> Seat:
    """Return a seat of a game that shows a learner what it declares. Its opponent plays the others' joint actions."""
    widths, payoff, answer = [space.width for space in game.spaces], _view(game, number), getattr(game, "answer", None)
    known = {"opponent"} if answer is None else {"opponent", "game", "policy"}
    hidden = [words for sight, words in SIGHTS.items() if sight in learner.sees and sight not in known]
    if payoff is None and hidden:
        raise InputError(
            f"{learner} sees {' and '.join(hidden)}, which is not known in this seat; pick another learner."
        )
    sees_game = "game" in learner.sees
    return Seat(
        runs=len(seeds),
        actions=widths[number],
        opponent_actions=prod(widths) // widths[number],
        horizon=horizon,
        payoff_range=Units.of(game, number).seen_range,
        random=backend.random(seeds, learner_key(number)),
        shown_payoff=payoff if sees_game else None,
        backend=backend,
        space=game.spaces[number],
        shown_answer=partial(answer, number) if sees_game and answer is not None else None,
    )


def blame(error: BaseException, learner: Learner, place: str) -> NoReturn:
    """Raise the error of a custom learner with its file and line, or with its name if coebl raised the error."""
    line = where(error)
    if isinstance(error, InputError) and line and str(learner) not in str(error):
        error.args = (f"{learner}: {error}",)
    if isinstance(error, SystemExit) and not line:  # an installed learner ends the program, maybe with code 0
        line = type(learner).__module__
    if isinstance(error, CoeblError) or is_out_of_memory(error) or not line:
        raise error
    raise UserCodeError(f"{line}: {type(error).__name__}: {error} ({place})") from error


class Seated:
    """A learner in its seat, with its random numbers, its clock, and the block of rounds that is being played.

    The learner itself is not changed: a copy is seated. It sees rewards, and its true payoffs if they are known, in its
    units; records are in those of the game.
    """

    def __init__(
        self,
        game: AnyGame,
        number: int,
        learner: Learner,
        seeds: Sequence[int],
        horizon: int | None,
        backend: Backend = CPU,
    ) -> None:
        self.name, self.seeds, self.learner = game.seats[number], seeds, learner
        self.seat, self.units = seat_at(game, number, learner, seeds, horizon, backend), Units.of(game, number)
        self.shape = self.seat.runs, self.seat.actions  # of its policies
        self.seconds = 0.0  # of computing time of its learner
        self._space, self._backend = game.spaces[number], backend
        self._against = None  # (opponent's actions, actions), the payoffs, for a learner that sees them
        if "payoffs" in learner.sees:
            self._against = backend.arrays.asarray(_view(game, number)).T
        ahead = max(_AHEAD, _ROUNDS_AHEAD * self._space.uniforms)
        self._draws = backend.stream(seeds, actions_key(number), "uniform", fill_uniform, ahead)
        try:
            self.learner = learner.seated(self.seat)
        except (Exception, SystemExit) as error:
            self._blame(error, "before the first round")

    def state(self, fresh: Seated) -> State:
        """Return the state of the learner and its random numbers; `fresh` is an equal one before the first round."""
        return pack(self._parts, fresh._parts, self.seat, type(self.learner))

    def restore(self, state: State) -> None:
        """Continue from the state of an equal learner in an equal seat."""
        unpack(state, self._parts, self.seat, type(self.learner))

    @property
    def _parts(self) -> dict[str, object]:
        return {type(self.learner).__name__: self.learner, "seat.random": self.seat.random, "draws": self._draws}

    def beliefs(self) -> dict[str, Floats] | None:
        """Return the learner's estimates of its payoffs, in the game's units, and its visits; None if it has none."""
        held = self.learner.beliefs()
        if held is None:
            return None
        mean, count = map(self._backend.to_host, held)
        return {"mean": self.units.as_given(mean), "count": count.copy()}

    def begin_block(self, rounds: int) -> None:
        """Allocate the arrays of the next rounds."""
        arrays, (runs, width) = self._backend.arrays, self.shape
        self.policies: Floats = arrays.empty((rounds, runs, width))
        dtype = np.int8 if self._space.shape else np.int64  # of a genome, or of a number
        self.actions: Ints = arrays.empty((rounds, runs, *self._space.shape), dtype)
        self.rewards: Floats = arrays.empty((rounds, runs))

    def move(self, t: int, index: int, opponent: Seated | None = None) -> None:
        """Ask the learner for its policies of round t, at this index of the block, against an opponent."""
        started = time.perf_counter()
        try:
            if isinstance(self.learner, Responder) and opponent is not None:
                policy = self.learner.respond(t, opponent.policies[index])
            else:
                policy = self.learner.policy(t)
        except (Exception, SystemExit) as error:
            self._blame(error, f"round {t}")
        self.seconds += time.perf_counter() - started
        if np.shape(policy) != self.shape:
            returned = "None" if policy is None else f"a policy of shape {np.shape(policy)}"
            accepted = f"an array of shape (runs, actions) = {self.shape}"
            raise PolicyError(
                str(self.learner), f"in the {self.name} seat returned {returned} in round {t}; accepted: {accepted}."
            )
        self.policies[index] = policy

    def draw(self, index: int) -> Ints:
        """Draw the actions of a round of the block: (runs,), or genomes, (runs, n)."""
        uniform = self._draws.take(self._space.uniforms)
        action: Ints = self._backend.draw(self._space, self.policies[index], uniform)
        self.actions[index] = action
        return action

    def observe(self, t: int, index: int, action: Ints, opponent: Ints | None, reward: Floats) -> None:
        """Show the learner its part of round t. The opponent's actions are None if they are not known."""
        self.rewards[index] = reward
        weighted = self.learner.importance_weighted
        seen = Seen(
            action,
            self.units.seen(reward),
            opponent if "opponent" in self.learner.sees else None,
            self._against[opponent] if self._against is not None else None,
            self._backend.take(self.policies[index], self.seat.at(action)) if weighted else None,
        )
        started = time.perf_counter()
        try:
            self.learner.observe(t, seen)
        except (Exception, SystemExit) as error:
            self._blame(error, f"round {t}")
        self.seconds += time.perf_counter() - started

    def _blame(self, error: BaseException, when: str) -> NoReturn:
        blame(error, self.learner, f"{self.learner} in the {self.name} seat, {when}")

    def check(self, first: int, length: int) -> None:
        """Raise an error if the first rounds of the block have an invalid policy, in a run that is not replayed."""
        policies = self.policies[:length]
        good = self._space.are_policies(policies)
        if self._backend.unsolved is not None:
            good = good | self._backend.unsolved
        if good.all():
            return
        index, run = map(int, self._backend.to_host(np.argwhere(~good))[0])
        policy = self._backend.to_host(policies[index, run])
        raise PolicyError(
            str(self.learner),
            f"in the {self.name} seat, round {first + index}, seed {self.seeds[run]}: its policy "
            f"{self._space.fault(policy)}. It was {shorten(policy.tolist())}.",
        )


class Table:
    """The game and the seated learners of a batch of runs."""

    def __init__(self, match: Match, seeds: Sequence[int], backend: Backend = CPU) -> None:
        self.match = match
        self.seeds = seeds
        self.backend = backend
        self.game = game = deal(match.game, seeds, backend)
        self._widths = [space.width for space in game.spaces]
        numbers = range(len(game.seats))
        self._others = [[other for other in numbers if other != seat] for seat in numbers]
        for number, learner in enumerate(match.players):
            if len(numbers) > 2 and {"opponent", "payoffs"}.isdisjoint(learner.sees):
                self._others[number] = []  # the joint action is not computed where it is not seen
        self.seats = [Seated(game, seat, match.players[seat], seeds, match.rounds, backend) for seat in numbers]
        facing = [self.seats[others[0]] if len(others) == 1 else None for others in self._others]
        pairs = zip(self.seats, facing, strict=True)
        self._order = sorted(pairs, key=lambda pair: isinstance(pair[0].learner, Responder))  # responders move last
        self._nature = backend.stream(
            seeds, NATURE, "noise", lambda random, out: np.copyto(out, game.noise.drawn(random, out.size)), _AHEAD
        )
        self._draws = getattr(game, "draws", 1)  # nature's numbers per run and round
        self._playing = 0.0  # seconds, the learners' included

    @property
    def seconds(self) -> dict[str, float]:
        """The time taken so far, by phase."""
        learners = {f"{seated.name} learner": seated.seconds for seated in self.seats}
        return learners | {"actions and rewards": self._playing - sum(learners.values())}

    def steady(self, first: int) -> int:
        """Return the number of rounds, starting with round `first`, in which the payoffs do not change."""
        return self.game.steady(first) if hasattr(self.game, "steady") else self.match.rounds

    def play(self, first: int, length: int) -> Block:
        """Play `length` rounds, starting with round `first`."""
        started = time.perf_counter()
        game = self.game.at(first) if hasattr(self.game, "at") else self.game
        rewards_of = (game.placed(self.backend) if hasattr(game, "placed") else game).rewards
        for seated in self.seats:
            seated.begin_block(length)
        played = 0
        try:
            for index in range(length):
                for seated, facing in self._order:
                    seated.move(first + index, index, facing)
                played = index + 1
                actions = [seated.draw(index) for seated in self.seats]
                numbers = self._nature.take(self._draws)
                rewards = rewards_of(actions, numbers[:, 0] if self._draws == 1 else numbers)
                if len(rewards) != len(actions):
                    accepted = f"one array for each of {', '.join(game.seats)}"
                    raise InputError(f"rewards of {game.name} returned {len(rewards)} arrays; accepted: {accepted}.")
                for seated, action, reward, others in zip(self.seats, actions, rewards, self._others, strict=True):
                    seated.observe(first + index, index, action, self._joint_action(actions, others), reward)
        except Exception:
            self._check(first, played)  # reports an earlier invalid policy instead, which is the likely cause
            raise
        self._check(first, length)
        self._playing += time.perf_counter() - started
        policies = [seated.policies for seated in self.seats]
        played_actions = [seated.actions for seated in self.seats]
        return Block(game, first, policies, played_actions, [seated.rewards for seated in self.seats], self.backend)

    def _joint_action(self, actions: Sequence[Ints], others: Sequence[int]) -> Ints | None:
        """Return the number of the joint action of some seats, (runs,): the last of them varies fastest."""
        if len(others) == 1:
            return actions[others[0]]
        if not others:
            return None
        return np.ravel_multi_index([actions[seat] for seat in others], [self._widths[seat] for seat in others])

    def _check(self, first: int, length: int) -> None:
        for seated in self.seats:
            seated.check(first, length)
