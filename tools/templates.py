"""Texts from templates: documents whose numbers are read from files and not typed by hand."""

from __future__ import annotations

from typing import Any

from coebl.core.modules import require


def text_template(text: str, **filters: Any) -> Any:
    """A Jinja template of plain text, such as Markdown, in which an unknown name is an error.

    >>> text_template("{{ share | percent }}", percent="{:.0%}".format).render(share=0.25)
    '25%'
    """
    jinja2 = require("jinja2")
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update(filters)
    return environment.from_string(text)
