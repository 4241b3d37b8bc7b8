"""The command for tournaments: who is best, on which games, and how sure is that?"""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from coebl.cli.app import DeviceOption, app, repeated, width
from coebl.cli.studies import Dask, Workers, run_study
from coebl.core.devices import check_device
from coebl.core.errors import printable


@app.command("tournament")
def tournament_command(
    out: Annotated[Path, typer.Option(help="The folder of the results; made, or resumed.")],
    learners: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST",
            help="New learners, which join those of the suite. If any of the suite's is named: exactly these play.",
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
    workers: Workers = None,
    dask: Dask = None,
    device: DeviceOption = None,
) -> None:
    """Play every pair of learners in both seats over a suite of games, and rank them.

    The tournament is a study: what is in the folder already is not run again. A LIST is separated by commas; the option
    may also be given more than once.

    \b
    Examples:
      coebl tournament --quick --learners path/to/mine.py:Mine --out mine
      coebl tournament --out standard
      coebl tournament --learners ucb,coebl:c=2,exp3 --games rps,diagonal:4 --rounds 500 --seeds 20 --out few
    """
    from coebl.tournament.outcome import finish
    from coebl.tournament.plan import field_of, read_tournament, size_text, split_list, subjects_of
    from coebl.tournament.suite import read_suite
    from coebl.tournament.words import as_table, legend

    chosen = read_suite(suite)
    chosen = (chosen.shortened() if quick else chosen).played_on(split_list(games or []), rounds)
    named = split_list(learners or [])
    field = subjects_of(chosen, named) if chosen.subject else field_of(chosen, named)
    study = read_tournament(chosen, field, chosen.seeds if seeds is None else seeds, out, check_device(device or "cpu"))
    print(f"{chosen.title}: {size_text(study)}")
    words = [*["--quick"] * quick, *repeated("--learners", learners), *repeated("--games", games)]
    words += _option("--seeds", seeds) + _option("--rounds", rounds) + ["--suite", suite] * (suite != "standard")
    words += ["--device", device] if device else []
    command = shlex.join(["coebl", "tournament", *words, "--out", str(out)])
    summary = run_study(study, out, workers, dask, command)
    if chosen.subject:
        return
    outcome = finish(chosen, study, out, command)
    print(f"\n{as_table(outcome.standings)}\n")
    for line in [legend(outcome.standings), *outcome.sentences]:
        print(textwrap.fill(printable(line), width(), break_on_hyphens=False))
    if quick:
        print(textwrap.fill(chosen.description, width()))
    print(f"files: {outcome.files}; for a page: coebl report {shlex.quote(str(out))}")
    if summary.failed:
        raise typer.Exit(1)


def _option(option: str, value: int | None) -> list[str]:
    return [] if value is None else [option, str(value)]
