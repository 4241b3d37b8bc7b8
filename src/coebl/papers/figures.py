"""Figures made of panels, which is what the figures of a paper are.

A figure is one function that lists its panels in a variant. What it draws and what data it needs both follow from that
list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic

from coebl.core.errors import InputError
from coebl.papers import V, no_data
from coebl.papers.panels import Panel
from coebl.plots.style import COLUMN, WIDTH, lay_out, look, new_figure
from coebl.runs import MatchSpecs, Source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Groups = list[list[Panel]]  # each begins a new row


@dataclass(frozen=True, eq=False)  # a figure equals itself alone, so it can be a key
class PanelFigure(Generic[V]):
    """A figure of panels on a grid, with one legend. Call it to draw it."""

    name: str
    title: str
    panels: Callable[[V], Groups]
    heading: Callable[[str, list[MatchSpecs], V], str]  # from the title, what is shown and the variant
    first: V  # the variant in which it is drawn unless another is named
    twins: Mapping[str, str]  # by choice of measures the ending of its file's name; the first is the default
    varied: bool = True  # whether it depends on the variant

    def needs(self, variant: V | None = None) -> list[MatchSpecs]:
        """The matches that it shows when there is data for all of them."""
        return _needs(self.panels(variant or self.first))

    def has_data(self, source: Source, variant: V | None = None) -> bool:
        """Whether there is data for any of its panels."""
        return bool(self._rows(source, variant or self.first))

    def __call__(self, source: Source, variant: V | None = None, measures: str | None = None) -> Figure:
        """Draw those of its panels for which there is data."""
        variant, measures = variant or self.first, measures or next(iter(self.twins))
        if measures not in self.twins:
            raise InputError(f"measures is {measures!r}; accepted: {', '.join(self.twins)}.")
        rows = self._rows(source, variant)
        if not rows:
            raise no_data(self, variant)
        with look():
            figure = _on_a_grid(rows, source, measures)
            heading = self.heading(self.title, _needs(rows), variant) if self.varied else self.title
            _add_legend(figure, heading)
            lay_out(figure)
            return figure

    def drawings(self, source: Source, variant: V) -> Iterator[tuple[str, Figure]]:
        """The figure with each choice of measures, by the name of its file."""
        for measures, ending in self.twins.items():
            yield self.name + ending, self(source, variant, measures)

    def _rows(self, source: Source, variant: V) -> list[list[Panel]]:
        """The panels that there is data for, row by row."""
        present = source.matches()
        return [row for group in self.panels(variant) for row in _rows_of(group, present)]


def _needs(groups: Groups) -> list[MatchSpecs]:
    return list(dict.fromkeys(match for group in groups for panel in group for match in panel.needs))


def _rows_of(group: list[Panel], present: Sequence[tuple[str, str, str]]) -> list[list[Panel]]:
    """What is there of a group, as many in a row as the page is wide."""
    panels = [part for panel in group if (part := panel.within(present))]
    across = round(WIDTH / panels[0].size[0]) if panels else 1
    return [panels[first : first + across] for first in range(0, len(panels), across)]


def _on_a_grid(rows: list[list[Panel]], source: Source, measures: str) -> Figure:
    """The panels on a grid; what a neighbour to the left or below says is not said again."""
    columns = max(map(len, rows))
    width, _ = rows[0][0].size
    figure = new_figure(max(COLUMN, columns * width), 0.5 + sum(row[0].size[1] for row in rows))
    axes = figure.subplots(len(rows), columns, squeeze=False)
    for row, places in zip(rows, axes, strict=True):
        for panel, place in zip(row, places, strict=False):
            panel.draw(source, place, measures)
        for left, right in reversed(list(pairwise(places))):
            if left.get_ylabel() == right.get_ylabel():
                right.set_ylabel("")
        for place in places[len(row) :]:
            place.remove()
    for upper, lower in pairwise(axes):
        for above, below in zip(upper, lower, strict=True):
            if below.figure and above.get_xlabel() == below.get_xlabel():
                above.set_xlabel("")
                above.tick_params(labelbottom=above.get_xlim() != below.get_xlim())
    return figure


def _add_legend(figure: Figure, heading: str) -> None:
    """One legend for all panels, above them."""
    entries: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    columns = len(entries) if figure.get_figwidth() > 6 else 2
    labels = sorted(entries, key=lambda label: label.startswith("band"))  # at the end
    handles = [entries[label] for label in labels]
    figure.legend(handles, labels, loc="outside upper center", ncols=max(1, columns), title=heading)
