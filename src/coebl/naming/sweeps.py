"""Sweeps: one learner with several values of one of its numbers, found among the learners of a study."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from contextlib import suppress
from typing import NamedTuple

from coebl.core.specs import split_spec
from coebl.learners import LEARNERS
from coebl.naming.described import NOTHING, Known
from coebl.naming.titles import learner_title, learner_words


class Sweep(NamedTuple):
    """Learners that differ in one number alone.

    >>> [sweep] = find_sweeps(["coebl:c=8", "coebl:c=0.5", "ucb"])
    >>> sweep.parameter, list(sweep.values.values())
    ('c', [0.5, 8.0])
    """

    learner: str  # the name of the learner, without parameters
    parameter: str
    values: dict[str, float]  # spec to the number, increasing


def find_sweeps(specs: Iterable[str], known: Known = NOTHING) -> list[Sweep]:
    """The sweeps among these learners: the longest sweep of each learner, in the order in which they are first named.

    Args:
        specs: of learners.
        known: what the results say of their learners, see `known_to`: the parameters that a spec leaves at their
            defaults, of learners in a user's own file.

    >>> find_sweeps(["ucb", "coebl:c=2", "coebl", "coebl:c=4,selection=none"])
    [Sweep(learner='coebl', parameter='c', values={'coebl:c=2': 2.0, 'coebl': 8.0})]
    """
    by_name: dict[str, dict[str, dict[str, Hashable]]] = {}
    for spec in dict.fromkeys(specs):
        by_name.setdefault(split_spec(spec).name, {})[spec] = _arguments(spec, known)
    sweeps = [_longest(name, members) for name, members in by_name.items()]
    return [sweep for sweep in sweeps if sweep is not None]


def learner_titles(specs: Iterable[str], known: Known = NOTHING) -> dict[str, str]:
    """The title of each learner among these; in a sweep all name their numbers, and no two learners share a title.

    Args:
        specs: of learners.
        known: what the results say of their learners, see `known_to`.

    >>> [title.replace("\u00a0", " ") for title in learner_titles(["coebl", "coebl:c=2", "ucb"]).values()]
    ['COEBL, c = 8', 'COEBL, c = 2', 'UCB']
    """
    specs = list(dict.fromkeys(specs))
    swept = {spec: sweep.parameter for sweep in find_sweeps(specs, known) for spec in sweep.values}
    titles = {spec: learner_title(spec, [swept[spec]] if spec in swept else (), known) for spec in specs}
    counts = Counter(titles.values())
    return {spec: title if counts[title] == 1 else f"{title} ({spec})" for spec, title in titles.items()}


def _longest(name: str, members: dict[str, dict[str, Hashable]]) -> Sweep | None:
    """The sweep that most of these settings of a learner belong to; None if no two differ in one number alone."""
    groups: dict[tuple[str, frozenset[tuple[str, Hashable]]], dict[str, float]] = {}
    for spec, arguments in members.items():
        for parameter, value in arguments.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                others = frozenset((key, other) for key, other in arguments.items() if key != parameter)
                groups.setdefault((parameter, others), {})[spec] = float(value)
    (parameter, _), values = max(groups.items(), key=lambda group: len(group[1]), default=(("", None), {}))
    if len(values) < 2:
        return None
    return Sweep(name, parameter, dict(sorted(values.items(), key=lambda item: item[1])))


def _arguments(spec: str, known: Known) -> dict[str, Hashable]:
    """All parameters of a learner; if it is not registered here, those that the results or the spec give."""
    if found := LEARNERS.known(spec):
        entry, arguments = found
        return {p.name: p.default for p in entry.parameters if not p.required} | arguments
    written = {**learner_words(spec, known).parameters, **split_spec(spec).arguments}
    return {key: _number(text) for key, text in written.items()}


def _number(text: str) -> float | str:
    with suppress(ValueError):
        if math.isfinite(number := float(text)):
            return number
    return text
