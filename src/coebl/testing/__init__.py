"""Conformance kits: check that a learner, a game or a metric, custom or built in, keeps its contract."""

from coebl.testing.kits import Point, Report, check_game, check_metric
from coebl.testing.learner_kit import check_learner
from coebl.testing.strict import StrictArray

__all__ = ["Point", "Report", "StrictArray", "check_game", "check_learner", "check_metric"]
