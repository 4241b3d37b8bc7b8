"""Commands that compute: solve a game, play a match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from coebl.cli.app import DeviceOption, app
from coebl.cli.rounds import check_savable, save_rounds
from coebl.cli.screen import say
from coebl.cli.waiting import compilation_told, progress_bar
from coebl.core.errors import check_whole, printable
from coebl.core.plain import finite
from coebl.core.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coebl.core.arrays import Floats
    from coebl.engine import Match, Result
    from coebl.evidence.statistics import Estimate
    from coebl.games import Game

GameArgument = Annotated[
    str, typer.Argument(metavar="GAME", help="A game's spec; a .csv, .npy, .json or .nfg file; or file.py:function.")
]

_MOST_ACTIONS = 24  # how many actions of a strategy are printed
_FEWEST_SEEDS = 5  # from which on a winner is named: with fewer, an interval rests on the shape of their distribution
_LONG = 100.0  # seconds that a match may take before that is said where no bar is shown
_READING = "pseudo_regret"  # the metric that says in a sentence who wins


@app.command("solve")
def solve_command(
    game: GameArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print the value of a game and both optimal strategies.

    \b
    Examples:
      coebl solve kuhn-poker
      coebl solve diagonal:4 --json
      coebl solve my-game.csv
    """
    from coebl.games import parse_game

    loaded = parse_game(game)
    with compilation_told():
        solution = loaded.solution
    if as_json:
        print(json.dumps(_solution_summary(loaded)))
        return
    m, n = loaded.shape
    print(f"{printable(loaded.spec or loaded.name)}: {m} x {n}")
    print(f"value to the row player  {tidy_value(loaded)}")
    print(f"certified to             {max(solution.gap, 0.0):.1e} of the payoff range")
    print(f"only equilibrium         {printable(str(loaded.unique_equilibrium))}")
    for player, labels, strategy in (
        ("row", loaded.row_labels, solution.row),
        ("column", loaded.column_labels, solution.column),
    ):
        print(f"\n{player} player's strategy")
        _print_strategy([printable(label) for label in labels], strategy.tolist())


def _solution_summary(game: Game) -> dict[str, Any]:
    solution, unique = game.solution, game.unique_equilibrium
    return {
        "name": game.spec or game.name,
        "value": solution.value,
        "row": solution.row.tolist(),
        "column": solution.column.tolist(),
        "row_labels": game.row_labels,
        "column_labels": game.column_labels,
        "unique": {"answer": unique.answer, "reason": unique.reason},
        "gap": max(solution.gap, 0.0),  # below zero by rounding alone
        "status": solution.status,
        "pivots": solution.pivots,
    }


def tidy_value(game: Game) -> str:
    """The value, as precise as it is: what differs from zero by rounding alone is zero."""
    low, high = game.payoff_range
    return f"{game.value if abs(game.value) > 1e-12 * (high - low) else 0.0:.10g}"


def _print_strategy(labels: Sequence[str], strategy: Sequence[float]) -> None:
    """The actions that are played, the others counted."""
    played = [(label, chance) for label, chance in zip(labels, strategy, strict=True) if chance > 0]
    width = max(len(label) for label, _ in played[:_MOST_ACTIONS])
    for label, chance in played[:_MOST_ACTIONS]:
        print(f"  {label:<{width}}  {chance:.6f}  {'#' * round(40 * chance)}".rstrip())
    if len(played) > _MOST_ACTIONS:
        print(f"  and {len(played) - _MOST_ACTIONS} more actions: see --json")
    if len(played) < len(labels):
        print(f"  {len(labels) - len(played)} of {len(labels)} actions are not played")


