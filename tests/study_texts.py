"""A small study file, and functions that change it."""

import pytest

from coebl.study import StudyError, parse_study
from coebl.study.studies import as_toml

BASE = """\
name = "small"
rounds = 20
seeds = 4
games = ["rps", "diagonal:n=2"]
learners = ["ucb", "exp3"]
noise = "none"
record = "last"
metrics = ["regret"]
[match-ups]
self-play = true
"""


SMALL = {"name": "small", "rounds": 12, "seeds": 3, "games": ["rps"], "learners": ["exp3"], "record": "last"}


def small_study(folder=None, match_ups="self-play", **keys):
    """The text of a study of Exp3 against itself, or of other keys; or its file in a folder."""
    match_ups = {match_ups: True} if isinstance(match_ups, str) else match_ups
    text = as_toml(SMALL | {"metrics": ["regret"]} | keys | {"match-ups": match_ups})
    if folder is None:
        return text
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def with_lines(changes, text=BASE):
    """Return the text with some of its lines, which count from 1, replaced; None removes a line."""
    lines = text.splitlines()
    for number, line in changes.items():
        lines[number - 1] = line
    return "".join(f"{line}\n" for line in lines if line is not None)


def mistakes_of(text, where="study.toml"):
    with pytest.raises(StudyError) as caught:
        parse_study(text, where)
    return caught.value.mistakes


def pairs_of(text):
    return list(dict.fromkeys(cell.players for cell in parse_study(text).cells))
