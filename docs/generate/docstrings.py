"""Docstrings as the site shows them: examples are code, and the comment beside a field is its documentation."""

from __future__ import annotations

import re
from typing import Any

import griffe

COMMENT = re.compile(r"  # (?!type:)(.+)$")
_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


def fenced(docstring: str) -> str:
    """Return a docstring with its examples as code blocks; Markdown would show them as quotations."""
    return _EXAMPLE.sub(r"```pycon\n\g<0>\n```", docstring)


class Docstrings(griffe.Extension):
    """The extension that griffe calls for every object in the sources."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Show the examples of a docstring as code."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Give an attribute that has no docstring the comment beside it."""
        lines = [attr.lines[0], attr.lines[-1]] if attr.lines else []  # of a table, the comment is on its first line
        comment = next(filter(None, map(COMMENT.search, lines)), None)
        if attr.docstring is None and comment:
            text = comment[1][0].upper() + comment[1][1:]
            attr.docstring = griffe.Docstring(f"{text}.", parent=attr, lineno=attr.lineno)
