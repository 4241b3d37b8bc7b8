"""The outcome of a tournament: a table, a few sentences, and files for the page and for other programs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from pydantic_core import from_json

from coebl.core.errors import InputError, printable
from coebl.core.files import make_folder, read_whole, write_whole
from coebl.core.modules import require
from coebl.core.specs import without_folder
from coebl.core.text import csv_text, finite, with_minus
from coebl.evidence.checks import Setting
from coebl.evidence.judge import AIM_LEGEND, AimResult, Outcome, Verdict, as_markdown, judge
from coebl.evidence.pairwise import ALL_GAMES, Pairing
from coebl.evidence.statistics import Estimate
from coebl.learners import Learner
from coebl.learners.base import Kind
from coebl.naming import NOTHING, Known, known_to, learner_titles
from coebl.plots import save
from coebl.report.head_to_head import Section
from coebl.report.verdict_grid import verdict_grid
from coebl.study import Results, Study
from coebl.tournament.figures import leaders, plot_standings, plot_trial
from coebl.tournament.standings import Cycle, Standing, Standings, kinds_in, measure, payoff_widths, standings
from coebl.tournament.statements import Trial, claim_of
from coebl.tournament.suite import Suite, opponents_of

FOLDER = "tournament"  # inside the study's folder
_AIM = TypeAdapter(AimResult)
_EARNED = "What each learner earns from the others, and what it loses to a best response"  # in zero-sum games
TEST = "Test"  # the title of the section about a test of one learner, whose figure has a panel per statement

_PLURAL: dict[Kind, str] = {
    "bandit": "bandits",
    "informed bandit": "informed bandits",
    "full information": "full information",
    "oracle": "oracles",
}


# The table of the standings


class Column(NamedTuple):
    """A column of the standings in tables; amounts are in % of the payoff range per round."""

    header: str
    text: Callable[[Standing], str]
    meaning: str = ""
    brief: bool = False  # also in the short table


_SHARE = "in % of the payoff range per round"
_ALSO_ON_PAGE = ("self, %", "microseconds")


def columns_of(general: bool, names: Mapping[str, str]) -> list[Column]:
    """Return the columns of the standings; in games that are not zero-sum, no learner wins what another loses."""
    earned, lost = ("payoff, %", "swap regret, %") if general else ("advantage, %", "worst, %")
    copies = "its own payoff above the mean of all learners, among copies of each learner in all other seats"
    advantage, regret, gap = (
        (copies, "its swap regret there", "NashConv after self-play, in % of the payoff range")
        if general
        else ("earnings above the value of the game", "losses to a best response", "exploitability after self-play")
    )

    def rank_in_kind(entry: Standing) -> str:
        return "-" if entry.kind_rank is None else f"{entry.kind_rank} of {entry.kind_size}"

    def nash_in_kind(entry: Standing) -> str:
        return "-" if entry.kind_nash_mass is None else f"{entry.kind_nash_mass:.2f}"

    among = "the same, among the learners of its kind"
    columns = [
        Column("rank", lambda entry: str(entry.rank), f"by {earned.partition(',')[0]}", brief=True),
        Column("95 %", lambda entry: f"{entry.rank_low} to {entry.rank_high}", "of the resampled ranks", brief=True),
        Column("learner", lambda entry: names[entry.learner], brief=True),
        Column("kind", lambda entry: entry.kind, "how much a learner sees", brief=True),
        Column(earned, lambda entry: _signed(entry.advantage), f"{advantage}, {_SHARE}", brief=True),
        Column("rank in kind", rank_in_kind, among),
        Column("Nash", lambda entry: f"{entry.nash_mass:.2f}", "probability in the equilibrium of the meta-game"),
        Column("Nash in kind", nash_in_kind, among),
        Column(lost, lambda entry: _share(entry.regret), f"{regret}, {_SHARE}", brief=True),
        Column("self, %", lambda entry: _share(entry.exploitability, 1), gap),
        Column("microseconds", lambda entry: f"{entry.microseconds:.1f}", "of computing per round"),
    ]
    return [column for column in columns if not (general and column.header.startswith("Nash"))]


def _share(estimate: Estimate, digits: int = 2) -> str:
    return f"{100 * estimate.mean:z.{digits}f}"  # z: no signed zero


def _signed(estimate: Estimate) -> str:
    return f"{100 * estimate.mean:+z.2f} [{100 * estimate.low:+z.2f}, {100 * estimate.high:+z.2f}]"


def table_of(ranking: Standings, columns: Sequence[Column]) -> list[dict[str, str]]:
    """Return the ranking as text: a row per learner, with the cells by the headers of their columns."""
    return [
        {column.header: printable(column.text(entry).replace("\u00a0", " ")) for column in columns}
        for entry in ranking.standings
    ]


def intervals_note(ranking: Standings) -> str:
    """Return how the intervals are computed, and why those of ranks may be narrow where those of means are wide."""
    return (
        f"Intervals of means are Student's over games. Those of ranks are from {ranking.resamples} resamples of games "
        "and seeds, the same for all learners: one that is ahead on every game has a certain rank, even if its "
        "advantage varies a lot between games."
    )


# Sentences


def sentences(ranking: Standings, names: Mapping[str, str], learners: Collection[str] = ()) -> list[str]:
    """Return the results in words: the places of these learners, the leaders of each kind, and the cycles.

    Args:
        ranking: the results.
        names: of the learners, by their specs.
        learners: the specs of the learners to begin with.
    """
    lines = [_place(ranking, entry, names) for entry in ranking.standings if entry.learner in learners]
    lines.append(_leaders_by_kind(ranking, names))
    on_games = f"; on single games, {len(ranking.cycles_by_game)} of {len(ranking.games)} have cycles"
    if ranking.general:
        lines.append("There is no ranking head to head: in these games, one learner does not earn what another loses.")
    elif ranking.cycles:
        chains = "; ".join(_chain(cycle, names) for cycle in ranking.cycles)
        lines.append(f"Over all games there are cycles, after Holm: {chains}{on_games}.")
    else:
        lines.append(f"Over all games there is no cycle of learners that beat each other, after Holm{on_games}.")
    if not ranking.nash_unique:
        lines.append("The meta-game has several equilibria; the Nash masses are those of the largest entropy.")
    return [*lines, *(f"{sentence}." for sentence in ranking.missing)]


def _leaders_by_kind(ranking: Standings, names: Mapping[str, str]) -> str:
    groups = {kind: [row for row in ranking.standings if row.kind == kind] for kind in kinds_in(ranking.standings)}
    safest = [min(entries, key=lambda entry: entry.regret.mean) for entries in groups.values()]
    holds = ", ".join(f"{names[entry.learner]} ({_share(entry.regret)} %)" for entry in safest)
    what, measure = ("payoff", "swap regret") if ranking.general else ("advantage", "worst-case regret")
    regret = f"least {measure}{' of each kind' * (len(groups) > 1)}: {holds}."
    leads = [
        f"{names[entry.learner]} among {_PLURAL[kind]} ({100 * entry.kind_advantage.mean:+z.2f} %)"
        for kind, entries in groups.items()
        for entry in entries
        if entry.kind_rank == 1 and entry.kind_advantage is not None
    ]
    if not leads:  # each is the only one of its kind
        first = ranking.standings[0]
        return f"Largest {what}: {names[first.learner]} ({100 * first.advantage.mean:+z.2f} %); {regret}"
    over = "above the mean of its kind" if ranking.general else "over its own kind"
    return f"Largest {what} {over}: {', '.join(leads)}; {regret}"


def _place(ranking: Standings, entry: Standing, names: Mapping[str, str]) -> str:
    kind = _PLURAL[entry.kind]
    among = "" if entry.kind_rank is None else f", {entry.kind_rank} of {entry.kind_size} among {kind}"
    place = f"{names[entry.learner]} is {entry.rank} of {len(ranking.standings)}"
    place += f" (95 %: {entry.rank_low} to {entry.rank_high}){among}"
    if ranking.general:
        return (
            f"{place}: it earns more than {entry.beats} and less than {entry.loses_to} after Holm, against the same "
            f"opponents in the same seat, and its swap regret is {_share(entry.regret)} % of the payoff range a round."
        )
    return (
        f"{place}: it beats {entry.beats} and loses to {entry.loses_to} after Holm, and best-response takes "
        f"{_share(entry.regret)} % of the payoff range per round from it."
    )


def _chain(cycle: Cycle, names: Mapping[str, str]) -> str:
    example, more = [names[spec] for spec in cycle.example], len(cycle.members) - len(cycle.example)
    return " beats ".join([*example, example[0]]) + f" (and {more} more learners in cycles with these)" * (more > 0)


# A tournament


def finish(suite: Suite, study: Study, results: Results, command: str, named: Collection[str] = ()) -> Standings:
    """Rank the finished part of a tournament, and write its tables, its figure and the summary into the study's folder.

    The page begins with the learners that are named.
    """
    ranking, known = standings(measure(study, results)), known_to(results)
    folder = results.store.folder
    target = make_folder(folder / FOLDER, folder)
    write_table(map(_flat, ranking.standings), target / "standings", folder)
    write_table(map(_duel, ranking.duels), target / "head-to-head", folder)
    save(plot_standings(ranking, known, named), target, "figure", ("svg", "png"), folder)
    titles = learner_titles((entry.learner for entry in ranking.standings), known)
    columns = columns_of(ranking.general, titles)
    columns = [column for column in columns if column.brief or column.header in _ALSO_ON_PAGE]
    columns.sort(key=lambda column: column.header in ("95 %", "kind", *_ALSO_ON_PAGE))  # a phone shows the first few
    rows = table_of(ranking, columns)
    meanings = "; ".join(f"{column.header}: {column.meaning}" for column in columns if column.meaning)
    said = sentences(ranking, titles, named)
    own = [spec for spec in titles if spec in named]
    own *= len(own) < len(titles)  # emphasised only among others
    of_all = "What each learner earns above the mean of all, and its swap regret"
    page = Section(
        answer="\n".join([f"{leaders(ranking, titles)}.", *said[: len(own)]]),
        header=[header[:1].upper() + header[1:] for header in rows[0]],
        rows=[[with_minus(text) if "[" in text else text for text in row.values()] for row in rows],
        sentences=said[len(own) :],
        legend=f"{meanings}. {intervals_note(ranking)}",
        marked={entry.learner: place for place, entry in enumerate(ranking.standings) if entry.learner in own},
        picture_text=of_all if ranking.general else _EARNED,
    )
    summary = _about_run(suite, results, command) | _as_dict(ranking) | {"page": page.model_dump(exclude_unset=True)}
    _write_summary(summary, target, folder)
    return ranking


def _about_run(suite: Suite, results: Results, command: str) -> dict[str, Any]:
    """Return the description of a run, with which the summary begins."""
    return {
        "suite": suite.id,
        "title": suite.title,
        "description": suite.description,
        "command": command,
        "cells": len(results.records()),
        "worker_seconds": round(results.seconds()),
        "versions": results.versions(),
    }


def _write_summary(summary: Mapping[str, Any], target: Path, within: Path) -> None:
    """Write summary.json, which has no NaN and no infinity."""
    text = json.dumps(finite(summary), indent=1, ensure_ascii=False) + "\n"
    write_whole(target / "summary.json", text, within=within)


def write_table(rows: Iterable[Mapping[str, Any]], path: Path, within: Path) -> None:
    """Write rows as CSV and as Parquet, inside the folder of a study."""
    table = [*rows]
    write_whole(path.with_suffix(".csv"), csv_text(table, list(table[0])), within=within)
    buffer = require("pyarrow").BufferOutputStream()
    require("pyarrow.parquet").write_table(require("pyarrow").Table.from_pylist(table), buffer)
    write_whole(path.with_suffix(".parquet"), buffer.getvalue().to_pybytes(), within=within)


def _as_dict(ranking: Standings) -> dict[str, Any]:
    """Return the standings without the duels on single games, as plain values."""

    def plain_value(value: Any) -> Any:
        ends = isinstance(value, Estimate)
        return {"value": value.mean, "low": value.low, "high": value.high} if ends else value

    rows = [{key: plain_value(value) for key, value in vars(entry).items()} for entry in ranking.standings]
    duels = [_duel(duel) for duel in ranking.duels if duel.game == ALL_GAMES]
    plain = asdict(replace(ranking, standings=[], duels=[])) | {"standings": rows, "duels": duels}
    return {key: value for key, value in plain.items() if key != "general" or value}


def _flat(entry: Standing) -> dict[str, Any]:
    """Return a standing as a row of a table: an estimate is three columns."""
    row: dict[str, Any] = {}
    for key, value in vars(entry).items():
        if isinstance(value, Estimate) or key == "kind_advantage":
            ends = (value.mean, value.low, value.high) if value else (math.nan,) * 3
            row |= dict(zip((key, f"{key}_low", f"{key}_high"), ends, strict=True))
        else:
            row[key] = value
    return row


def _duel(duel: Pairing) -> dict[str, Any]:
    labels = {"game": duel.game, "first": duel.first, "second": duel.second, "advantage": duel.advantage.mean}
    numbers = {key: getattr(duel.advantage, key) for key in ("low", "high", "sd", "n", "p", "p_holm")}
    return labels | numbers | {"winner": duel.winner}


# A test of one learner


def finish_trial(
    suite: Suite, subjects: Sequence[Learner], study: Study, results: Results, command: str
) -> tuple[list[Verdict], list[str]]:
    """Judge the statements of a suite about each subject on the finished part of its study, and write the files.

    Return the verdicts, and the differences from the test in the suite's file.
    """
    seeds = {seed for cell in study.cells for seed in cell.seeds}
    games = {match.game: Setting(match.rounds, match.noise) for match in (cell.labels() for cell in study.cells)}
    widths = payoff_widths(study, results)
    trials = []
    for subject in subjects:
        learners = subject, *opponents_of(suite, subject)
        name, *opponents = (without_folder(str(learner)) for learner in learners)
        trials.append(Trial(name, tuple(opponents), games, widths))
    tested = {trial.subject: trial for trial in trials}
    verdicts = judge(results, map(claim_of, suite.statements), tested, seeds)
    notes = [] if suite.digest else [suite.description]
    if len(seeds) != suite.seeds:
        notes.append(f"Not the test of the suite's file: {len(seeds)} seeds instead of {suite.seeds}.")
    about = _about_run(suite, results, command) | {
        "begun": min((record.created for record in results.records()), default=""),  # when the first cell was finished
        "suite_sha256": suite.digest,
        "seeds": len(seeds),
        "notes": notes,
    }
    write_trials(suite, trials, verdicts, results.store.folder, about, known_to(results))
    return verdicts, notes


def write_trials(
    suite: Suite,
    trials: Sequence[Trial],
    verdicts: Sequence[Verdict],
    folder: Path,
    about: Mapping[str, Any],
    known: Known = NOTHING,
) -> None:
    """Write the verdicts as JSON, Markdown, CSV and Parquet, and a figure per subject, into the folder of a study."""
    target = make_folder(folder / FOLDER, folder)
    outcomes = []
    for place, trial in enumerate(trials):
        judged = [verdict for verdict in verdicts if verdict.variant == trial.subject]
        figure = plot_trial(trial, suite.statements, judged, known)
        save(figure, target, f"figure-{place + 1}" if place else "figure", ("svg", "png"), folder)
        statements = {
            verdict.id: statement.model_dump() | verdict.aim.as_dict()
            for statement, verdict in zip(suite.statements, judged, strict=True)
            if verdict.aim
        }
        games = {game: {"rounds": setting.rounds, "width": trial.widths[game]} for game, setting in trial.games.items()}
        labels = {"subject": trial.subject, "opponents": list(trial.opponents), "games": games}
        outcomes.append(labels | {"statements": statements})
    rows = (
        {"subject": verdict.variant, "statement": verdict.id, **row.as_dict()}
        for verdict in verdicts
        if verdict.aim
        for row in verdict.aim.all_rows
    )
    write_table(rows, target / "verdicts", folder)
    markdown = as_markdown(verdicts, {trial.subject: trial.subject for trial in trials})
    write_whole(target / "verdicts.md", f"# {about['title']}\n\n{markdown}\n{AIM_LEGEND}\n", within=folder)
    _write_summary({**about, "trials": outcomes}, target, folder)


# The page


def read_page(results: Results) -> tuple[list[Section], list[Verdict]]:
    """Return what the page of a study shows of its tournament, if any: the ranking; or a picture, and the verdicts."""
    path = results.store.folder / FOLDER / "summary.json"
    if not path.exists():
        return [], []
    try:
        summary, picture = from_json(read_whole(path)), read_whole(path.with_name("figure.svg"))
        if "page" in summary:  # a ranking, or a test that an earlier version has written
            page = Section.model_validate(summary["page"])
            text = page.picture_text or _EARNED  # which earlier versions did not write
            added = {"picture": picture, "picture_text": text, "is_wide": page.title == TEST}
            return [page.model_copy(update=added)], []
        verdicts = [
            _read_verdict(str(id), str(trial["subject"]), statement)
            for trial in summary["trials"]
            for id, statement in trial["statements"].items()
        ]
        notes = [str(note) for note in summary["notes"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise InputError(f"{path.parent}: its files are damaged. To recreate them: coebl tournament") from None
    grid = verdict_grid(verdicts, learner_titles((verdict.variant for verdict in verdicts), known_to(results)), {})
    answer = "; ".join(f"aims of {title}: {grid.counts(subject)}" for subject, title in grid.variants.items())
    section = Section(
        title=TEST,
        answer=f"{answer[:1].upper()}{answer[1:]}.",
        sentences=notes,
        legend=AIM_LEGEND,
        picture=picture,
        picture_text="The subject against each opponent on each game: ahead, undecided or behind",
        is_wide=True,
    )
    return [section], verdicts


def _read_verdict(id: str, subject: str, statement: Mapping[str, Any]) -> Verdict:
    """Return the verdict on a statement of a summary, without its checks."""
    rows = {name: [_read_row(row) for row in statement[name]] for name in ("rows", "overall", "failing")}
    aim = _AIM.validate_python({**statement, **rows, "reported": statement["on_reported"], "failure": ""})
    outcome: Outcome = "holds" if aim.reached else "not testable" if aim.reached is None else "fails"
    return Verdict(id, subject, outcome, str(statement["metric"]), str(statement["sentence"]), "", [], None, aim=aim)


def _read_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an `AimRow` from its plain values; None is NaN."""
    values = {key: math.nan if value is None else value for key, value in row.items()}
    names = {"measured": "mean", "low": "low", "high": "high", "n": "n"}
    names |= {"p_for": "p_for_holm", "p_against": "p_against_holm"}
    means = values["subject_mean"], values["opponent_mean"]
    return {**values, "estimate": {"sd": math.nan} | {names[key]: values[key] for key in names}, "means": means}