@app.command("match")
def match_command(
    game: Annotated[str, typer.Option(help="A game's spec, a file, or file.py:function.")],
    row: Annotated[str, typer.Option(help="The row player's learner.")],
    column: Annotated[str, typer.Option(help="The column player's learner.")],
    rounds: Annotated[int, typer.Option(help="Rounds per run.")] = 3000,
    seeds: Annotated[int, typer.Option(help="How many runs.")] = 50,
    first_seed: Annotated[int, typer.Option(help="The first run's seed; the others follow.")] = 0,
    noise: Annotated[str | None, typer.Option(help="A noise's spec; by default the game's own.")] = None,
    metric: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this metric; may be given more than once.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write actions and rewards by round: .parquet or .csv.")
    ] = None,
    device: DeviceOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Play two learners against each other and print the outcome.

    \b
    Examples:
      coebl match --game diagonal:3 --row ucb --column coebl:c=2
      coebl match --game my-game.csv --row exp3 --column best-response --rounds 500 --seeds 20 --noise laplace
      coebl match --game rps --row ucb --column exp3 --metric regret --metric exploitability
      coebl match --game rps --row ucb --column exp3 --seeds 5 --save rounds.parquet
      coebl match --game random-gaussian:m=128,n=128 --row coebl --column ucb --seeds 1000 --device cuda
    """
    from coebl.backend import backend_for, check_device
    from coebl.engine import Match, simulate
    from coebl.engine.simulate import MOST_SEEDS

    match = Match.of(game, row, column, rounds, noise)
    check_whole("--seeds", seeds, 1, MOST_SEEDS)
    check_whole("--first-seed", first_seed, 0, 2**63 - seeds)  # results keep seeds as 64-bit numbers
    where = check_device("cpu" if device is None else device)
    backend_for(where)  # before the solver is compiled
    if save:
        check_savable(save, rounds * seeds)
    with progress_bar(printable(str(match)), match.rounds, _long_line(match, seeds)) as advance, compilation_told():
        result = simulate(
            match,
            range(first_seed, first_seed + seeds),
            record="last",
            metrics=[*(metric or ["all"]), _READING],
            keep=("actions", "rewards") if save else (),
            progress=advance,
            device=where,
        )
    if save:
        save_rounds(result, save)
    finals = {name: result.final(name) for name in result.metrics}
    regret = finals[_READING]
    if metric and _READING not in metric and "all" not in metric:
        del finals[_READING]
    if as_json:
        print(json.dumps(_match_summary(result, finals), allow_nan=False))
    else:
        _print_match(result, finals, regret)


def _long_line(match: Match, seeds: int) -> str:
    """What to print of a match that may take long, by the costs that its learners declare; nothing of others."""
    from coebl.study.estimate import declared_range
    from coebl.study.progress import span

    low, high = declared_range(match, seeds)
    return f"playing: {span(low, high)}, by the costs that the learners declare" if high >= _LONG else ""


def _matrix(match: Match) -> Game:
    """Return the game of a match that was made from specs, which is a matrix."""
    return cast("Game", match.game)


def _match_summary(result: Result, finals: dict[str, Floats]) -> dict[str, Any]:
    match = result.match
    intervals = _intervals(finals)
    return {
        "game": match.game.spec or match.game.name,
        "row": str(match.row),
        "column": str(match.column),
        "rounds": match.rounds,
        "seeds": len(result.seeds),
        "device": result.device,
        "noise": str(match.game.noise),
        "first_seed": int(result.seeds[0]),
        "value": _matrix(match).value,
        "metrics": {
            name: {key: finite(getattr(intervals.get(name), key, None)) for key in ("mean", "low", "high", "sd")}
            for name in finals
        },
    }


def _print_match(result: Result, finals: dict[str, Floats], regret: Floats) -> None:
    match = result.match
    intervals = _intervals(finals)
    width = max(24, *map(len, finals))
    where = f", on {result.device}" * (result.device != "cpu")
    print(f"{printable(str(match))}, {counted(len(result.seeds), 'seed')}, noise {match.game.noise}{where}")
    print(f"value of the game {tidy_value(_matrix(match))}\n")
    print(f"{'after the last round':<{width}} {'mean':>12}   95 % interval (Student)")
    least, largest = match.game.ranges[0]
    for name in finals:
        if name in intervals:
            found = intervals[name]
            low, high = result.classes[name].within_bounds(found.low, found.high, largest - least)
            ends = "none: one seed" if found.n == 1 else f"{_decimal(low)} .. {_decimal(high)}"
            print(f"{name:<{width}} {_decimal(found.mean):>12}   {ends}")
        else:
            print(f"{name:<{width}} {'infinite':>12}   an action outside the equilibrium is played")
    print()
    say(_reading(match, _intervals({_READING: regret})[_READING]))


def _intervals(finals: dict[str, Floats]) -> dict[str, Estimate]:
    """The interval of the mean of every metric that is finite in all runs."""
    import numpy as np

    from coebl.evidence.statistics import mean_interval

    return {name: mean_interval(values) for name, values in finals.items() if np.isfinite(values).all()}


def _decimal(number: float) -> str:
    """Four decimals if they are significant.

    >>> _decimal(12.5), _decimal(0.0), _decimal(1.25e-7), _decimal(3e40)
    ('12.5000', '0.0000', '1.25e-07', '3e+40')
    """
    plain = number == 0 or 1e-3 <= abs(number) < 1e9
    return f"{number:.4f}" if plain else f"{number:.4g}"


def _reading(match: Match, regret: Estimate) -> str:
    """What the regret says, in a sentence."""
    low, high = _matrix(match).payoff_range
    if abs(regret.mean / match.rounds) <= 1e-9 * (high - low):  # rounding
        return "Neither player wins more than the value of the game gives it."
    if regret.n == 1:
        return "One run says nothing about the noise; use more --seeds."
    seat, learner, sign = ("column", match.column, 1) if regret.mean > 0 else ("row", match.row, -1)
    mean, *ends = (sign * total / match.rounds for total in (regret.mean, regret.low, regret.high))
    interval = f"{min(ends):.2g} .. {max(ends):.2g}"
    if min(ends) <= 0:
        return f"No significant difference: the {seat} player wins {mean:.2g} a round more, 95 % interval {interval}."
    if regret.n < _FEWEST_SEEDS:
        return (
            f"{regret.n} seeds are too few to decide who wins; use {_FEWEST_SEEDS} or more --seeds. In these runs the "
            f"{seat} player, {learner}, wins {mean:.2g} a round more, 95 % interval {interval}."
        )
    return (
        f"The {seat} player, {learner}, wins {mean:.2g} a round more than the value of the game gives it, "
        f"95 % interval {interval}."
    )
