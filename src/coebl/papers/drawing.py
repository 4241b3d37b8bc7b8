"""Writing the figures of a paper to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from coebl.core.errors import look_up
from coebl.naming.described import Described
from coebl.papers import Paper, V, no_data
from coebl.plots import FORMATS, save
from coebl.runs import Source
from coebl.study.processes import local_processes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(
    paper: Paper[V],
    source: Source,
    folder: str | os.PathLike[str],
    names: Iterable[str] | None = None,
    variants: Iterable[str] | None = None,
    formats: Sequence[str] = FORMATS,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    within: str | os.PathLike[str] | None = None,
) -> list[Path]:
    """Write figures as folder/variant/name.format, and return the paths.

    Args:
        paper: whose figures.
        source: the results.
        folder: where to.
        names: which figures; by default all for which there is data.
        variants: which variants; by default all for which there is data. What does not depend on the variant is written
            once, under the paper's first.
        formats: any of "pdf", "svg", "png".
        workers: how many processes write files.
        progress: called with the number of figures that are drawn, and of all, after each of them.
        within: the folder of the results; links inside it are not followed.
    """
    remembered = _Remembered(source)
    first = next(iter(paper.variants.values()))
    figures = look_up("figure", names, paper.figures)
    wanted = dict.fromkeys(
        (figure, variant if figure.varied else first)
        for variant in look_up("variant", variants, paper.variants)
        for figure in figures
    )
    present = [(figure, variant) for figure, variant in wanted if figure.has_data(remembered, variant)]
    drawn = {figure for figure, _ in present}
    for figure, variant in wanted:
        if not present or (names is not None and figure not in drawn):
            raise no_data(figure, variant)

    def jobs() -> Iterator[tuple[Figure, Path, str, Sequence[str], str | os.PathLike[str] | None]]:
        for done, (figure, variant) in enumerate(present, 1):
            for name, drawing in figure.drawings(remembered, variant):
                yield drawing, Path(folder) / variant.id, name, formats, within
            if progress is not None:
                progress(done, len(present))

    if workers == 1:
        written = [save(*job) for job in jobs()]
    else:
        with local_processes(workers) as pool:
            written = [future.result() for future in [pool.submit(save, *job) for job in jobs()]]
    return [path for paths in written for path in paths]


class _Remembered:
    """A source that reads everything once: many figures show the same runs."""

    def __init__(self, source: Source) -> None:
        self.matches = cache(source.matches)
        self.runs = cache(source.runs)
        self.metadata = cache(source.metadata if isinstance(source, Described) else list)
