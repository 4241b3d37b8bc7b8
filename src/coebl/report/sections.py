"""Sections that a page has besides those of every study: a table, a picture, and what they say."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coebl.core.errors import InputError
from coebl.core.files import read_whole
from coebl.tournament.outcome import FOLDER

_PICTURE = "Mean advantage against worst-case regret: to the right and below is better"


@dataclass(frozen=True)
class Section:
    """A section of a page: plain texts, and a picture as SVG, in which no script is run."""

    id: str
    title: str
    sentences: Sequence[str]
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str  # of the table
    picture: bytes | None = None
    picture_text: str = ""

    @property
    def picture_data(self) -> str:
        """The picture as the address of an image; nothing if there is none."""
        if self.picture is None:
            return ""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.picture).decode()}"


def tournament_section(folder: Path) -> Section | None:
    """The ranking or the verdicts of the tournament in a folder, as `coebl tournament` left them; None if none are."""
    path = folder / FOLDER / "summary.json"
    if not path.exists():
        return None
    try:
        page = json.loads(read_whole(path))["page"]
        picture = read_whole(folder / FOLDER / "figure.svg")
        return Section(
            id="ranking",
            title=str(page.get("title", "Ranking")),
            sentences=_texts(page["sentences"]),
            header=_texts(page["header"]),
            rows=[_texts(row) for row in page["rows"]],
            caption=str(page["legend"]),
            picture=picture,
            picture_text=str(page.get("picture_text", _PICTURE)),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{path.parent}: its files are damaged. To recreate them: coebl tournament") from None


def _texts(values: Any) -> list[str]:
    return [str(value) for value in list(values)]
