"""Metrics by name, by class, and in custom files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import cast, get_args

from coebl.core.errors import InputError, nearest, shorten
from coebl.core.modules import is_users
from coebl.core.registry import Registry
from coebl.core.specs import split_spec
from coebl.games import AnyGame, is_zero_sum
from coebl.metrics.base import Metric, Need


def _reason_to_reject(metric: type[Metric]) -> str | None:
    if not isinstance(getattr(metric, "name", None), str):
        return 'it has no name; accepted: a class attribute such as name = "surprise". Add it.'
    if metric.better not in ("lower", "higher", None):
        return f"better is {shorten(metric.better)}; accepted: 'lower', 'higher', or None if neither is better."
    needs, known = metric.needs, get_args(Need)
    if isinstance(needs, str):
        return f'needs is "{needs}", a string; accepted: a set. Write needs = {{"{needs}"}}.'
    if unknown := [need for need in needs if need not in known]:
        return f"needs has {shorten(unknown[0])}; accepted: a set of {', '.join(known)}."
    bounds = metric.bounds
    if not (isinstance(bounds, Sequence) and len(bounds) == 2 and bounds[0] < bounds[1]):
        return f"bounds is {shorten(bounds)}; accepted: (least, largest), such as (0, 1) or (0, math.inf)."
    registered = METRICS[metric.name].factory if metric.name in METRICS else metric
    if registered is not metric and not is_users(registered):
        return f"its name is {metric.name!r}, that of a registered metric; give it another name."
    return None


METRICS = Registry("metric", "metrics", base=Metric, rejects=_reason_to_reject)
"""The metrics by name: `@METRICS.add(name)` above a class adds one."""


def parse_metrics(names: Sequence[str | type[Metric]], game: AnyGame, runs: int) -> list[Metric]:
    """Make the metrics of a batch of runs, in the order of the names; a name given twice counts once.

    "all" means every registered metric that is defined for the game; if the game is not zero-sum, metrics about one
    seat are included for each seat. A metric may also be given as its class, or as path/to/file.py:Name.

    >>> from coebl import Game
    >>> [metric.name for metric in parse_metrics(["regret", "tv"], Game([[3, 0], [1, 2]]), runs=50)]
    ['regret', 'tv']
    """
    made = [metric(game, runs) for metric in metric_classes(names, game)]
    for metric in made:
        if not hasattr(metric, "runs"):
            raise InputError(f"{metric.name}: begin its __init__ with super().__init__(game, runs).")
    return made


def metric_classes(names: Sequence[str | type[Metric]], game: AnyGame) -> list[type[Metric]]:
    """Return the classes of the metrics that `parse_metrics` makes."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"metrics is {shorten(names)}; accepted: a list of names, such as ['regret', 'tv'].")
    chosen: dict[type[Metric], None] = {}  # a set that keeps its order
    for name in names:
        if name == "all":
            chosen |= dict.fromkeys(metric for metric in all_metrics(game) if metric.reason_undefined(game) is None)
        elif isinstance(name, str):
            chosen[metric_class(name)] = None
        elif isinstance(name, type) and issubclass(name, Metric):
            if reason := _reason_to_reject(name):
                raise InputError(f"metric {name.__name__}: {reason}")
            chosen[name] = None
        else:
            raise InputError(f"a metric is {shorten(name)}; accepted: a name, or a class that extends Metric.")
    for name, count in Counter(metric.name for metric in chosen).items():
        if count > 1:
            raise InputError(f"two metrics are called {name!r}; accepted: distinct names. Rename one of them.")
    return list(chosen)


def metric_class(name: str) -> type[Metric]:
    """Return the class of a metric by its name, or by path/to/file.py:Name.

    A metric of one seat is about the first seat, unless its name ends in a colon and a seat number, from 1.

    >>> metric_class("kl").title, metric_class("swap_regret:2").title
    ('KL divergence', 'Swap regret, seat 2')
    """
    parts = split_spec(name)
    if parts.name not in METRICS and not parts.file:
        known = METRICS.names
        accepted = f"{', '.join(known)}, all; or file.py:Name"
        raise InputError(f"unknown metric {name!r}{nearest(name, known)} Accepted: {accepted}.")
    metric = cast(type[Metric], METRICS[parts.name].factory)
    if not parts.parameters:
        return metric
    if not metric.by_seat:
        raise InputError(f"metric {name!r} names a seat; accepted: {parts.name}, which has one number for all seats.")
    if not parts.parameters.isdecimal() or not int(parts.parameters):
        raise InputError(f"metric {name!r} names no seat; accepted: a seat number from 1, as in {parts.name}:2.")
    return metric.of_seat(int(parts.parameters))


def registered_metric(name: str) -> type[Metric] | None:
    """Return the class of a metric by a name from stored data; None if it is not registered. No file is run.

    >>> registered_metric("mine.py:Mine")
    """
    if split_spec(name).file:
        return None
    with suppress(InputError):
        return metric_class(name)
    return None


def all_metrics(game: AnyGame | None = None, names: Iterable[str] | None = None) -> list[type[Metric]]:
    """Return the classes of the metrics of these names, by default of all that are registered.

    For a game that is not zero-sum, metrics about one seat are listed for each of its seats.

    >>> [metric.name for metric in all_metrics() if metric.signed]
    ['regret', 'pseudo_regret']
    """
    seats = range(1, 1 + (1 if game is None or is_zero_sum(game) else len(game.seats)))
    metrics = map(metric_class, METRICS.names if names is None else names)
    return [metric.of_seat(number) for metric in metrics for number in (seats if metric.by_seat else (1,))]
