"""The command tournament: rank learners over a suite of games, or test one of them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coebl.cli import options as opt
from coebl.cli.study_commands import print_notices, resume_hint, run_study
from coebl.cli.terminal import print_table, say

if TYPE_CHECKING:
    from coebl.study import Study
    from coebl.tournament.outcome import Finished
    from coebl.tournament.suite import Suite


@opt.app.command("tournament")
def tournament_command(
    out: Annotated[Path, opt.option("DIR", "The folder of the results; created, or resumed.")],
    learners: Annotated[
        list[str] | None,
        opt.option(
            "LIST",
            "Learners to add to those of the suite. If the list names any learner of the suite, exactly this list "
            "plays. In a suite that tests one learner: the learners to test.",
        ),
    ] = None,
    games: Annotated[list[str] | None, opt.option("LIST", "Only these games; by default those of the suite.")] = None,
    seeds: Annotated[int | None, opt.integer("Runs per match, >= 2; by default those of the suite, often 50.")] = None,
    rounds: Annotated[int | None, opt.integer("Rounds per run; by default those of the suite.", least=1)] = None,
    quick: Annotated[bool, opt.flag("--quick", "A few small games, few seeds: two minutes.")] = False,
    suite: Annotated[str, opt.option("NAME", "A suite, or the TOML file of one.")] = "standard",
    details: Annotated[bool, opt.flag("--details", "Print all columns of the ranking.")] = False,
    workers: opt.Workers = None,
    dask: opt.Dask = None,
    device: opt.DeviceOption = None,
) -> None:
    """Rank learners over a suite of games, or test one of them.

    Every pair of learners plays in both seats. A tournament is a study: results that are in the folder already are not
    computed again. A LIST is separated by commas; the option may also be given more than once.

    \b
    Examples:
      coebl tournament --quick --learners path/to/mine.py:Mine --out mine
      coebl tournament --out standard
      coebl tournament --learners ucb,coebl:c=2,exp3 --games rps,diagonal:4 --rounds 500 --seeds 20 --out few
      coebl tournament --suite pre-registered --learners path/to/mine.py:Mine --out test
    """
    from coebl.backend import backend_for, check_device
    from coebl.study import Results
    from coebl.tournament.outcome import finish
    from coebl.tournament.recipe import (
        field_of,
        left_out,
        read_tournament,
        shortest,
        size_text,
        split_list,
        subjects_of,
    )
    from coebl.tournament.suite import read_suite

    chosen = read_suite(suite)
    chosen = (chosen.shortened() if quick else chosen).played_on(split_list(games or []), rounds)
    named = split_list(learners or [])
    field = subjects_of(chosen, named) if chosen.subject else field_of(chosen, named)
    where = check_device("cpu" if device is None else device)
    if dask is None:
        backend_for(where)  # before anything is written
    study = read_tournament(chosen, field, chosen.seeds if seeds is None else seeds, out, where)
    print(f"{chosen.title}: {size_text(study)}")
    if not chosen.subject and not set(shortest(named)) & set(shortest(chosen.learners)) and (others := left_out(field)):
        say(f"The learners of the suite play. --learners adds others of the package: {', '.join(others)}.")
    command = opt.command_line(
        "tournament",
        quick=quick,
        learners=learners,
        games=games,
        seeds=seeds,
        rounds=rounds,
        suite=None if suite == "standard" else suite,
        device=device,
        out=out,
    )
    with resume_hint(command, workers, dask):
        summary = run_study(study, out, workers, dask, command)
        if chosen.subject:
            files = _print_trial(chosen, field, study, out, command)
        else:
            outcome = finish(chosen, study, out, command, named)
            print()
            _print_standings(outcome, details)
            if quick:
                say(chosen.description)
            files = outcome.files
        print_notices(Results(out))
    print(f"files: {files}; for a page: coebl report {shlex.quote(str(out))}")
    if summary.failed:
        raise typer.Exit(1)


def _print_standings(finished: Finished, details: bool) -> None:
    """Print the ranking and the sentences about it; with details, all columns and their meanings."""
    from coebl.tournament.outcome import COLUMNS, table_of

    columns = [column for column in COLUMNS if details or column.brief]
    header = [column.header for column in columns]
    right = {*header} - {"95 %", "learner", "kind"}
    print_table(header, table_of(finished.standings, columns), right=right, wrap=["learner"])
    print()
    for column in columns if details else ():
        if column.meaning:
            say(f"{column.header}: {column.meaning}", hang=2)
    if details:
        print()
    for number, sentence in enumerate(finished.sentences):
        say(sentence, "" if number else "bold")
    if not details:
        say(
            "advantage: earnings above the value of the game; worst: losses to a best response; both in % of the "
            "payoff range per round. For all columns, add --details."
        )


def _print_trial(suite: Suite, subjects: Sequence[str], study: Study, out: Path, command: str) -> Path:
    """Judge the statements about the tested learners, and print the verdicts, then the failures."""
    from coebl.evidence.rendering import AIM_LEGEND, aim_failures, aim_paragraphs
    from coebl.tournament.outcome import finish_trial

    outcome = finish_trial(suite, subjects, study, out, command)
    for contest, verdicts in outcome.trials:
        print()
        say(contest.subject, "bold")
        for line in (*aim_paragraphs(verdicts), *(line for verdict in verdicts for line in aim_failures(verdict))):
            say(line)
    for line in (AIM_LEGEND, *outcome.notes):
        say(line)
    return outcome.files
