"""The notebook, run from top to bottom, as a page of the site."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

from curves import kept_as
from reference import Page
from repository import ROOT

NOTEBOOK = ROOT / "docs" / "tutorials" / "notebook.ipynb"

_FORMAT: Any = nbformat  # it has no types


def executed() -> Any:
    """Run the notebook and return it with its outputs. Exceptions of cells propagate."""
    notebook = _FORMAT.read(NOTEBOOK, as_version=4)
    with TemporaryDirectory() as folder:  # for the sockets: over TCP, a kernel warns about security
        config = Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        NotebookClient(notebook, timeout=300, kernel_name="python3", config=config).execute()
    return notebook


def notebook_pages() -> Iterator[Page]:
    """Yield the page and its figures; the notebook runs again when it or the package has changed."""
    run = kept_as("ipynb", NOTEBOOK.read_text("utf-8"), lambda path: _FORMAT.write(executed(), path))
    parts = []
    for number, cell in enumerate(_FORMAT.reads(run.decode(), as_version=4).cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                picture = f"notebook-{number}.png"
                yield Page(f"tutorials/{picture}", base64.b64decode(data["image/png"]))
                parts.append(f"![What the cell above draws]({picture})")
            else:
                parts.append(f"```text\n{(output.get('text') or data.get('text/plain', '')).rstrip()}\n```")
    parts.insert(1, f"This page is a Jupyter notebook, as it ran: [download it]({NOTEBOOK.name}).")
    yield Page("tutorials/notebook.md", "\n\n".join(parts))
