"""The memory of a `Maximin`, as NumPy arrays."""

from types import SimpleNamespace

from numba import carray, njit

from coebl.kernels import simplex, workspace


def tableau(solver, run=0):
    """The tableau of a run: views of its memory, without padding."""
    _, m, n = solver.shape
    T, B, norm, b, c, scale, basic, nonbasic = _views(solver._workspace, m, n, run)
    return SimpleNamespace(T=T, B=B, norm=norm, b=b, c=c, scale=scale, basic=basic, nonbasic=nonbasic)


@njit
def _views(memory, m, n, run):
    t = workspace.tableau_of(memory, workspace.layout(m, n, memory.coefficients), run)
    T, B = carray(t.T, (m, t.stride))[:, :n], carray(t.B, (m, t.B_stride))[:, :n]
    vectors = carray(t.norm, n), carray(t.b, m), carray(t.c, n), carray(t.scale, 4)
    return T, B, *vectors, carray(t.basic, m), carray(t.nonbasic, n)


def recompute(solver):
    """Recompute the tableau of the first run from its basis."""
    _, m, n = solver.shape
    return _recompute(solver._workspace, m, n)


@njit
def _recompute(memory, m, n):
    return simplex.recompute(workspace.tableau_of(memory, workspace.layout(m, n, memory.coefficients), 0))
