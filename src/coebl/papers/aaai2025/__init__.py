"""Lehre and Lin, "Towards runtime analysis of population-based co-evolutionary algorithms on sparse binary zero-sum
games", AAAI 2025.

`study.toml` has the experiments, `paper.toml` the claims and the words of the page, `search_claims` the checks of the
claims, and `search_figures` the figures. The claims are those of the abstract: the authors' program calls its ranges
examples, and publishes no numbers.
"""

from coebl.papers import read_paper
from coebl.papers.aaai2025.search_claims import CHECKS
from coebl.papers.aaai2025.search_figures import FIGURES

__all__ = ["PAPER"]

PAPER = read_paper(__name__, CHECKS, FIGURES)
