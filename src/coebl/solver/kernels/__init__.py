"""The compiled kernels of the solver: `lockstep` for small matrices, `simplex` for large ones."""
