"""Polars, the library of all frames: it is optional and slow to import, so it is imported on first use."""

from typing import TYPE_CHECKING

from coebl.core.modules import Lazy

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")

__all__ = ["pl"]
