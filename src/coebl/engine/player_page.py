"""What a notebook shows of a player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from coebl.core.arrays import Floats
from coebl.engine.records import Interval, Labels, Records

_MOST = 12  # rows and columns that are shown


def render_player(
    title: str,
    labels: Labels,
    policy: Floats,
    records: Records,
    numbers: Mapping[str, Interval],
    tickets: int,
    warnings: Sequence[str],
) -> str:
    """Return HTML: policy, estimates with visits, opponent's mix, numbers with intervals, open tickets, warnings."""
    m, k = records.visits.shape
    rows, columns = min(m, _MOST), min(k, _MOST)
    own = _names(labels.own, rows)
    body = []
    for i in range(rows):
        cells = [_cell(records.means[i, j], records.visits[i, j]) for j in range(columns)]
        body.append(_row("td", [f"<b>{own[i]}</b>", f"{policy[i]:.3f}", *cells]))
    head, foot = ["mean reward (visits)", "policy"], []
    if numbers:  # the opponent's actions are known
        _, share, recent = records.opponent_shares()
        head += _names(labels.opponent, columns)
        foot = [
            _row("td", [f"<i>opponent, {name}</i>", "", *(f"{part:.3f}" for part in shares[:columns])])
            for name, shares in (("overall", share), ("recent", recent))
        ]
    else:
        head.append("any")
    deviation, freedom = records.pooled()
    lines = [f"{name} {number.value:.4g} [{number.low:.4g}, {number.high:.4g}]" for name, number in numbers.items()]
    lines += [f"{records.outcomes:,} outcomes, mean reward {records.mean_reward:.4g}"]
    lines += [f"{tickets:,} open tickets"] if tickets else []
    lines += [f"deviation of the rewards of a pair {deviation:.4g}"] if freedom else []
    if (rows, columns) != (m, k):
        lines.append(f"the first {rows} of {m} and {columns} of {k} actions are shown")
    table = f"<table><thead>{_row('th', head)}</thead><tbody>{''.join(body + foot)}</tbody></table>"
    warned = "".join(f"<p>Warning: {escape(warning)}</p>" for warning in warnings)
    return f"<div><p>{escape(title)}</p>{table}<p>{'; '.join(lines)}</p>{warned}</div>"


def _names(labels: Sequence[str] | None, number: int) -> list[str]:
    return [str(index) if labels is None else escape(labels[index]) for index in range(number)]


def _cell(mean: float, visits: float) -> str:
    return f"{mean:.4g} ({np.int64(visits)})" if visits else "–"


def _row(kind: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{kind}>{cell}</{kind}>' for cell in cells)}</tr>"
