"""Conformance kits: does a learner, a game or a metric keep its contract? For your own, and for ours."""

from coebl.testing.games import check_game
from coebl.testing.learners import check_learner
from coebl.testing.metrics import check_metric
from coebl.testing.points import Point, Report
from coebl.testing.strict import StrictArray

__all__ = ["Point", "Report", "StrictArray", "check_game", "check_learner", "check_metric"]
