"""A learner of genomes as a player in a real repeated contest."""

from __future__ import annotations

import copy
import os
import secrets
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.arrays import MOST_ENTRIES, Floats, Ints
from coebl.core.errors import InputError, check_integer, shorten
from coebl.engine.player_file import choose_learner, read_player, reports_damage, write_player
from coebl.engine.state import State
from coebl.engine.table import Seated, seat_alone
from coebl.engine.units import MOST_ROUNDS, Units, check_noise, check_reward, check_scale
from coebl.games import Bits
from coebl.learners import Learner, parse_learner
from coebl.search import Search

_SETTINGS = ("genes", "horizon", "seed", "payoff_range", "noise")


class GenomePlayer:
    """A learner of genomes in a real contest: ask it for a genome, play it, then report the reward.

    It plays as in a simulation with a single run, and maximises its reward. A copy, also by pickle, continues as the
    original would. Outcomes are reported in order, one after each action.

    Args:
        learner: a spec, or a `Learner` that plays genomes.
        genes: the number of bits of a genome, of the player and of the opponent.
        horizon: the approximate number of rounds; some learners need it.
        seed: the seed of its draws. With None it is random, so that no two players are alike.
        payoff_range: the least and the largest payoff of a genome, before noise, in the units of the rewards.
        noise: the approximate standard deviation of the rewards' noise, in the same units.

    >>> player = GenomePlayer("gene-lr", genes=5, seed=1, noise=0.1)
    >>> for _ in range(300):
    ...     genome = player.act()
    ...     player.observe(reward=2 * genome.mean() - 1)  # the more ones the better
    >>> player.policy.round(1)
    array([1., 1., 1., 1., 1.])
    """

    def __init__(
        self,
        learner: str | Learner,
        genes: int,
        horizon: int | None = None,
        seed: int | None = 0,
        payoff_range: tuple[float, float] = (-1.0, 1.0),
        noise: float = 1.0,
    ) -> None:
        self.learner = parse_learner(learner)
        if "bits" not in self.learner.plays:
            raise InputError(f"{self.learner} plays numbered actions; accepted: a learner of genomes. Use Player.")
        if isinstance(self.learner, Search):
            raise InputError(f"{self.learner} is a search, of both players' genomes; accepted: a learner of genomes.")
        self.genes = check_integer("genes", genes, 1, MOST_ENTRIES)
        self.horizon = None if horizon is None else check_integer("horizon", horizon, 1, MOST_ROUNDS)
        self.seed = secrets.randbits(63) if seed is None else check_integer("seed", seed, 0)
        self.payoff_range, self.noise = check_scale(payoff_range), check_noise(noise)
        self._round, self._acted = 1, False
        self._policy: Floats | None = None  # (genes,), of this round
        self._seated = self._seat_learner()

    def _seat_learner(self, state: State | None = None) -> Seated:
        units, shape = Units(self.payoff_range, self.noise), (self.genes, self.genes)
        return seat_alone(self.learner, self.seed, shape, self.horizon, units, Bits(self.genes), state)

    @property
    def round(self) -> int:
        """The current round, from 1."""
        return self._round

    @property
    def policy(self) -> Floats:
        """The probability of a 1 for each gene in this round: (genes,)."""
        if self._policy is None:
            self._policy = self._seated.next_policy(self._round)
        return self._policy.copy()

    def act(self) -> Ints:
        """Return the genome to play in this round, (genes,), the same until `observe` is called."""
        if not self._acted:
            self._seated.policies[0, 0] = self.policy
            self._seated.draw(0)
            self._acted = True
        return np.array(self._seated.actions[0, 0])

    def observe(self, *, reward: float, opponent: ArrayLike | None = None) -> None:
        """Report the reward of this round and, to learners that see it, the opponent's genome.

        Args:
            reward: the reward of the genome, in the units of `payoff_range`.
            opponent: the opponent's genome: bits, one per gene.
        """
        if not self._acted:
            raise InputError("observe came before act; ask act() for a genome, play it, then call observe().")
        reward = check_reward(reward)
        shown: Any = None
        if "opponent" in self.learner.sees:
            bits = np.asarray(opponent)
            if bits.shape != (self.genes,) or not np.isin(bits, (0, 1)).all():
                raise InputError(
                    f"opponent is {shorten(opponent)}; accepted: the opponent's genome, {self.genes} bits, since "
                    f"{self.learner} learns from it."
                )
            shown = bits.astype(np.int8)[None]
        self._seated.observe(self._round, 0, self._seated.actions[0], shown, np.array([float(reward)]))
        self._round, self._acted, self._policy = self._round + 1, False, None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to continue from, as JSON and arrays, in one .npz file.

        Args:
            path: of the file, which is replaced whole or not at all.
        """
        content = {name: getattr(self, name) for name in _SETTINGS} | {"actions": None, "opponent_actions": None}
        content |= {"learner": str(self.learner), "round": self._round, "acted": self._acted}
        arrays = {} if self._policy is None else {"policy": self._policy}
        if self._acted:
            arrays["genome"] = self._seated.actions[0, 0]
        write_player(path, content, arrays, self._seated.state(self._seat_learner()))

    @classmethod
    def load(cls, path: str | os.PathLike[str], learner: str | Learner | None = None) -> GenomePlayer:
        """Continue where `save` stopped.

        A copy plays two rounds first, so that a file that does not fit the learner is reported here and not later.

        Args:
            path: of a file that `save` wrote.
            learner: an equal learner, or its spec, if it or a part of it is in a file of yours.
        """
        saved = read_player(path)
        with reports_damage(path):
            content = saved.content
            player = cls(choose_learner(path, saved, learner), **{name: content[name] for name in _SETTINGS})
            player._round, player._acted = check_integer("round", content["round"], 1), bool(content["acted"])
            player._seated = player._seat_learner(saved.state)
            if "policy" in saved.arrays:
                player._policy = np.array(saved.arrays["policy"], np.float64).reshape(player.genes)
            if player._acted:
                player._seated.actions[0, 0] = saved.arrays["genome"]
            copy.deepcopy(player)._rehearse()
        return player

    def _rehearse(self) -> None:
        """Play two rounds: a state that does not fit the learner, or is no genome or policy, fails."""
        for _ in range(2):
            if not np.isin(self.act(), (0, 1)).all() or not ((self.policy >= 0) & (self.policy <= 1)).all():
                raise ValueError("it has a genome or a policy that no learner makes")
            self.observe(reward=sum(self.payoff_range) / 2, opponent=np.zeros(self.genes))

    def __getstate__(self) -> dict[str, Any]:
        acted = self._seated.actions[0, 0].copy() if self._acted else None
        return vars(self) | {"_seated": self._seated.state(self._seat_learner()), "_genome": acted}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        genome = attributes.pop("_genome")
        vars(self).update(attributes)
        self._seated = self._seat_learner(attributes["_seated"])
        if genome is not None:
            self._seated.actions[0, 0] = genome

    def __repr__(self) -> str:
        return f"<GenomePlayer {self.learner}, {self.genes} genes, round {self.round}>"
