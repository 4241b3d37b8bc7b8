"""Sentences that name matches by their specs, as the page says them: by the titles that its charts have too."""

from __future__ import annotations

import re
from collections.abc import Mapping

from coebl.naming import game_title

_MATCH = re.compile(r"(\S+) v (\S+) on (\S+?)(?=[,:;.)]?(?:\s|$))")
_SIGNS = {" >= ": " ≥ ", " <= ": " ≤ ", "sqrt(": "√("}
_EQUATION = re.compile(r"(?<=\w) ([=≥≤]) (?=[\w−-])")
_HYPHEN = re.compile(r"(?<![\w.-])-(?=\d)")


def unbroken(text: object) -> str:
    """A text in which no line ends inside an equation, with signs as they are printed.

    >>> unbroken("at n >= 4, the mean is -3").replace("\\u00a0", "_")
    'at n_≥_4, the mean is −3'
    """
    for plain, printed in _SIGNS.items():
        text = str(text).replace(plain, printed)
    return _HYPHEN.sub("−", _EQUATION.sub("\u00a0\\1\u00a0", str(text)))


def by_title(text: object, learners: Mapping[str, str]) -> str:
    """A text with its matches named by titles, where these are known.

    Args:
        text: in which a match is "row v column on game", as in the checks of a claim.
        learners: the titles, by spec.

    >>> by_title("ucb v ucb on diagonal:n=2, round 5", {"ucb": "UCB"}).replace("\\u00a0", " ")
    'UCB in self-play on Diagonal, n = 2, round 5'
    >>> by_title("ucb v mine on rps: the mean", {"ucb": "UCB", "mine": "Mine"})
    'UCB v Mine on Rock-paper-scissors: the mean'
    """

    def named(found: re.Match[str]) -> str:
        row, column, game = found.groups()
        names = [learners.get(spec, spec) for spec in (row, column)]
        players = f"{names[0]} in self-play" if row == column else " v ".join(names)
        return f"{players} on {game_title(game)}"

    return unbroken(_MATCH.sub(named, str(text)))
