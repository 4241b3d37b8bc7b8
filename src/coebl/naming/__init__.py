"""Titles, colours and order of learners, games and metrics: for tables, figures and the page."""

from coebl.naming.described import NOTHING, Known, LearnerWords, MetricWords, known_of, known_to, parameters_of
from coebl.naming.looks import PALETTE, Look, Style, learner_style, looks, slot_look
from coebl.naming.sweeps import Sweep, find_sweeps, learner_titles
from coebl.naming.titles import (
    game_title,
    learner_title,
    learner_words,
    metric_label,
    metric_words,
    parameters_text,
    spelled_out,
)

__all__ = [
    "NOTHING",
    "PALETTE",
    "Known",
    "LearnerWords",
    "Look",
    "MetricWords",
    "Style",
    "Sweep",
    "find_sweeps",
    "game_title",
    "known_of",
    "known_to",
    "learner_style",
    "learner_title",
    "learner_titles",
    "learner_words",
    "looks",
    "metric_label",
    "metric_words",
    "parameters_of",
    "parameters_text",
    "slot_look",
    "spelled_out",
]
