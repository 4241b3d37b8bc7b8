"""How figures look: one palette, one look, for screen and for grey print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coebl.core.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Style = Mapping[str, Any]  # keywords of a matplotlib line

# Okabe and Ito's colours, which the colour-blind tell apart, each with dashes of its own for grey print. Dots are the
# reference line's. The first four belong to the learners of that name, in every figure.
STYLES: dict[str, Style] = {
    "coebl": {"color": "#0072B2", "linestyle": "-", "linewidth": 1.3},
    "ucb": {"color": "#D55E00", "linestyle": (0, (6, 1.5)), "linewidth": 1.0},
    "exp3": {"color": "#009E73", "linestyle": (0, (6, 1.2, 1.2, 1.2)), "linewidth": 1.0},
    "exp3-ix": {"color": "#CC79A7", "linestyle": (0, (2.5, 1.2)), "linewidth": 1.0},
    "fifth": {"color": "#E69F00", "linestyle": (0, (9, 1.2, 2, 1.2)), "linewidth": 1.0},
    "sixth": {"color": "#56B4E9", "linestyle": (0, (6, 1, 1, 1, 1, 1)), "linewidth": 1.0},
}

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
    try:
        import matplotlib
    except ImportError:
        raise InputError("this needs matplotlib; run: pip install 'coebl[report]'") from None
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
