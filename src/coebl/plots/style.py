"""How figures look: one palette, one look, for screen and for grey print. The page takes its lines from here too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.naming.looks import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REFERENCE: Style = {"color": "black", "linestyle": (0, (1, 1.6)), "linewidth": 1.0}
GUIDE: Style = {"color": "0.45", "linestyle": "-", "linewidth": 0.6, "zorder": 1}  # an axis through the data
NOTE = "0.35"  # the grey of small print
BAND = 0.18  # opacity

WIDTH = 7.0  # of the text, in inches: figures are printed as they are, so a point is a point
COLUMN = 3.4

# Fonts come with matplotlib, so that figures are alike everywhere. SVG names its parts by hash: with a fixed salt,
# always the same ones.
_LOOK: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.titlepad": 4,
    "axes.titley": 1.0,  # fixed: to look for a free place takes a fifth of the drawing time
    "axes.labelsize": 7.5,
    "axes.labelpad": 2.5,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "0.35",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "ytick.minor.size": 1.5,
    "ytick.minor.width": 0.4,
    "xtick.color": "0.35",
    "ytick.color": "0.35",
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "legend.fontsize": 7,
    "legend.title_fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.4,
    "legend.borderaxespad": 0.2,
    "hatch.linewidth": 0.5,
    "pdf.fonttype": 42,
    "svg.hashsalt": "coebl",
    "savefig.dpi": 200,
}


@contextmanager
def look() -> Iterator[None]:
    """The look of our figures, whatever the user's settings are; they are back afterwards."""
    matplotlib = require("matplotlib")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_LOOK)
        yield


def new_figure(width: float = COLUMN, height: float = 2.4) -> Figure:
    """An empty figure that pyplot knows nothing of."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def lay_out(figure: Figure) -> None:
    """Make room for all labels, once: a layout engine of the figure's own does so at every saving, and draws twice."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.05).execute(figure)


@contextmanager
def canvas(ax: Axes | None, width: float = COLUMN, height: float = 2.4) -> Iterator[Axes]:
    """The axes that are given, in the user's look; or those of a new figure, in ours, laid out at the end."""
    if ax is not None:
        yield ax
        return
    with look():
        figure = new_figure(width, height)
        yield figure.add_subplot()
        lay_out(figure)


def check_some(argument: str, given: Mapping[Any, Any]) -> None:
    """Raise an `InputError` if there is nothing to draw."""
    if not given:
        raise InputError(f"{argument} is empty; accepted: one or more, each with a match.")


def seeds_text(numbers: Iterable[int]) -> str:
    """Over how many seeds means are taken, in words.

    >>> seeds_text([50]), seeds_text([20, 50])
    ('50 seeds', '20 to 50 seeds')
    """
    low, high = min(numbers := set(numbers)), max(numbers)
    return f"{low} seed{'s' * (low > 1)}" if low == high else f"{low} to {high} seeds"
