"""The outcome of a tournament: a table, a few sentences, and files for the page and for other programs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from coebl.core.errors import InputError, printable
from coebl.core.files import make_folder, read_whole, write_whole
from coebl.core.modules import require
from coebl.core.specs import without_folder
from coebl.core.text import csv_text, finite, with_minus
from coebl.evidence.checks import Setting
from coebl.evidence.judge import AIM_LEGEND, Verdict, as_markdown, judge
from coebl.evidence.pairwise import ALL_GAMES, Pairing
from coebl.evidence.statistics import Estimate
from coebl.learners import Learner
from coebl.learners.base import Kind
from coebl.naming import NOTHING, Known, known_to, learner_titles, spelled_out
from coebl.plots import save
from coebl.report.head_to_head import Section
from coebl.study import Results, Study
from coebl.tournament.figures import finding, plot_standings, plot_trial
from coebl.tournament.standings import Cycle, Standing, Standings, kinds_in, measure, payoff_widths, standings
from coebl.tournament.statements import Trial, claim_of
from coebl.tournament.suite import Suite, opponents_of

FOLDER = "tournament"  # inside the study's folder
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


def table_of(ranking: Standings, columns: Iterable[Column]) -> list[list[str]]:
    """Return the cells of the ranking, a row per learner."""
    chosen = list(columns)
    return [[printable(column.text(entry).replace("\u00a0", " ")) for column in chosen] for entry in ranking.standings]


# Sentences


def sentences(ranking: Standings, names: Mapping[str, str], learners: Collection[str] = ()) -> list[str]:
    """Return the results in words: the places of these learners, the leaders of each kind, and the cycles."""
    lines = [_place(ranking, entry, names) for entry in ranking.standings if entry.learner in learners]
    lines.append(_leaders(ranking, names))
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


def _leaders(ranking: Standings, names: Mapping[str, str]) -> str:
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


@dataclass(frozen=True)
class Finished:
    """The standings of a tournament, in numbers, words and files."""

    standings: Standings
    names: dict[str, str]  # of the learners, by their specs
    sentences: list[str]
    files: Path  # their folder


def finish(suite: Suite, study: Study, folder: Path, command: str, named: Iterable[Learner] = ()) -> Finished:
    """Rank the finished part of a tournament, and write its tables, its figure and the summary into the study's folder.

    The sentences begin with the learners that are named.
    """
    results = Results(folder)
    ranking, known = standings(measure(study, results)), known_to(results)
    learners = [entry.learner for entry in ranking.standings]
    names = {without_folder(str(learner)) for learner in named}
    own = [learner for learner in learners if learner in names]
    target = make_folder(folder / FOLDER, folder)
    write_table([_flat(entry) for entry in ranking.standings], target / "standings", folder)
    write_table([_duel(duel) for duel in ranking.duels], target / "head-to-head", folder)
    save(plot_standings(ranking, known, own), target, "figure", ("svg", "png"), folder)
    titles = learner_titles(learners, known)
    columns = columns_of(ranking.general, titles)
    columns = [column for column in columns if column.brief or column.header in _ALSO_ON_PAGE]
    meanings = "; ".join(f"{column.header}: {column.meaning}" for column in columns if column.meaning)
    of_all = "What each learner earns above the mean of all, and its swap regret"
    page = Section(
        answer=f"{finding(ranking, titles)}.",
        header=[column.header[:1].upper() + column.header[1:] for column in columns],
        rows=[[with_minus(text) if "[" in text else text for text in row] for row in table_of(ranking, columns)],
        sentences=sentences(ranking, titles, own),
        legend=f"{meanings}. Intervals of means are Student's over games; ranks are by {ranking.resamples} resamples.",
        picture_text=of_all if ranking.general else _EARNED,
    )
    _write_summary(_about_run(suite, results, command) | _as_dict(ranking), page, target, folder)
    shown = spelled_out(learners, known)
    return Finished(ranking, shown, sentences(ranking, shown, own), target)


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


class _Summary(BaseModel):
    page: Section


def _write_summary(summary: Mapping[str, Any], page: Section, target: Path, within: Path) -> None:
    """Write summary.json, which has no NaN and no infinity."""
    everything = {**summary, "page": page.model_dump(exclude_unset=True)}
    text = json.dumps(finite(everything), indent=1, ensure_ascii=False) + "\n"
    write_whole(target / "summary.json", text, within=within)


def read_section(folder: Path) -> Section | None:
    """Return the ranking or the verdicts of the tournament in a study's folder, as they were written, if any."""
    path = folder / FOLDER / "summary.json"
    if not path.exists():
        return None
    try:
        page = _Summary.model_validate_json(read_whole(path)).page
        picture = read_whole(path.with_name("figure.svg"))
    except (OSError, ValueError):
        raise InputError(f"{path.parent}: its files are damaged. To recreate them: coebl tournament") from None
    text = page.picture_text or _EARNED  # which earlier versions did not write
    return page.model_copy(update={"picture": picture, "picture_text": text, "is_wide": page.title == TEST})


