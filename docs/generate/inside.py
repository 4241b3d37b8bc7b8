"""One run of COEBL from the inside: the steps of a round, and its beliefs beside the payoffs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl import simulate
from coebl.engine import Match
from coebl.engine.table import Table
from coebl.games import parse_matrix
from coebl.learners.coebl import Coebl
from coebl.plots.style import WIDTH, blue_orange, drawing
from coebl.report import embed, read_asset, vega_script

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coebl.core.arrays import Floats

GAME, SPEC = "biased-rps", "coebl:c=2"
STOPS = (1, 2, 3, 5, 10, 20, 50, 100, 300, 1000, 3000)
STEPS = ("1. visits", "2. mean rewards", "3. + bonus", "4. + noise: the mutant", "the true payoffs")
_PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>One round of COEBL</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>:root {{ --paper: #fff; --ink: #1c1e21; --soft: #5a5f66; --edge: #84888f; color-scheme: light }}
[data-theme="dark"] {{ --paper: #16181b; --ink: #e9e8e4; --soft: #a7abb1; --edge: #7d838b; color-scheme: dark }}
body {{ margin: 0; font: 1rem system-ui, sans-serif; background: var(--paper); color: var(--ink) }}
form.vega-bindings label {{ display: flex; gap: 0.6rem; align-items: center; padding: 0.3rem }}
form.vega-bindings input {{ flex: 1 }} form.vega-bindings input + span {{ display: none }}
#chart {{ width: 100% }}</style><script>{theme}</script></head>
<body><div id="chart"></div><script>{library}</script>
<script>const spec = {spec};
if (innerWidth < 700) {{ spec.vconcat[0].columns = 2; spec.vconcat[1].width = 250; }}
vegaEmbed("#chart", spec, {{ actions: false, renderer: "svg", ast: true, defaultStyle: false }});
</script></body></html>"""


def plot_beliefs(rounds: tuple[int, ...] = (10, 100, 1000, 3000)) -> Figure:
    """Plot the estimated payoffs of COEBL at some rounds, beside the true payoffs."""
    game = parse_matrix(GAME)
    result = simulate(game, SPEC, SPEC, rounds=rounds[-1], seeds=1, metrics=["regret"], record=10, keep=["beliefs"])
    belief = result.kept["beliefs"][0]
    places = [result.rounds.tolist().index(stop) for stop in rounds]
    panels = [
        (f"round {stop:,}", belief["mean"][place, 0], belief["count"][place, 0])
        for stop, place in zip(rounds, places, strict=True)
    ]
    panels.append(("the true payoffs", game.payoff, None))
    largest = abs(game.payoff).max()
    with drawing(WIDTH, 1.9) as figure:
        axes = figure.subplots(1, len(panels))
        for place, (ax, (title, means, visits)) in enumerate(zip(axes, panels, strict=True)):
            ax.imshow(means, cmap=blue_orange(), vmin=-largest, vmax=largest)
            for row, column in np.ndindex(means.shape):
                below = "" if visits is None else f"\n{visits[row, column]:,.0f}x"
                shade = "white" if abs(means[row, column]) > 0.6 * largest else "black"
                ax.text(
                    column, row, f"{means[row, column]:.2f}{below}", ha="center", va="center", fontsize=6, color=shade
                )
            ax.set_title(title)
            ax.set_xticks(range(means.shape[1]), game.column_labels, rotation=90)
            ax.set_yticks(range(means.shape[0]), game.row_labels if place == 0 else [""] * means.shape[0])
            ax.grid(visible=False)
    return figure


