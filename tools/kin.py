"""The text of docs/kin.md, from the published pre-registered test: no number is typed by hand.

Run in the root of a checkout, where `tools.trial` has published the test in results/kin: python -m tools.kin
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coebl.core.files import write_whole
from coebl.core.text import number_text
from coebl.evidence.judge import outcome_word
from coebl.naming import learner_titles
from coebl.tournament.statements import MISSING, HeadToHead
from tools.templates import read_json, render

RESULTS, PAGE = Path("results", "kin"), Path("docs", "kin.md")


class Published:
    """The committed outcome of the test, with the numbers of the page."""

    def __init__(self, folder: Path) -> None:
        self.summary: dict[str, Any] = read_json(folder / "summary.json")
        (self.trial,) = self.summary["trials"]
        self.statements: dict[str, dict[str, Any]] = self.trial["statements"]
        self._by_kind: dict[str, dict[str, Any]] = {
            statement["kind"]: statement for statement in self.statements.values()
        }

    def of(self, kind: str) -> dict[str, Any]:
        """Return the statement of a kind."""
        return self._by_kind[kind]

    def count_by(self, rows: list[dict[str, Any]], key: str) -> list[tuple[str, int]]:
        """Return the number of these rows by game, or by opponent, the largest first."""
        return Counter(row[key] for row in rows).most_common()

    def on_game(self, game: str) -> dict[str, Any]:
        """Return the entries of a game in the table by game."""
        duels, settled = (
            [row for row in self.of(kind)["rows"] if row["game"] == game] for kind in ("head-to-head", "self-play")
        )
        (regret,) = (row for row in self.of("best-response")["rows"] if row["game"] == game)
        outcomes = Counter(row["outcome"] for row in duels)
        least = min(settled, key=lambda row: _number(row["opponent_mean"]))
        above = sum(row["outcome"] == "above" for row in settled)
        lacking = any(row["outcome"] == MISSING for row in (*duels, *settled, regret))
        return {
            "duels": "/".join(str(outcomes[word]) for word in HeadToHead.words.values()),
            "regret": regret,
            "least": least,
            "above": above,
            "lacking": lacking,
        }

    def overall(self, kind: str, opponent: str) -> dict[str, Any]:
        """Return the test over all games against an opponent."""
        rows: list[dict[str, Any]] = self.of(kind)["overall"]
        return next(row for row in rows if row["opponent"] == opponent)


def _number(value: float | None) -> float:
    """Return a number of the summary, in which infinity is None."""
    return float("inf") if value is None else value


def document(folder: Path) -> str:
    """Return the text of docs/kin.md, from the folder of the published test."""
    published = Published(folder)
    trial = published.trial
    filters: dict[str, Callable[..., str]] = {
        "number": lambda value, digits=3: number_text(_number(value), digits),
        "outcome": outcome_word,
        "percent": lambda value: f"{100 * _number(value):+.2f} %",
        "interval": lambda row: f"[{number_text(_number(row['low']), 3)}, {number_text(_number(row['high']), 3)}]",
    }
    titles = learner_titles([trial["subject"], *trial["opponents"]])
    values = {"it": published, "summary": published.summary, "trial": trial, "games": trial["games"]}
    return render("kin", filters, **values, title=titles.__getitem__)


if __name__ == "__main__":
    write_whole(PAGE, document(RESULTS))
