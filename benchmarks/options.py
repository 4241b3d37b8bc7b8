"""Command-line options of the benchmarks."""

from __future__ import annotations

import argparse


def chosen_sizes(description: str | None, written: str) -> list[int]:
    """Return the sizes given by --sizes; if the list is empty, all are run and the file `written` is updated."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[], help=f"only these n, and do not write {written}")
    sizes: list[int] = parser.parse_args().sizes
    return sizes
