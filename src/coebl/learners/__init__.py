"""Learners: the contract, one file per algorithm, a template to copy."""

from coebl.learners.base import SEES, Learner, Seat, Tally
from coebl.learners.registry import LEARNERS, parse_learner

__all__ = ["LEARNERS", "SEES", "Learner", "Seat", "Tally", "parse_learner"]
