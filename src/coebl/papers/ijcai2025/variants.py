"""The learners of the paper in each variant. The experiments themselves are in study.toml beside this file.

The paper's four learners play in three variants, each one step away from the one before, so that the cause of a change
in the results can be seen: the text; the text with c = 2 everywhere; and that with Exp3 and Exp3-IX as released.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

import numpy as np

from coebl import papers
from coebl.core.specs import split_spec
from coebl.evidence.checks import MatchSpecs, Setting
from coebl.learners import parse_learner
from coebl.plots import Reference

STUDY = resources.files(__package__).joinpath("study.toml").read_text(encoding="utf-8")
_KEYS = tomllib.loads(STUDY)
TITLE: str = _KEYS["title"]
QUESTION: str = _KEYS["description"]
SETTING = Setting(_KEYS["rounds"], _KEYS["noise"])

Role = Literal["coebl", "ucb", "exp3", "exp3-ix"]  # a learner of the paper; the variant says which spec plays it

SIZES = (2, 3, 4, 5, 6, 7)
MAIN_SIZES = (2, 3, 4)  # of the figures in the main text, and of the quick run
FAMILIES = ("diagonal", "bigger-number")
ROLES: tuple[Role, ...] = ("coebl", "ucb", "exp3", "exp3-ix")
BASELINES: tuple[Role, ...] = ("exp3", "exp3-ix", "ucb")
BEST_RESPONSE = "best-response"
REFERENCE = Reference("0.1 √(K² t)", lambda actions, rounds: 0.1 * actions * np.sqrt(rounds))
RATES = (0, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8)  # the c of the frontier


@dataclass(frozen=True)
class Variant(papers.Variant):
    """The specs of the four learners of the paper."""

    note: str
    exp3: str = "exp3"
    exp3_ix: str = "exp3-ix"
    rate: int | None = None  # COEBL's c; None is the text's: 2 on rock-paper-scissors, 8 elsewhere

    def spec(self, role: Role, game: str) -> str:
        """Return the learner that plays a role on a game.

        >>> VARIANTS["text"].spec("coebl", "rps"), VARIANTS["text"].spec("coebl", "diagonal:n=2")
        ('coebl:c=2', 'coebl')
        """
        if role == "coebl":
            return coebl(self.rate or (2 if game == "rps" else 8))
        return {"ucb": "ucb", "exp3": self.exp3, "exp3-ix": self.exp3_ix}[role]

    def learners(self, game: str) -> list[str]:
        """Return the learners of all roles on a game."""
        return [self.spec(role, game) for role in ROLES]

    def self_play(self, role: Role, game: str) -> MatchSpecs:
        """Return the match of a learner against itself."""
        return MatchSpecs(game, self.spec(role, game), self.spec(role, game))

    def against_coebl(self, role: Role, game: str) -> MatchSpecs:
        """Return the match of a baseline in the row seat against COEBL."""
        return MatchSpecs(game, self.spec(role, game), self.spec("coebl", game))

    def against_best_response(self, role: Role, game: str) -> MatchSpecs:
        """Return the match of a learner in the row seat against the best response to its policy."""
        return MatchSpecs(game, self.spec(role, game), BEST_RESPONSE)


VARIANTS: dict[str, Variant] = {
    variant.id: variant
    for variant in (
        Variant(
            "text",
            "the text",
            "The algorithms as the text states them: c = 2 on rock-paper-scissors, c = 8 elsewhere.",
        ),
        Variant(
            "c=2",
            "c = 2 everywhere",
            "The same with c = 2 everywhere, as in the released program.",
            rate=2,
        ),
        Variant(
            "as-released",
            "as released",
            "The same with c = 2, and with Exp3 and Exp3-IX updated as in the released program.",
            "exp3-as-released",
            "exp3-ix-as-released",
            rate=2,
        ),
    )
}


def coebl(rate: float) -> str:
    """Return the canonical spec of COEBL with this c.

    >>> coebl(8), coebl(0.5)
    ('coebl', 'coebl:c=0.5')
    """
    return str(parse_learner(f"coebl:c={rate:g}"))


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
