"""The end of a run: a condition, such as `exploitability < 0.1`, and the time at which it is first met."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from coebl.core.arrays import Booleans, is_number
from coebl.core.errors import InputError, shorten
from coebl.games import AnyGame
from coebl.metrics import Block, Metric, metric_class

_OPTIMUM = "optimum"
_SIGNS: dict[str, Callable[[Any, float], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_CONDITION = re.compile(r"\s*(?P<metric>[^<>=\s]+)\s*(?P<sign>[<>]=?)\s*(?P<bound>\S+)\s*")


class HittingTime(Metric):
    """The number of rounds, or of queries of a search, until the condition of a run was first met."""

    name = "hitting_time"
    title = "Hitting time"
    definition = "the first round in which the condition `until` holds; NaN if it never does"
    bounds = (0, np.inf)


class Hit(Metric):
    """The share of the runs that met their condition within the budget."""

    name = "hit"
    title = "Share of runs that hit"
    definition = "1 if the condition `until` was met within the rounds of the match, else 0"
    better = "higher"
    bounds = (0, 1)


@dataclass(frozen=True)
class Until:
    """The condition that ends a run: a metric beyond a number, or optimal actions of both players.

    >>> until = Until.parse("exploitability<.1")
    >>> print(until)
    exploitability < 0.1
    >>> Until.parse("exploitability = 0.1")
    Traceback (most recent call last):
    ...
    coebl.core.errors.InputError: until is 'exploitability = 0.1'; accepted: optimum, or a metric and a number with
    <, <=, > or >= between them, such as "exploitability < 0.1".
    """

    metric: str = _OPTIMUM  # the name of a metric, or "optimum"
    sign: str = ""
    bound: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Until:
        """Return the condition of a string."""
        if isinstance(text, str) and text.strip() == _OPTIMUM:
            return cls()
        match = _CONDITION.fullmatch(text) if isinstance(text, str) else None
        if match is None or not is_number(match["bound"]) or not isfinite(float(match["bound"])):
            raise InputError(
                f"until is {shorten(text)}; accepted: {_OPTIMUM}, or a metric and a number with <, <=, > or >= between "
                'them, such as "exploitability < 0.1".'
            )
        metric_class(match["metric"])  # an InputError if there is none
        return cls(match["metric"], match["sign"], float(match["bound"]))

    def __str__(self) -> str:
        return f"{self.metric} {self.sign} {self.bound:g}" if self.sign else self.metric

    def reason_undefined(self, game: AnyGame) -> str | None:
        """Return the reason why the condition is not defined for a game, on one line; None if it is defined."""
        if self.sign:
            return metric_class(self.metric).reason_undefined(game)
        if hasattr(game, "is_target"):
            return None
        return f'until is {_OPTIMUM}, and {game.name} has no is_target(seat, action); use "exploitability < 0.1".'

    def condition(self, game: AnyGame, runs: int) -> Callable[[Block], Booleans]:
        """Return a function of consecutive blocks that returns where the condition holds: (rounds, runs)."""
        if reason := self.reason_undefined(game):
            raise InputError(reason)
        if not self.sign:
            return lambda block: np.logical_and.reduce(
                [block.game.is_target(seat, action) for seat, action in enumerate(block.actions)]
            )
        metric, holds = metric_class(self.metric)(game, runs), _SIGNS[self.sign]
        return lambda block: holds(metric.measure(block), self.bound)
