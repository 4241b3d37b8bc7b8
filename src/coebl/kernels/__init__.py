"""The compiled kernels: `lockstep` solves small matrices, `simplex` large ones, and `normals` draws normal numbers."""
