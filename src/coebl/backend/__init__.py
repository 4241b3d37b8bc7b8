"""Devices: NumPy on the CPU, or CuPy on a GPU, behind one `Backend`. Only `backend_for` chooses between them.

>>> from coebl.backend import backend_for
>>> backend = backend_for("cpu")
>>> backend.device, backend.einsum("ri,ri->r", backend.arrays.ones((2, 3)), backend.arrays.ones((2, 3)))
('cpu', array([3., 3.]))
"""

from coebl.backend.base import (
    CPU,
    DEVICES,
    Backend,
    Device,
    check_device,
    cos_of_turns,
    exp,
    expm1,
    is_out_of_memory,
    log,
    log1p,
)
from coebl.backend.streams import compile_normals

__all__ = [
    "CPU",
    "DEVICES",
    "Backend",
    "Device",
    "backend_for",
    "check_device",
    "compile_normals",
    "cos_of_turns",
    "exp",
    "expm1",
    "is_out_of_memory",
    "log",
    "log1p",
]


def backend_for(device: Device) -> Backend:
    """Return the backend of a device; raise an `InputError` if the device cannot be used."""
    if check_device(device) == "cpu":
        return CPU
    from coebl.backend.cuda import CudaBackend

    return CudaBackend()
