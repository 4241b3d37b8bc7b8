"""The experiments of the paper, as pairings of learners on its games, and the study that runs them.

The paper's four learners play in three variants, each one step away from the one before, so that what moves a result
can be seen: the text; the text with c = 2 everywhere; and that with Exp3 and Exp3-IX as the paper's program has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from coebl.learners import parse_learner
from coebl.study import Cell, Study

Role = Literal["coebl", "ucb", "exp3", "exp3-ix"]  # a learner of the paper, whatever the variant makes of it
VariantId = Literal["text", "c=2", "as-released"]

ROUNDS = 3000
SEEDS = 50
QUICK_SEEDS = 20
SIZES = (2, 3, 4, 5, 6, 7)
QUICK_SIZES = (2, 3, 4)
FAMILIES = ("diagonal", "bigger-number")
ROLES: tuple[Role, ...] = ("coebl", "ucb", "exp3", "exp3-ix")
BASELINES: tuple[Role, ...] = ("exp3", "exp3-ix", "ucb")
RATES = (0, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8)  # of the frontier

NAME = "ijcai2025"
RECORD = 10
NOISE = "gaussian"  # standard normal
METRICS = (
    "regret",
    "pseudo_regret",
    "absolute_regret",
    "regret_magnitude",
    "absolute_pseudo_regret",
    "exploitability",
    "tv",
)


class Pairing(NamedTuple):
    """A row learner against a column learner on a game: what a figure or a claim needs, and a match-up of the study."""

    game: str
    row: str
    column: str


@dataclass(frozen=True)
class Variant:
    """What the four learners of the paper are."""

    id: VariantId
    title: str
    exp3: str = "exp3"
    exp3_ix: str = "exp3-ix"
    rate: int | None = None  # COEBL's c; None is the text's: 2 on rock-paper-scissors, 8 elsewhere

    def spec(self, role: Role, game: str) -> str:
        """The learner that plays a role on a game.

        >>> VARIANTS["text"].spec("coebl", "rps"), VARIANTS["text"].spec("coebl", "diagonal:n=2")
        ('coebl:c=2', 'coebl')
        """
        if role == "coebl":
            rate = self.rate or (2 if game == "rps" else 8)
            return coebl(rate)
        return {"ucb": "ucb", "exp3": self.exp3, "exp3-ix": self.exp3_ix}[role]

    def self_play(self, role: Role, game: str) -> Pairing:
        """A learner against itself."""
        return Pairing(game, self.spec(role, game), self.spec(role, game))

    def against_coebl(self, role: Role, game: str) -> Pairing:
        """A baseline in the row seat against COEBL."""
        return Pairing(game, self.spec(role, game), self.spec("coebl", game))

    def against_best_response(self, role: Role, game: str) -> Pairing:
        """A learner in the row seat against the best response to its policy."""
        return Pairing(game, self.spec(role, game), "best-response")


VARIANTS: dict[VariantId, Variant] = {
    variant.id: variant
    for variant in (
        Variant("text", "the text"),
        Variant("c=2", "c = 2 everywhere", rate=2),
        Variant("as-released", "as released", "exp3-as-released", "exp3-ix-as-released", rate=2),
    )
}


def coebl(rate: float) -> str:
    """COEBL with this c, as a canonical spec.

    >>> coebl(8), coebl(0.5)
    ('coebl', 'coebl:c=0.5')
    """
    return str(parse_learner(f"coebl:c={rate:g}"))


def games(sizes: Sequence[int] = SIZES) -> list[str]:
    """Rock-paper-scissors, then both families by size.

    >>> games((2,))
    ['rps', 'diagonal:n=2', 'bigger-number:n=2']
    """
    return ["rps", *(f"{family}:n={size}" for family in FAMILIES for size in sizes)]


def size_of(game: str) -> int | None:
    """The n of a game of the two families.

    >>> size_of("diagonal:n=4"), size_of("rps")
    (4, None)
    """
    _, _, size = game.partition(":n=")
    return int(size) if size else None


def actions_of(game: str) -> int:
    """K, how many actions each player has."""
    size = size_of(game)
    return 3 if size is None else 2**size


def match_ups(variant: Variant, game: str) -> list[Pairing]:
    """The seven of the paper: four self-plays, three baselines against COEBL."""
    return [
        *(variant.self_play(role, game) for role in ROLES),
        *(variant.against_coebl(role, game) for role in BASELINES),
    ]


def best_responses(game: str) -> list[Pairing]:
    """COEBL as in each variant, and UCB, against a best response: on games where the theorem speaks, T >= 2 m²."""
    if 2 * actions_of(game) ** 2 > ROUNDS:
        return []
    return [VARIANTS[variant].against_best_response(role, game) for variant in VARIANTS for role in ("coebl", "ucb")]


def frontier(game: str) -> list[Pairing]:
    """COEBL with every c, against itself and against a best response; on games of up to 16 actions."""
    if actions_of(game) > 16:
        return []
    return [Pairing(game, coebl(rate), opponent) for rate in RATES for opponent in (coebl(rate), "best-response")]


def all_pairings(sizes: Sequence[int] = SIZES) -> list[Pairing]:
    """Everything, each once."""
    pairings = [
        pairing
        for game in games(sizes)
        for pairing in (
            *(pairing for variant in VARIANTS.values() for pairing in match_ups(variant, game)),
            *best_responses(game),
            *frontier(game),
        )
    ]
    return list(dict.fromkeys(pairings))


def study(pairings: Iterable[Pairing], seeds: int = SEEDS) -> Study:
    """The study of these pairings. Cells do not depend on what else is asked for, so that any part is resumed."""
    cells = tuple(
        Cell(game, row, column, ROUNDS, block, None, RECORD, METRICS + (("kl",) if game == "rps" else ()))
        for game, row, column in dict.fromkeys(pairings)
        for block in _blocks(game)
        if block[-1] < seeds
    )
    return Study(NAME, cells, _TEXT)


def _blocks(game: str) -> list[tuple[int, ...]]:
    """Seeds that are run together: few in large games, whose matrices then stay in the processor's cache."""
    ends = [0, QUICK_SEEDS, SEEDS] if actions_of(game) <= 16 else range(0, SEEDS + 1, 10)
    return [tuple(range(first, last)) for first, last in pairwise(ends)]


_TEXT = f"""\
# Made by: coebl reproduce. To go on with it: coebl reproduce --out FOLDER
name = "{NAME}"
rounds = {ROUNDS}
"""
