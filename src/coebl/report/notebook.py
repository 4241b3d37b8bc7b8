"""HTML for notebooks: a game, a player, a result and a comparison, without scripts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.arrays import evenly_spread
from coebl.core.errors import printable
from coebl.core.text import counted, in_interval, number_text, one_line, with_minus
from coebl.naming import Known, known_of, metric_words

if TYPE_CHECKING:
    from coebl.engine.player import Player
    from coebl.engine.records import Labels, Records
    from coebl.engine.result import Result
    from coebl.evidence.compare import Comparison
    from coebl.games.game import Game

_MOST = 12  # rows and columns of a matrix that are shown
_LATEST = 8  # outcomes of a player that are shown
_NONE = "–"
_BLUE, _ORANGE, _GREY = "0,114,178", "230,126,34", "128,128,128"  # RGB
_MOST_SOLVED = 4096  # payoffs; a larger game is shown without its equilibrium
_CELL = "text-align:center;padding:0.2em 0.6em;"
_WIDE, _HIGH, _LEFT, _BELOW = 420, 150, 56, 20  # the size of a curve and its margins for numbers, in pixels
_BAR_WIDE, _BAR_HIGH = 240, 16  # the size of the bar of an interval, in pixels
_POINTS = 120  # points of a curve


def _name(text: str, width: int = 80) -> str:
    return escape(printable(one_line(text, width)))


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of cells that are already HTML; it scrolls if it is wider than the page."""
    lines = [("th", head), *(("td", row) for row in rows)]
    cells = ("".join(f"<{kind}>{cell}</{kind}>" for cell in line) for kind, line in lines)
    inner = "".join(f"<tr>{line}</tr>" for line in cells).replace("<th>", '<th style="white-space:normal">')
    return f'<div style="overflow-x:auto"><table style="white-space:nowrap">{inner}</table></div>'


def render_game(game: Game) -> str:
    """Return a game as HTML: payoffs blue above the value and orange below, bars for the equilibrium, the value."""
    (m, n), solved = game.shape, game.payoff.size <= _MOST_SOLVED
    rows, columns = min(m, _MOST), min(n, _MOST)
    middle = game.value if solved else float(game.payoff.mean())
    largest = float(np.abs(game.payoff - middle).max()) or 1.0
    head = ["", *(_name(label, 30) for label in game.column_labels[:columns])] + ["row plays"] * solved
    lines = [_styled("th", [(text, "") for text in head])]
    for i in range(rows):
        cells = [(f"<b>{_name(game.row_labels[i], 30)}</b>", "")]
        cells += [_payoff(float(entry), (float(entry) - middle) / largest) for entry in game.payoff[i, :columns]]
        cells += [_share(game.solution.row[i], "right")] if solved else []
        lines.append(_styled("td", cells))
    if solved:
        shares = [_share(share, "top") for share in game.solution.column[:columns]]
        lines.append(_styled("td", [("<b>column plays</b>", ""), *shares, ("", "")]))
    exact_zero = solved and abs(game.value) <= 1e-12 * largest
    value = "0" if exact_zero else f"{middle:.4g}"
    article = "the" if solved and game.unique_equilibrium.answer == "yes" else "an"
    notes = [f"{m} x {n}, payoffs to the row player, noise {escape(printable(str(game.noise)))}"]
    notes += [f"value {with_minus(value)}; the bars are {article} equilibrium"] * solved
    notes += _cut(rows, m, columns, n)
    title = _name(game.spec or game.name, 120)
    return f"<div><p><b>{title}</b>: {'; '.join(notes)}</p><table>{''.join(lines)}</table></div>"


def _payoff(entry: float, shade: float) -> tuple[str, str]:
    colour = _BLUE if shade > 0 else _ORANGE
    return with_minus(f"{entry + 0.0:.4g}"), f"background:rgba({colour},{0.65 * abs(shade):.2f});"


