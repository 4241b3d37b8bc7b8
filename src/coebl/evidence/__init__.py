"""Evidence: intervals for means, tests paired by seed, comparisons, rankings, and the verdicts on claims.

>>> from coebl.evidence import ALPHA, LEVEL, holm, mean_interval
>>> print(mean_interval([1.0, 2.0, 3.0, 4.0]))
2.5 [0.4457, 4.554]
>>> [p <= ALPHA for p in holm([0.01, 0.04])]
[True, True]
"""

from coebl.evidence.pairwise import Pairing, pairwise
from coebl.evidence.runtimes import Problem, Runtimes, read_runtimes, slope, write_ioh
from coebl.evidence.statistics import (
    ALPHA,
    LEVEL,
    Band,
    Equivalence,
    Estimate,
    correct,
    equivalent,
    holm,
    mean_interval,
    one_sided_p,
    paired_difference,
)

__all__ = [
    "ALPHA",
    "LEVEL",
    "Band",
    "Equivalence",
    "Estimate",
    "Pairing",
    "Problem",
    "Runtimes",
    "correct",
    "equivalent",
    "holm",
    "mean_interval",
    "one_sided_p",
    "paired_difference",
    "pairwise",
    "read_runtimes",
    "slope",
    "write_ioh",
]
