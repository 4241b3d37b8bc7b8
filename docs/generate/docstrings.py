"""Docstrings as the site shows them: examples are code, and the comment beside a field is its documentation."""

from __future__ import annotations

import re
from typing import Any

import griffe

COMMENT = re.compile(r"  # (?!type:)(.+)$")
_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Called by griffe for everything that it finds in the sources."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the examples of a docstring: a page would take them for quotations."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Give an attribute that has no docstring the comment on its line."""
        if attr.docstring is None and attr.lines and (found := COMMENT.search(attr.lines[-1])):
            text = found[1][0].upper() + found[1][1:]
            attr.docstring = griffe.Docstring(f"{text}.", parent=attr, lineno=attr.lineno)
