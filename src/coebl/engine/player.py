"""A learner as a player in a real repeated contest."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

import coebl
from coebl.core.arrays import MOST_ENTRIES, Floats
from coebl.core.errors import InputError, check_integer, shorten
from coebl.core.frames import pl
from coebl.engine.player_file import Contestant, Saved
from coebl.engine.records import UNKNOWN, Interval, Labels, Records, RoundOutcome, Ticket, have_moved, learn_units
from coebl.engine.state import StateError
from coebl.engine.units import Units, check_noise, check_reward, check_scale
from coebl.games import Indices
from coebl.learners import Learner, parse_learner

_TOLERANCE = 1e-6  # of a replayed policy: CPUs differ by less in exp and log, versions of coebl by more
_SURE_FREEDOM, _WRONG_NOISE = 30, 3.0  # degrees of freedom, and the factor by which a given noise is clearly wrong
_MOST_OPEN = 1024  # tickets; beyond that, the oldest is forgotten


class Player(Contestant):
    """A learner in a real contest: ask it for an action, then report the outcome to it.

    It plays as in a simulation with a single run, and maximises its reward. A copy, also by pickle, continues as the
    original would. Threads may share a player: each call finishes before the next begins.

    Args:
        learner: a spec, or a `Learner`.
        actions: the number of its actions, or their labels.
        opponent_actions: likewise for the opponent; not needed by a learner that does not see the opponent's actions.
        horizon: the approximate number of rounds; some learners need it.
        seed: the seed of its draws. With None it is random, so that no two players are alike.
        payoff_range: the least and the largest payoff that an action can have, before noise, in the units of the
            rewards: with rewards in euros from -50 to 50, (-50, 50). Rewards are scaled by it, and a reward further
            outside than its width causes a warning, once. With None it is learned from the rewards.
        noise: the standard deviation of the rewards of one pair of actions, in the units of the rewards. With None it
            is learned.
        opponents: if there are several, the number of actions of each, or their labels, in place of opponent_actions:
            (3, 2). They count as one opponent, who plays their joint actions, and `observe` takes one action of each.

    >>> player = Player("exp3", actions=2, seed=1)
    >>> for _ in range(200):
    ...     action = player.act()
    ...     player.observe(reward=1.0 if action == 1 else -1.0)
    >>> bool(player.policy[1] > 0.8)
    True
    >>> player = Player("ots-rm", actions=2, opponents=(["high", "low"], 3))
    >>> player.observe(action=1, opponent=("low", 2), reward=0.5)
    >>> player.estimates().filter(visits=1).row(0)[:4]
    (1, 'low, 2', 1, 0.5)
    """

    _settings = ("actions", "opponent_actions", "horizon", "seed", "payoff_range", "noise", "opponents")

    def __init__(
        self,
        learner: str | Learner,
        actions: int | Sequence[str],
        opponent_actions: int | Sequence[str] | None = None,
        horizon: int | None = None,
        seed: int | None = 0,
        payoff_range: tuple[float, float] | None = None,
        noise: float | None = None,
        opponents: Sequence[int | Sequence[str]] | None = None,
    ) -> None:
        learner = parse_learner(learner)
        if "indices" not in learner.plays:
            raise InputError(f"{learner} plays genomes; accepted: a learner of numbered actions. Use GenomePlayer.")
        self.actions, own_labels = _count_actions("actions", actions)
        self.opponent_actions: int | None = None
        opponent_labels = None
        self.opponents = None if opponents is None else _labels_of_opponents(opponents, opponent_actions)
        if self.opponents is not None:
            self.opponent_actions = math.prod(map(len, self.opponents))
        elif opponent_actions is not None:
            self.opponent_actions, opponent_labels = _count_actions("opponent_actions", opponent_actions)
        elif learner.sees:
            raise InputError(
                f"opponent_actions is None, and {learner} learns from the opponent's actions; accepted: the "
                "number of the opponent's actions. Pass opponent_actions=."
            )
        if self.actions * (self.opponent_actions or 1) > MOST_ENTRIES:
            raise InputError(
                f"actions x opponent_actions is {self.actions:,} x {self.opponent_actions or 1:,}; accepted: at most "
                f"{MOST_ENTRIES:,} together, since numbers are kept for each pair. Leave out actions that are alike."
            )
        if self.opponents is not None:
            opponent_labels = tuple(map(", ".join, itertools.product(*self.opponents)))  # the last varies fastest
        self.labels = Labels(own_labels, opponent_labels)
        super().__init__(learner, (Indices(self.actions), Indices(self.opponent_actions or 1)), horizon, seed)
        self.payoff_range = None if payoff_range is None else check_scale(payoff_range)
        self.noise = None if noise is None else check_noise(noise)
        self._warned: dict[str, str] = {}  # warnings so far, by topic
        self.reset()

    def reset(self) -> None:
        """Forget everything and begin again, with the same seed."""
        with self._lock:
            self._round = 1
            self._learned = 0  # outcomes that the learner has learned from
            self._restarts = 0
            self._open: dict[int, Ticket] = {}  # by round
            self._current: Ticket | None = None  # the ticket that act() repeats
            self._policy = None
            self._records = Records(self.actions, self.opponent_actions or 1)
            self._units = learn_units(self._records, self.payoff_range, self.noise)
            self._seated = self._seat_learner()

    @property
    def units(self) -> Units:
        """The range and the noise of the rewards that its learner assumes, given or learned so far."""
        return self._units

    @property
    def round(self) -> int:
        """The current round, counted from 1: that of act()'s open ticket, or else of the next ticket."""
        current = self._current
        return self._round if current is None else current.round

    @property
    def policy(self) -> Floats:
        """The mixed strategy of the current round: (actions,)."""
        with self._lock:
            return (self._next_policy() if self._current is None else self._current.policy).copy()

    @property
    def tickets(self) -> Mapping[int, Ticket]:
        """The open tickets by their rounds. At most 1024 are open: beyond that, the oldest is forgotten."""
        with self._lock:
            return MappingProxyType(dict(self._open))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings so far, each given once: about units, and about outcomes that cannot be learned from."""
        with self._lock:
            return tuple(self._warned.values())

    def _issue(self, action: int | None = None) -> Ticket:
        """Begin the next round with an action, which is drawn by default."""
        policy = self._next_policy()
        ticket = self._make_ticket(self._round, int(self._draw(policy)) if action is None else action, policy)
        self._round += 1
        self._policy = None
        if len(self._open) > _MOST_OPEN:
            self._close(next(iter(self._open.values())))
        return ticket

    def _make_ticket(self, round: int, action: int, policy: Floats) -> Ticket:
        """Return a ticket, which is open from now on."""
        ticket = Ticket(action, round, policy, None if self.labels.own is None else self.labels.own[action])
        self._open[round] = ticket
        return ticket

    def act(self) -> Ticket:
        """Return the action to play in this round. It stays the same until it is observed or forgotten."""
        with self._lock:
            if self._current is None:
                self._current = self._issue()
            return self._current

    def ticket(self) -> Ticket:
        """Return an action for a new round at every call. Report its outcome at any time: `observe(ticket, ...)`.

        >>> player = Player("ots-rm", actions=2, opponent_actions=2, seed=1)
        >>> first, second, third = player.ticket(), player.ticket(), player.ticket()
        >>> player.observe(second, reward=0.5, opponent=1)
        >>> player.forget(third)  # its outcome will never be known
        >>> player.observe(first, reward=0.1, opponent=0, action=1)  # played in place of the advised action
        >>> len(player.tickets)
        0
        """
        with self._lock:
            return self._issue()

    def observe(
        self,
        ticket: Ticket | None = None,
        *,
        reward: float,
        opponent: int | str | Sequence[int | str] | None = None,
        action: int | str | None = None,
    ) -> None:
        """Report the outcome of a round.

        Every outcome enters the history. The learner learns from it unless it needs the opponent's action and that is
        missing, or divides by the probability of the action and that was 0.

        Args:
            ticket: a ticket that `ticket` or `act` returned; by default that of `act`.
            reward: the reward of the action that was played.
            opponent: the number or label of the opponent's action, if it is known; for several opponents, one each.
            action: the number or label of the action that was played, if it is not the one that was advised. Without a
                ticket and before `act`, it is a move that was made without asking.
        """
        with self._lock:
            reward = check_reward(reward)
            other = self._opponent_number(opponent)
            given = None if action is None else _number("action", action, self.actions, self.labels.own)
            asked = ticket is not None or self._current is not None
            ticket = self._find(ticket, given)
            self._check_outcome(ticket.round, other, reward)
            played = int(ticket) if given is None else given
            probability = float(ticket.policy[played])
            sees = other != UNKNOWN or "opponent" not in self.learner.sees
            teaches = sees and (probability > 0 or not self.learner.importance_weighted)
            self._close(ticket)
            self._policy = None  # it is computed again after learning
            advised = int(ticket) if asked else UNKNOWN
            self._records.add(RoundOutcome(ticket.round, advised, played, other, reward, probability, teaches))
            units = learn_units(self._records, self.payoff_range, self.noise)
            if have_moved(units, self._units):
                self._units = units
                self._learn_again()
            elif teaches:
                self._teach(played, other, reward, probability)

    def forget(self, ticket: Ticket) -> None:
        """Close an open ticket whose outcome will never be known."""
        with self._lock:
            self._close(self._find(ticket))

    def _find(self, ticket: Ticket | None, played: int | None = None) -> Ticket:
        """Return the open ticket of an outcome; for a move that was made without asking, a new one."""
        if ticket is None:
            if self._current is not None:
                return self._current
            if played is not None:
                return self._issue(played)
            if self._open:
                raise InputError(
                    f"observe was called without a ticket, and {len(self._open)} are open; pass one of them."
                )
            raise InputError("observe was called before act; ask act() for an action, play it, then call observe().")
        if not isinstance(ticket, Ticket):
            raise InputError(f"ticket is {shorten(ticket)}; accepted: a ticket that act() or ticket() returned.")
        known = self._open.get(ticket.round)
        if known is None or known != ticket or not np.array_equal(known.policy, ticket.policy):
            raise InputError(
                f"ticket is {ticket!r}, which is not open; accepted: a ticket of this player that was neither observed "
                f"nor forgotten. At most {_MOST_OPEN} are open at a time."
            )
        return known

    def _close(self, ticket: Ticket) -> None:
        del self._open[ticket.round]
        if ticket is self._current:
            self._current = None

    def _teach(self, action: int, opponent: int, reward: float, probability: float) -> None:
        shown = np.array([opponent]) if "opponent" in self.learner.sees else None
        self._seated.policies[0, 0, action] = probability
        self._seated.observe(self._learned + 1, 0, np.array([action]), shown, np.array([reward]))
        self._learned += 1

    def _learn_again(self) -> None:
        """Start the learner again, with other random numbers, and teach it the kept outcomes."""
        self._restarts += 1
        self._learned, self._policy = 0, None
        self._seated = self._seat_learner()
        for outcome in self._records.recent():
            if outcome["learned"]:
                self._seated.move(self._learned + 1, 0)
                self._teach(*(outcome[name].item() for name in ("action", "opponent", "reward", "probability")))

    def _opponent_number(self, opponent: Any) -> int:
        """Return the number of the opponent's action, or of the joint action of several: the last varies fastest."""
        if opponent is None:
            return UNKNOWN
        if self.opponents is None:
            most = 2**31 if self.opponent_actions is None else self.opponent_actions
            return _number("opponent", opponent, most, self.labels.opponent)
        several = isinstance(opponent, Sequence) and not isinstance(opponent, (str, bytes))
        if not several or len(opponent) != len(self.opponents):
            raise InputError(
                f"opponent is {shorten(opponent)}; accepted: an action of each of the {len(self.opponents)} opponents, "
                "or None."
            )
        joint = 0
        for place, (action, names) in enumerate(zip(opponent, self.opponents, strict=True)):
            joint = joint * len(names) + _number(f"opponent[{place}]", action, len(names), names)
        return joint

    def _check_outcome(self, round: int, opponent: int, reward: float) -> None:
        """Warn once about units that seem to differ, and about outcomes that cannot be learned from."""
        low, high = self.payoff_range or (-np.inf, np.inf)
        if max(low - reward, reward - high) > high - low:
            self._warn(
                "units",
                f"reward is {reward:g} in round {round}, further outside payoff_range ({low:g}, {high:g}) than its "
                "width; unless that is noise, set payoff_range to the range of your payoffs, in the units of the "
                "rewards.",
            )
        deviation, freedom = self._records.pooled()
        if self.noise and self.opponent_actions is not None and freedom >= _SURE_FREEDOM:
            if max(deviation / self.noise, self.noise / max(deviation, 1e-300)) > _WRONG_NOISE:
                self._warn(
                    "noise",
                    f"noise is {self.noise:g}, and rewards of the same pair of actions have a deviation of "
                    f"{deviation:.3g} in round {round}; set noise to that, or leave it out to have it learned.",
                )
        if opponent == UNKNOWN and "opponent" in self.learner.sees:
            self._warn(
                "opponent",
                f"opponent is None in round {round}, and {self.learner} learns from the opponent's action; such "
                "outcomes are kept in the history, and it does not learn from them.",
            )

    def _warn(self, topic: str, text: str) -> None:
        if topic not in self._warned:
            self._warned[topic] = text
            warnings.warn(text, stacklevel=4)  # the caller of observe

    def estimates(self) -> pl.DataFrame:
        """Return the rewards of each pair of actions: visits, mean, and a 95 % interval of the mean, low to high.

        The interval is Student's, with one deviation for the rewards of all pairs. Mean and interval are null where
        there is none. The interval holds for each pair by itself, if its visits did not depend on earlier rewards.

        >>> player = Player("ucb", actions=["left", "right"], opponent_actions=1, horizon=9)
        >>> for reward in (1.0, 3.0):
        ...     player.observe(action="left", opponent=0, reward=reward)
        >>> player.estimates().row(0)
        ('left', 0, 2, 2.0, -10.706..., 14.706...)
        """
        with self._lock:
            records, (m, k) = self._records, self._records.visits.shape
            low, high = records.bounds(self._units.payoff_range, together=False)
            unseen = records.visits == 0
            unsure = unseen | (records.pooled()[1] == 0)
            columns = {
                "action": np.repeat(np.arange(m), k),
                "opponent": np.tile(np.arange(k), m),
                "visits": records.visits.ravel().astype(np.int64),
                "mean": np.where(unseen, np.nan, records.means).ravel(),
                "low": np.where(unsure, np.nan, low).ravel(),
                "high": np.where(unsure, np.nan, high).ravel(),
            }
            return self.labels.frame(columns)

    def value(self) -> Interval:
        """Return the estimated value of the game, with a 95 % interval.

        The interval reaches from the value of the matrix of lower bounds to that of upper bounds. The bounds hold for
        all pairs together (Bonferroni), so the interval is wide, and covers the value at least that often. A pair
        without a visit has the middle of the payoff range in the estimate, and the whole range in the interval. If the
        range is learned, the interval is infinite until some pair has been visited twice, and it may be too narrow
        while pairs have no visits.

        >>> player = Player("ucb", actions=1, opponent_actions=2, horizon=9, payoff_range=(-1, 1))
        >>> player.observe(action=0, opponent=1, reward=-0.5)
        >>> player.value()
        Interval(value=-0.5, low=-1.0, high=1.0)
        """
        self._need_opponent("value()")
        with self._lock:
            return self._with_interval(self._records.value(self._units.payoff_range))

    def exploitability(self) -> Interval:
        """Return the loss below the value against an opponent who knows the policy, estimated as in `value`."""
        self._need_opponent("exploitability()")
        with self._lock:
            return self._with_interval(self._records.exploitability(self.policy, self._units.payoff_range))

    def _with_interval(self, number: Interval) -> Interval:
        """Return an estimate, with an infinite interval as long as neither range nor noise is known."""
        known = self.payoff_range is not None or self._records.pooled()[1] > 0
        return number if known else Interval(number.value, -math.inf, math.inf)

    def history(self) -> pl.DataFrame:
        """Return the last outcomes, at most 4096, the oldest first.

        The columns are round, advised (null for a move that was made without asking), action, opponent (null if it was
        not reported), reward, probability (of the action, by the policy of the round), and learned (False if the
        learner could not learn from it).

        >>> player = Player("exp3", actions=["left", "right"], opponent_actions=2, seed=1)
        >>> player.observe(action="right", opponent=1, reward=0.5)
        >>> player.history().row(0)
        (1, None, 'right', 1, 0.5, 0.5, True)
        """
        with self._lock:
            recent = self._records.recent()
            return self.labels.frame({name: recent[name].copy() for name in RoundOutcome._fields})

    def opponent(self) -> pl.DataFrame:
        """Return the visits of each action of the opponent, and its share of all and of the 100 most recent outcomes.

        >>> player = Player("exp3", actions=2, opponent_actions=["high", "low"])
        >>> for action in ("high", "low", "high"):
        ...     player.observe(action=0, opponent=action, reward=0.5)
        >>> player.opponent().columns, player.opponent().row(1)[:2]
        (['opponent', 'visits', 'share', 'recent'], ('low', 1))
        """
        self._need_opponent("opponent()")
        with self._lock:
            visits, share, recent = self._records.opponent_shares()
            columns = {"opponent": np.arange(len(visits)), "visits": visits.astype(np.int64)}
            return self.labels.frame(columns | {"share": share, "recent": recent})

    def _need_opponent(self, method: str) -> None:
        if self.opponent_actions is None:
            raise InputError(
                f"{method} needs the opponent's actions, and opponent_actions is None; pass opponent_actions= to "
                "Player, and opponent= to observe."
            )

    def _describe(self) -> tuple[dict[str, Any], dict[str, Any]]:
        tickets = list(self._open.values())
        content = {
            "actions": self.labels.own or self.actions,
            "opponent_actions": None if self.opponents else self.labels.opponent or self.opponent_actions,
            **({"opponents": self.opponents} if self.opponents else {}),
            "payoff_range": self.payoff_range,
            "noise": self.noise,
            "issued": self._round - 1,
            "learned": self._learned,
            "restarts": self._restarts,
            "units": [*self._units.payoff_range, self._units.noise],
            "warned": self._warned,
            "tickets": [[ticket.round, int(ticket)] for ticket in tickets],
            "current": None if self._current is None else self._current.round,
            "asked": self._policy is not None,
        }
        policies = [ticket.policy for ticket in tickets] + ([] if self._policy is None else [self._policy])
        return content, {"policies": np.array(policies).reshape(-1, self.actions), **self._records.arrays()}

    def _resume(self, saved: Saved) -> None:
        if saved.content["format"] != 1:
            super()._resume(saved)
        elif not self._replay(saved):
            self.noise, self._warned = None, {}  # learn the units, which is now the default
            self.reset()
            self._replay(saved)
            last = " Pass the action that it advised last to observe(action=...)." if saved.content["acted"] else ""
            warnings.warn(
                f"{saved.path} was saved by coebl 0.1, which plays differently; {self.learner} has learned again, from "
                f"all {len(saved.content['history']):,} outcomes.{last}",
                stacklevel=3,
            )

    def _restore(self, saved: Saved) -> None:
        content, policies = saved.content, saved.arrays["policies"]
        issued, self._learned, self._restarts = (
            check_integer(name, content[name], 0) for name in ("issued", "learned", "restarts")
        )
        self._round = issued + 1
        self._warned = dict(content["warned"])
        low, high, noise = map(float, content["units"])
        self._units = Units((low, high), noise)
        if len(policies) != len(content["tickets"]) + bool(content["asked"]):
            raise ValueError("it does not have a policy for each ticket")
        for (round, action), policy in zip(content["tickets"], policies, strict=False):
            action = check_integer("action", action, 0, self.actions - 1)
            round = check_integer("round", round, 1, issued)
            self._make_ticket(round, action, policy.reshape(self.actions).copy())
        if content["current"] is not None:
            self._current = self._open[content["current"]]
        if content["asked"]:
            self._policy = policies[-1].reshape(self.actions).copy()
        self._records.restore(saved.arrays)
        try:
            self._seated = self._seat_learner(saved.state)
        except StateError:
            if content.get("version") == coebl.__version__:
                raise
            self._learn_again()
            warnings.warn(
                f"{saved.path} was saved by coebl {content.get('version')}, and {self.learner} has changed since; it "
                f"has learned again, from the last {self._learned:,} of {self._records.outcomes:,} outcomes.",
                stacklevel=5,
            )

    def _rehearse(self) -> None:
        """Play a round, and observe the open ones."""
        middle = sum(self._units.payoff_range) / 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._issue()
            for ticket in self._open.values():
                action = int(ticket)
                self._teach(action, 0, middle, ticket.probability)
                self._records.add(RoundOutcome(ticket.round, action, action, 0, middle, ticket.probability, True))
            self._teach(self.actions - 1, (self.opponent_actions or 1) - 1, middle, 1.0)  # the last action of each
            learn_units(self._records, self.payoff_range, self.noise)
            self._policy = None
            self._next_policy()

    def _replay(self, saved: Saved) -> bool:
        """Repeat the history of a player with the same settings. Return True if it ends with the saved policy."""
        for action, opponent, reward in saved.content["history"]:
            self.act()  # its draw is ignored: the action that was played counts
            action = check_integer(f"{saved.path}: a saved action", action, 0, self.actions - 1)
            self.observe(reward=reward, opponent=None if opponent < 0 else opponent, action=action)
        policy, saved_policy = self.policy, saved.arrays["policy"]
        if saved_policy.shape != policy.shape:
            raise InputError(f"{saved.path} is damaged: its policy and its settings differ in the number of actions.")
        if saved.content["acted"]:
            self.act()
        return np.allclose(policy, saved_policy, atol=_TOLERANCE)

    def _repr_html_(self) -> str:
        from coebl.report.notebook import render_player

        with self._lock:
            return render_player(self, self._records)

    def __repr__(self) -> str:
        opponent = "" if self.opponent_actions is None else f" x {self.opponent_actions}"
        if self.opponents is not None:
            opponent = "".join(f" x {len(names)}" for names in self.opponents)
        return f"<Player {self.learner}, {self.actions}{opponent}, round {self.round}>"


