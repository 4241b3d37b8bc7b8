"""A small study file, and functions that change it."""

import pytest

from coebl.study import StudyError, parse_study

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


def exp3_study(*lines):
    """A study of Exp3 against itself, with these lines from its line 7 on."""
    before = ['name = "small"', "rounds = 12", "seeds = 3", 'games = ["rps"]', 'learners = ["exp3"]', 'record = "last"']
    return "".join(f"{line}\n" for line in (*before, *lines, "[match-ups]", "self-play = true"))


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
