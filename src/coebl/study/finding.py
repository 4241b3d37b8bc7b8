"""What a user means by a spec, among the specs that finished cells have."""

from __future__ import annotations

from collections.abc import Collection

from coebl.core.errors import InputError, nearest
from coebl.study.about import REGISTRIES

NOTHING_YET = "no cell is finished yet; run the study first."


def find(label: str, spec: str, present: Collection[str], name: str = "") -> str:
    """The spec among those that are present that means the same as this one.

    Args:
        label: what it is a spec of: game, row, column or noise.
        spec: in any spelling.
        present: what there is.
        name: what to call it, if it is not there; by default the label.
    """
    if spec in present:
        return spec
    if (canonical := _canonical(label, spec)) in present:
        return canonical
    if not present:
        raise InputError(NOTHING_YET)
    raise InputError(
        f"no finished cell has the {name or label} {spec!r}{nearest(spec, present)} Present: {listed(present)}."
    )


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
