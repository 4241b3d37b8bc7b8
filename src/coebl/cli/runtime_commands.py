"""The command runtime: the time that an algorithm takes to an equilibrium of a game."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.cli import options as opt
from coebl.cli.terminal import print_table, progress_bar
from coebl.core.errors import InputError, check_integer, printable
from coebl.core.text import counted, finite

if TYPE_CHECKING:
    from coebl.engine import Match
    from coebl.evidence.runtimes import Runtimes
    from coebl.evidence.statistics import Estimate

_QUANTILES = {"a quarter": 0.25, "half": 0.5, "three quarters": 0.75}


@opt.app.command("runtime")
def runtime_command(
    algorithm: Annotated[str, typer.Argument(metavar="SPEC", help="A search, or a learner that plays itself.")],
    game: opt.GameSpec,
    budget: Annotated[float, opt.decimal("N", "Rounds of a run at most; 1e7 is accepted.", least=1)] = 1e6,
    until: Annotated[
        str | None,
        opt.option("CONDITION", 'By default "optimum" for a search, else "exploitability < 0.1".'),
    ] = None,
    seeds: Annotated[int, opt.integer("Number of runs.")] = 20,
    first_seed: opt.FirstSeed = 0,
    noise: opt.NoiseSpec = None,
    plot: Annotated[Path | None, opt.option("FILE", "Draw the share of runs by budget: .png, .svg or .pdf.")] = None,
    ioh: Annotated[Path | None, opt.option("DIR", "Write files that IOHanalyzer reads.")] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Measure how many rounds, or queries, an algorithm takes to an equilibrium.

    \b
    Examples:
      coebl runtime pdcoea:population=500,chi=0.3 --game diagonal:n=100,space=bits --noise none --budget 1e7
      coebl runtime cga --game diagonal:n=100,space=bits --until "exploitability < 0.1"
      coebl runtime kin --game diagonal:n=5 --budget 3000 --until "exploitability < 0.1"
    """
    from coebl.engine import Match, simulate
    from coebl.engine.until import HittingTime, Until
    from coebl.evidence.runtimes import Runtimes
    from coebl.kernels.cache import announce_compilation
    from coebl.search import Search

    if budget != int(budget):
        raise InputError(f"--budget is {budget:g}; accepted: an integer, such as 100000 or 1e7.")
    match = Match.of(game, algorithm, algorithm, int(budget), noise)
    check_integer("--seeds", seeds, 1)
    check_integer("--first-seed", first_seed, 0)
    condition = Until.parse(until or ("optimum" if isinstance(match.row, Search) else "exploitability < 0.1"))
    suffix = opt.figure_format("--plot", plot) if plot else ""  # before anything is run
    with progress_bar(printable(str(match)), match.rounds) as advance, announce_compilation():
        result = simulate(match, range(first_seed, first_seed + seeds), metrics=[], until=condition, progress=advance)
    runs = Runtimes.of(result.final(HittingTime.name), match.rounds)
    if plot:
        from coebl.plots import plot_ecdf, save

        save(plot_ecdf({str(match.row): runs}).figure, plot.parent, plot.stem, [suffix])  # type: ignore[arg-type]
    if ioh:
        from coebl.evidence.ioh_format import Problem, write_ioh

        name = match.game.spec or match.game.name
        write_ioh(ioh, str(match.row), {Problem(1, name, match.game.spaces[0].width): runs})
    if as_json:
        print(json.dumps(_summary(match, condition, runs), allow_nan=False))
    else:
        _print_runtimes(match, str(condition), runs)


def _summary(match: Match, until: object, runs: Runtimes) -> dict[str, Any]:
    estimates = {"share": runs.share(), "ert": runs.ert()}
    return {
        "game": match.game.spec or match.game.name,
        "algorithm": str(match.row),
        "noise": str(match.game.noise),
        "until": str(until),
        "budget": match.rounds,
        "times": runs.times,
        **{
            name: {key: finite(getattr(estimate, key)) for key in ("mean", "low", "high")}
            for name, estimate in estimates.items()
        },
    }


def _print_runtimes(match: Match, until: str, runs: Runtimes) -> None:
    game = printable(match.game.spec or match.game.name)
    print(f"{printable(str(match.row))} on {game}, noise {match.game.noise}, until {until}")
    print(f"{counted(runs.hits, 'run')} of {len(runs.times)} hit within {runs.budget:,} rounds\n")
    share, ert = runs.share(), runs.ert()
    rows = [
        ("share of runs", f"{share.mean:.3f}", f"{share.low:.3f} .. {share.high:.3f} (Wilson)"),
        ("expected running time", _whole(ert.mean), f"{_interval(ert)} (bootstrap)"),
    ]
    for words, quantile in _QUANTILES.items():
        time = runs.quantile(quantile)
        rows.append((f"{words} of the runs hit by", f"{time:,}" if time is not None else "not yet", ""))
    print_table(["", "estimate", "95 % interval"], rows, right=["estimate"])


def _whole(number: float) -> str:
    return f"{number:,.0f}" if finite(number) is not None else "infinite"


def _interval(estimate: Estimate) -> str:
    return f"{_whole(estimate.low)} .. {_whole(estimate.high)}"
