"""The tables in `results/` agree with each other, and with what can be computed again from them.

The runs behind them are not stored, but most numbers follow from others: the interval and the p values of a mean from
its sd, or its sd and p values from its interval; means over games from those of the games; corrections, outcomes,
counts, ranks, Nash masses and sentences from these. Numbers that do not follow from others are compared where they are
stored twice; of single runs, the totals are compared. Not checked are growth exponents inside their Fieller intervals,
the pairs counted on a metric that does not decide, and computing times. The tests in tests/tools check the pages and
the tables made from single runs.
"""

import csv
import json
import math
import re
from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc, ndtri, stdtr, stdtrit

from coebl.core.text import finite
from coebl.evidence.checks import Setting
from coebl.evidence.judge import AIM_LEGEND, CheckResult, Verdict, _note, as_markdown, decide
from coebl.evidence.statistics import Estimate, correct, holm
from coebl.games import GAMES
from coebl.naming import learner_titles
from coebl.papers import load_paper
from coebl.tournament.outcome import _ALSO_ON_PAGE, columns_of, sentences, table_of
from coebl.tournament.standings import cycles, nash_average
from coebl.tournament.statements import _KINDS, Trial
from coebl.tournament.suite import opponents_of, read_suite
from published import check as made_check
from published import different, read_verdicts
from tools.advice import read_standings

PUBLISHED = Path(__file__).parents[1] / "results"

Rows = list[Any]

# Adapters: the present interface, as plain values


def corrected(p_values: list[float]) -> list[float]:
    """Holm's correction of a family of tests."""
    return holm(p_values)


def judged(checks: Rows) -> tuple[Rows, str, int | None, str]:
    """What follows from the raw p values of published checks.

    The outcome of each check and its outcome before correction, the verdict, the place of the decisive check, and the
    note on it.
    """
    raw = [made_check(values) for values in checks]
    family = correct([result.estimate for result in raw], "the checks")
    results = [replace(result, estimate=estimate) for result, estimate in zip(raw, family, strict=True)]
    verdict, decisive = decide(results)
    place = next((place for place, result in enumerate(results) if result is decisive), None)
    outcomes = [(result.verdict, result.before_correction) for result in results]
    return outcomes, verdict, place, _note(verdict, decisive, results, [])


def verdicts_as_markdown(name: str) -> str:
    """The published verdicts on a paper's claims, as a table in Markdown."""
    return as_markdown(read_verdicts(PUBLISHED / name / "claims.json"), load_paper(name).titles)


def stated(name: str, id: str, variant: str) -> Rows:
    """The checks of a claim of a paper, as stated: quantity, condition, threshold, and how it counts."""
    paper = load_paper(name)
    checks = paper.claims[id].checks(paper.variants[variant])
    return [(*check.words, check.threshold, check.beside, check.published) for check in checks]


def rounds_of(suite: str) -> list[int]:
    """The rounds of each game of a suite."""
    return [part.rounds for part in read_suite(suite).parts for _ in part.games]


def nash(against: Any) -> tuple[Any, bool]:
    """The Nash masses in a meta-game, and True if they are unique."""
    return nash_average(against)


def cycles_of(graph: dict[str, list[str]]) -> Rows:
    """The cycles among learners, from those that each of them beats."""
    return [{"members": [*cycle.members], "example": [*cycle.example]} for cycle in cycles(graph)]


def standings_page() -> Rows:
    """The rows of the table and the sentences for the page, from the published standings."""
    ranking = read_standings(PUBLISHED / "tournament")
    titles = learner_titles([row.learner for row in ranking.standings])
    columns = [column for column in columns_of(False, titles) if column.brief or column.header in _ALSO_ON_PAGE]
    return [[list(row.values()) for row in table_of(ranking, columns)], sentences(ranking, titles)]