def _share(share: float, direction: str) -> tuple[str, str]:
    """Return a probability and the style of the bar behind it."""
    end = f"{100 * share:.0f}%"
    return f"{share:.3f}", f"background:linear-gradient(to {direction},rgba({_GREY},0.45) {end},transparent {end});"


def _styled(kind: str, cells: Iterable[tuple[str, str]]) -> str:
    inner = "".join(f'<{kind} style="{_CELL}{style}">{text}</{kind}>' for text, style in cells)
    return f"<tr>{inner}</tr>"


def render_player(player: Player, records: Records) -> str:
    """Return a player as HTML: policy, estimates, opponent's mix, numbers, latest outcomes, open tickets, warnings."""
    labels, policy, known = player.labels, player.policy, player.opponent_actions is not None
    numbers = {"value": player.value(), "exploitability": player.exploitability()} if known else {}
    m, k = records.visits.shape
    rows, columns = min(m, _MOST), min(k, _MOST)
    deviation, freedom = records.pooled()
    low, high = records.bounds(player.units.payoff_range, together=False)
    body = []
    for i in range(rows):
        cells = [f"<b>{_label(labels.own, i)}</b>", f"{policy[i]:.3f}"]
        for j in range(columns):
            mean = f"{_number(records.means[i, j])} ({records.visits[i, j]:,.0f})"
            interval = f"<br/>{_interval(low[i, j], high[i, j])}" if freedom else ""
            cells.append(mean + interval if records.visits[i, j] else _NONE)
        body.append(cells)
    head = ["mean reward (visits)", "policy"]
    if known:
        _, share, recent = records.opponent_shares()
        head += [_label(labels.opponent, j) for j in range(columns)]
        for name, shares in (("overall", share), ("recent", recent)):
            body.append([f"<i>opponent, {name}</i>", "", *(f"{part:.3f}" for part in shares[:columns])])
    else:
        head.append("any")
    lines = [f"{name} {_number(value)} {_interval(low, high)}" for name, (value, low, high) in numbers.items()]
    lines += [f"{counted(records.outcomes, 'outcome')}, mean reward {_number(records.mean_reward)}"]
    lines += [counted(len(player.tickets), "open ticket")] * bool(player.tickets)
    lines += [f"standard deviation of the rewards of a pair of actions {_number(deviation)}"] * bool(freedom)
    lines += ["95 % intervals in brackets"] * bool(numbers or freedom)
    lines += _cut(rows, m, columns, k)
    warned = "".join(f"<p>Warning: {escape(warning)}</p>" for warning in player.warnings)
    tables = _table(head, body), _latest(labels, records)
    return f"<div><p>{escape(repr(player))}</p>{tables[0]}<p>{'; '.join(lines)}</p>{tables[1]}{warned}</div>"


def _latest(labels: Labels, records: Records) -> str:
    """Return the table of the latest outcomes, the newest first; nothing if there are none."""
    body = [
        [
            f"{outcome['round']:,}",
            _label(labels.own, outcome["advised"]),
            _label(labels.own, outcome["action"]),
            _label(labels.opponent, outcome["opponent"]),
            _number(outcome["reward"]),
            f"{outcome['probability']:.3f}" + ("" if outcome["learned"] else ", not learned"),
        ]
        for outcome in records.recent(_LATEST)[::-1]
    ]
    return _table(["round", "advised", "played", "opponent", "reward", "probability"], body) if body else ""


def _label(labels: Sequence[str] | None, index: int) -> str:
    if index < 0:  # unknown
        return _NONE
    return str(index) if labels is None else escape(labels[index])


def _number(number: float) -> str:
    return with_minus(number_text(number, separator=",").replace("inf", "∞"))


def _interval(low: float, high: float) -> str:
    return f"[{_number(low)}, {_number(high)}]"


def _cut(rows: int, m: int, columns: int, n: int) -> list[str]:
    """Return a note if only some rows and columns are shown."""
    return [f"the first {rows} of {m} and {columns} of {n} actions are shown"] if (rows, columns) != (m, n) else []


