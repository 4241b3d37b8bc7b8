"""The tables in `results/` agree with each other, and with the code that corrects, judges and counts.

The runs behind them are not stored, so only what follows from the tables is computed again: Holm's corrections,
outcomes, decisive checks, verdicts, winners, wins and losses, counts, aims. The means, intervals, ratios and raw p
values cannot be, nor can the Nash masses, the bootstrap intervals of ranks, and the Holm values of Kin's test (its raw
p values were not published). The numbers of test_frozen.py hold these computations.
"""

import csv
import json
import math
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PUBLISHED = Path(__file__).parents[1] / "results"

Rows = list[Any]

# Adapters: the present interface, as plain values


def corrected(p_values: list[float]) -> list[float]:
    """Holm's correction of a family of tests."""
    from coebl.evidence.statistics import holm

    return holm(p_values)


def judged(checks: Rows) -> tuple[list[str], str, int | None]:
    """The outcomes of published checks from their raw p values, the verdict, and the place of the decisive check."""
    from coebl.engine.match import MatchName
    from coebl.evidence.checks import Bound, Missing
    from coebl.evidence.judge import CheckResult, decide
    from coebl.evidence.statistics import Estimate, correct

    class Beside(Bound):
        beside = True

    tests = [
        Estimate(
            *(check[key] for key in ("measured", "low", "high")),
            math.nan,
            *(check[key] for key in ("n",)),
            **{key: check[key] for key in ("p_for", "p_against")},
        )
        for check in checks
    ]
    missing = [[Missing(MatchName("rps", "ucb", "ucb"), "")] if check["missing"] else [] for check in checks]
    kinds = [(Beside if check["beside"] else Bound)((), check["threshold"], "above") for check in checks]
    results = [
        CheckResult(kind, "", test, lacking)
        for kind, test, lacking in zip(kinds, correct(tests, "the checks"), missing, strict=True)
    ]
    verdict, decisive = decide(results)
    place = next((place for place, one in enumerate(results) if one is decisive), None)
    return [result.verdict for result in results], verdict, place


def duel_winners(rows: Rows) -> list[str]:
    """The winner of each published duel, from the family's raw p values."""
    from coebl.evidence.pairwise import Pairing
    from coebl.evidence.statistics import Estimate, correct

    keys = ("advantage", "low", "high", "sd")
    tests = [Estimate(*(float(row[key]) for key in keys), n=int(row["n"]), p=float(row["p"])) for row in rows]
    family = correct(tests, rows[0]["game"])
    return [
        Pairing(row["game"], "", 0, row["first"], row["second"], test).winner
        for row, test in zip(rows, family, strict=True)
    ]


def trial_outcome(kind: str, p_for: float, p_against: float) -> str:
    """The word for a row of a pre-registered test, from its corrected p values."""
    from coebl.evidence.checks import Bound
    from coebl.evidence.judge import CheckResult
    from coebl.evidence.statistics import Estimate
    from coebl.tournament.statements import WORDS

    test = Estimate(math.nan, math.nan, math.nan, math.nan, 20, p_for_holm=p_for, p_against_holm=p_against)
    return WORDS[kind][CheckResult(Bound((), 0.0, "above"), "", test).verdict]


def ablation_files() -> Any:
    """The published tables of the ablation study."""
    from tools.ablation import Files

    return Files(PUBLISHED / "ablation")


# What follows from the published tables


