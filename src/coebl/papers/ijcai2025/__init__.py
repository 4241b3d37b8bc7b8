"""Lin, "Randomised optimism via competitive co-evolution for matrix games with bandit feedback", IJCAI 2025.

`study.toml` has the experiments, `paper.toml` the variants, the claims and the words of the page. `paper_claims` has
the checks of the claims, `paper_figures` the figures, and `variants` what they share.
"""

from coebl.papers import read_paper
from coebl.papers.ijcai2025.paper_claims import CHECKS
from coebl.papers.ijcai2025.paper_figures import FIGURES
from coebl.papers.ijcai2025.variants import REFERENCE

__all__ = ["PAPER"]

PAPER = read_paper(__name__, CHECKS, FIGURES, REFERENCE)