def registered_test(name: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """A pre-registered test, computed again from its published rows.

    Its summary, its statements with everything that is counted and tested, and verdicts.md. It is the test of the
    suite's file, as it was registered.
    """
    summary = read(f"{name}/summary.json")
    (test,) = summary["trials"]
    suite = read_suite(Path(summary["registered"]["file"]).stem)
    registered = {"suite": suite.id, "suite_sha256": suite.digest, "seeds": suite.seeds, "notes": []}
    assert registered.items() <= summary.items()
    assert (test["subject"], test["opponents"]) == (
        str(suite.subject),
        [*map(str, opponents_of(suite, suite.subject))],
    )
    assert list(test["games"]) == list(map(GAMES.canonical, suite.games))
    settings = {game: Setting(entry["rounds"], "") for game, entry in test["games"].items()}
    widths = {game: entry["width"] for game, entry in test["games"].items()}
    trial = Trial(test["subject"], tuple(test["opponents"]), settings, widths)
    verdicts, statements = [], {}
    for statement in suite.statements:
        aim = _KINDS[statement.kind](statement, trial)
        rows = [row for row in read(f"{name}/verdicts.csv") if row["statement"] == statement.id]
        results = []
        for check, row in zip(aim.checks(), (row for row in rows if row["game"] != "all games"), strict=True):
            p_values = {f"{side}_holm": row[side] for side in ("p_for", "p_against")}
            ends = (row[key] for key in ("measured", "low", "high"))
            means = (row["subject_mean"], row["opponent_mean"])
            if statement.kind == "best-response":  # the least of the opponents' means is published
                others = (math.inf if opponent != row["opponent"] else means[1] for opponent in trial.opponents)
                means = means[0], *others
            estimate = Estimate(*ends, math.nan, row["n"], **p_values)
            results.append(CheckResult(check, "", estimate, means=means))
        result = aim.result(results, {})
        result = replace(result, reported=test["statements"][statement.id]["on_reported"])
        result = replace(result, said=aim.sentence(result))
        verdicts.append(Verdict(statement.id, trial.subject, "holds", "", statement.sentence, "", [], None, aim=result))
        statements[statement.id] = statement.model_dump(mode="json") | result.as_dict()
        for key in ("rows", "overall", "failing"):  # with all digits
            statements[statement.id][key] = [row.as_dict() for row in getattr(result, key)]
    markdown = as_markdown(verdicts, {trial.subject: trial.subject})
    return summary, statements, f"# {summary['title']}\n\n{markdown}\n{AIM_LEGEND}\n"


# Reading and comparing


def read(path: str) -> Any:
    """A published JSON file, or the rows of a CSV file with numbers as numbers and empty cells as None."""
    text = (PUBLISHED / path).read_text(encoding="utf-8")
    if path.endswith(".json"):
        return json.loads(text)
    return [{key: _value(value) for key, value in row.items()} for row in csv.DictReader(text.splitlines())]


def _value(text: str) -> Any:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text or None


def differences(actual: Any, expected: Any, rel: float = 1e-9, near: float = 0.0) -> list[str]:
    """The first places at which two nested values differ; NaN is None, as in JSON."""
    return different(finite(actual), finite(expected), rel=rel, near=near)[:10]


def numbers(text: Any) -> list[float]:
    """The numbers in a text, or in nested texts."""
    matches = re.findall(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?", str(text).replace("\u2212", "-"))
    return [float(number.replace(",", "")) for number in matches]


def rounding(number: float) -> float:
    """The largest error of a number of which six digits are stored."""
    return 0.500001 * 10.0 ** (math.floor(math.log10(abs(number))) - 5) if number else 0.0


# Student's tests, from published numbers


def half_width(sd: Any, n: Any) -> Any:
    """Half of a 95 % interval of a mean."""
    return stdtrit(n - 1, 0.975) * sd / np.sqrt(n)


def p_above(mean: Any, half: Any, n: Any, threshold: float = 0.0) -> Any:
    """The p value of the test that a mean is above a threshold, from half of its 95 % interval; arrays or numbers."""
    distance = np.subtract(mean, threshold)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(distance == 0, 0.0, distance / (half / stdtrit(n - 1, 0.975)))
    return np.where((half == 0) & (distance == 0), 1.0, np.where(np.isinf(t), t < 0, stdtr(n - 1, -t)))


def one_sided(row: dict[str, Any], side: str, threshold: float = 0.0) -> tuple[float, float]:
    """The p values for and against a mean being on a side of a threshold, from its published interval."""
    half, sign = (row["high"] - row["low"]) / 2, 1 if side == "above" else -1
    assert row["high"] + row["low"] == pytest.approx(2 * row["measured"], rel=1e-9, abs=1e-9 * half)
    p_for, p_against = (float(p_above(way * row["measured"], half, row["n"], way * threshold)) for way in (sign, -sign))
    return p_for, p_against


# Claims

VERDICTS = {
    "ijcai2025/claims.json": {"fails": 38, "holds": 8, "not testable": 2},
    "aaai2025/claims.json": {"holds": 2, "not significant": 1},
    "general-sum/verdicts.json": {"holds": 5, "fails": 2, "not significant": 2},
}
MATCH = r"(\S+) v (\S+) on (.*?)(, rounds? .*)?"


def check_p_values(check: dict[str, Any], matches: dict[str, Any]) -> tuple[float, float] | None:
    """The raw p values of a check from its other numbers, and from those of the matches of its claim; None if neither.

    What is known of its interval is asserted.
    """
    mean, n, threshold, (side, *_) = check["measured"], check["n"], check["threshold"], check["wanted"].split()
    assert float(check["wanted"].split()[-1]) == pytest.approx(threshold, rel=1e-4)
    if check["quantity"] == "the share":
        hits, z = round(mean * n), ndtri(0.975)
        middle, root = mean + z * z / (2 * n), z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
        assert mean == hits / n
        for key, sign in (("low", -1), ("high", 1)):  # Wilson's score interval
            assert check[key] == pytest.approx((middle + sign * root) / (1 + z * z / n), rel=1e-9, abs=1e-12)
        p_above_it, p_below_it = bdtrc(hits - 1, n, threshold) if hits else 1.0, bdtr(hits, n, threshold)
        return (p_above_it, p_below_it) if side == "above" else (p_below_it, p_above_it)
    if check["quantity"] == "the growth exponent":  # Fieller's interval has the exponents that the test does not reject
        assert check["low"] <= mean <= check["high"]
        assert check["p_for"] + check["p_against"] == pytest.approx(1)
        assert (check["p_for"] < 0.025, check["p_against"] < 0.025) == (
            check["high"] < threshold,
            check["low"] > threshold,
        )
        return None
    p_values = one_sided(check, side, threshold)
    if not check["beside"]:
        return p_values
    if side != "within":  # the largest of some means above the others: the tests of the pairs are not published
        return None
    sign = -1 if check["quantity"] == "the least mean" else 1
    bounds = sorted(sign * threshold * (1 + change) for change in (-0.1, 0.1))
    table = np.array([[sign * row["measured"], (row["high"] - row["low"]) / 2, row["n"]] for row in matches.values()])
    assert sign * mean == table[:, 0].max()
    above, below = ([p_above(way * table[:, 0], *table[:, 1:].T, way * bound) for bound in bounds] for way in (1, -1))
    some, every = (lambda p: min(1.0, len(p) * p.min())), np.max  # Bonferroni's correction for a choice
    return max(some(above[0]), every(below[1])), min(1.0, 2 * min(some(above[1]), every(below[0])))


@pytest.mark.parametrize("path", VERDICTS)
def test_published_checks_follow_from_their_numbers_and_give_the_verdicts(path):
    verdicts = read(path)
    assert Counter(verdict["verdict"] for verdict in verdicts) == VERDICTS[path]
    for verdict in verdicts:
        checks, where = verdict["checks"], f"{verdict['id']}, {verdict['variant']}"
        matches = {check["subject"]: check for check in checks if check["quantity"] == "the mean"}
        for check in checks:
            p_values = check_p_values(check, matches)
            assert p_values is None or p_values == pytest.approx(
                (check["p_for"], check["p_against"]), rel=1e-6, abs=0
            ), where
        for side in ("p_for", "p_against"):
            adjusted = corrected([check[side] for check in checks])
            assert adjusted == pytest.approx([check[f"{side}_adjusted"] for check in checks], rel=1e-9, abs=0)
        outcomes, outcome, decisive, note = judged(checks)
        assert outcomes == [(check["verdict"], check["before"]) for check in checks]
        assert (outcome, decisive) == (verdict["verdict"], verdict["decisive"]), where
        if decisive is None:
            assert [verdict[key] for key in ("measured", "low", "high", "threshold", "n")] == [None] * 4 + [0]
            continue
        for key in ("measured", "low", "high", "threshold", "n"):
            assert verdict[key] == checks[decisive][key], where
        if path.startswith("general-sum"):
            holding = sum(check["verdict"] == "holds" for check in checks)
            note = f"{holding} of {len(checks)} checks hold; {note.rpartition(' (')[0]}"
        assert numbers(verdict["note"]) == numbers(note)


@pytest.mark.parametrize("name", ["ijcai2025", "aaai2025"])
def test_published_claims_are_those_of_the_paper_and_of_the_table(name):
    table, seeds = (PUBLISHED / name / "claims.md").read_text(encoding="utf-8"), read(f"{name}/made.json")["seeds"]
    markdown = verdicts_as_markdown(name)
    assert numbers(table) == numbers(markdown)
    # As it was called before.
    table, markdown = (text.replace("not significant", "undecided") for text in (table, markdown))
    assert re.findall("[a-z]+", table) == re.findall("[a-z]+", markdown)
    keys = ("quantity", "wanted", "threshold", "beside", "published")
    for verdict in read(f"{name}/claims.json"):
        checks = [tuple(check[key] for key in keys) for check in verdict["checks"]]
        assert checks == stated(name, verdict["id"], verdict["variant"])
        assert {check["n"] for check in verdict["checks"]} <= {seeds}
        for reported in verdict["reported"]:  # on a metric of which the checks are not published
            low, mean, high = (reported[key] for key in ("low", "measured", "high"))
            if mean is not None and verdict["checks"][0]["quantity"] == "the growth exponent":
                assert low <= mean <= high
            elif mean is not None:
                assert low + high == pytest.approx(2 * mean)


@pytest.mark.parametrize("name", ["ijcai2025", "aaai2025"])
def test_published_means_have_the_intervals_of_their_deviations(name):
    made, means = read(f"{name}/made.json"), read(f"{name}/means.json")
    assert sum(run["cells"] for run in made["runs"]) == made["cells"] == made["runs"][-1]["of"]
    assert {row["n"] for row in means} == {made["seeds"]}
    for row in means:
        if row["mean"] is None:  # the time of a run that did not hit is unknown
            assert (row["low"], row["high"], row["sd"], row["metric"]) == (None, None, None, "hitting_time")
            continue
        half, error = (half_width(value, row["n"]) for value in (row["sd"], rounding(row["sd"])))
        for end, sign in (("low", -1), ("high", 1)):
            most = rounding(row["mean"]) + rounding(row[end]) + error
            assert row[end] == pytest.approx(row["mean"] + sign * half, rel=0, abs=most), row


@pytest.mark.parametrize(("name", "least"), [("ijcai2025", 600), ("aaai2025", 20)])
def test_published_claims_have_the_published_means(name, least):
    means = {(row["row"], row["column"], row["game"], row["metric"]): row for row in read(f"{name}/means.json")}
    windows, compared = {None: "", ", rounds 2901 to 3000": "_last_100"}, 0
    for verdict in read(f"{name}/claims.json"):
        for check in verdict["checks"]:
            matches = [re.fullmatch(MATCH, subject).groups() for subject in check["subject"].split(" minus ")]
            keys = [(*match, f"{verdict['metric']}{windows.get(window, window)}") for *match, window in matches]
            if check["quantity"] == "the growth exponent" or not means.keys() >= {*keys}:  # other rounds
                continue
            (first, *others), compared = [means[key] for key in keys], compared + 1
            pairs = [("measured", first["mean"] - sum(row["mean"] for row in others))]
            if not others and check["quantity"] != "the share":  # of which the intervals differ
                pairs += [(end, first[end]) for end in ("low", "high")]
            for key, number in pairs:
                error = sum(rounding(row["mean" if key == "measured" else key]) for row in (first, *others))
                assert check[key] == pytest.approx(number, rel=0, abs=error), check
    assert compared >= least


# The tournament


@cache
def published_duels() -> dict[str, Rows]:
    """The published duels by game, with "all games" first."""
    by_game: dict[str, Rows] = {}
    for row in read("tournament/head-to-head.csv"):
        by_game.setdefault(row["game"], []).append(row)
    return by_game


def test_published_duels_follow_from_their_means_and_deviations():
    for game, duels in published_duels().items():
        assert len(duels) == 21 * 20 // 2
        mean, sd, n = np.array([[duel[key] for key in ("advantage", "sd", "n")] for duel in duels]).T
        half = half_width(sd, n)
        p = 2 * np.minimum(0.5, p_above(np.abs(mean), half, n))
        p_holm = corrected(p.tolist())
        columns = {"low": mean - half, "high": mean + half, "p": p, "p_holm": np.array(p_holm)}
        for key, column in columns.items():
            assert column.tolist() == pytest.approx([duel[key] for duel in duels], rel=1e-7, abs=0), (game, key)
        for duel, p in zip(duels, p_holm, strict=True):
            ahead = duel["first"] if duel["advantage"] > 0 else duel["second"]
            assert duel["winner"] == (ahead if p <= 0.05 else None)


def test_published_duels_over_all_games_are_the_means_of_the_games():
    over_all, *games = published_duels().values()
    for duel, *others in zip(over_all, *games, strict=True):
        assert {(other["first"], other["second"]) for other in others} == {(duel["first"], duel["second"])}
        assert duel["advantage"] == pytest.approx(
            np.mean([other["advantage"] for other in others]), rel=1e-9, abs=1e-15
        )


def test_published_standings_follow_from_the_duels():
    over_all, *games = published_duels().values()
    learners = list(dict.fromkeys(duel[seat] for seat in ("first", "second") for duel in over_all))
    place = {learner: k for k, learner in enumerate(learners)}
    against = np.zeros((len(games), 21, 21))
    for game, duels in zip(against, games, strict=True):
        for duel in duels:
            first, second = place[duel["first"]], place[duel["second"]]
            game[first, second], game[second, first] = duel["advantage"], -duel["advantage"]
    wins = _beaten(over_all)
    standings = read("tournament/standings.csv")
    kinds = {row["learner"]: row["kind"] for row in standings}

    def measures(group: list[str]) -> dict[str, Rows]:
        """For each of a group, its rank by the mean advantage over the others, the mean with its interval, its mass."""
        places = [place[learner] for learner in group]
        inside = against[:, places][:, :, places]
        by_game, (mass, _) = inside.sum(axis=2).T / (len(group) - 1), nash(inside.mean(axis=0))
        mean, half = by_game.mean(axis=1), half_width(by_game.std(axis=1, ddof=1), len(games))
        ranks = 1 + (mean > mean[:, None]).sum(axis=1)
        return dict(zip(group, zip(ranks, mean, mean - half, mean + half, mass, strict=True), strict=True))

    groups = {kind: [learner for learner in learners if kinds[learner] == kind] for kind in kinds.values()}
    of_kind = {learner: measured for group in groups.values() for learner, measured in measures(group).items()}
    of_all = measures(learners)
    mixture, unique = nash(against.mean(axis=0))
    assert len(standings) == 21
    assert [row["rank"] for row in standings] == list(range(1, 22))
    for row in standings:
        name = row["learner"]
        columns = ("rank", "advantage", "advantage_low", "advantage_high", "nash_mass")
        computed = dict(zip(columns, of_all[name], strict=True))
        computed |= dict(zip((f"kind_{column}" for column in columns), of_kind[name], strict=True))
        computed |= {"kind_size": len(groups[row["kind"]]), "nash_score": against.mean(axis=0)[place[name]] @ mixture}
        computed |= {"beats": len(wins[name]), "loses_to": sum(name in losers for losers in wins.values())}
        assert differences(computed, {key: row[key] for key in computed}, near=1e-12) == [], name
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]
        assert row["nash_mass_mean"] <= row["nash_support"] <= 1
    summary = read("tournament/summary.json")
    assert (summary["nash_unique"], summary["cycles"]) == (unique, cycles_of(wins))
    by_game = {game: cycles_of(_beaten(duels)) for game, duels in published_duels().items()}
    assert summary["cycles_by_game"] == {
        game: of_game for game, of_game in by_game.items() if of_game and game != "all games"
    }


def _beaten(duels: Rows) -> dict[str, list[str]]:
    """The learners that each learner beats, in the order of the duels."""
    wins: dict[str, list[str]] = {learner: [] for duel in duels for learner in (duel["first"], duel["second"])}
    for duel in duels:
        if duel["winner"]:
            wins[duel["winner"]].append(duel["second" if duel["winner"] == duel["first"] else "first"])
    return wins


def test_the_summary_of_the_tournament_has_the_numbers_of_its_tables():
    summary, by_game = read("tournament/summary.json"), published_duels()
    flat = [
        {
            column: number
            for key, value in row.items()
            for column, number in (
                zip((key, f"{key}_low", f"{key}_high"), value.values(), strict=True)
                if isinstance(value, dict)
                else [(key, value)]
            )
        }
        for row in summary["standings"]
    ]
    assert differences(flat, read("tournament/standings.csv")) == []
    duels = [duel | {"winner": duel["winner"] or None} for duel in summary["duels"]]
    assert differences(duels, by_game["all games"]) == []
    assert list(summary["games"]) == list(by_game)[1:]
    assert list(summary["games"].values()) == rounds_of("standard")
    assert summary["resamples"] == numbers(summary["page"]["legend"])[-1]
    assert {duel["n"] for duels in by_game.values() for duel in duels} == {summary["seeds"]}
    page = summary["page"]
    rows, sentences = standings_page()
    assert numbers(page["rows"]) == numbers(rows)
    assert numbers(page["sentences"]) == numbers(sentences)


# Pre-registered tests

SIDES = {"head-to-head": "above", "self-play": "below"}


@pytest.mark.parametrize("name", ["kin", "strain", "strain-2", "gene-lr"])
def test_published_tests_follow_from_their_rows(name):
    summary, statements, markdown = registered_test(name)
    assert datetime.fromisoformat(summary["registered"]["date"]) < datetime.fromisoformat(summary["begun"])
    table, (trial,) = read(f"{name}/verdicts.csv"), summary["trials"]
    assert len(table) == sum(len(statement["rows"]) + len(statement["overall"]) for statement in statements.values())
    learners, others = 1 + len(trial["opponents"]), len(trial["opponents"])
    assert summary["cells"] == len(trial["games"]) * (2 * others + learners + 2 * learners)
    for id, statement in statements.items():
        rows, published = [row for row in table if row["statement"] == id], trial["statements"][id]
        labels = {"subject": trial["subject"], "statement": id}
        computed = [{**labels, **row} for row in (*statement["rows"], *statement["overall"])]
        assert differences([row | {"opponent": row["opponent"] or None} for row in computed], rows) == [], id
        assert {row["n"] for row in statement["rows"]} == {summary["seeds"]}
        said = statement.pop("said")
        assert published["said"] == said
        assert differences({key: published[key] for key in statement}, statement, rel=5.1e-6) == []  # six digits
        for counts in published["on_reported"].values():
            assert counts["least"] + counts["not least"] + counts["missing"] == len(trial["games"])
            assert counts["pairs above"] >= counts["not least"]
        rows, kind, ratio = statement["rows"], statement["kind"], statement["ratio"]
        if kind in SIDES:
            raw = [one_sided(row, SIDES[kind]) for row in rows]
            for key, p_values in zip(("p_for", "p_against"), zip(*raw, strict=True), strict=True):
                assert corrected(list(p_values)) == pytest.approx([row[key] for row in rows], rel=1e-6, abs=0), (
                    id,
                    key,
                )
        for row in rows if kind != "head-to-head" else ():
            ours, theirs = row["subject_mean"], row["opponent_mean"]
            measured = ours - theirs if kind == "self-play" else ours / theirs
            assert row["measured"] == pytest.approx(measured, rel=1e-9, abs=1e-9 * abs(ours))
            if kind == "best-response":
                assert row["low"] <= row["measured"] <= row["high"]
            if kind == "single-runs":  # of these runs, without a test
                assert (row["p_for"], row["p_against"]) == (measured > ratio, measured <= ratio)
    assert (PUBLISHED / name / "verdicts.md").read_text(encoding="utf-8") == markdown


# The ablation study


def test_published_ablation_is_corrected_as_one_family():
    rows = read("ablation/differences.csv")
    tested = [row for row in rows if row["p_holm"] is not None]
    assert len(tested) == read("ablation/summary.json")["tests"] == 256
    assert {row["game"] for row in tested} == {"all games"}
    adjusted = corrected([row["p"] for row in tested])
    assert adjusted == pytest.approx([row["p_holm"] for row in tested], rel=1e-5, abs=0)  # six digits are stored


def test_published_ablation_intervals_and_p_values_follow_from_each_other():
    seeds = read("ablation/summary.json")["seeds"]
    for row in (*read("ablation/means.csv"), *read("ablation/differences.csv")):
        error = max(rounding(row["low"]), rounding(row["high"]))
        assert row["low"] + row["high"] == pytest.approx(2 * row["mean"], rel=0, abs=4 * error)
        if row.get("p") is not None:
            half = (row["high"] - row["low"]) / 2
            least, most = (
                2 * min(0.5, p_above(max(0.0, abs(row["mean"]) - way * error), max(0.0, half + way * error), seeds))
                for way in (-1, 1)
            )
            assert least * (1 - 1e-5) <= row["p"] <= most * (1 + 1e-5), row


@pytest.mark.parametrize("table", ["means", "differences"])
def test_published_ablation_over_all_games_is_the_mean_of_the_games(table):
    rows, summary = read(f"ablation/{table}.csv"), read("ablation/summary.json")
    groups: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        groups.setdefault((row["learner"], row.get("base"), row["outcome"]), []).append(row["mean"])
    for group, (over_all, *games) in groups.items():
        assert over_all == pytest.approx(np.mean(games), rel=0, abs=2 * max(map(rounding, games))), group
    assert list(dict.fromkeys(row["game"] for row in rows)) == ["all games", *summary["games"]]
    assert {row[key] for row in rows for key in ("learner", "base") if key in row} == {
        row["learner"] for row in read("ablation/means.csv")
    }
    assert summary["learners"] == len({row["learner"] for row in read("ablation/means.csv")})


def test_published_ablation_differences_are_those_of_its_means():
    means = {(row["learner"], row["outcome"], row["game"]): row["mean"] for row in read("ablation/means.csv")}
    for row in read("ablation/differences.csv"):
        of_learner, of_base = (means[row[key], row["outcome"], row["game"]] for key in ("learner", "base"))
        error = sum(map(rounding, (row["mean"], of_learner, of_base)))
        assert row["mean"] == pytest.approx(of_learner - of_base, rel=0, abs=error)


# Single runs

TOTALS = {  # of each column of numbers; the tests in tests/tools compare what is computed from them
    "error-threshold/times.csv": {"sigma": 413.6, "chi": 196.5, "seed": 2970, "time": 252601500},
    "large-games/times.csv": {"n": 24328, "budget": 46088000, "seed": 3553, "time": 6714254},
    "last-iterate/means.csv": {"last": 9970.018578, "average": 7876.538814},
    "general-sum/runs.csv": {
        "seed": 107040,
        "ce": 235.224079,
        "cce": 151.297916,
        "swap": 5049.648391,
        "external": 2106.112815,
        "nash_conv": 19126.577622,
        "earned": 5052.872999,
        "collusion": -72.356558,
        "price": 1344.9696,
    },
}


@pytest.mark.parametrize("path", TOTALS)
def test_published_runs_are_unchanged(path):
    rows = read(path)
    totals = {key: math.fsum(row[key] for row in rows if row[key] is not None) for key in TOTALS[path]}
    assert totals == pytest.approx(TOTALS[path], rel=0, abs=1e-6)


def test_published_collusion_follows_from_what_is_earned():
    for row in read("general-sum/runs.csv"):
        if row["game"] in ("cournot", "bertrand"):  # what both firms earn in the best equilibrium, and as a monopoly
            least, most = {"cournot": (32, 36), "bertrand": (9, 25)}[row["game"]]
            earned = pytest.approx((least + row["collusion"] * (most - least)) / 2, rel=1.1e-5)
            assert row["earned"] == earned, row
        assert row["cce"] <= row["ce"] + 1e-6  # correlated equilibria are coarse ones too
        assert row["external"] <= row["swap"] + 1e-4
