"""Names and numbers on the page: titles of games and metrics, the looks of learners, digits and signs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coebl.core.specs import split_spec
from coebl.core.text import few_digits, in_interval, natural, with_minus
from coebl.games import GAMES
from coebl.learners import KINDS, REFERENCES
from coebl.naming import (
    Known,
    Sweep,
    learner_titles,
    learner_words,
    lighter,
    looks,
    noise_title,
    parameters_text,
    read_settings,
)

DIGITS = 5
HALF_DIGITS = 4  # digits of the half widths of intervals
_MOST_DIGITS = 6  # digits of a mean, however narrow its interval is
_SIGNS = {" >= ": " ≥ ", " <= ": " ≤ ", "sqrt(": "√("}
_EQUATION = re.compile(r"(?<=\w) ([=≥≤]) (?=[\w−-])")
_HYPHEN = re.compile(r"(?<![\w.-])-(?=\d)")
_PIXELS = 2  # the length on the page of a dash of one line width; lines are a little wider there
_LIGHTER = 0.2  # how far every colour is moved towards white on a dark page


@dataclass(frozen=True)
class PageGame:
    """A game, with one of the noises if the page has several."""

    spec: str
    noise_spec: str  # "" unless there are several
    family: str  # in titles: the parts by which readers choose a game
    size: str
    noise: str

    @property
    def name(self) -> str:
        """The spec with the noise."""
        return ", ".join(filter(None, [self.spec, self.noise_spec]))

    @property
    def title(self) -> str:
        """The title with that of the noise."""
        return ", ".join(filter(None, [self.family, self.size, self.noise]))


@dataclass(frozen=True)
class PageLearner:
    """A learner, or a group of learners in a match, such as "ucb v exp3", with its look and its place in a sweep."""

    spec: str
    title: str
    colour: str
    dark_colour: str
    dash: list[float]  # in pixels
    shape: str
    sweep: int | None = None
    value: float | None = None  # of the parameter that the sweep varies
    sees: str = ""  # its kind, if it sees more than a bandit and so cannot be compared with one


def page_game(spec: str, noise: str) -> PageGame:
    """Return a game; its noise is "" unless there are several."""
    entry, settings = GAMES.registered(spec), read_settings(GAMES, spec)
    family = entry.title if entry else settings.name
    return PageGame(spec, noise, family, parameters_text(settings.text()), noise_title(noise))


def game_order(game: PageGame) -> tuple[Any, ...]:
    """Return a sort key of games: in the order of the registry, then others by spec; sizes are sorted as numbers."""
    known, family = GAMES.names, split_spec(game.spec).name
    place = known.index(family) if family in known else len(known)
    return (place, natural(game.spec), natural(game.noise_spec))


def page_learners(
    specs: Sequence[str],
    plainest: Sequence[str],
    sweeps: Sequence[Sweep],
    known: Known,
    groups: Mapping[str, Sequence[str]],
) -> list[PageLearner]:
    """Return all learners, then `groups` by name, drawn like their first members; `plainest` are those of presets."""
    titles = learner_titles(specs, known)
    swept = {spec: place for place, sweep in enumerate(sweeps) for spec in sweep.values}
    learners = {
        spec: PageLearner(
            spec=spec,
            title=titles[spec],
            colour=look.colour,
            dark_colour=lighter(look.colour, _LIGHTER),
            dash=[_PIXELS * length for length in look.dashes],
            shape=look.symbol,
            sweep=swept.get(spec),
            value=sweeps[swept[spec]].values[spec] if spec in swept else None,
            sees=f"{kind}, {KINDS[kind]}" if (kind := learner_words(spec, known).kind) in REFERENCES else "",
        )
        for spec, look in looks(specs, plainest, known).items()
    }
    for group, members in groups.items():
        title = " v ".join(titles[spec] for spec in members)
        learners[group] = replace(learners[members[0]], spec=group, title=title, sweep=None, value=None, sees="")
    return list(learners.values())


def short(numbers: Iterable[float], digits: int = DIGITS) -> list[float | int | None]:
    """Round numbers for the script of the page; numbers that are not finite become None."""
    return [few_digits(number, digits) for number in numbers]


def unbroken(text: object) -> str:
    """Return a string with typographic signs, in which no line breaks inside an equation.

    >>> unbroken("at n >= 4, the mean is -3").replace("\\u00a0", "_"), unbroken("without --quick")
    ('at n_≥_4, the mean is −3', 'without --quick')
    """
    for plain, printed in _SIGNS.items():
        text = str(text).replace(plain, printed)
    return _HYPHEN.sub("−", _EQUATION.sub("\u00a0\\1\u00a0", str(text)))


def interval_texts(mean: float, low: float, high: float) -> tuple[str, str]:
    """Format a number and its interval, with as many digits as the width of the interval supports; "" for NaN.

    >>> interval_texts(12.3456, 11.9, 12.8)
    ('12.35', '[11.90, 12.80]')
    >>> interval_texts(12.3456, 11.9, math.inf)
    ('12.35', '[11.9, ∞]')
    >>> interval_texts(1.9848, 1.98479999, 1.98480001)
    ('1.98480', '[1.98480, 1.98480]')
    """
    numbers = mean, low, high
    strings = zip(numbers, in_interval(*numbers, separator=",", digits=_MOST_DIGITS), strict=True)
    shown = ["" if math.isnan(number) else with_minus(text.replace("inf", "∞")) for number, text in strings]
    ends = [text or "–" for text in shown[1:]]
    return shown[0], f"[{', '.join(ends)}]" if any(shown[1:]) else ""
