"""Zero-sum matrix games, solved and certified: `solve` for people, `Maximin` for learners, `maximin` for one batch."""

from coebl.solver.maximin import BatchSolution, Maximin, compile_kernels, maximin
from coebl.solver.solution import Solution, solve

__all__ = ["BatchSolution", "Maximin", "Solution", "compile_kernels", "maximin", "solve"]
