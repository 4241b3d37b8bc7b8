"""The solver on a graphics processor: `CudaMaximin`. Nothing here is imported unless it is asked for."""

from coebl.solver.cuda.maximin import CudaMaximin

__all__ = ["CudaMaximin"]