def round_stepper() -> str:
    """Return a page with a slider over rounds: visits, means, bonus, mutant, maximin and choice of one run."""
    match = Match.of(GAME, SPEC, SPEC, rounds=STOPS[-1])
    game = parse_matrix(GAME)
    table = Table(match, [0])
    learner: Any = table.seats[0].learner
    assert isinstance(learner, Coebl)
    bred: list[Floats] = []
    breed = learner.breeder.breed

    def traced(parents: Any) -> Any:
        children: Any = breed(parents)
        bred.append(children.mutant[0, 0].copy())
        return children

    learner.breeder.breed = traced  # type: ignore[method-assign]
    cells: list[dict[str, Any]] = []
    bars: list[dict[str, Any]] = []
    for stop in range(1, STOPS[-1] + 1):
        visits, means = learner.breeder.visits[0].copy(), learner.breeder.means()[0].copy()
        hopeful = means + learner._bonus(visits)
        block = table.play(stop, 1)
        if stop in STOPS:
            index = STOPS.index(stop)
            for step, matrix in zip(STEPS, (visits, means, hopeful, bred[-1], game.payoff), strict=True):
                for row, column in np.ndindex(matrix.shape):
                    value = float(matrix[row, column])
                    number = f"{value:.0f}" if step == STEPS[0] else f"{value:.2f}"
                    shade = None if step == STEPS[0] else round(value, 3)
                    labels = {"row": game.row_labels[row], "column": game.column_labels[column]}
                    cells.append({"index": index, "step": step, **labels, "shade": shade, "text": number})
            policy, chosen = block.policies[0][0, 0], int(block.actions[0][0, 0])
            for action, label in enumerate(game.row_labels):
                share = round(float(policy[action]), 4)
                bars.append({"index": index, "action": label, "policy": share, "chosen": action == chosen})
        bred.clear()
    spec = embed(_spec(cells, bars, game.row_labels))
    return _PAGE.format(library=vega_script(), theme=read_asset("theme.js"), spec=spec)


def _spec(cells: list[dict[str, Any]], bars: list[dict[str, Any]], labels: tuple[str, ...]) -> dict[str, Any]:
    shown = [{"filter": "datum.index === at"}]
    names = json.dumps([f"{stop:,}" for stop in STOPS])

    def nominal(values: tuple[str, ...]) -> dict[str, Any]:
        return {"type": "nominal", "sort": list(values), "title": None}

    action = nominal(labels)
    slider = {"input": "range", "min": 0, "max": len(STOPS) - 1, "step": 1, "name": "earlier ↔ later"}
    shades = {"domain": [-5, 0, 5], "range": ["#C05000", "#F7F7F7", "#0072B2"], "clamp": True}
    on_shade = {"condition": {"test": "datum.shade === null", "value": "var(--ink)"}, "value": "#1c1e21"}
    policy = {"field": "policy", "type": "quantitative", "scale": {"domain": [0, 1]}, "title": "probability"}
    heading = ["5. maximin of the mutant: the policy", "6. the choice, outlined"]
    return {
        "params": [{"name": "at", "value": 4, "bind": slider}],
        "title": {"text": {"expr": f"'What COEBL computes in round ' + {names}[at]"}, "anchor": "start"},
        "vconcat": [
            {
                "data": {"values": cells},
                "transform": shown,
                "columns": 5,
                "spacing": 10,
                "facet": {"field": "step", **nominal(STEPS), "header": {"labelAnchor": "start"}},
                "spec": {
                    "width": 112,
                    "height": 108,
                    "encoding": {
                        "x": {"field": "column", **action, "axis": {"labelAngle": 0, "ticks": False}},
                        "y": {"field": "row", **action, "axis": {"ticks": False}},
                    },
                    "layer": [
                        {
                            "mark": {"type": "rect", "stroke": "var(--paper)"},
                            "encoding": {
                                "color": {"field": "shade", "type": "quantitative", "legend": None, "scale": shades}
                            },
                        },
                        {
                            "mark": {"type": "text", "fontSize": 12},
                            "encoding": {"text": {"field": "text"}, "color": on_shade},
                        },
                    ],
                },
            },
            {
                "data": {"values": bars},
                "transform": shown,
                "title": {"text": heading, "anchor": "start", "fontSize": 11},
                "width": 420,
                "height": 84,
                "mark": {"type": "bar", "fill": "#5aa0cf", "strokeWidth": 3},
                "encoding": {
                    "y": {"field": "action", **action},
                    "x": policy,
                    "stroke": {"condition": {"test": "datum.chosen", "value": "var(--ink)"}, "value": None},
                },
            },
        ],
        "config": {
            "background": "transparent",
            "view": {"stroke": None},
            "font": "system-ui, sans-serif",
            "title": {"color": "var(--ink)"},
            "header": {"labelColor": "var(--ink)"},
            "axis": {
                "labelColor": "var(--ink)",
                "titleColor": "var(--soft)",
                "gridColor": "var(--edge)",
                "gridOpacity": 0.3,
                "domainColor": "var(--edge)",
                "tickColor": "var(--edge)",
            },
        },
    }
