"""The tolerances of the kernels, each with the reason for its size.

The payoffs are scaled into ``B`` with entries in [1, 2] first, so that all of these are relative to the payoff range.
`tableau` explains the names. There is one tuple for each precision of the tableau ``T``; ``b``, ``c``, ``B`` and the
answers are double precision with either.
"""

from typing import NamedTuple

# The largest duality gap, relative to the payoff range, of an answer that is returned. 1e-9 is promised: the difference
# is for the rounding of a user who computes the gap again from the strategies and the payoffs, in another order.
MOST_GAP = 1e-9 - 1e-12


class Tolerances(NamedTuple):
    """The sizes that count as zero, and as too large. The fields are floats, so that compiled code can read them."""

    zero: float
    tiny: float
    exact: float
    loose: float
    near: float
    nudge: float
    rounding: float
    singular: float
    growth: float
    share: float
    tie_error: float
    tie_error_relative: float
    lowest: float
    highest: float
    narrowest: float


DOUBLE = Tolerances(
    # An entry of b or c while it comes out of pivots alone: some thousand roundings of 2e-16.
    zero=1e-12,
    # An entry of T. To pivot on it multiplies the rounding of its row, and 2e-16 times 1e9 is what refinement can still
    # repair.
    tiny=1e-9,
    # An entry of b or c once it is recomputed from B. Refinement goes on until its error is a tenth of this, and what
    # is left in the gap is well below MOST_GAP.
    exact=1e-11,
    # As exact, on the last attempt: where the basis is nearly singular, refinement does not reach as far. It is a tenth
    # of MOST_GAP.
    loose=1e-10,
    # An entry of b that may be a zero as long as refinement has not gone as far as it can: its error is a tenth of
    # exact, times entries of T. Where there is one, refinement goes on, and the rule for ties is applied.
    near=1e-8,
    # What makes equal costs different. It is far above their rounding, even times large entries of T, and far below
    # most costs, so that few pivots are needed once it is gone.
    nudge=1e-6,
    # A probability. Smaller ones are rounding left by refinement, and are set to 0 before the gap is computed.
    rounding=1e-13,
    # The pivot of an inversion from scratch, which exchanges rows: below this, the matrix is singular to working
    # precision, a few hundred times the rounding of an entry of B.
    singular=1e-13,
    # The factor by which a changed entry scales the determinant of the basis. Below this, the update loses three
    # digits, and beginning again is the better choice.
    growth=1e-3,
    # The least pivot in a tie, relative to the largest one that ties. The rule for ties picks the row; this keeps it
    # from picking one whose pivot is mostly rounding.
    share=0.01,
    # The error in the equations of the tie parts e, absolute, and relative to the largest of them. A tie part decides
    # only by its sign and order, so six digits are enough; a singular basis gives errors of order 1.
    tie_error=1e-6,
    tie_error_relative=1e-13,
    # How far the entries of B may move before it is rescaled, and how narrow their range may become. They start
    # in [1, 2]; a factor of about 2 to 4 loses no more than a bit or two of the tolerances above.
    lowest=0.5,
    highest=3.0,
    narrowest=0.25,
)

SINGLE = DOUBLE._replace(
    # A tableau with a rounding of 6e-8 steers, and refinement against B gives the answer. So only what T itself is
    # compared with becomes larger, by the ratio of the two roundings less some digits.
    zero=1e-6,
    tiny=1e-5,
    # Tie parts come from a single-precision product. They are only required not to be nonsense.
    tie_error=0.0,
    tie_error_relative=1e-2,
)
