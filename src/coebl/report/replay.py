"""The replay of a run: its policies round by round, as one HTML file that needs no network."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import printable
from coebl.core.files import write_whole
from coebl.core.modules import require
from coebl.core.text import few_digits, finite, one_line
from coebl.plots.policy_paths import MOST_AREAS, PolicyPaths, areas_of, on_triangle, replicator_arrows
from coebl.plots.policy_plots import AREA_COLOURS
from coebl.report.embedding import embed, read_asset, vega_script

MOST_FRAMES, FEWEST_FRAMES = 450, 60
_NUMBERS = 5000  # of the frames together: about 20 kB


def frames_for(actions: tuple[int, ...]) -> int:
    """Return the number of rounds that a replay has, so that it stays small.

    >>> frames_for((3, 3)), frames_for((16, 16))
    (450, 74)
    """
    each = 8 if max(actions) <= 3 else 2 * sum(min(number, MOST_AREAS) for number in actions)
    return max(FEWEST_FRAMES, min(MOST_FRAMES, _NUMBERS // (each + 3)))


@dataclass(frozen=True, repr=False)
class Replay:
    """The policies of one run as an interactive chart with a slider: notebooks show it, `save` writes it as a page.

    `Result.replay` makes one.

    >>> from coebl import simulate
    >>> result = simulate("rps", "coebl:c=2", "exp3", rounds=300, seeds=1, keep=["policies"])
    >>> replay = result.replay()
    >>> replay.save("replay.html").name
    'replay.html'
    """

    paths: PolicyPaths

    def __repr__(self) -> str:
        return f"<Replay of {_words(self.paths.title)}, {len(self.paths.rounds)} frames>"

    def data(self) -> dict[str, Any]:
        """Return what the page draws, in plain values; probabilities and places are in thousandths."""
        paths = self.paths
        gains = [paths.exploitability(paths.policies), paths.exploitability(paths.averages)]
        return {
            "picture": paths.picture,
            "rounds": paths.rounds.tolist(),
            "exploitability": [[few_digits(float(gain), 3) for gain in gains_of_kind] for gains_of_kind in gains],
            "star": paths.equilibrium_label,
            "charts": [self._chart(seat) for seat in range(1 if paths.picture == "square" else 2)],
        }

    def _chart(self, seat: int) -> dict[str, Any]:
        """Return the chart of a player; a square is about both."""
        paths = self.paths
        title = f"{paths.game.seats[seat]}: {_words(paths.titles[seat])}"
        chart: dict[str, Any] = {"title": title, "colour": paths.colours[seat]}
        if paths.picture == "areas":
            areas = areas_of(paths, seat)
            kinds = (paths.policies[seat], paths.averages[seat], paths.equilibrium[seat])
            policy, average, star = (_thousandths(areas.share(kind)) for kind in kinds)
            colours = AREA_COLOURS[: len(areas.names)]
            names = [_words(name) for name in areas.names]
            return chart | {"names": names, "colours": colours, "policy": policy, "average": average, "at": star}
        if paths.picture == "square":
            places, arrows = replicator_arrows(paths.game.payoff)
            sizes = np.linalg.norm(arrows, axis=1)
            both = zip(paths.policies, paths.averages, paths.equilibrium, strict=True)
            x, y = ([_thousandths(kind[..., 0]) for kind in seat_kinds] for seat_kinds in both)
            names = [
                f"{name} plays {_words(labels[0])}" for name, labels in zip(paths.game.seats, paths.labels, strict=True)
            ]
            angles = np.degrees(np.arctan2(*arrows.T)).round().astype(int)
            relative = (100 * sizes / (sizes.max() or 1.0)).round().astype(int)
            field = [*_thousandths(places.T), angles.tolist(), relative.tolist()]
            title = " v ".join(map(_words, paths.titles))
            return chart | {"title": title, "names": names, "x": x, "y": y, "field": field}
        kinds = (paths.policies[seat], paths.averages[seat], paths.equilibrium[seat])
        x, y = ([_thousandths(on_triangle(kind)[..., axis]) for kind in kinds] for axis in (0, 1))
        return chart | {"names": [_words(label) for label in paths.labels[seat]], "x": x, "y": y}

    def html(self) -> str:
        """Return the page."""
        jinja2, markup = require("jinja2"), require("markupsafe").Markup
        environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
        template = environment.from_string(read_asset("replay.html"))
        library = vega_script(require("vl_convert"))
        html: str = template.render(
            title=_words(self.paths.title, 200),
            last=f"{self.paths.rounds[-1]:,}",
            frames=len(self.paths.rounds),
            star=self.paths.equilibrium_label,
            has_marks=self.paths.picture != "areas",
            data=markup(embed(finite(self.data()))),
            library=markup(library),
            script=markup('"use strict";\n(() => {\n' + read_asset("replay.js") + "})();\n"),
        )
        return html

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, which needs no network, and return its path.

        Args:
            path: the file.
        """
        return write_whole(path, self.html())

    def _repr_html_(self) -> str:
        height = {"square": 720, "triangle": 660, "areas": 940}[self.paths.picture]
        style = f"width:100%;height:{height}px;border:0"
        title = escape(_words(self.paths.title, 200))
        return (
            f'<iframe title="{title}" sandbox="allow-scripts" style="{style}" srcdoc="{escape(self.html())}"></iframe>'
        )


def _words(text: str, width: int = 60) -> str:
    return printable(one_line(text, width))


def _thousandths(numbers: Floats) -> Any:
    return (1000 * numbers).round().astype(int).tolist()