def render_result(result: Result) -> str:
    """Return a result as HTML: the match, a curve with its 95 % band, and a table of metrics after the last round."""
    from coebl.evidence.statistics import mean_interval

    known = known_of([], result.classes.values())
    least, most = result.match.game.ranges[0]
    rows = []
    for name in result.metrics:
        values = result.final(name)
        if np.isfinite(values).all():
            estimate = mean_interval(values)
            ends = result.classes[name].within_bounds(estimate.low, estimate.high, most - least)
            mean, low, high = in_interval(estimate.mean, *ends)
            interval = f"{low} to {high}" if estimate.n > 1 else "none: one seed"
        else:
            mean, interval = "not finite", "none"
        rows.append(map(_name, (metric_words(name, known).title, with_minus(mean), with_minus(interval))))
    table = _table(["after the last round", "mean", "95 % interval"], rows) if rows else ""
    title = f"<b>{_name(str(result.match), 200)}</b>, {counted(len(result.seeds), 'run')}"
    return f"<div><p>{title}</p>{_curve(result, known)}{table}</div>"


def _curve(result: Result, known: Known) -> str:
    """Return the mean of the first metric by round with its band; nothing if fewer than two rounds can be drawn."""
    from coebl.evidence.statistics import Band

    if not result.metrics:
        return ""
    metric, values = next(iter(result.metrics.items()))
    chosen = evenly_spread(len(result.rounds), _POINTS)
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
    words = metric_words(metric, known).in_a_sentence
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
        f'<path d="{area}" fill="rgb({_BLUE})" fill-opacity="0.25"/>'
        f'<path d="M{path(band.mean[kept])}" stroke="rgb({_BLUE})" stroke-width="2" fill="none"/>{drawn}</svg>'
    )


def render_comparison(comparison: Comparison) -> str:
    """Return a comparison as HTML: a sentence, then a row per way and game: difference, interval and winner."""
    rows = []
    intervals = [contest.interval(comparison.in_ranges) for contest in comparison.contests]
    reach = max((abs(end) for ends in intervals for end in ends if math.isfinite(end)), default=0.0) or 1.0
    for contest, interval in zip(comparison.contests, intervals, strict=True):
        mean, low, high = in_interval(contest.difference.mean, contest.difference.low, contest.difference.high)
        numbers = mean if math.isnan(contest.difference.low) else f"{mean} [{low}, {high}]"
        unit = f" {contest.unit}s" if contest.unit else ""
        cells = (contest.way, contest.game, with_minus(numbers) + unit, comparison.winner(contest))
        way, game, *others = (_name(cell, 100) for cell in cells)
        colour = f"rgb({_BLUE if contest.difference.sign else _GREY})"
        rows.append([way, game, _bar(interval, reach, colour), *others])
    head = ("", "game", f"{comparison.a} minus {comparison.b}", comparison.title, comparison.advantage)
    units = "<p>all games, and the bars: in units of each game's payoff range</p>" if comparison.in_ranges else ""
    table = _table((_name(title, 100) for title in head), rows)
    return f"<div><p>{_name(str(comparison), 2000)}</p>{table}{units}</div>"


def _bar(interval: tuple[float, float, float], reach: float, colour: str) -> str:
    """Return the interval as a line with its mean, on a scale from -reach to reach with a line at 0."""
    middle = _BAR_HIGH // 2

    def across(number: float) -> float:
        return round(_BAR_WIDE / 2 * (1 + 0.96 * (number / reach if math.isfinite(number) else 0.0)), 1)

    mean, low, high = map(across, interval)
    has_line = math.isfinite(interval[1])
    line = f'<path d="M{low} {middle}H{high}" stroke="{colour}" stroke-width="3"/>' if has_line else ""
    return (
        f'<svg width="{_BAR_WIDE}" height="{_BAR_HIGH}" role="img" aria-label="interval">'
        f'<path d="M{_BAR_WIDE / 2} 0V{_BAR_HIGH}" stroke="currentColor" stroke-opacity="0.5"/>{line}'
        f'<circle cx="{mean}" cy="{middle}" r="4" fill="{colour}"/></svg>'
    )
