"""The published numbers stay what they were, and folders of the older file format are read.

`tests/frozen` has results folders that the code of commit 9955651 made, and the numbers that it computed from them:
these are computed again here. test_unchanged.py checks the runs, test_published_tables.py what was published.

Adapt the functions of the first section when an interface changes, but never the numbers. The only exception so far:
the intervals of a tournament's means, when they became Student's over games instead of the bootstrap's.
"""

import ast
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from coebl.evidence.pairwise import rank
from coebl.evidence.statistics import Estimate
from coebl.papers import load_paper
from coebl.papers.reproduce import means
from coebl.study import Results, read_study
from coebl.tournament.outcome import finish_trial
from coebl.tournament.standings import measure
from coebl.tournament.standings import standings as rank_learners
from coebl.tournament.suite import read_suite, study_of
from published import different, frozen_row
from tools.suggestions import Outcomes

ROOT = Path(__file__).parents[1]
FROZEN = ROOT / "tests" / "frozen"

Rows = list[Any]

# Adapters: the present interface, as plain values


def fields(value: Any, names: str) -> dict[str, Any]:
    """The attributes of these names, also as in "advantage=difference.mean", in this order."""
    pairs = (name.partition("=")[::2] for name in names.split())
    return {key: attrgetter(path or key)(value) for key, path in pairs}


def summaries(folder: Path, rounds: int | None = None) -> Rows:
    """The mean of each metric of each match over its seeds, with its interval."""
    return [
        {
            "game": row["game"],
            "players": [row["row"], row["column"]],
            "noise": row["noise"],
            "rounds": row["horizon"],
            "round": row["round"],
            **{key: row[key] for key in ("metric", "mean", "low", "high", "sd", "n")},
        }
        for row in Results(folder).summary(rounds=rounds)
    ]


def table(folder: Path) -> Rows:
    """One row per match on one game, seed and recorded round, sorted."""
    labels = ("game", "players", "noise", "rounds", "seed", "round")
    rows = Results(folder).curves(game="biased-rps").to_dicts()
    rows.sort(key=lambda row: (row["game"], row["players"], row["noise"], row["seed"], row["round"]))
    return [
        [*(row[label] for label in labels), {key: value for key, value in row.items() if key not in labels}]
        for row in rows
    ]


def ranking(folder: Path) -> Rows:
    """The ranking of a study: its metric, the learners, the pairings, and who is left out."""
    result = rank(Results(folder))
    assert result is not None
    learners = [fields(entry, "rank learner won level=undecided lost score") for entry in result.learners]
    pairings = [
        fields(pairing, "game noise rounds first second advantage=advantage.mean p_holm=advantage.p_holm winner")
        for pairing in result.pairings
    ]
    return [result.metric, learners, pairings, result.left_out]


def comparison(folder: Path, a: str, b: str, **options: Any) -> Rows:
    """The contests of a comparison: way by way, the games, then all games."""
    contests = Results(folder).compare(a, b, **options).contests
    keys = ("way", "game", "opponents", "seats", "unit", "difference", "low", "high", "n", "p", "p_holm")
    return [
        {key: row[key] for key in keys} | {key: row.get(key) for key in ("margin", "equivalent")}
        for row in (contest.row() for contest in contests)
    ]


def verdicts(folder: Path) -> Rows:
    """The verdict on each claim of the paper in each variant, with all checks; `decisive` is the place of the check."""
    rows = []
    for verdict in load_paper("ijcai2025").judge(Results(folder)):
        checks = [
            fields(check.estimate, "measured=mean low high n")
            | {"threshold": check.check.threshold}
            | fields(check.estimate, "p_for p_against p_for_holm p_against_holm")
            | {"beside": check.check.beside, "missing": bool(check.missing), "outcome": check.verdict}
            for check in verdict.checks
        ]
        reported = [(other.metric, other.verdict, other.estimate) for other in verdict.reported]
        rows.append(
            fields(verdict, "id variant outcome=verdict metric measured=estimate.mean low=estimate.low")
            | fields(verdict, "high=estimate.high threshold n=estimate.n")
            | {
                "decisive": verdict.as_dict()["decisive"],
                "checks": checks,
                "reported": [
                    [metric, outcome, estimate.mean, estimate.low, estimate.high]
                    for metric, outcome, estimate in reported
                ],
            }
        )
    return rows


def paper_means(folder: Path) -> Rows:
    """The means that a reproduction publishes, six digits each."""
    return [
        {
            "game": row["game"],
            "players": [row["row"], row["column"]],
            **{key: row[key] for key in ("metric", "mean", "low", "high", "sd", "n")},
        }
        for row in means(load_paper("ijcai2025"), Results(folder))
    ]


@cache
def _standings(folder: Path) -> Any:
    suite = read_suite(str(FROZEN / "tournament.toml"))
    return rank_learners(measure(study_of(suite, suite.learners, suite.seeds), Results(folder)))


def duels(folder: Path) -> Rows:
    """All pairs of a tournament: over all games, then on each game."""
    return [
        fields(duel, "game first second")
        | fields(duel.advantage, "advantage=mean low high sd n p p_holm")
        | {"winner": duel.winner}
        for duel in _standings(folder).duels
    ]


