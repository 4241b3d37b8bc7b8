"""The claims of the paper's abstract, as checks of the share of runs that hit within their budget.

The paper's statements are about growth with n; a check is about a budget: most runs hit, or most do not. At n = 100
there are 2^200 pairs of genomes, and 10^7 queries are 10 n^3.
"""

from __future__ import annotations

from coebl.evidence.checks import Check, MatchSpecs, Setting, Share, Side
from coebl.papers import Checks, Variant
from coebl.search.pdcoea import Pdcoea

LONG, SHORT = Setting(10_000_000, "none"), Setting(1_000_000, "none")  # the budgets of study.toml
SIZES = (25, 50, 100, 200)
POPULATIONS = (50, 60, 70, 80, 90)
RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
LARGE = 500  # the population of the first claim
LOW = (0.1, 0.3)  # its rates
MOST = 0.5  # the share that counts as most runs


def diagonal(n: int) -> str:
    """Return the spec of the paper's game.

    >>> diagonal(100)
    'diagonal:n=100,space=bits,binary=true,mask=false'
    """
    return f"diagonal:n={n},space=bits,binary=true,mask=false"


def pdcoea(population: int, chi: float) -> str:
    """Return the canonical spec of PDCoEA.

    >>> pdcoea(90, 0.1), pdcoea(500, 0.3)
    ('pdcoea:population=90,chi=0.1', 'pdcoea')
    """
    return str(Pdcoea(population=population, chi=chi))


def run(n: int, spec: str) -> MatchSpecs:
    """Return the match of a search on the game of n bits."""
    return MatchSpecs(diagonal(n), spec, spec)


def _share(side: Side, setting: Setting, match: MatchSpecs) -> Check:
    return Share((setting.end(match),), MOST, side)


def _efficient(_: Variant) -> list[Check]:
    return [_share("above", LONG, run(n, pdcoea(LARGE, chi))) for n in SIZES for chi in LOW]


def _threshold(_: Variant) -> list[Check]:
    sides: dict[float, Side] = {0.3: "above", 0.5: "below"}
    return [
        _share(side, LONG, run(100, pdcoea(population, chi)))
        for population in POPULATIONS
        for chi, side in sides.items()
    ]


def _one_pair(variant: Variant) -> list[Check]:
    return [_share("below", SHORT, variant.match(diagonal(100), role)) for role in ("rls-pd", "1+1-coea")]


CHECKS: dict[str, Checks] = {"P1": _efficient, "P2": _threshold, "P3": _one_pair}
