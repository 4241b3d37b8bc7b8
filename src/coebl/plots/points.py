"""Points with their names beside them, and plain numbers on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from coebl.core.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEAR = 9  # points of print; a label that is farther up or down has a line to its point
_LEADER = {"arrowstyle": "-", "color": "0.45", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}


def plain_log_scale(ax: Axes, direction: Literal["x", "y"] = "y") -> None:
    """Make an axis logarithmic, with plain numbers at 1, 2 and 5: less than a decade has few powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    ax.set(**{f"{direction}scale": "log"})
    axis = ax.xaxis if direction == "x" else ax.yaxis
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())


def label_points(
    ax: Axes,
    labels: Sequence[str],
    x: Floats,
    y: Floats,
    rises: Sequence[float] = (4.5, -4.5, 0, 9, -9),
) -> None:
    """Write a label beside each point, on the side where it covers the fewest points, labels and edges of the axes.

    Args:
        ax: the axes, whose scales and limits are final.
        labels: one per point.
        x: the coordinates of the points.
        y: likewise.
        rises: the accepted heights of a label above its point, in points of print; the first that is free is taken.
    """
    from matplotlib.patheffects import withStroke

    ax.get_xlim(), ax.get_ylim()  # brings the scales up to date, on which the transformation depends
    scale = 72 / ax.figure.dpi  # from dots to points of print
    taken = list(ax.transData.transform(np.column_stack([x, y])) * scale)
    (left, _), (right, _) = (ax.transAxes.transform((side, 0)) * scale for side in (0, 1))
    for label, to_right, up, at in zip(labels, x, y, taken.copy(), strict=True):
        reach = 2.2 * len(label)  # half of its width: a digit of 7 points is some 4.4 wide
        offsets = [np.array((side * (reach + 3.5), rise)) for rise in rises for side in (1, -1)]
        crowds = [
            _covered(at + offset, reach, taken)
            + 2 * (at[0] + offset[0] - reach < left)
            + 2 * (at[0] + offset[0] + reach > right + 20)
            for offset in offsets
        ]
        offset = offsets[crowds.index(min(crowds))]  # the first, which is the nearest
        taken += [at + offset + (shift, 0) for shift in np.linspace(-reach, reach, max(3, int(reach / 4)))]
        ax.annotate(
            label,
            (to_right, up),
            xytext=(offset[0], offset[1]),
            textcoords="offset points",
            ha="center",
            va="center_baseline",
            fontsize=7,
            arrowprops=_LEADER if abs(offset[1]) > _NEAR else None,
            path_effects=[withStroke(linewidth=1.5, foreground="white")],
        )


def _covered(middle: Floats, reach: float, taken: Sequence[Floats]) -> int:
    """Return the number of taken places that a label would cover."""
    across, up = np.abs(middle - np.array(taken)).T
    return int(np.sum((across < reach + 2.5) & (up < 7)))
