"""What a notebook shows of a player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from coebl.core.arrays import Floats
from coebl.core.text import counted, number_text, with_minus
from coebl.engine.records import UNKNOWN, Interval, Labels, Records

_MOST = 12  # rows and columns that are shown
_LATEST = 8  # outcomes that are shown
_NONE = "–"


def render_player(
    title: str,
    labels: Labels,
    policy: Floats,
    records: Records,
    payoff_range: tuple[float, float],
    numbers: Mapping[str, Interval],
    tickets: int,
    warnings: Sequence[str],
) -> str:
    """Return HTML: policy, estimates, opponent's mix, numbers, the latest outcomes, open tickets, warnings."""
    m, k = records.visits.shape
    rows, columns = min(m, _MOST), min(k, _MOST)
    deviation, freedom = records.pooled()
    low, high = records.bounds(payoff_range, together=False)
    body = []
    for i in range(rows):
        cells = [f"<b>{_name(labels.own, i)}</b>", f"{policy[i]:.3f}"]
        for j in range(columns):
            mean = f"{_number(records.means[i, j])} ({records.visits[i, j]:,.0f})"
            interval = f"<br/>{_interval(low[i, j], high[i, j])}" if freedom else ""
            cells.append(mean + interval if records.visits[i, j] else _NONE)
        body.append(cells)
    head = ["mean reward (visits)", "policy"]
    if numbers:  # the opponent's actions are known
        _, share, recent = records.opponent_shares()
        head += [_name(labels.opponent, j) for j in range(columns)]
        for name, shares in (("overall", share), ("recent", recent)):
            body.append([f"<i>opponent, {name}</i>", "", *(f"{part:.3f}" for part in shares[:columns])])
    else:
        head.append("any")
    lines = [f"{name} {_number(value)} {_interval(low, high)}" for name, (value, low, high) in numbers.items()]
    lines += [f"{counted(records.outcomes, 'outcome')}, mean reward {_number(records.mean_reward)}"]
    lines += [counted(tickets, "open ticket")] if tickets else []
    lines += [f"deviation of the rewards of a pair {_number(deviation)}"] if freedom else []
    lines += ["in brackets, 95 % intervals"] if numbers or freedom else []
    if (rows, columns) != (m, k):
        lines.append(f"the first {rows} of {m} and {columns} of {k} actions are shown")
    warned = "".join(f"<p>Warning: {escape(warning)}</p>" for warning in warnings)
    tables = _table(head, body), _latest(labels, records)
    return f"<div><p>{escape(title)}</p>{tables[0]}<p>{'; '.join(lines)}</p>{tables[1]}{warned}</div>"


def _latest(labels: Labels, records: Records) -> str:
    """Return the table of the latest outcomes, the newest first; nothing if there are none."""
    body = [
        [
            f"{outcome['round']:,}",
            _name(labels.own, outcome["advised"]),
            _name(labels.own, outcome["action"]),
            _name(labels.opponent, outcome["opponent"]),
            _number(outcome["reward"]),
            f"{outcome['probability']:.3f}" + ("" if outcome["learned"] else ", not learned"),
        ]
        for outcome in records.recent(_LATEST)[::-1]
    ]
    return _table(["round", "advised", "played", "opponent", "reward", "probability"], body) if body else ""


def _name(labels: Sequence[str] | None, index: int) -> str:
    if index == UNKNOWN:
        return _NONE
    return str(index) if labels is None else escape(labels[index])


def _number(number: float) -> str:
    return with_minus(number_text(number, separator=","))


def _interval(low: float, high: float) -> str:
    return f"[{_number(low)}, {_number(high)}]"


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a table that scrolls where it is wider than the page."""
    lines = [_row("td", cells) for cells in body]
    inner = f"<thead>{_row('th', head)}</thead><tbody>{''.join(lines)}</tbody>"
    return f'<div style="overflow-x:auto"><table style="white-space:nowrap">{inner}</table></div>'


def _row(kind: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{kind}>{cell}</{kind}>' for cell in cells)}</tr>"