def write_table(rows: Sequence[Mapping[str, Any]], path: Path, within: Path) -> None:
    """Write rows as CSV and as Parquet, inside the folder of a study."""
    write_whole(path.with_suffix(".csv"), csv_text(rows, list(rows[0])), within=within)
    buffer = require("pyarrow").BufferOutputStream()
    require("pyarrow.parquet").write_table(require("pyarrow").Table.from_pylist(list(rows)), buffer)
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


@dataclass(frozen=True)
class TrialOutcome:
    """The verdicts on the statements of a suite about its subjects, and the paths of the files."""

    verdicts: list[Verdict]
    files: Path
    notes: list[str]  # differences from the test in the suite's file


def finish_trial(suite: Suite, subjects: Sequence[Learner], study: Study, folder: Path, command: str) -> TrialOutcome:
    """Judge the statements of a suite about each subject on the finished part of its study, and write the files."""
    results = Results(folder)
    seeds = {seed for cell in study.cells for seed in cell.seeds}
    games = {match.game: Setting(match.rounds, match.noise) for match in (cell.labels() for cell in study.cells)}
    widths = payoff_widths(study)
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
    return TrialOutcome(verdicts, write_trials(suite, trials, verdicts, folder, about, known_to(results)), notes)


def write_trials(
    suite: Suite,
    trials: Sequence[Trial],
    verdicts: Sequence[Verdict],
    folder: Path,
    about: Mapping[str, Any],
    known: Known = NOTHING,
) -> Path:
    """Write the verdicts as JSON, Markdown, CSV and Parquet, and a figure per subject, into the folder of a study."""
    target = make_folder(folder / FOLDER, folder)
    judged = [(trial, [verdict for verdict in verdicts if verdict.variant == trial.subject]) for trial in trials]
    for place, (trial, of_trial) in enumerate(judged):
        figure = plot_trial(trial, suite.statements, of_trial, known)
        save(figure, target, f"figure-{place + 1}" if place else "figure", ("svg", "png"), folder)
    rows = [
        {"subject": verdict.variant, "statement": verdict.id, **row.as_dict()}
        for verdict in verdicts
        if verdict.aim
        for row in verdict.aim.all_rows
    ]
    write_table(rows, target / "verdicts", folder)
    markdown = as_markdown(verdicts, {trial.subject: trial.subject for trial in trials})
    write_whole(target / "verdicts.md", f"# {about['title']}\n\n{markdown}\n{AIM_LEGEND}\n", within=folder)
    page = Section(
        title=TEST,
        header=["subject", "", "statement", "aim", "what came out"],
        rows=[[verdict.variant, verdict.id, verdict.text, verdict.word, verdict.result] for verdict in verdicts],
        sentences=[_sentence(verdict) for verdict in judged[0][1]] + about.get("notes", []),
        legend=AIM_LEGEND,
        picture_text="The subject against each opponent on each game: ahead, undecided or behind",
    )
    _write_summary(
        {**about, "trials": [_trial(suite, trial, of_trial) for trial, of_trial in judged]}, page, target, folder
    )
    return target


def _sentence(verdict: Verdict) -> str:
    return f"({verdict.id}) {verdict.word.upper()}: {verdict.text} {verdict.result}"


def _trial(suite: Suite, trial: Trial, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the outcome of a trial as plain values, each statement with what was registered."""
    registered = {statement.id: statement.model_dump() for statement in suite.statements}
    aims = {verdict.id: verdict.aim.as_dict() for verdict in verdicts if verdict.aim}
    statements = {id: registered[id] | aim for id, aim in aims.items()}
    games = {game: {"rounds": setting.rounds, "width": trial.widths[game]} for game, setting in trial.games.items()}
    labels = {"subject": trial.subject, "opponents": list(trial.opponents), "games": games}
    return labels | {"statements": statements}
