"""The solver on a GPU: `CudaMaximin`. It is imported only when it is needed."""

from coebl.solver.cuda.kernel import CudaMaximin

__all__ = ["CudaMaximin"]
