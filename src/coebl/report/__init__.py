"""The page of a study, from its results and the verdicts on them.

This module provides what HTML files embed: Vega, JSON, scripts and style sheets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.core.text import finite

_ADDRESS_SPACE = 72 << 30  # bytes of address space that V8 reserves; it uses little of it


@cache  # building it takes seconds
def vega_script() -> str:
    """Return the script of Vega and Vega-Lite from the installed package, in its own scope."""
    package = require("vl_convert")
    _check_address_space()
    bundle: str = package.javascript_bundle()
    return "(() => {" + bundle.replace("</script", "<\\/script") + "\n})();"


def _check_address_space() -> None:
    """Raise an `InputError` if the address space is too small for V8, the engine in `vl_convert`, which would abort."""
    try:
        import resource
    except ImportError:  # not on every system
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < _ADDRESS_SPACE:
        raise InputError(
            f"the address space of this process is limited to {limit / 2**30:.0f} GiB, but the charts of a page need "
            f"{_ADDRESS_SPACE / 2**30:.0f} GiB of address space (not of memory); remove the limit: ulimit -v unlimited"
        )


def embed(data: object) -> str:
    """Return JSON for a script element: without <, > and &, and without Unicode line separators.

    Numbers that are not finite become null, and a dataclass an object of its fields.

    >>> print(embed("</script>"))
    "\\u003c/script\\u003e"
    """
    text = json.dumps(finite(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=vars)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def read_asset(name: str) -> str:
    """Return the content of an asset of the page."""
    return resources.files("coebl.report").joinpath("assets", name).read_text(encoding="utf-8")


def render(template: str, values: Mapping[str, Any], **filters: Callable[..., object]) -> str:
    """Return an asset as a Jinja template with these values; strings are escaped, the assets that it includes are not.

    Args:
        template: the name of the asset.
        values: what the template names.
        filters: the filters of the template, in addition to those of Jinja.
    """
    jinja2 = require("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(read_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters
    return str(environment.get_template(template).render(values))
