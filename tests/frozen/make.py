"""Create the frozen results folders and their numbers.

See README.md: this works only with the code of commit 9955651. Its modules are imported where they are used, since
later versions need not have them.
"""

import json
import re
import sys
import tarfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
KEPT = ("study.toml", "runs.jsonl", "cells", "failed", "set-aside")


def reproduction_text() -> str:
    """The study of the matches of all claims, with as few recorded rounds as the claims allow."""
    from coebl.papers import load_paper

    paper = load_paper("ijcai2025")
    by_part: dict[tuple[str, int], list[list[str]]] = {}
    for game, row, column in paper.needed(claims=list(paper.claims)):
        # C1 reads rounds 2010 and 2500, C4 the first and the last hundred, both on rps
        record = 1000 if game != "rps" else 10 if (row, column) == ("ucb", "coebl:c=2") else 100
        by_part.setdefault((game, record), []).append([row, column])
    lines = [
        "# The matches of all claims of the paper.",
        'name = "frozen-reproduction"',
        "rounds = 3000",
        "seeds = 6",
        'noise = "gaussian"',
        'metrics = ["regret", "pseudo_regret", "absolute_regret", "regret_magnitude", "absolute_pseudo_regret", "tv"]',
    ]
    for (game, record), pairs in by_part.items():
        lines += ["", "[[parts]]", f'games = ["{game}"]', f"record = {record}"]
        if game == "rps":
            lines.append('metrics = ["regret", "pseudo_regret", "absolute_regret", "regret_magnitude",')
            lines.append('           "absolute_pseudo_regret", "tv", "kl"]')
        lines += ["[parts.match-ups]", f"pairs = {json.dumps(pairs)}"]
    return "\n".join(lines) + "\n"


def use_small_games(run_cell: Callable) -> Callable:
    """Play games with n >= 4 as games with n = 2 or 3 and other seeds: the real ones take an hour.

    The verdicts so say nothing about the paper. They test the judge, with numbers of every size.
    """

    def run_small(cell, progress=None):
        size = re.search(r":n=(\d)", cell.game)
        if size is None or int(size[1]) < 4:
            return run_cell(cell, progress)
        n = int(size[1])
        game = cell.game.replace(size[0], f":n={2 + n % 2}")
        seeds = tuple(seed + 1000 * n for seed in cell.seeds)
        result = run_cell(replace(cell, game=game, seeds=seeds), progress)
        real = run_cell(replace(cell, rounds=1, record="last"), None)  # for the game, the learners and the seeds
        return replace(real, match=cell.match(), rounds=result.rounds, metrics=result.metrics)

    return run_small


def main(names: list[str]) -> None:
    """Make the folders of these names, or all."""
    from tests.test_frozen import NUMBERS

    from coebl.study import read_study, run
    from coebl.study.cell import Cell
    from coebl.tournament.plan import read_tournament
    from coebl.tournament.suite import read_suite

    (HERE / "reproduction.toml").write_text(reproduction_text())
    Cell.run = use_small_games(Cell.run)  # type: ignore[method-assign]
    with TemporaryDirectory() as parent:
        for name in names or NUMBERS:
            folder, file = Path(parent, name), HERE / f"{name}.toml"
            if name in ("tournament", "trial"):
                suite = read_suite(str(file))
                field = [suite.subject] if suite.subject else suite.learners
                study = read_tournament(suite, field, suite.seeds, folder)
            else:
                study = read_study(file)
            with ThreadPoolExecutor(1) as executor:
                summary = run(study, folder, executor=executor, quiet=True)
            assert not summary.failed, summary.causes
            with tarfile.open(HERE / f"{name}.tar.xz", "w:xz") as archive:
                for kept in KEPT:
                    archive.add(folder / kept, f"{name}/{kept}", filter=plain_owner)
            expected = NUMBERS[name](folder)
            lines = [f'"{key}": [\n{",".join(map(line, rows))}]' for key, rows in expected.items()]
            (HERE / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
            print(name, summary.finished, f"{summary.seconds:.0f} s")


def line(row: object) -> str:
    return json.dumps(row) + "\n"


def plain_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main(sys.argv[1:])
