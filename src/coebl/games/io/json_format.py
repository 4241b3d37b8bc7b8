"""Games as JSON: a list of rows, or an object that keeps all of the game."""

from __future__ import annotations

import json
from typing import Any

from coebl.core.errors import InputError, nearest, shorten
from coebl.core.specs import files_in
from coebl.games.game import Game
from coebl.games.io.text import decode, encode

_ACCEPTED = 'a list of rows, or an object such as {"payoff": [[1, -1], [-1, 1]]}'
_KEYS: dict[str, tuple[type, str]] = {  # what each key may hold
    "name": (str, "a text"),
    "payoff": (list, "a list of rows such as [[1, -1], [-1, 1]]"),
    "row_labels": (list, "a list of texts, one per row"),
    "column_labels": (list, "a list of texts, one per column"),
    "noise": (str, 'a noise such as "gaussian:sigma=0.5"'),
    "payoff_range": (list, "two numbers, [low, high]"),
}


def read(data: bytes) -> dict[str, Any]:
    """The arguments of `Game` in a file's bytes."""
    contents = _parse(decode(data))
    if isinstance(contents, list):
        contents = {"payoff": contents}
    if not isinstance(contents, dict):
        raise InputError(f"the file holds {shorten(contents)}; accepted: {_ACCEPTED}. Rewrite it that way.")
    for key, value in contents.items():
        if key not in _KEYS:
            raise InputError(f"unknown key {key!r}{nearest(key, _KEYS)} Accepted: {', '.join(_KEYS)}.")
        kind, accepted = _KEYS[key]
        if value is not None and not isinstance(value, kind):
            raise InputError(f"{key} is {shorten(value)}; accepted: {accepted}. Rewrite it that way.")
    if contents.get("payoff") is None:
        raise InputError(f"there is no key 'payoff'; accepted: {_ACCEPTED}. Add the payoffs.")
    _check_numbers(contents["payoff"])
    if files_in(contents.get("noise") or ""):
        raise InputError(
            f"noise is {shorten(contents['noise'])}, which is in a Python file, and a game's file runs none; accepted: "
            "a noise of coebl list noises. Remove the key, and name your noise where the game is played."
        )
    return {key: value for key, value in contents.items() if value is not None}


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_twins)
    except json.JSONDecodeError as error:
        raise InputError(
            f"line {error.lineno}, column {error.colno} is not JSON ({error.msg}); "
            'accepted: {"payoff": [[1, -1], [-1, 1]]}. Correct it there.'
        ) from None
    except RecursionError:
        raise InputError(
            "the brackets are nested too deeply; accepted: a list of rows, each a list of numbers."
        ) from None
    except InputError:
        raise
    except ValueError:  # an integer of more digits than Python converts
        raise InputError("a number is too long; accepted: floats. Divide the payoffs by a constant.") from None


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    contents = dict(pairs)
    if len(contents) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"the key {twice!r} occurs twice; accepted: each key once. Take one out.")
    return contents


def _check_numbers(payoff: list[Any]) -> None:
    """NumPy would take "1", true and null for numbers; shapes are left to `check_payoff`."""
    for i, row in enumerate(payoff):
        for j, entry in enumerate(row if isinstance(row, list) else []):
            if isinstance(entry, bool) or not isinstance(entry, (int, float, list)):
                raise InputError(
                    f"payoff[{i}][{j}] is {json.dumps(entry)}; accepted: numbers. Replace it with a number."
                )


def write(game: Game) -> bytes:
    """All of the game, with a line per row of the payoffs, so that people can read it."""
    rows = ",\n    ".join(json.dumps(row) for row in game.payoff.tolist())
    entries = {
        "name": json.dumps(game.name),
        "payoff": f"[\n    {rows}\n  ]",
        "row_labels": json.dumps(game.row_labels),
        "column_labels": json.dumps(game.column_labels),
        "noise": json.dumps(str(game.noise)),
        "payoff_range": json.dumps(game.payoff_range),
    }
    return encode("{\n  " + ",\n  ".join(f'"{key}": {value}' for key, value in entries.items()) + "\n}\n")
