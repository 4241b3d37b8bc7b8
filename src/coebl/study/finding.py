"""What a user means by a spec, among the specs that finished cells have."""

from __future__ import annotations

from collections.abc import Collection

from coebl.core.errors import InputError, nearest
from coebl.core.specs import split_spec
from coebl.study.record import REGISTRIES

NOTHING_YET = "no cell is finished yet; run the study first."


def find(label: str, spec: str, present: Collection[str], name: str = "") -> str:
    """The spec among those that are present that means the same as this one.

    Args:
        label: what it is a spec of: game, row, column or noise.
        spec: any equivalent spec; of what is in a file, the name of the class or of the file suffices, if it is that of
            one alone.
        present: what there is.
        name: what to call it, if it is not there; by default the label.
    """
    if spec in present:
        return spec
    if (canonical := _canonical(label, spec)) in present:
        return canonical
    alike = [one for one in present if spec.casefold() in _short_names(one)]
    if len(alike) == 1:
        return alike[0]
    if not present:
        raise InputError(NOTHING_YET)
    raise InputError(
        f"no finished cell has the {name or label} {spec!r}{nearest(spec, present)} Present: {listed(present)}."
    )


def _short_names(spec: str) -> set[str]:
    """What else a spec of a file may be called, in small letters: its class or its file in place of both.

    >>> sorted(_short_names("mine.py:Mine2:rate=0.2"))
    ['mine.py:rate=0.2', 'mine2:rate=0.2', 'mine:rate=0.2']
    """
    parts = split_spec(spec)
    if not parts.file:
        return set()
    names = parts.attribute, parts.file, parts.file.removesuffix(".py")
    return {f"{name}:{parts.parameters}".rstrip(":").casefold() for name in names}


def listed(present: Collection[str]) -> str:
    """The first few of these, and how many more there are."""
    shown = ", ".join(list(present)[:8])
    return f"{shown} and {len(present) - 8} more" if len(present) > 8 else shown or "none"


def _canonical(label: str, spec: str) -> str:
    """The shortest spelling of a spec, or the spec itself if it cannot be parsed here without running a file."""
    if found := REGISTRIES[label].known(spec):
        entry, arguments = found
        return entry.write(arguments)
    return spec
