"""Titles, colours and order of learners, games and metrics: for tables, figures and the page."""

from coebl.naming.described import Known, describe, known_to
from coebl.naming.looks import learner_style, looks
from coebl.naming.sweeps import Sweep, find_sweeps, learner_titles
from coebl.naming.titles import game_title, learner_title, metric_label, metric_words

__all__ = [
    "Known",
    "Sweep",
    "describe",
    "find_sweeps",
    "game_title",
    "known_to",
    "learner_style",
    "learner_title",
    "learner_titles",
    "looks",
    "metric_label",
    "metric_words",
]