def _count_actions(argument: str, actions: int | Sequence[str]) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of actions, and their labels if there are any."""
    if isinstance(actions, (str, bytes)) or not isinstance(actions, Sequence):
        return check_integer(argument, actions, 1), None
    labels = tuple(actions)
    if not labels or not all(isinstance(label, str) for label in labels) or len(set(labels)) < len(labels):
        raise InputError(f"{argument} is {shorten(actions)}; accepted: a number >= 1, or distinct strings.")
    return len(labels), labels


def _labels_of_opponents(opponents: Any, opponent_actions: Any) -> tuple[tuple[str, ...], ...]:
    """Return the labels of the actions of each opponent, by default their numbers."""
    if opponent_actions is not None:
        raise InputError("opponent_actions and opponents are both given; accepted: one of them.")
    if isinstance(opponents, (str, bytes)) or not isinstance(opponents, Sequence) or not opponents:
        raise InputError(
            f"opponents is {shorten(opponents)}; accepted: for each opponent the number of its actions, or their "
            "labels, such as (3, 2)."
        )
    counted = (_count_actions(f"opponents[{place}]", actions) for place, actions in enumerate(opponents))
    return tuple(tuple(map(str, range(count))) if labels is None else labels for count, labels in counted)


def _number(argument: str, action: Any, actions: int, labels: Sequence[str] | None) -> int:
    """Return the number of an action that is given by its number or its label."""
    if isinstance(action, (int, np.integer)) and 0 <= action < actions and not isinstance(action, bool):
        return int(action)
    if labels is not None and action in labels:
        return labels.index(str(action))
    names = "" if labels is None else f", or one of {shorten(', '.join(labels))}"
    raise InputError(f"{argument} is {shorten(action)}; accepted: 0 .. {actions - 1}{names}.")
