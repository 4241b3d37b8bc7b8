"""The style of figures, their layout, and files."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coebl.core.errors import InputError, printable
from coebl.core.files import make_folder, write_whole
from coebl.core.modules import require
from coebl.core.text import one_line
from coebl.naming import Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure, SubFigure

REFERENCE: Style = {"color": "black", "linestyle": (0, (1, 1.6)), "linewidth": 1.0}
GUIDE: Style = {"color": "0.45", "linestyle": "-", "linewidth": 0.6, "zorder": 1}  # an axis through the data
NOTE = "0.35"  # the grey of small print
BAND = 0.18  # opacity
FOR, AGAINST = "#0072B2", "#C05000"  # blue: above 0, ahead, reached; orange: below 0, behind, missed; as on the page
_ENDS = ("#7F3300", AGAINST, "#F2AB7A", "#F7F7F7", "#86BCE0", FOR, "#003F66")
_LONGEST = 200  # characters of a name
_MARGIN = 0.1  # around a legend, in inches

FORMATS = ("pdf", "svg", "png")
"""The formats in which figures can be written."""

_UNDATED: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}  # metadata without a date

WIDTH = 7.0  # of the text, in inches: figures are printed at this size, so that fonts keep theirs
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
            if "Parse" not in str(error):  # errors of pyparsing, with which matplotlib parses mathematics
                raise
            reason = one_line(error, 200)
            raise InputError(f"a formula or a title cannot be drawn ({reason}). Write \\$ for a dollar sign.") from None


def drawable(name: str) -> str:
    """Return a name of any length and content as figures show it; a dollar sign does not begin mathematics.

    >>> drawable("a$b$")
    'a\\\\$b\\\\$'
    """
    return printable(one_line(name, _LONGEST)).replace("$", r"\$")


def blue_orange() -> Colormap:
    """Return the colour map of numbers from -1 (orange) through 0 (nearly white) to 1 (blue)."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("blue-orange", _ENDS)


@contextmanager
def drawing(width: float = COLUMN, height: float = 2.4) -> Iterator[Figure]:
    """Yield a new figure in the package's style, and make room for all its labels at the end.

    A layout engine would do so each time the figure is saved, and draw twice.
    """
    with look():
        from matplotlib import rcParams
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        figure = Figure(figsize=(width, height))  # which is not registered with pyplot
        yield figure
        if isinstance(rcParams["savefig.dpi"], float):
            figure.dpi = rcParams["savefig.dpi"]  # the width of letters depends on the resolution
        ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.05).execute(figure)


@contextmanager
def canvas(ax: Axes | None, width: float = COLUMN, height: float = 2.4) -> Iterator[Axes]:
    """Yield the given axes, in the user's style; or those of a new figure, in the package's, laid out at the end."""
    if ax is not None:
        yield ax
        return
    with drawing(width, height) as figure:
        yield figure.add_subplot()


@contextmanager
def panels(count: int, height: float, margin: float) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yield a new figure with panels, up to three side by side; only the first of a row keeps the label of its axis.

    Args:
        count: the number of panels.
        height: the height of a panel, in inches.
        margin: the height of the rest of the figure, in inches.
    """
    across = min(3, count)
    down = -(-count // across)
    with drawing(WIDTH if across > 1 else COLUMN + 1, height * down + margin) as figure:
        axes = figure.subplots(down, across, squeeze=False).ravel().tolist()
        for ax in axes[count:]:
            ax.remove()
        yield figure, axes[:count]
        for place, ax in enumerate(axes[:count]):
            ax.set_ylabel("" if place % across else ax.get_ylabel())


def plain_log_scale(ax: Axes, direction: Literal["x", "y"] = "y") -> None:
    """Make an axis logarithmic, with plain numbers at 1, 2 and 5, for ranges with few powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    ax.set(**{f"{direction}scale": "log"})
    axis = ax.xaxis if direction == "x" else ax.yaxis
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())


def legend_entries(axes: Iterable[Axes]) -> dict[str, Artist]:
    """Return the entries of the legends of several axes by label, each label once."""
    entries: dict[str, Artist] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return entries


def add_legend(
    figure: Figure,
    entries: Mapping[str, Artist],
    place: Literal["outside lower center", "outside upper center"],
    most: int,
) -> None:
    """Add one legend for all panels, in as many columns as fit; the figure grows to make room."""
    for columns in range(min(len(entries), most), 0, -1):
        legend = figure.legend(entries.values(), entries.keys(), loc=place, ncols=columns)
        box = legend.get_window_extent()
        width, height = box.width / figure.dpi + 2 * _MARGIN, box.height / figure.dpi
        if width <= figure.get_figwidth() or columns == 1:
            break
        legend.remove()
    figure.set_size_inches(max(width, figure.get_figwidth()), figure.get_figheight() + height + _MARGIN)


def check_some(argument: str, given: Collection[Any]) -> None:
    """Raise an `InputError` if there is nothing to draw."""
    if not given:
        raise InputError(f"{argument} is empty; accepted: one or more, each with a match.")


def save(
    figure: Figure | SubFigure,
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
    return [write_whole(folder / f"{name}.{format}", drawn(figure.figure, format), within=within) for format in formats]


def drawn(figure: Figure, format: str) -> bytes:
    """Return a figure as the content of a file; the same figure gives the same bytes."""
    stream = io.BytesIO()
    with look():
        figure.savefig(stream, format=format, metadata=_UNDATED.get(format))
    return stream.getvalue()
