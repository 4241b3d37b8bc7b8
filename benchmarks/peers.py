"""Other zero-sum solvers, for comparison: each function imports its library and returns a solver, payoffs -> value.

Each peer is measured in a separate process: some of these libraries bundle different builds of the same shared library.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Solver = Callable[[Floats], float]


def best_time(function: Callable[[], object], seconds: float) -> float:
    """Return the shortest time of a call, over as many calls as fit into the given seconds, at least three."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(name: str, batch: Floats) -> tuple[float, list[float]]:
    """Return the microseconds per solve, and the values of the first matrices of a batch."""
    solve = PEERS[name]()
    solve(batch[0])
    once = best_time(lambda: solve(batch[0]), 0.0)
    some = batch[: int(np.clip(0.25 / once, 2, len(batch)))]
    values = [solve(matrix) for matrix in some]
    return best_time(lambda: [solve(matrix) for matrix in some], 0.5) / len(some) * 1e6, values


def row_program(A: Floats) -> tuple[Floats, Floats]:
    """Return the objective, minimised over (x, v), and constraints: n rows with A'x - v >= 0, then sum(x) = 1."""
    m, n = A.shape
    constraints = np.ones((n + 1, m + 1))
    constraints[:n, :m] = A.T
    constraints[:n, m] = -1.0
    constraints[n, m] = 0.0
    return np.append(np.zeros(m), -1.0), constraints


def quantecon() -> Solver:
    from quantecon.optimize import minmax

    return lambda A: float(minmax(A)[0])


def scipy_highs() -> Solver:
    from scipy.optimize import linprog

    def solve(A: Floats) -> float:
        objective, constraints = row_program(A)
        m, n = A.shape
        result = linprog(
            objective,
            A_ub=-constraints[:n],
            b_ub=np.zeros(n),
            A_eq=constraints[n:],
            b_eq=[1.0],
            bounds=[(0, None)] * m + [(None, None)],
            method="highs",
        )
        assert result.fun is not None
        return float(-result.fun)

    return solve


def highspy() -> Solver:
    import highspy
    from scipy.sparse import csr_matrix

    def solve(A: Floats) -> float:
        objective, constraints = row_program(A)
        m, n = A.shape
        matrix = csr_matrix(constraints)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = m + 1, n + 1
        program.col_cost_ = objective
        program.col_lower_ = np.append(np.zeros(m), -highspy.kHighsInf)
        program.col_upper_ = np.full(m + 1, highspy.kHighsInf)
        program.row_lower_ = np.append(np.zeros(n), 1.0)
        program.row_upper_ = np.append(np.full(n, highspy.kHighsInf), 1.0)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = matrix.indptr
        program.a_matrix_.index_ = matrix.indices
        program.a_matrix_.value_ = matrix.data
        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        solver.silent()
        solver.setOptionValue("threads", 1)
        solver.passModel(program)
        solver.run()
        return float(-solver.getInfo().objective_function_value)

    return solve


def nashpy() -> Solver:
    import nashpy

    def solve(A: Floats) -> float:
        row, column = nashpy.Game(A).linear_program()
        return float(row @ A @ column)

    return solve


def glop() -> Solver:
    from ortools.linear_solver.python import model_builder_helper
    from scipy.sparse import csr_matrix

    def solve(A: Floats) -> float:
        objective, constraints = row_program(A)
        m, n = A.shape
        model: Any = model_builder_helper.ModelBuilderHelper()
        model.fill_model_from_sparse_data(
            np.append(np.zeros(m), -np.inf),
            np.full(m + 1, np.inf),
            objective,
            np.append(np.zeros(n), 1.0),
            np.append(np.full(n, np.inf), 1.0),
            csr_matrix(constraints),
        )
        solver = model_builder_helper.ModelSolverHelper("glop")
        solver.solve(model)
        return float(-solver.objective_value())

    return solve


def gurobi() -> Solver:
    import gurobipy

    environment = gurobipy.Env(params={"OutputFlag": 0, "Threads": 1})

    def solve(A: Floats) -> float:
        objective, constraints = row_program(A)
        m, n = A.shape
        with gurobipy.Model(env=environment) as model:
            z = model.addMVar(m + 1, lb=np.append(np.zeros(m), -np.inf))
            model.addConstr(constraints[:n] @ z >= 0)
            model.addConstr(constraints[n:] @ z == 1)
            model.setObjective(objective @ z)
            model.optimize()
            return float(-model.ObjVal)

    return solve


PEERS: dict[str, Callable[[], Solver]] = {
    "quantecon": quantecon,
    "SciPy HiGHS": scipy_highs,
    "highspy": highspy,
    "Nashpy": nashpy,
    "OR-tools GLOP": glop,
}
if find_spec("gurobipy") is not None:
    PEERS["gurobipy"] = gurobi
