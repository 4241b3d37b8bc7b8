"""Links from pages to files of the repository: those files become part of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FOLDER = "repository"  # of the site, where such files are
_LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")


def rewritten(markdown: str, uri: str) -> str:
    """Return the text of a page with its links to the repository's files rewritten to their places on the site."""

    def replace(link: re.Match[str]) -> str:
        target = _target(link[2], uri)
        return f"{link[1]}{posixpath.relpath(_place(target), posixpath.dirname(uri))}{link[3]}" if target else link[0]

    return _LINK.sub(replace, markdown)


def linked(markdown: str, uri: str) -> Iterator[tuple[str, Path | str]]:
    """Yield the place on the site of each file outside docs/ that a page links to, and the file or its text."""
    for link in _LINK.finditer(markdown):
        target = _target(link[2], uri)
        if target and not target.startswith("docs/"):
            path = ROOT / target
            yield _place(target), path if path.is_file() else _listing(path)
            if path.is_dir():
                yield from ((f"{_FOLDER}/{target}/{file.name}", file) for file in _files(path))


def _target(link: str, uri: str) -> str | None:
    """Return the path in the repository that a link leads to, if the link or its page is outside docs/."""
    outside = uri.startswith(f"{_FOLDER}/")
    source = uri.removeprefix(f"{_FOLDER}/") if outside else f"docs/{uri}"
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    return target if (outside or not target.startswith("docs/")) and (ROOT / target).exists() else None


def _place(target: str) -> str:
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    return f"{_FOLDER}/{target}/index.md" if (ROOT / target).is_dir() else f"{_FOLDER}/{target}"


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file())


def _listing(folder: Path) -> str:
    names = "".join(f"- [{file.name}]({file.name})\n" for file in _files(folder))
    return f"# {folder.relative_to(ROOT).as_posix()}\n\nFiles of the repository:\n\n{names}"
