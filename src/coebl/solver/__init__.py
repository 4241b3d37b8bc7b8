"""Certified solvers of zero-sum games: `solve_matrix` for one matrix, `maximin` for a batch, `Maximin` for learners."""

from coebl.solver.maximin import BatchSolution, Maximin, Solution, compile_kernels, maximin, solve_matrix

__all__ = ["BatchSolution", "Maximin", "Solution", "compile_kernels", "maximin", "solve_matrix"]
