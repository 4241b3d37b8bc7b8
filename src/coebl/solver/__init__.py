"""Zero-sum matrix games, solved and certified: `solve` for people, `maximin` for learners."""

from coebl.solver.maximin import BatchSolution, Maximin, fallback_count, maximin
from coebl.solver.solution import Solution, solve

__all__ = ["BatchSolution", "Maximin", "Solution", "fallback_count", "maximin", "solve"]
