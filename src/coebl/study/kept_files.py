"""The files that a study names, as its results folder keeps them, so that the study can be run again anywhere.

A file is kept under a digest of its content, `files/DIGEST/NAME`, and the study's file that is kept refers to it there.
So a file that has changed is kept beside the earlier one, and each study-N.toml refers to those that it was run with.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from coebl.core.files import read_whole
from coebl.core.specs import escape

_SPECS = ("games", "learners", "noise", "metrics", "match-ups", "parts")  # keys of a study file that may name files
_LEVELS = 3  # of specs inside specs at which a path may need escapes


def keep_files(text: str, named: Mapping[str, Path]) -> tuple[str, dict[str, bytes]]:
    """Return a study's text that refers to the kept files, and these files: paths in the results folder to contents.

    Args:
        text: of the study's file, which is sound.
        named: the files that it names, as it names them, with their paths.
    """
    targets, contents = {}, {}
    for name, path in named.items():
        with suppress(OSError):  # it is gone again: the run will say so
            content = read_whole(path, None)
            targets[name] = f"files/{hashlib.sha256(content).hexdigest()[:12]}/{path.name}"
            contents[targets[name]] = content
    if not targets:
        return text, contents
    study = tomllib.loads(text)
    moved = _replacing(targets, between=r"\s")
    wanted = {key: _moved(value, moved) if key in _SPECS else value for key, value in study.items()}
    for changed in _candidates(text, targets):
        with suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed) == wanted:
                return changed, contents
    return _as_toml(wanted), contents


def _candidates(text: str, targets: Mapping[str, str]) -> Iterator[str]:
    """Texts that may be right: paths are replaced wherever they look like parts of specs, remarks included."""
    for between in ("", r"\s"):
        moved = _replacing(targets, between)
        lines = text.splitlines(keepends=True)
        yield "".join(line if re.match(r"\s*(title|description)\s*=", line) else moved(line) for line in lines)


def _replacing(targets: Mapping[str, str], between: str = "") -> Callable[[str], str]:
    """Return a function that replaces the paths in a text that has specs in quotes, at any depth of these."""
    texts = dict(targets)
    level = texts
    for _ in range(_LEVELS):
        level = {escape(name): escape(target) for name, target in level.items()}
        texts = level | texts
    paths = "|".join(re.escape(name) for name in sorted(texts, key=len, reverse=True))
    pattern = re.compile(rf"""(?<=["'\[:=,+{between}])(?:{paths})(?=["'\]:,+{between}])""")
    return lambda text: pattern.sub(lambda match: texts[match[0]], text) if texts else text


def _moved(value: Any, replace: Callable[[str], str]) -> Any:
    """Return a value of a study's file with other paths in its specs."""
    if isinstance(value, str):
        return replace(f'"{value}"')[1:-1]
    if isinstance(value, list):
        return [_moved(inner, replace) for inner in value]
    if isinstance(value, dict):
        return {key: _moved(inner, replace) for key, inner in value.items()}
    return value


def _as_toml(study: Mapping[str, Any]) -> str:
    """Return a study as TOML, without the remarks of its file."""
    return "".join(f"{json.dumps(key)} = {_value(value)}\n" for key, value in study.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's notation is also TOML's
