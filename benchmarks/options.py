"""The command-line options of the benchmarks, the pages that they write, and the CPU on which they run."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterable
from pathlib import Path

from coebl.core.files import write_whole

HERE = Path(__file__).parent


def chosen_sizes(description: str | None, written: str) -> list[int]:
    """Return the sizes given by --sizes; if the list is empty, all are run and the file `written` is updated."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[], help=f"only these n, and do not write {written}")
    return parser.parse_args().sizes


def write_page(name: str, parts: Iterable[str]) -> None:
    """Write the paragraphs and tables of a page in this folder, with a blank line between them."""
    write_whole(HERE / name, "\n\n".join(part.strip() for part in parts if part) + "\n")


def cpu_model() -> str:
    """Return the name of the CPU."""
    path = Path("/proc/cpuinfo")  # not on every system
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
