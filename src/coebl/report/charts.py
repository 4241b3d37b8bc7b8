"""The charts of the page, declared in Vega-Lite.

A chart is a specification as plain values. Where it holds `slot("name")`, the script of the page puts what the reader
has chosen: rows of data, titles, scales. Colours are the variables of the style sheet, so that a chart changes its
theme with the page, and is light on paper.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from coebl.core.modules import require

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


_TEXT = {"labelColor": "var(--ink)", "titleColor": "var(--soft)", "titleFontWeight": "normal"}
CONFIG: Spec = {
    "background": "transparent",
    "aria": False,  # the page says in words what a chart shows
    "font": "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Liberation Sans, Arial, sans-serif",
    "view": {"stroke": None},
    "axis": _TEXT
    | {
        "gridColor": "var(--line)",
        "domainColor": "var(--edge)",
        "tickColor": "var(--edge)",
        "labelFontSize": 12,
        "titleFontSize": 12.5,
        "titlePadding": 8,
        "labelFlush": True,
    },
    "legend": _TEXT | {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 400},
    "header": _TEXT | {"labelFontSize": 13, "labelFontWeight": 600, "labelLimit": 400},
    "title": {
        "color": "var(--ink)",
        "subtitleColor": "var(--soft)",
        "anchor": "start",
        "fontSize": 15,
        "subtitleFontSize": 11.5,
        "subtitlePadding": 5,
        "offset": 12,
    },
    "text": {"color": "var(--ink)"},
}

_SIZE: Spec = {"width": slot("width"), "height": slot("height"), "autosize": {"type": "fit", "contains": "padding"}}
_COLOURS = {"domain": slot("names"), "range": slot("colours")}
_COLOUR = _category("learner", scale=_COLOURS, legend=slot("legend"))
_Y_SCALE = {"type": slot("yType"), "zero": slot("zero"), "domain": slot("yDomain"), "nice": slot("nice")}

CURVES: Spec = {
    **_SIZE,
    "title": slot("title"),
    "data": {"name": "curves", "values": slot("rows")},
    "params": [{"name": "at", "value": None}],
    "encoding": {
        "x": _quantity("round", title="round", scale={"type": slot("xType"), "domain": slot("xDomain"), "nice": False}),
    },
    "layer": [
        {
            "mark": {"type": "area", "opacity": 0.16, "clip": True, "line": False},
            "encoding": {
                "y": _quantity("low", title=slot("yTitle"), scale=_Y_SCALE),
                "y2": {"field": "high"},
                "fill": _category("colour", scale=None),
            },
        },
        {
            "mark": {"type": "line", "clip": True, "strokeWidth": 2.2},
            "params": slot("brush"),
            "encoding": {
                "y": _quantity("mean"),
                "color": _COLOUR,
                "strokeDash": _category(
                    "learner", scale={"domain": slot("names"), "range": slot("dashes")}, legend=slot("legend")
                ),
            },
        },
        {
            "mark": {"type": "point", "filled": True, "opacity": 1, "size": 55, "clip": True},
            "transform": [{"filter": "datum.shape"}],
            "encoding": {
                "y": _quantity("mean"),
                "fill": _category("colour", scale=None),
                "shape": _category("shape", scale=None),
            },
        },
        {
            "data": {"values": [{}]},
            "mark": {"type": "rule", "color": "var(--soft)", "clip": True, "opacity": {"expr": "at === null ? 0 : 1"}},
            "encoding": {"x": {"datum": {"expr": "at"}, "type": "quantitative"}},
        },
    ],
}

_ACROSS = {"type": slot("xType"), "domain": slot("xDomain")}
_UP = {"type": slot("yType"), "domain": slot("yDomain")}

FRONTIER: Spec = {
    **_SIZE,
    "title": slot("title"),
    "data": {"name": "points", "values": slot("rows")},
    "encoding": {
        "x": _quantity("across", title=slot("xTitle"), scale=_ACROSS),
        "y": _quantity("up", title=slot("yTitle"), scale=_UP),
        "color": _category("learner", scale={"domain": slot("names"), "range": slot("colours")}, legend=None),
    },
    "layer": [
        {
            "mark": {"type": "line", "opacity": 0.35, "strokeWidth": 1.5},
            "params": slot("brush"),
            "encoding": {"order": _quantity("value"), "color": {"value": "var(--ink)"}, "detail": _category("sweep")},
        },
        {"mark": {"type": "rule"}, "encoding": {"x": _quantity("left"), "x2": {"field": "right"}}},
        {"mark": {"type": "rule"}, "encoding": {"y": _quantity("low"), "y2": {"field": "high"}}},
        {"mark": {"type": "point", "filled": True, "opacity": 1, "size": 80}},
        {
            "mark": {
                "type": "rule",
                "color": "var(--soft)",
                "strokeDash": [1, 2],
                "x2Offset": {"expr": "0.8 * datum.dx"},
                "y2Offset": {"expr": "0.8 * datum.dy"},
            },
            "encoding": {"x2": {"field": "across"}, "y2": {"field": "up"}, "color": {"value": "var(--soft)"}},
        },
        {
            "mark": {
                "type": "text",
                "fontSize": 12,
                "align": {"expr": "datum.align"},
                "baseline": "middle",
                "dx": {"expr": "datum.dx"},
                "dy": {"expr": "datum.dy"},
            },
            "encoding": {"text": {"field": "label"}, "color": {"value": "var(--ink)"}},
        },
    ],
}

HEAT_MAPS: Spec = {
    "title": slot("title"),
    "data": {"name": "cells", "values": slot("rows")},
    "columns": slot("columns"),
    "spacing": {"row": 18, "column": 14},
    "facet": _category("panel", title=None, sort=slot("panels"), header={"labelAnchor": "start", "labelPadding": 4}),
    "resolve": {"scale": {"x": "independent"}, "axis": {"x": "independent"}},
    "spec": {
        "width": slot("width"),
        "height": {"step": 26},
        "encoding": {
            "x": _category(
                "learner",
                sort=None,
                title=None,
                axis={
                    "orient": "top",
                    "labelAngle": 0,
                    "ticks": False,
                    "domain": False,
                    "labelLimit": 130,
                    "labelExpr": "split(datum.label, '\\n')",
                    "labelPadding": slot("labelPadding"),  # lines go downwards
                },
            ),
            "y": _category(
                "game",
                sort=slot("games"),
                title=None,
                axis={"labelLimit": 190, "labelFlush": False, "ticks": False, "domain": False},
            ),
        },
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "var(--paper)", "strokeWidth": 2},
                "encoding": {
                    "color": {
                        "condition": {"test": "!datum.decided", "value": "var(--neither)"},
                        **_quantity(
                            "shade",
                            scale={
                                "domain": [-1, 0, 1],
                                "interpolate": "rgb",
                                "range": ["#e08214", "#f7f7f4", "#3b8bc2"],
                            },
                            legend={
                                "orient": "bottom",
                                "direction": "horizontal",
                                "gradientLength": 240,
                                "title": slot("legendTitle"),
                                "titleLimit": 400,
                                "values": [-1, -0.5, 0, 0.5, 1],
                                "labelExpr": slot("legendLabels"),
                            },
                        ),
                    }
                },
            },
            {
                "mark": {"type": "text", "fontSize": 11.5},
                "encoding": {
                    "text": {"field": "text"},
                    "color": {"condition": {"test": "datum.decided", "value": "#111111"}, "value": "var(--ink)"},
                },
            },
        ],
    },
}

_OUTCOMES = ["shown", "refuted", "open", "without data"]
CHECKS: Spec = {
    **_SIZE,
    "title": slot("title"),
    "data": {"name": "checks", "values": slot("rows")},
    "encoding": {
        "y": _category("subject", sort=None, title=None, axis={"labelLimit": slot("labelLimit"), "grid": True}),
        "x": _quantity(
            "measured", title=slot("xTitle"), scale={"type": slot("xType"), "nice": True, "zero": slot("zero")}
        ),
    },
    "layer": [
        {
            "mark": {"type": "tick", "color": "var(--ink)", "thickness": 2, "height": 15},
            "encoding": {"x": _quantity("threshold")},
        },
        {
            "transform": [{"filter": "datum.published"}],
            "mark": {"type": "text", "text": "published", "dy": -13, "fontSize": 10, "color": "var(--soft)"},
            "encoding": {"x": _quantity("threshold")},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 1.5},
            "encoding": {
                "x": _quantity("low"),
                "x2": {"field": "high"},
                "color": _category("outcome", scale={"domain": _OUTCOMES, "range": slot("outcomeColours")}, title=None),
            },
        },
        {
            "mark": {"type": "point", "filled": True, "opacity": 1, "size": 75},
            "encoding": {
                "color": _category("outcome", scale={"domain": _OUTCOMES, "range": slot("outcomeColours")}, title=None),
                "shape": _category(
                    "outcome",
                    scale={"domain": _OUTCOMES, "range": ["circle", "cross", "diamond", "square"]},
                    legend={"orient": "bottom", "title": None},
                ),
            },
        },
    ],
}

DUELS: Spec = {
    **_SIZE,
    "title": slot("title"),
    "data": {"name": "duels", "values": slot("rows")},
    "encoding": {
        "y": _category("learner", sort=slot("learners"), title=None, axis={"labelLimit": 170}),
        "x": _quantity("mean", title=slot("xTitle"), scale={"domain": slot("xDomain")}),
    },
    "layer": [
        {
            "mark": {"type": "bar", "height": 20},
            "encoding": {
                "color": {
                    "condition": {"test": "!datum.decided", "value": "var(--neither)"},
                    **_category(
                        "winner", scale={"domain": [True, False], "range": ["#3b8bc2", "#e08214"]}, legend=None
                    ),
                }
            },
        },
        {"mark": {"type": "rule", "color": "var(--ink)"}, "encoding": {"x": _quantity("low"), "x2": {"field": "high"}}},
        {"data": {"values": [{}]}, "mark": "rule", "encoding": {"x": {"datum": 0}, "color": {"value": "var(--ink)"}}},
        {
            "mark": {"type": "text", "dy": -17, "align": "left", "fontSize": 12},
            "encoding": {"x": {"value": 4}, "text": {"field": "text"}},
        },
    ],
}

CHARTS = {"curves": CURVES, "frontier": FRONTIER, "heatMaps": HEAT_MAPS, "checks": CHECKS, "duels": DUELS}
"""What the script draws, by the names that it uses."""


def charts_for_script() -> dict[str, Any]:
    """Every chart with the look that all share."""
    return {name: {**spec, "config": CONFIG} for name, spec in CHARTS.items()}