def standings(folder: Path) -> Rows:
    """The ranking of a tournament with all its measures, and the cycles."""

    def ends(value: Any) -> Any:
        return [value.mean, value.low, value.high] if isinstance(value, Estimate) else value

    result = _standings(folder)
    cycles = {"all games": result.cycles, **result.cycles_by_game}
    return [
        *({key: ends(value) for key, value in vars(row).items()} for row in result.standings),
        {"unique": result.nash_unique, "games": result.games, "seeds": result.seeds, "resamples": result.resamples},
        {game: [[cycle.members, cycle.example] for cycle in of_game] for game, of_game in cycles.items()},
    ]


def trial(folder: Path) -> Rows:
    """The findings of a pre-registered test: rows, tests over all games, counts and whether the aim is reached."""
    suite = read_suite(str(FROZEN / "trial.toml"))
    study = study_of(suite, [suite.subject], suite.seeds)
    verdicts = finish_trial(suite, [suite.subject], study, Results(folder), "coebl")[0]
    return [
        {
            "statement": verdict.id,
            **fields(aim, "reached missed allowed total"),
            "counts": dict(aim.counts),
            "reported": {metric: dict(counts) for metric, counts in aim.reported.items()},
            "rows": [row.as_dict() for row in aim.rows],
            "overall": [row.as_dict() for row in aim.overall],
        }
        for verdict, aim in ((verdict, verdict.aim) for verdict in verdicts)
        if aim is not None
    ]


def ablation(folder: Path) -> Outcomes:
    """The outcomes of the ablation study, from which its tables follow."""
    return Outcomes(Results(folder), read_study(FROZEN / "ablation.toml"))


# The numbers of each frozen folder: what `frozen/make.py` stores, and what is computed again

PAIRS = [("coebl:c=2", "ucb"), ("ucb", "exp3"), ("exp3", "uniform")]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"metric": "pseudo_regret", "game": "biased-rps"},
    {"metric": "regret", "margin": 20.0},
    {"metric": "tv", "margin": 0.5},
    {"metric": "exploitability", "game": ["biased-rps", "diagonal:2"]},
    {"metric": "external_regret"},
]
NUMBERS: dict[str, dict[str, Callable[[Path], Rows]]] = {
    "study": {
        "summary": summaries,
        "summary of round 50": lambda folder: summaries(folder, 50),
        "table": table,
        "ranking": ranking,
        "comparisons": lambda folder: [
            [*two, asked, comparison(folder, *two, **asked)] for two in PAIRS for asked in OPTIONS
        ],
    },
    "reproduction": {
        "verdicts": verdicts,
        "means": paper_means,
        "comparisons": lambda folder: [
            comparison(folder, "ucb", "exp3"),
            comparison(folder, "coebl:c=2", "ucb", metric="tv"),
        ],
    },
    "tournament": {
        "duels": duels,
        "standings": standings,
        "ranking": ranking,
        "comparisons": lambda folder: [
            comparison(folder, "coebl:c=2", "ucb"),
            comparison(folder, "exp3", "uniform", game="rps"),
        ],
    },
    "trial": {"findings": trial},
    "ablation": {
        "means": lambda folder: list(ablation(folder).means()),
        "differences": lambda folder: [frozen_row(difference) for difference in ablation(folder).differences()],
    },
}


@pytest.mark.parametrize("name", NUMBERS)
def test_frozen_numbers_are_recomputed(name, tmp_path):
    with tarfile.open(FROZEN / f"{name}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    shutil.copytree(tmp_path / name, tmp_path / "copy")
    expected = json.loads((FROZEN / f"{name}.json").read_text())
    assert list(NUMBERS[name]) == list(expected)
    for part, compute in NUMBERS[name].items():
        assert different(compute(tmp_path / name), expected[part], part)[:10] == []
    stored = sorted(path.relative_to(tmp_path / "copy") for path in (tmp_path / "copy").rglob("*") if path.is_file())
    for path in stored:  # reading does not change a folder
        assert (tmp_path / name / path).read_bytes() == (tmp_path / "copy" / path).read_bytes(), path


def test_the_script_is_for_the_code_that_it_names():
    imported = [
        (f"src/{node.module.replace('.', '/')}", alias.name)
        for node in ast.walk(ast.parse((FROZEN / "make.py").read_text()))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("coebl.")
        for alias in node.names
    ]
    assert len(imported) >= 5
    for module, name in imported:
        texts = [old_file(f"{module}{end}") for end in (".py", "/__init__.py")]
        assert any(name in text for text in texts), (module, name)


def old_file(path: str) -> str:
    """The content of a file at the commit that `make.py` names, or ""."""
    git = ["git", "-C", str(ROOT)]
    if subprocess.run([*git, "cat-file", "-e", "9955651"], capture_output=True).returncode:
        pytest.skip("no history of the repository")
    return subprocess.run([*git, "show", f"9955651:{path}"], capture_output=True, text=True).stdout
