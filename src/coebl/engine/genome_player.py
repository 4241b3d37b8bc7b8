"""A learner of genomes as a player in a real repeated contest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.arrays import MOST_ENTRIES, Floats, Ints
from coebl.core.errors import InputError, check_integer, shorten
from coebl.engine.player_file import Contestant, Saved
from coebl.engine.units import Units, check_noise, check_reward, check_scale
from coebl.games import Bits
from coebl.learners import Learner, parse_learner
from coebl.search import Search


class GenomePlayer(Contestant):
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

    _settings = ("genes", "horizon", "seed", "payoff_range", "noise")

    def __init__(
        self,
        learner: str | Learner,
        genes: int,
        horizon: int | None = None,
        seed: int | None = 0,
        payoff_range: tuple[float, float] = (-1.0, 1.0),
        noise: float = 1.0,
    ) -> None:
        learner = parse_learner(learner)
        if "bits" not in learner.plays:
            raise InputError(f"{learner} plays numbered actions; accepted: a learner of genomes. Use Player.")
        if isinstance(learner, Search):
            raise InputError(f"{learner} is a search over both players' genomes; accepted: a learner of genomes.")
        self.genes = check_integer("genes", genes, 1, MOST_ENTRIES)
        super().__init__(learner, (Bits(self.genes), Bits(self.genes)), horizon, seed)
        self.payoff_range, self.noise = check_scale(payoff_range), check_noise(noise)
        self._units = Units(self.payoff_range, self.noise)
        self._genome: Ints | None = None  # (genes,), of this round if it was asked for
        self._seated = self._seat_learner()

    @property
    def round(self) -> int:
        """The current round, from 1."""
        return self._round

    @property
    def policy(self) -> Floats:
        """The probability of a 1 for each gene in this round: (genes,)."""
        return self._next_policy().copy()

    def act(self) -> Ints:
        """Return the genome to play in this round, (genes,), the same until `observe` is called."""
        if self._genome is None:
            self._genome = self._draw(self._next_policy())
        return np.array(self._genome)

    def observe(self, *, reward: float, opponent: ArrayLike | None = None) -> None:
        """Report the reward of this round and, to learners that see it, the opponent's genome.

        Args:
            reward: the reward of the genome, in the units of `payoff_range`.
            opponent: the opponent's genome: bits, one per gene.
        """
        if self._genome is None:
            raise InputError("observe was called before act; ask act() for a genome, play it, then call observe().")
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
        self._seated.observe(self._round, 0, self._genome[None], shown, np.array([reward]))
        self._round, self._genome, self._policy = self._round + 1, None, None

    def _describe(self) -> tuple[dict[str, Any], dict[str, Any]]:
        content = {name: getattr(self, name) for name in self._settings} | {"actions": None, "opponent_actions": None}
        arrays = {"policy": self._policy, "genome": self._genome}
        present = {name: array for name, array in arrays.items() if array is not None}
        return content | {"round": self._round, "acted": "genome" in present}, present

    def _restore(self, saved: Saved) -> None:
        self._round = check_integer("round", saved.content["round"], 1)
        self._seated = self._seat_learner(saved.state)
        if "policy" in saved.arrays:
            self._policy = np.array(saved.arrays["policy"], np.float64).reshape(self.genes)
        if saved.content["acted"]:
            self._genome = np.array(saved.arrays["genome"], "int8").reshape(self.genes)

    def _rehearse(self) -> None:
        """Play two rounds."""
        for _ in range(2):
            if not np.isin(self.act(), (0, 1)).all() or not ((self.policy >= 0) & (self.policy <= 1)).all():
                raise ValueError("it has a genome or a policy that no learner makes")
            self.observe(reward=sum(self.payoff_range) / 2, opponent=np.zeros(self.genes))

    def __repr__(self) -> str:
        return f"<GenomePlayer {self.learner}, {self.genes} genes, round {self.round}>"
