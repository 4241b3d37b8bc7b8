"""A look into the memory of a `Maximin`, as NumPy arrays."""

from types import SimpleNamespace

from numba import njit

from coebl.kernels import anew, workspace


def tableau(solver, run=0):
    """The tableau of a run: views of its memory, without padding."""
    memory = solver._workspace
    _, m, n = solver.shape
    lay = workspace.layout(m, n, memory.coefficients)
    numbers = memory.numbers[run * lay.numbers :]
    coefficients = memory.coefficients[run * lay.coefficients :]
    indices = memory.indices[run * lay.indices :]
    return SimpleNamespace(
        T=coefficients[lay.T :][: m * lay.stride].reshape(m, lay.stride)[:, :n],
        norm=coefficients[lay.norm :][:n],
        b=numbers[lay.b :][:m],
        c=numbers[lay.c :][:n],
        B=numbers[lay.B :][: m * lay.B_stride].reshape(m, lay.B_stride)[:, :n],
        scale=numbers[lay.scale :][:4],
        basic=indices[lay.basic :][:m],
        nonbasic=indices[lay.nonbasic :][:n],
    )


def compute_anew(solver):
    """Recompute the tableau of the first run from its basis."""
    _, m, n = solver.shape
    return _compute_anew(solver._workspace, m, n)


@njit
def _compute_anew(memory, m, n):
    lay = workspace.layout(m, n, memory.coefficients)
    return anew.compute_anew(workspace.tableau_of(memory, lay, 0), workspace.scratch_of(memory, lay))
