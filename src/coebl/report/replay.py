"""The replay of a run: its policies round by round, as one HTML file that needs no network."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import printable
from coebl.core.files import write_whole
from coebl.core.text import few_digits, one_line
from coebl.engine.policy_paths import PolicyPaths
from coebl.games import Game
from coebl.plots.policy_plots import AREA_COLOURS, areas_of, on_triangle, replicator_arrows
from coebl.report import embed, render, vega_script

if TYPE_CHECKING:
    from coebl.report.content import Content
    from coebl.study import Results


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
        """Return the data of the page as plain values; probabilities and coordinates are in thousandths."""
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
        """Return the chart of a player; a square shows both players."""
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
        title = _words(self.paths.title, 200)
        return render("replay.html", {"title": title, "data": embed(self.data()), "library": vega_script()})

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


def kept_replays(results: Results, content: Content) -> list[dict[str, Any]]:
    """Return the replays of a study that keeps policies, for the script of its page."""
    replays, games = {}, {}
    places = {(game.spec, game.noise_spec): place for place, game in enumerate(content.games)}
    for record in sorted(results.records(), key=lambda record: record.seeds, reverse=True):
        kept = record.policies
        place = places.get((record.game, record.noise), places.get((record.game, "")))  # "" for a single noise
        if kept is None or place is None:
            continue
        if place not in games:  # its equilibrium is computed once
            games[place] = Game(kept.payoff, row_labels=kept.labels[0], column_labels=kept.labels[1])
        row, column = (content.places[spec] for spec in record.players)
        paths = PolicyPaths(
            game=games[place],
            seed=kept.seed,
            titles=tuple(content.titles[spec] for spec in record.players),
            colours=tuple(f"var(--learner-{learner})" for learner in (row, column)),
            rounds=np.array(kept.rounds),
            policies=tuple(np.array(seat) / 1000 for seat in kept.policies),
            averages=tuple(np.array(seat) / 1000 for seat in kept.averages),
        )
        match = {"game": place, "row": row, "column": column, "seed": kept.seed}
        replays[place, row, column] = match | {"data": Replay(paths).data()}
    return [replays[match] for match in sorted(replays)]


def _words(text: str, width: int = 60) -> str:
    return printable(one_line(text, width))


def _thousandths(numbers: Floats) -> Any:
    return (1000 * numbers).round().astype(int).tolist()
