"""The files of a tournament: tables as CSV and Parquet, the figure, and everything that a text may quote as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coebl.core.files import make_folder, write_whole
from coebl.core.modules import require
from coebl.core.text import csv_text, finite
from coebl.naming.described import NOTHING, Known
from coebl.plots import save
from coebl.tournament.duels import OVERALL, Duel
from coebl.tournament.figure import plot_standings
from coebl.tournament.page import page_of
from coebl.tournament.standings import Estimate, Standing, Standings

FOLDER = "tournament"  # inside that of the study


def write_files(
    found: Standings, folder: Path, about: Mapping[str, Any], own: Sequence[str], known: Known = NOTHING
) -> Path:
    """Write all files into the folder of a study, and say where they are.

    Args:
        found: the standings.
        folder: that of the study; the files come into one of their own in it.
        about: what else to note in the summary, such as the suite and the command.
        own: learners of a user's own.
        known: what the results say of their learners.
    """
    target = make_folder(folder / FOLDER, folder)
    write_table([_flat(one) for one in found.standings], target / "standings", folder)
    write_table([_duel(duel) for duel in found.duels], target / "head-to-head", folder)
    save(plot_standings(found, known).figure, target, "figure", ("svg", "png"), folder)  # type: ignore[arg-type]
    summary = finite({**about, **found.as_dict(), "page": page_of(found, own, known)})
    write_whole(target / "summary.json", json.dumps(summary, indent=1, ensure_ascii=False) + "\n", within=folder)
    return target


def write_table(rows: Sequence[Mapping[str, Any]], path: Path, within: Path) -> None:
    """Write rows as CSV and as Parquet, inside the folder of a study."""
    write_whole(path.with_suffix(".csv"), csv_text(rows, list(rows[0])), within=within)
    buffer = require("pyarrow").BufferOutputStream()
    require("pyarrow.parquet").write_table(require("pyarrow").Table.from_pylist(list(rows)), buffer)
    write_whole(path.with_suffix(".parquet"), buffer.getvalue().to_pybytes(), within=within)


def _flat(one: Standing) -> dict[str, Any]:
    """A standing as a row of a table: an estimate is three columns."""
    row: dict[str, Any] = {}
    for key, value in vars(one).items():
        if isinstance(value, Estimate) or key == "kind_advantage":
            ends = value or Estimate(float("nan"), float("nan"), float("nan"))
            row |= {key: ends.value, f"{key}_low": ends.low, f"{key}_high": ends.high}
        else:
            row[key] = value
    return row


def _duel(duel: Duel) -> dict[str, Any]:
    interval = duel.advantage
    return {
        "game": "all games" if duel.game == OVERALL else duel.game,
        "first": duel.first,
        "second": duel.second,
        "advantage": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "sd": interval.sd,
        "n": interval.n,
        "p": duel.p,
        "p_holm": duel.p_holm,
        "winner": duel.winner,
    }
