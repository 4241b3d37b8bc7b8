"""The charts of the page, declared in Vega-Lite.

A chart is a specification as plain values. Where it holds `slot("name")`, the script of the page puts what the reader
has chosen: rows of data, titles, scales. Colours are the variables of the style sheet, so that a chart changes its
theme with the page, and is light on paper.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from coebl.core.modules import require
from coebl.report.claims_table import OUTCOMES

Spec = dict[str, Any]


def library() -> str:
    """The script of Vega and Vega-Lite, from the installed package, in a scope of its own."""
    require("vl_convert")
    return _bundle()


@cache  # it takes seconds to put together
def _bundle() -> str:
    bundle = str(require("vl_convert").javascript_bundle())
    return "(() => {" + bundle.replace("</script", "<\\/script") + "\n})();"


def slot(name: str) -> Spec:
    """A place that the script fills."""
    return {"$": name}


def _quantity(field: str, **options: Any) -> Spec:
    return {"field": field, "type": "quantitative", **options}


def _category(field: str, **options: Any) -> Spec:
    return {"field": field, "type": "nominal", **options}


def _layer(mark: str, encoding: Spec, **options: Any) -> Spec:
    return {"mark": {"type": mark, **options}, "encoding": encoding}


_INK, _SOFT = {"value": "var(--ink)"}, {"value": "var(--soft)"}
_TEXT = {"labelColor": "var(--ink)", "titleColor": "var(--soft)", "titleFontWeight": "normal", "labelFontSize": 12}
_AXIS = {"gridColor": "var(--line)", "domainColor": "var(--edge)", "tickColor": "var(--edge)"}
_FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Liberation Sans, Arial, sans-serif"
CONFIG: Spec = {
    "background": "transparent",
    "aria": False,  # the page says in words what a chart shows
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {**_TEXT, **_AXIS, "titleFontSize": 12.5, "titlePadding": 8, "labelSeparation": 8},
    # Few enough ticks for each to have its label, 0 among them.
    "axisX": {"tickCount": {"expr": "max(5, ceil(width / 120))"}, "labelFlush": 12},
    "axisY": {"labelFlush": False},
    "legend": {**_TEXT, "titleFontSize": 12, "labelLimit": 400},
    "header": {**_TEXT, "labelFontSize": 13, "labelFontWeight": 600, "labelLimit": 400},
    "title": {"color": "var(--ink)", "subtitleColor": "var(--soft)", "anchor": "start", "offset": 12}
    | {"fontSize": 15, "subtitleFontSize": 11.5, "subtitlePadding": 5},
    "text": {"color": "var(--ink)"},
}

_SIZE: Spec = {"width": slot("width"), "height": slot("height"), "autosize": {"type": "fit", "contains": "padding"}}
_COLOURS = {"domain": slot("names"), "range": slot("colours")}
_X_SCALE = {"type": slot("xType"), "domain": slot("xDomain"), "zero": slot("xZero")}
_Y_SCALE = {"type": slot("yType"), "domain": slot("yDomain"), "zero": slot("yZero")}
_ROOM = {"nice": False, "padding": slot("padding")}

_LEGEND = slot("legend")
_DASHES = {"domain": slot("names"), "range": slot("dashes")}
_BAND = {
    "y": _quantity("low", title=slot("yTitle"), scale={**_Y_SCALE, "nice": slot("nice")}),
    "y2": {"field": "high"},
    "fill": _category("colour", scale=None),
}
_LINE = {
    "y": _quantity("mean"),
    "color": _category("learner", scale=_COLOURS, legend=_LEGEND),
    "strokeDash": _category("learner", scale=_DASHES, legend=_LEGEND),
}
_SYMBOL = {"y": _quantity("mean"), "fill": _category("colour", scale=None), "shape": _category("shape", scale=None)}
_AT = {"x": {"datum": {"expr": "at"}, "type": "quantitative"}, "color": _SOFT}
CURVES: Spec = {
    **_SIZE,
    "data": {"name": "curves", "values": slot("rows")},
    "params": [{"name": "at", "value": None}],
    "encoding": {"x": _quantity("round", title="round", scale={**_X_SCALE, "nice": False})},
    "layer": [
        _layer("area", _BAND, opacity=0.16, clip=True, line=False),
        {"params": slot("brush")} | _layer("line", _LINE, clip=True, strokeWidth=2.2),
        {"transform": [{"filter": "datum.shape"}]}
        | _layer("point", _SYMBOL, filled=True, opacity=1, size=55, clip=True),
        {"data": {"values": [{}]}} | _layer("rule", _AT, clip=True, opacity={"expr": "at === null ? 0 : 1"}),
    ],
}

# Vega has what Vega-Lite has not: labels that stand where they cover nothing.
_LABELS: Spec = {
    "type": "text",
    "from": {"data": "point_marks"},
    "encode": {
        "enter": {"text": {"field": "datum.label"}, "fill": _INK, "fontSize": {"value": 12}, "font": {"value": _FONT}}
    },
    "transform": [
        {
            "type": "label",
            "size": {"signal": "[max(1, width), max(1, height)]"},  # it may be hidden
            "anchor": ["top-right", "bottom-right", "top-left", "bottom-left", "right", "left", "top", "bottom"],
            "offset": [2, 9],
            "avoidMarks": ["up_marks"],
        }
    ],
}

_PATH = {"order": _quantity("value"), "color": _INK, "detail": _category("sweep")}
FRONTIER: Spec = {
    **_SIZE,
    "data": {"name": "points", "values": slot("rows")},
    "encoding": {
        "x": _quantity("across", title=slot("xTitle"), scale=_X_SCALE | _ROOM),
        "y": _quantity("up", title=slot("yTitle"), scale=_Y_SCALE | _ROOM),
        "color": _category("learner", scale=_COLOURS, legend=None),
    },
    "layer": [
        {"params": slot("brush")} | _layer("line", _PATH, opacity=0.35, strokeWidth=1.5),
        _layer("rule", {"x": _quantity("left"), "x2": {"field": "right"}}, opacity=0.6),
        {"name": "up"} | _layer("rule", {"y": _quantity("low"), "y2": {"field": "high"}}, opacity=0.6),
        {"name": "point"} | _layer("point", {}, filled=True, opacity=1, size=80),
    ],
    "usermeta": {"embedOptions": {"patch": [{"op": "add", "path": "/marks/-", "value": _LABELS}]}},
}

_NEITHER = {"condition": {"test": "!datum.decided", "value": "var(--neither)"}}
_PLAIN_AXIS = {"title": None, "ticks": False, "domain": False, "labelFlush": False}
_AHEAD = {"domain": [True, False], "range": ["var(--column-wins)", "var(--row-wins)"]}
_DEPTH = {"calculate": "datum.decided ? 0.25 + 0.75 * abs(datum.shade) : 1", "as": "depth"}  # as in the table
_SHADE = {
    "fill": {**_NEITHER, **_category("columnAhead", scale=_AHEAD, legend=None)},
    "fillOpacity": _quantity("depth", scale=None),
}
_LINES_DOWN = {"labelExpr": "split(datum.label, '\\n')", "labelPadding": slot("labelPadding")}
_ON_TOP = {**_PLAIN_AXIS, **_LINES_DOWN, "orient": "top", "labelAngle": 0, "labelLimit": 130}
HEAT_MAPS: Spec = {
    "data": {"name": "cells", "values": slot("rows")},
    "columns": slot("columns"),
    "spacing": {"row": 18, "column": 14},
    "facet": _category("panel", title=None, sort=slot("panels"), header={"labelAnchor": "start", "labelPadding": 4}),
    "resolve": {"scale": {"x": "independent"}, "axis": {"x": "independent"}},
    "transform": [_DEPTH],
    "spec": {
        "width": slot("width"),
        "height": {"step": 26},
        "encoding": {
            "x": _category("learner", sort=None, axis=_ON_TOP),
            "y": _category("game", sort=slot("games"), axis={**_PLAIN_AXIS, "labelLimit": 190}),
        },
        "layer": [
            _layer("rect", _SHADE, stroke="var(--paper)", strokeWidth=2),
            _layer("text", {"text": {"field": "text"}}, fontSize=11.5),
        ],
    },
}

_OUTCOMES = list(OUTCOMES.values())
_OUTCOME_COLOURS = ["var(--holds)", "var(--fails)", "var(--unsure)", "var(--soft)"]
_OUTCOME = _category("outcome", scale={"domain": _OUTCOMES, "range": _OUTCOME_COLOURS}, title=None)
_OUTCOME_SHAPES = {"domain": _OUTCOMES, "range": ["circle", "cross", "diamond", "square"]}
_OUTCOME_LEGEND = {"orient": "bottom", "title": None, "columns": slot("legendColumns"), "values": _OUTCOMES[:3]}
_ABSENT = {"x": {"value": 6}, "text": {"value": "without data"}, "color": _SOFT}
_OUTCOME_SHAPE = _category("outcome", scale=_OUTCOME_SHAPES, legend=_OUTCOME_LEGEND)
CHECKS: Spec = {
    **_SIZE,
    "data": {"name": "checks", "values": slot("rows")},
    "encoding": {
        "y": _category("subject", sort=None, title=None, axis={"labelLimit": slot("labelLimit"), "grid": True}),
        "x": _quantity("measured", title=slot("xTitle"), scale={**_X_SCALE, "nice": True}),
    },
    "layer": [
        _layer("tick", {"x": _quantity("threshold")}, color="var(--ink)", thickness=2, height=15),
        {"transform": [{"filter": "datum.published"}]}
        | _layer("text", {"x": _quantity("threshold"), "color": _SOFT}, text="published", dy=-13, fontSize=10),
        _layer("rule", {"x": _quantity("low"), "x2": {"field": "high"}, "color": _OUTCOME}, strokeWidth=1.5),
        _layer("point", {"color": _OUTCOME, "shape": _OUTCOME_SHAPE}, filled=True, opacity=1, size=75),
        {"transform": [{"filter": "datum.outcome === 'without data'"}]}
        | _layer("text", _ABSENT, align="left", fontSize=11),
    ],
}

_WINNER = _category("winner", scale={"domain": [True, False], "range": ["#3b8bc2", "#e08214"]}, legend=None)
_AT_ZERO = {"condition": {"test": "datum.value === 0", **_INK}, "value": "var(--line)"}
_SAID, _ABOVE = {"x": {"value": 4}, "text": {"field": "text"}}, {"dy": -17, "align": "left", "fontSize": 12}
DUELS: Spec = {
    **_SIZE,
    "data": {"name": "duels", "values": slot("rows")},
    "encoding": {
        "y": _category("learner", sort=slot("learners"), title=None, axis={"labelLimit": 170}),
        "x": _quantity("mean", title=slot("xTitle"), scale={"domain": slot("xDomain")}, axis={"gridColor": _AT_ZERO}),
    },
    "layer": [
        _layer("text", _SAID, **_ABOVE, stroke="var(--paper)", strokeWidth=4),  # no line of the grid runs through it
        _layer("bar", {"color": {**_NEITHER, **_WINNER}}, height=20),
        _layer("rule", {"x": _quantity("low"), "x2": {"field": "high"}, "color": _INK}),
        _layer("text", _SAID, **_ABOVE),
    ],
}

CHARTS = {"curves": CURVES, "frontier": FRONTIER, "heatMaps": HEAT_MAPS, "checks": CHECKS, "duels": DUELS}
"""What the script draws, by the names that it uses."""


def charts_for_script() -> dict[str, Any]:
    """Every chart with its title, and with the look that all share."""
    return {name: {"title": slot("title"), **spec, "config": CONFIG} for name, spec in CHARTS.items()}