def published(path: str) -> Rows:
    """The rows of a published CSV file."""
    with (PUBLISHED / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def claims() -> Rows:
    return json.loads((PUBLISHED / "ijcai2025" / "claims.json").read_text())


def _number(value: float | None) -> float:
    return math.nan if value is None else value  # JSON has no NaN


def test_holm_corrects_the_published_checks():
    for verdict in claims():
        for side in ("p_for", "p_against"):
            found = corrected([check[side] for check in verdict["checks"]])
            assert found == pytest.approx([check[f"{side}_adjusted"] for check in verdict["checks"]], rel=1e-9)


def test_published_checks_give_the_published_verdicts():
    assert len(claims()) == 48
    for verdict in claims():
        outcomes, outcome, decisive = judged(verdict["checks"])
        assert outcomes == [check["verdict"] for check in verdict["checks"]]
        assert outcome == verdict["verdict"]
        if decisive is not None:
            check = verdict["checks"][decisive]
            for key in ("measured", "low", "high", "n", "threshold"):
                assert _number(verdict[key]) == pytest.approx(_number(check[key]), rel=1e-9, nan_ok=True)


def test_published_verdicts_are_counted():
    assert Counter(verdict["verdict"] for verdict in claims()) == {"fails": 38, "holds": 8, "not testable": 2}


def test_published_duels_follow_from_their_p_values():
    rows = published("tournament/head-to-head.csv")
    for game in dict.fromkeys(row["game"] for row in rows):
        family = [row for row in rows if row["game"] == game]
        assert len(family) == 21 * 20 // 2
        found = corrected([float(row["p"]) for row in family])
        assert found == pytest.approx([float(row["p_holm"]) for row in family], rel=1e-9)
        assert duel_winners(family) == [row["winner"] for row in family]


def test_published_standings_count_the_duels():
    rows = [row for row in published("tournament/head-to-head.csv") if row["game"] == "all games"]
    beats = Counter(row["winner"] for row in rows if row["winner"])
    loses = Counter(row["second"] if row["winner"] == row["first"] else row["first"] for row in rows if row["winner"])
    standings = published("tournament/standings.csv")
    assert len(standings) == 21
    advantages = [float(row["advantage"]) for row in standings]
    assert advantages == sorted(advantages, reverse=True)
    for place, row in enumerate(standings):
        name = row["learner"]
        assert (int(row["rank"]), int(row["beats"]), int(row["loses_to"])) == (place + 1, beats[name], loses[name])
        mine = [
            float(duel["advantage"]) * (1 if duel["first"] == name else -1)
            for duel in rows
            if name in (duel["first"], duel["second"])
        ]
        assert float(row["advantage"]) == pytest.approx(sum(mine) / len(mine), rel=1e-9)
    summary = json.loads((PUBLISHED / "tournament" / "summary.json").read_text())
    assert [(one["learner"], one["rank"]) for one in summary["standings"]] == [
        (row["learner"], int(row["rank"])) for row in standings
    ]


def test_outcomes_of_the_published_test_follow_from_its_p_values():
    summary = json.loads((PUBLISHED / "kin" / "summary.json").read_text())
    statements = summary["trials"][0]["statements"]
    rows = published("kin/verdicts.csv")
    assert len(rows) == sum(len(one["rows"]) + len(one["overall"]) for one in statements.values())
    for id, statement in statements.items():
        of_statement = [row for row in rows if row["statement"] == id]
        for row, short in zip(of_statement, statement["rows"] + statement["overall"], strict=True):
            assert all(row[key] == short[key] for key in ("game", "opponent", "outcome"))
            assert trial_outcome(statement["kind"], float(row["p_for"]), float(row["p_against"])) == row["outcome"]
            assert float(row["measured"]) == pytest.approx(short["measured"], rel=1e-5)
        assert _counts(statement) == {key: statement["counts"][key] for key in _counts(statement)}
        missed = {"head-to-head": "behind", "self-play": "not least"}.get(statement["kind"])
        too_many = statement["missed"] > statement["allowed"] or statement["counts"].get("too far", 0) > 0
        assert statement["reached"] == (not too_many)
        if missed:
            assert statement["missed"] == statement["counts"][missed]
        else:
            assert statement["missed"] == sum(row["measured"] > statement["ratio"] for row in statement["rows"])


def _counts(statement: dict[str, Any]) -> dict[str, int]:
    """The counts of a statement, from its rows."""
    rows = statement["rows"]
    if statement["kind"] == "self-play":
        games = {row["game"] for row in rows}
        above = {row["game"] for row in rows if row["outcome"] == "above"}
        outright = [game for game in games if all(row["measured"] < 0 for row in rows if row["game"] == game)]
        return {
            "least": len(games - above),
            "not least": len(above),
            "least outright": len(outright),
            "pairs above": sum(row["outcome"] == "above" for row in rows),
        }
    words = {"head-to-head": ("ahead", "level", "behind"), "best-response": ("within", "undecided", "beyond")}
    return {word: sum(row["outcome"] == word for row in rows) for word in words[statement["kind"]]}


def test_published_ablation_is_corrected_as_one_family():
    rows = published("ablation/differences.csv")
    tested = [row for row in rows if row["p_holm"]]
    assert len(tested) == json.loads((PUBLISHED / "ablation" / "summary.json").read_text())["tests"] == 256
    assert {row["game"] for row in tested} == {"all games"}
    found = corrected([float(row["p"]) for row in tested])
    assert found == pytest.approx([float(row["p_holm"]) for row in tested], rel=1e-5)  # six digits are stored


def test_published_ablation_counts_its_wishes():
    files = ablation_files()
    counts = {
        "mutation": (5, 8, 64),
        "recombination": (6, 4, 40),
        "selection": (0, 0, 56),
        "population": (6, 0, 40),
        "kin": (0, 7, 16),
    }
    assert {wish: files.counted(wish) for wish in counts} == counts


def test_published_ablation_differences_are_those_of_its_means():
    means = {
        (row["learner"], row["outcome"], row["game"]): float(row["mean"]) for row in published("ablation/means.csv")
    }
    for row in published("ablation/differences.csv"):
        of_learner, of_base = (means[row[key], row["outcome"], row["game"]] for key in ("learner", "base"))
        size = max(abs(of_learner), abs(of_base))
        assert float(row["mean"]) == pytest.approx(of_learner - of_base, abs=1.1e-5 * size)  # six digits are stored
