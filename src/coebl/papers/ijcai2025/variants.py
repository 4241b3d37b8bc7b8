"""The games, roles and variants of the paper, for its claims and figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coebl.core.specs import split_spec
from coebl.learners import Coebl
from coebl.papers import read_setting, read_variants
from coebl.plots import Reference

SETTING, VARIANTS = read_setting(__package__), read_variants(__package__)

SIZES = (2, 3, 4, 5, 6, 7)
MAIN_SIZES = (2, 3, 4)  # of the figures in the main text, and of the quick run
FAMILIES = ("diagonal", "bigger-number")
ROLES = ("coebl", "ucb", "exp3", "exp3-ix")  # the learners of the paper; the variant says which spec plays each
BASELINES = ROLES[1:]
BEST_RESPONSE = "best-response"
REFERENCE = Reference("0.1 √(K² t)", lambda actions, rounds: 0.1 * actions * np.sqrt(rounds))
RATES = (0, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8)  # the c of the figure by-c


def coebl(rate: float) -> str:
    """Return the canonical spec of COEBL with this c.

    >>> coebl(8), coebl(0.5)
    ('coebl', 'coebl:c=0.5')
    """
    return str(Coebl(c=rate))


def games(sizes: Sequence[int] = SIZES) -> list[str]:
    """Return rock-paper-scissors, then both families by size.

    >>> games((2,))
    ['rps', 'diagonal:n=2', 'bigger-number:n=2']
    """
    return ["rps", *(game for family in FAMILIES for game in family_of_games(family, sizes))]


def family_of_games(name: str, sizes: Sequence[int] = SIZES) -> list[str]:
    """Return the games of a family by size."""
    return [f"{name}:n={size}" for size in sizes]


def size_of(game: str) -> int | None:
    """Return the n of a game of the two families.

    >>> size_of("diagonal:n=4"), size_of("rps")
    (4, None)
    """
    size = split_spec(game).arguments.get("n")
    return None if size is None else int(size)


def actions_of(game: str) -> int:
    """Return K, the number of actions of each player."""
    size = size_of(game)
    return 3 if size is None else 2**size


def has_bound(game: str) -> bool:
    """Return True if the theorem covers a game, T >= 2 m²; there, learners also meet a best response."""
    return 2 * actions_of(game) ** 2 <= SETTING.rounds
