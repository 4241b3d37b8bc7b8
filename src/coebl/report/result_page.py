"""What a notebook shows of a result: the curve of its first metric, and the last number of each with its interval."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.errors import printable
from coebl.core.text import counted, in_interval, number_text, one_line, with_minus
from coebl.evidence.statistics import Band, mean_interval
from coebl.naming import known_of, metric_words

if TYPE_CHECKING:
    from coebl.engine.result import Result

_WIDE, _HIGH, _LEFT, _BELOW = 420, 150, 56, 20  # of the curve, in pixels; the margins have the numbers
_POINTS = 120
_COLOUR = "rgb(0,114,178)"


def render_result(result: Result) -> str:
    """Return HTML: the match, the curve with its 95 % band, and a table of the metrics after the last round."""
    known = known_of([], result.classes.values())
    rows = []
    for name in result.metrics:
        values = result.final(name)
        if np.isfinite(values).all():
            estimate = mean_interval(values)
            mean, low, high = in_interval(estimate.mean, estimate.low, estimate.high)
            interval = f"{low} to {high}" if estimate.n > 1 else "none: one seed"
        else:
            mean, interval = "not finite", "none"
        cells = (metric_words(name, known).title, with_minus(mean), with_minus(interval))
        rows.append("".join(f"<td>{_name(cell)}</td>" for cell in cells))
    head = "".join(f"<th>{title}</th>" for title in ("after the last round", "mean", "95 % interval"))
    table = f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>" if rows else ""
    title = f"<b>{_name(str(result.match), 200)}</b>, {counted(len(result.seeds), 'run')}"
    return f"<div><p>{title}</p>{_curve(result)}{table}</div>"


def _name(text: str, width: int = 80) -> str:
    return escape(printable(one_line(text, width)))


def _curve(result: Result) -> str:
    """Return the mean of the first metric by round with its band; nothing if fewer than two rounds can be drawn."""
    if not result.metrics:
        return ""
    metric, values = next(iter(result.metrics.items()))
    chosen = np.unique(np.linspace(0, len(result.rounds) - 1, _POINTS).round().astype(np.int64))
    rounds, band = result.rounds[chosen], Band.of(values[chosen])
    kept = np.isfinite(band.mean)
    if kept.sum() < 2:
        return ""
    has_band = bool(np.isfinite(band.low[kept]).all() and np.isfinite(band.high[kept]).all())
    low, high = (band.low, band.high) if has_band else (band.mean, band.mean)
    bottom, top = float(min(low[kept].min(), 0.0)), float(max(high[kept].max(), 0.0))
    top += (top == bottom) * 1.0
    x = _LEFT + (rounds[kept] - rounds[kept][0]) / (rounds[kept][-1] - rounds[kept][0]) * (_WIDE - _LEFT - 8)

    def path(heights: np.ndarray, places: np.ndarray = x) -> str:
        y = 6 + (top - heights) / (top - bottom) * (_HIGH - _BELOW - 12)
        return "L".join(f"{across:.1f} {up:.1f}" for across, up in zip(places, y, strict=True))

    area = f"M{path(high[kept])}L{path(low[kept][::-1], x[::-1])}Z"
    zero = path(np.zeros(2), np.array([_LEFT, _WIDE - 8]))
    words = metric_words(metric, known_of([], [result.classes[metric]])).in_a_sentence
    labels = (
        (_LEFT - 6, 12, "end", number_text(top, 3)),
        (_LEFT - 6, _HIGH - _BELOW - 2, "end", number_text(bottom, 3)),
        (_LEFT, _HIGH - 4, "start", f"round {rounds[kept][0]:,}"),
        (_WIDE - 8, _HIGH - 4, "end", f"{rounds[kept][-1]:,}"),
        ((_LEFT + _WIDE) // 2, _HIGH - 4, "middle", one_line(words, 40)),
    )
    style = 'font-size="11" fill="currentColor"'
    drawn = "".join(
        f'<text x="{left}" y="{up}" text-anchor="{side}" {style}>{_name(with_minus(text))}</text>'
        for left, up, side, text in labels
    )
    return (
        f'<svg width="{_WIDE}" height="{_HIGH}" role="img" aria-label="{_name(words)} by round">'
        f'<path d="M{zero}" stroke="currentColor" stroke-opacity="0.4" fill="none"/>'
        f'<path d="{area}" fill="{_COLOUR}" fill-opacity="0.25"/>'
        f'<path d="M{path(band.mean[kept])}" stroke="{_COLOUR}" stroke-width="2" fill="none"/>{drawn}</svg>'
    )
