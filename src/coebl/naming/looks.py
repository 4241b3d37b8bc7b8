"""The lines of learners: colour and dashes identify a learner, symbols and shades its settings.

A learner's class may name its slot in the palette (`colour`), which is stored with results. The others take the free
slots, in the order of their names. Two learners that name the same slot are variants, and differ as two settings of one
learner do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, cycle
from typing import Any, NamedTuple

from coebl.core.specs import split_spec
from coebl.core.text import natural
from coebl.naming.titles import NOTHING, Known, find_sweeps, learner_words

Style = Mapping[str, Any]  # keywords of a matplotlib line

# Okabe and Ito's colours, which are distinguishable with any colour vision, and two more; each with its dashes for grey
# print, in widths of the line. Dots are for the reference line.
PALETTE: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("#0072B2", ()),
    ("#D55E00", (6, 1.5)),
    ("#009E73", (6, 1.2, 1.2, 1.2)),
    ("#CC79A7", (2.5, 1.2)),
    ("#E69F00", (9, 1.2, 2, 1.2)),
    ("#56B4E9", (6, 1, 1, 1, 1, 1)),
    ("#7F7F7F", (4, 3)),
    ("#A6761D", (12, 2)),
)
FIRST_FREE = 4  # the first slot for learners that name none
SYMBOLS = {  # the page's names of symbols to matplotlib's markers
    "": "",
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "x": "x",
    "star": "*",
    "cross": "P",
    "triangle-down": "v",
    "hexagon": "h",
}
MARKS = 9  # symbols along a line


class Look(NamedTuple):
    """The appearance of a learner's line."""

    colour: str  # of its slot, as #RRGGBB
    dashes: tuple[float, ...]  # dash, gap, dash, gap, ... in widths of the line; nothing is a solid line
    symbol: str = ""  # a key of SYMBOLS, drawn at some places of the line
    shade: float = 0.0  # from 0, the colour as it is, to 1, black (on a dark page: white)

    @property
    def style(self) -> Style:
        """The keywords of a matplotlib line."""
        channels = [int(self.colour[start : start + 2], 16) for start in (1, 3, 5)]
        return {
            "color": "#" + "".join(f"{round(channel * (1 - self.shade)):02X}" for channel in channels),
            "linestyle": (0, self.dashes) if self.dashes else "-",
            "linewidth": 1.0 if self.dashes else 1.3,
            "marker": SYMBOLS[self.symbol],
            "markersize": 3.5,
            "markevery": 1 / MARKS,
        }


def slot_look(slot: int) -> Look:
    """Return the look of a slot of the palette; beyond its end colours repeat, with other dashes."""
    colour, _ = PALETTE[slot % len(PALETTE)]
    _, dashes = PALETTE[(slot + slot // len(PALETTE)) % len(PALETTE)]
    return Look(colour, dashes)


def learner_style(spec: str, known: Known = NOTHING) -> Style:
    """Return the keywords of the line of a learner that is drawn without other settings of it.

    >>> style = learner_style("exp3")
    >>> style["color"], style["linestyle"]
    ('#009E73', (0, (6, 1.2, 1.2, 1.2)))
    """
    return looks([spec], known=known)[spec].style


def looks(specs: Iterable[str], plainest: Sequence[str] = (), known: Known = NOTHING) -> dict[str, Look]:
    """Return the look of each learner, slot by slot, a sweep by its increasing number.

    >>> found = looks(["coebl:c=2", "coebl:c=8", "ucb"])
    >>> [(spec, look.colour, look.symbol) for spec, look in found.items()]
    [('coebl:c=2', '#0072B2', ''), ('coebl:c=8', '#0072B2', 'circle'), ('ucb', '#D55E00', '')]
    """
    specs = list(dict.fromkeys(specs))
    slots = _slots(specs, known)
    swept = {spec: value for sweep in find_sweeps(specs, known) for spec, value in sweep.values.items()}
    by_slot: dict[int, list[str]] = {}
    for spec in sorted(specs, key=lambda spec: (swept.get(spec, 0), natural(spec))):
        by_slot.setdefault(slots[split_spec(spec).name], []).append(spec)
    return {spec: look for slot in sorted(by_slot) for spec, look in _of_slot(slot, by_slot[slot], swept, plainest)}


def _of_slot(
    slot: int, members: list[str], swept: Mapping[str, float], plainest: Sequence[str]
) -> Iterator[tuple[str, Look]]:
    """Yield the looks of learners that share a slot: smaller values of a sweep are darker."""
    rank = {spec: place for place, spec in enumerate(dict.fromkeys([*plainest, *members]))}
    symbols = dict(zip(sorted(members, key=rank.__getitem__), cycle(SYMBOLS), strict=False))
    shades = {spec: place for place, spec in enumerate(sorted(members, key=lambda spec: -swept.get(spec, math.inf)))}
    deepest = 0.65 if len(members) > 4 else 0.4
    for spec in members:
        shade = round(deepest * shades[spec] / max(1, len(members) - 1), 3)
        yield spec, slot_look(slot)._replace(symbol=symbols[spec], shade=shade)


def _slots(specs: Iterable[str], known: Known) -> dict[str, int]:
    """Return the slot of each learner by name: the one that its class names, or else the next free one."""
    declared = {split_spec(spec).name: learner_words(spec, known).colour for spec in sorted(specs, key=natural)}
    slots = {name: slot for name, slot in declared.items() if slot is not None}
    free = (slot for slot in count(FIRST_FREE) if slot not in slots.values())
    return slots | {name: next(free) for name in sorted(declared, key=natural) if name not in slots}
