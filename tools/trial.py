"""results/ from the folder of a pre-registered test, with the commit that registered the test.

Run in the root of a checkout: python -m tools.trial SUITE DIR, after `coebl tournament --suite SUITE --out DIR`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from coebl.core.errors import InputError
from coebl.core.files import write_whole
from coebl.tournament.outcome import FOLDER
from coebl.tournament.suite import read_suite
from tools.templates import read_json

SUITES = Path("src", "coebl", "tournament", "suites")  # in the checkout
NAMES = {"pre-registered": "kin"}  # of folders in results/, where they are not the names of the suites
COPIED = ("verdicts.csv", "verdicts.md", "figure.svg", "figure.png")


def publish(suite: str, folder: Path, root: Path) -> None:
    """Copy the outcome of a test into the results of a checkout, with the commit that registered the test.

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
    name = NAMES.get(suite, suite)
    target = root / "results" / name
    target.mkdir(parents=True, exist_ok=True)
    for file in COPIED:
        write_whole(target / file, (source / file).read_bytes())
    summary = {"registered": registered, **summary, "command": f"coebl tournament --suite {suite} --out {name}"}
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


if __name__ == "__main__":
    try:
        suite_name, place = sys.argv[1:]
        publish(suite_name, Path(place), Path())
    except InputError as error:
        sys.exit(str(error))
    except ValueError:
        sys.exit("two arguments are needed: the name of the suite, and the folder of its run")
