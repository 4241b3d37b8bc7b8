"""Documents from templates: their numbers are read from files, not typed by hand."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coebl.core.modules import require


def template_path(name: str) -> Path:
    """Return the path of a template in this folder."""
    return Path(__file__).with_name(f"{name}.md.jinja")


def render(name: str, filters: Mapping[str, Any], **values: Any) -> str:
    """Return the text of a template, in which an unknown name is an error."""
    jinja2 = require("jinja2")
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update(filters)
    return environment.from_string(template_path(name).read_text(encoding="utf-8")).render(**values)


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
