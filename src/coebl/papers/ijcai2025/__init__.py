"""Lin, "Randomised optimism via competitive co-evolution for matrix games with bandit feedback", IJCAI 2025.

`study.toml` has the experiments, `paper.toml` the variants, the claims and the words of the page. `paper_claims` has
the games and roles and the checks of the claims, `paper_figures` the figures.
"""

from coebl.papers import read_paper
from coebl.papers.ijcai2025.paper_claims import CHECKS, REFERENCE
from coebl.papers.ijcai2025.paper_figures import FIGURES

__all__ = ["PAPER"]

PAPER = read_paper(__name__, CHECKS, FIGURES, REFERENCE)
