"""The command for tournaments: who is best, on which games, and how sure is that?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coebl.cli.app import DeviceOption, app, repeated
from coebl.cli.rankings import print_notices, print_standings
from coebl.cli.screen import say
from coebl.cli.studies import Dask, Workers, going_on, run_study

if TYPE_CHECKING:
    from coebl.study import Study
    from coebl.tournament.outcome import Finished
    from coebl.tournament.suite import Suite


@app.command("tournament")
def tournament_command(
    out: Annotated[Path, typer.Option(help="The folder of the results; created, or resumed.")],
    learners: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST",
            help="New learners, which join those of the suite. If any of the suite's is named: exactly these play. "
            "In a suite that tests one learner: who is tested.",
        ),
    ] = None,
    games: Annotated[
        list[str] | None, typer.Option(metavar="LIST", help="Only these games; by default the suite's.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Runs per match, >= 2; by default the suite's, 50 in the standard one.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds per run; by default the suite's.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few small games, few seeds: two minutes.")] = False,
    suite: Annotated[str, typer.Option(metavar="NAME", help="A suite, or the TOML file of one.")] = "standard",
    details: Annotated[bool, typer.Option("--details", help="Print all columns of the ranking.")] = False,
    workers: Workers = None,
    dask: Dask = None,
    device: DeviceOption = None,
) -> None:
    """Play every pair of learners in both seats over a suite of games, and rank them; or test one of them.

    The tournament is a study: what is in the folder already is not run again. A LIST is separated by commas; the option
    may also be given more than once.

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
    from coebl.tournament.plan import (
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
    words = [*["--quick"] * quick, *repeated("--learners", learners), *repeated("--games", games)]
    words += _option("--seeds", seeds) + _option("--rounds", rounds) + ["--suite", suite] * (suite != "standard")
    words += ["--device", device] if device else []
    command = shlex.join(["coebl", "tournament", *words, "--out", str(out)])
    with going_on(command, workers, dask):
        summary = run_study(study, out, workers, dask, command)
        if chosen.subject:
            files = _tell_trial(chosen, field, study, out, command)
        else:
            outcome = finish(chosen, study, out, command, named)
            files = _tell_standings(outcome, details, chosen.description if quick else "")
        print_notices(Results(out))
    print(f"files: {files}; for a page: coebl report {shlex.quote(str(out))}")
    if summary.failed:
        raise typer.Exit(1)


def _option(option: str, value: int | None) -> list[str]:
    return [] if value is None else [option, str(value)]


def _tell_standings(outcome: Finished, details: bool, about: str) -> Path:
    """Print the ranking, and what there is to say about the suite."""
    print()
    print_standings(outcome, details)
    if about:
        say(about)
    return outcome.files


def _tell_trial(suite: Suite, subjects: Sequence[str], study: Study, out: Path, command: str) -> Path:
    """Judge a test, and print the answer first: the statements, then what failed."""
    from coebl.tournament.trial.outcome import finish_trial
    from coebl.tournament.trial.words import LEGEND, as_text, failure_lines

    outcome = finish_trial(suite, subjects, study, out, command)
    for findings in outcome.trials:
        print()
        say(findings[0].contest.subject, "bold")
        for line in (*as_text(findings), *(line for finding in findings for line in failure_lines(finding))):
            say(line)
    for line in (LEGEND, *outcome.notes):
        say(line)
    return outcome.files
