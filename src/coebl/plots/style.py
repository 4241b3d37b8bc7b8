"""The style of figures, their layout, labels of points, and files."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, printable
from coebl.core.files import make_folder, write_whole
from coebl.core.modules import require
from coebl.core.text import one_line
from coebl.naming import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

REFERENCE: Style = {"color": "black", "linestyle": (0, (1, 1.6)), "linewidth": 1.0}
GUIDE: Style = {"color": "0.45", "linestyle": "-", "linewidth": 0.6, "zorder": 1}  # an axis through the data
NOTE = "0.35"  # the grey of small print
BAND = 0.18  # opacity
FOR, AGAINST = "#0072B2", "#C05000"  # blue: above 0, ahead, reached; orange: below 0, behind, missed; as on the page
_ENDS = ("#7F3300", AGAINST, "#F2AB7A", "#F7F7F7", "#86BCE0", FOR, "#003F66")
_LONGEST = 200  # characters of a name
_NEAR = 9  # points of print; a label that is farther up or down has a line to its point
_LEADER = {"arrowstyle": "-", "color": "0.45", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}

FORMATS = ("pdf", "svg", "png")
"""The formats in which figures can be written."""

_UNDATED: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}  # metadata without a date

WIDTH = 7.0  # of the text, in inches: figures are printed as they are, so a point is a point
COLUMN = 3.4

_LOOK = Path(__file__).with_name("coebl.mplstyle")


@contextmanager
def look() -> Iterator[None]:
    """Use the package's figure style in a block, in place of the user's settings."""
    matplotlib = require("matplotlib")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rc_file(_LOOK, use_default_template=False)
        try:
            yield
        except ValueError as error:
            if "Parse" not in str(error):  # the errors of pyparsing, by which matplotlib reads mathematics
                raise
            reason = one_line(error, 200)
            raise InputError(f"a formula or a title cannot be drawn ({reason}). Write \\$ for a dollar sign.") from None


def drawable(name: str) -> str:
    """Return a name of any length and content as figures show it; a dollar sign does not begin mathematics.

    >>> drawable("a$b$")
    'a\\\\$b\\\\$'
    """
    return printable(one_line(name, _LONGEST)).replace("$", r"\$")


def new_figure(width: float = COLUMN, height: float = 2.4) -> Figure:
    """Return an empty figure that is not registered with pyplot."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def lay_out(figure: Figure) -> None:
    """Make room for all labels, once: the layout engine of a figure would do so at every saving, and draw twice."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.05).execute(figure)


def blue_orange() -> Colormap:
    """Return the colours of numbers from -1, orange, over 0, nearly white, to 1, blue."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("blue-orange", _ENDS)


@contextmanager
def canvas(ax: Axes | None, width: float = COLUMN, height: float = 2.4) -> Iterator[Axes]:
    """Yield the given axes, in the user's style; or those of a new figure, in the package's, laid out at the end."""
    if ax is not None:
        yield ax
        return
    with look():
        figure = new_figure(width, height)
        yield figure.add_subplot()
        lay_out(figure)


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

    The scales and limits of the axes have to be final. The first of the accepted `rises` above a point, in points of
    print, that is free is taken.
    """
    from matplotlib.patheffects import withStroke

    ax.get_xlim(), ax.get_ylim()  # brings the scales up to date, on which the transformation depends
    scale = 72 / ax.figure.dpi  # from dots to points of print
    taken = list(ax.transData.transform(np.column_stack([x, y])) * scale)
    (left, _), (right, _) = (ax.transAxes.transform((side, 0)) * scale for side in (0, 1))
    for label, to_right, up, point in zip(labels, x, y, taken.copy(), strict=True):
        reach = 2.2 * len(label)  # half of its width: a digit of 7 points is some 4.4 wide
        offsets = [np.array((side * (reach + 3.5), rise)) for rise in rises for side in (1, -1)]
        crowds = [
            _covered(point + offset, reach, taken)
            + 2 * (point[0] + offset[0] - reach < left)
            + 2 * (point[0] + offset[0] + reach > right + 20)
            for offset in offsets
        ]
        offset = offsets[crowds.index(min(crowds))]  # the first, which is the nearest
        taken += [point + offset + (shift, 0) for shift in np.linspace(-reach, reach, max(3, int(reach / 4)))]
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


def check_some(argument: str, given: Mapping[Any, Any]) -> None:
    """Raise an `InputError` if there is nothing to draw."""
    if not given:
        raise InputError(f"{argument} is empty; accepted: one or more, each with a match.")


def seeds_text(numbers: Iterable[int]) -> str:
    """Return the number of seeds of some means, in words.

    >>> seeds_text([50]), seeds_text([20, 50])
    ('50 seeds', '20 to 50 seeds')
    """
    low, high = min(numbers := set(numbers)), max(numbers)
    return f"{low} seed{'s' * (low > 1)}" if low == high else f"{low} to {high} seeds"


def save(
    figure: Figure,
    folder: str | os.PathLike[str],
    name: str,
    formats: Sequence[str] = FORMATS,
    within: str | os.PathLike[str] | None = None,
) -> list[Path]:
    """Write a figure as folder/name.format for each format, and return the paths.

    The folder is created if it does not exist. The same figure gives the same bytes. No file is ever incomplete.

    Args:
        figure: the figure.
        folder: the output folder.
        name: the name of the files, without an ending.
        formats: any of `FORMATS`.
        within: a folder of results; links inside it are not followed.

    >>> from coebl import simulate
    >>> ax = simulate("rps", "ucb", "exp3", rounds=20, seeds=4).plot("pseudo_regret")
    >>> [str(path) for path in save(ax.figure, "figures", "a-match", ["svg"])]
    ['figures/a-match.svg']
    """
    for format in formats:
        if format not in FORMATS:
            raise InputError(f"format is {format!r}; accepted: {', '.join(FORMATS)}.")
    folder = make_folder(folder, within)
    with look():
        return [write_whole(folder / f"{name}.{format}", _drawn(figure, format), within=within) for format in formats]


def _drawn(figure: Figure, format: str) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format=format, metadata=_UNDATED.get(format))
    return stream.getvalue()
