"""results/kin from the folder of the pre-registered test, and docs/kin.md from it: no number is typed by hand.

Run in the root of a checkout: python -m tools.kin DIR, after `coebl tournament --suite
pre-registered --out DIR`. Without DIR only the page is regenerated, from results/kin.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coebl.core.errors import InputError
from coebl.core.files import write_whole
from coebl.core.text import number_text
from coebl.evidence.judge import outcome_word
from coebl.naming import learner_titles
from coebl.tournament.outcome import FOLDER
from coebl.tournament.statements import MISSING, HeadToHead
from coebl.tournament.suite import read_suite
from tools.templates import read_json, render

SUITE = "pre-registered"
SUITES = Path("src", "coebl", "tournament", "suites")  # in the checkout
SUITE_FILE = SUITES / f"{SUITE}.toml"
RESULTS, PAGE = Path("results", "kin"), Path("docs", "kin.md")
COPIED = ("verdicts.csv", "verdicts.md", "figure.svg", "figure.png")


def publish(folder: Path, root: Path, suite: str = SUITE, results: Path = RESULTS) -> None:
    """Copy the outcome of the test into the results of a checkout, with the commit that registered the test.

    Reject an outcome that is not of the suite's test, or whose suite file has changed since its first commit.
    """
    source = folder / FOLDER
    try:
        summary = read_json(source / "summary.json")
    except (OSError, ValueError):
        raise InputError(
            f"{source}: there is no summary.json; run: coebl tournament --suite {suite} --out {folder}"
        ) from None
    if summary.get("suite_sha256") != read_suite(suite).digest or summary["notes"]:
        raise InputError(f"{source}: this is not the test of the suite {suite}; run it with --out as the only option.")
    registered = _registered(root, SUITES / f"{suite}.toml")
    target = root / results
    target.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        write_whole(target / name, (source / name).read_bytes())
    summary = {"registered": registered, **summary, "command": f"coebl tournament --suite {suite} --out {results.name}"}
    del summary["page"]
    write_whole(target / "summary.json", json.dumps(summary, indent=1, ensure_ascii=False) + "\n")


def _registered(root: Path, file: Path) -> dict[str, str]:
    """Return the only commit of a suite's file, and its date in UTC."""
    words = ["git", "log", "--date=iso-strict-local", "--format=%H %cd", "--", file.as_posix()]
    universal = {**os.environ, "TZ": "UTC0"}
    done = subprocess.run(words, cwd=root, env=universal, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    if len(lines) != 1:
        raise InputError(f"{file} has {len(lines)} commits; accepted: one, before the run.")
    commit, date = lines[0].split()
    return {"commit": commit, "date": date, "file": file.as_posix()}


class Published:
    """The committed outcome of the test, with the numbers of the page."""

    def __init__(self, folder: Path) -> None:
        self.summary: dict[str, Any] = read_json(folder / "summary.json")
        (self.trial,) = self.summary["trials"]
        self.statements: dict[str, dict[str, Any]] = self.trial["statements"]
        self._by_kind: dict[str, dict[str, Any]] = {one["kind"]: one for one in self.statements.values()}

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


def main(words: list[str], root: Path) -> None:
    """Publish the given folder, if any; then write the page."""
    if words:
        publish(Path(words[0]), root)
    if not (root / RESULTS).exists():
        raise InputError(f"{RESULTS} does not exist; name the folder of the test: python -m {__spec__.name} DIR")
    write_whole(root / PAGE, document(root / RESULTS))


if __name__ == "__main__":
    try:
        main(sys.argv[1:], Path())
    except InputError as error:
        sys.exit(str(error))
