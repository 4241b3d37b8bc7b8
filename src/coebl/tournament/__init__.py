"""Tournaments: every pair of learners, in both seats, over a suite of games, as a study; and the rankings from it."""

from coebl.tournament.suite import Suite, read_suite

__all__ = ["Suite", "read_suite"]
