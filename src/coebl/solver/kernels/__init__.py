"""The compiled kernels of the solver."""
