"""Who meets whom: the pairs of learners that a table [match-ups] asks for."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from coebl.core.errors import InputError, nearest, reason_of
from coebl.engine import Match
from coebl.games import Game
from coebl.learners import Learner, parse_learner
from coebl.study.lines import Place
from coebl.study.reading import ACCEPTED, Files, Keys, SpecAt
from coebl.study.sweep import MOST

MATCH_UPS = {
    "self-play": "true, false, or a list of learners",
    "all-pairs": "true, false, or a list of learners",
    "one-against-all": 'a learner such as "coebl:c=8", or a list of learners',
    "pairs": 'a list of pairs of learners, [row, column], such as [["ucb", "coebl:c=2"]]',
}
Pair = tuple[str, str]  # canonical specs of the row learner and the column learner

_ANY_GAME = Game([[0.0]])  # for what depends on the learners alone


class MatchUps:
    """The pairs of a study, or of a part of it, each once and with the place that first asks for it."""

    def __init__(self, keys: Keys, files: Files) -> None:
        self._keys = keys
        self._files = files
        self._mistakes = keys.mistakes
        self.learners: dict[str, tuple[Learner, Place]] = {}  # by canonical spec, with where it is first named
        before = len(self._mistakes)
        self.pairs = self._pairs()
        if not self.pairs and "match-ups" in keys and len(self._mistakes) == before:
            self._mistakes.add(keys.place("match-ups"), f"no match-up is listed; accepted: {ACCEPTED['match-ups']}.")

    def _pairs(self) -> dict[Pair, Place]:
        keys = self._keys
        pool: list[str] = []
        if "learners" in keys:
            pool = self._canonical(keys.specs(keys.get("learners"), keys.place("learners"), ACCEPTED["learners"]))
        table = keys.get("match-ups")
        if not isinstance(table, dict):
            if "match-ups" in keys:
                keys.refuse("match-ups")
            return {}
        pairs: dict[Pair, Place] = {}
        for key, value in table.items():
            line = (*keys.place("match-ups"), key)
            for at, pair in itertools.islice(self._match_up(key, value, line, pool), MOST + 1):
                pairs.setdefault(pair, at)
            if len(pairs) > MOST:
                self._mistakes.add(line, f"this gives more than {MOST:,} pairs; accepted: no more. Sweep less.")
                return {}
        for (row, column), place in pairs.items():
            try:
                Match.of(_ANY_GAME, self.learners[row][0], self.learners[column][0])
            except InputError as error:
                self._mistakes.add(place, str(error))
        return pairs

    def _match_up(self, key: str, value: Any, place: Place, pool: list[str]) -> Iterable[tuple[Place, Pair]]:
        """The pairs that one line of the table gives."""
        if key == "pairs":
            return self._explicit(value, place)
        if key not in MATCH_UPS:
            hint = " here: it belongs above [match-ups]." if key in ACCEPTED else nearest(key, MATCH_UPS)
            self._mistakes.add(place, f"unknown key {key!r}{hint} Accepted here: {', '.join(MATCH_UPS)}.")
            return []
        if value is False and key != "one-against-all":
            return []
        if (value is True or key == "one-against-all") and "learners" not in self._keys:
            self._mistakes.add(place, "this needs the key 'learners', which is missing. Add it above [match-ups].")
            return []
        if key == "one-against-all":
            columns = self._canonical(self._keys.one_or_more(value, place, MATCH_UPS[key]))
            return ((place, (row, column)) for column in columns for row in pool if row != column)
        chosen = pool if value is True else self._canonical(self._keys.specs(value, place, MATCH_UPS[key]))
        if key == "self-play":
            return ((place, (learner, learner)) for learner in chosen)
        return ((place, pair) for pair in itertools.permutations(chosen, 2))

    def _explicit(self, value: Any, place: Place) -> Iterable[tuple[Place, Pair]]:
        if not isinstance(value, list) or not any(isinstance(pair, list) for pair in value):
            self._mistakes.refuse(place, value, MATCH_UPS["pairs"])
            return
        for index, pair in enumerate(value):
            at = (*place, index)
            if not isinstance(pair, list) or len(pair) != 2:
                self._mistakes.refuse(at, pair, "two learners, [row, column]")
                continue
            rows, columns = (
                self._canonical(self._keys.expanded(spec, (*at, seat), MATCH_UPS["pairs"]))
                for seat, spec in enumerate(pair)
            )
            yield from ((at, (row, column)) for row, column in itertools.product(rows, columns))

    def _canonical(self, specs: Iterable[SpecAt]) -> list[str]:
        names = (self._learner(place, spec) for place, spec in specs)
        return list(dict.fromkeys(name for name in names if name is not None))

    def _learner(self, place: Place, spec: str) -> str | None:
        """The canonical spec of a learner, or None after a mistake."""
        try:
            learner = parse_learner(self._files.placed(spec))
            canonical = str(learner)
        except Exception as error:  # a learner in a file is anybody's code
            self._mistakes.add(place, reason_of(error))
            return None
        self.learners.setdefault(canonical, (learner, place))
        return canonical
