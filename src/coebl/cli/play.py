"""Commands that compute: solve a game, play a match."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.cli.app import app
from coebl.core.errors import check_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coebl.engine import Match
    from coebl.games import Game
    from coebl.statistics import Interval

GameArgument = Annotated[
    str, typer.Argument(metavar="GAME", help="A game's spec; a .csv, .npy, .json or .nfg file; or file.py:function.")
]

_MOST_ACTIONS = 24  # how many actions of a strategy are printed


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
    solution = loaded.solution
    if as_json:
        print(
            json.dumps(
                {
                    "value": solution.value,
                    "row": solution.row.tolist(),
                    "column": solution.column.tolist(),
                    "gap": solution.gap,
                    "status": solution.status,
                    "pivots": solution.pivots,
                }
            )
        )
        return
    m, n = loaded.shape
    print(f"{loaded.spec or loaded.name}: {m} x {n}")
    print(f"value to the row player  {tidy_value(loaded)}")
    print(f"certified to             {max(solution.gap, 0.0):.1e} of the payoff range")
    print(f"only equilibrium         {loaded.unique_equilibrium}")
    for player, labels, strategy in (
        ("row", loaded.row_labels, solution.row),
        ("column", loaded.column_labels, solution.column),
    ):
        print(f"\n{player} player's strategy")
        _print_strategy(labels, strategy.tolist())


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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Play two learners against each other and print how it ended.

    \b
    Examples:
      coebl match --game diagonal:3 --row ucb --column coebl:c=2
      coebl match --game my-game.csv --row exp3 --column best-response --rounds 500 --seeds 20 --noise laplace
    """
    from coebl.engine import Match, simulate
    from coebl.statistics import mean_interval

    match = Match.of(game, row, column, rounds, noise)
    check_whole("--seeds", seeds, 1)
    check_whole("--first-seed", first_seed, 0)
    with _progress_bar(match.rounds, str(match)) as advance:
        result = simulate(
            match, range(first_seed, first_seed + seeds), record="last", metrics=["all"], progress=advance
        )
    finals = {name: result.final(name) for name in result.metrics}
    intervals = {name: mean_interval(values) for name, values in finals.items() if _finite(values)}
    if as_json:
        summary = {
            name: {key: _number(getattr(intervals.get(name), key, None)) for key in ("mean", "low", "high", "sd")}
            for name in finals
        }
        names = {"game": match.game.spec or match.game.name, "row": str(match.row), "column": str(match.column)}
        more = {"noise": str(match.game.noise), "first_seed": first_seed, "value": match.game.value}
        print(json.dumps({**names, "rounds": rounds, "seeds": seeds, **more, "metrics": summary}, allow_nan=False))
        return
    print(f"{match}, {seeds} seeds, noise {match.game.noise}")
    print(f"value of the game {tidy_value(match.game)}\n")
    print(f"{'after the last round':<24} {'mean':>12}   95 % interval (Student)")
    for name in finals:
        if name in intervals:
            interval = intervals[name]
            print(f"{name:<24} {interval.mean:>12.4f}   {interval.low:.4f} .. {interval.high:.4f}")
        else:
            print(f"{name:<24} {'infinite':>12}   an action outside the equilibrium is played")
    print(f"\n{_reading(match, intervals['pseudo_regret'])}")


def _finite(values: Any) -> bool:
    """Whether all are finite."""
    import numpy as np

    return bool(np.isfinite(values).all())


def _number(value: float | None) -> float | None:
    """For JSON, which has no infinity and no NaN."""
    return value if value is not None and abs(value) < float("inf") else None


def _reading(match: Match, regret: Interval) -> str:
    """What the regret says, in a sentence."""
    per_round = regret.mean / match.rounds
    low, high = match.game.payoff_range
    rounding = 1e-9 * (high - low)
    if abs(per_round) <= rounding:
        return "Neither player wins more than the value of the game gives it."
    if regret.n == 1:
        return "One run tells nothing of the noise; use more --seeds."
    if not (regret.low > 0 or regret.high < 0):
        return f"Neither player is ahead: the difference, {abs(per_round):.2g} a round, is within the noise."
    seat, learner = ("column", match.column) if per_round > 0 else ("row", match.row)
    return f"The {seat} player, {learner}, wins {abs(per_round):.2g} a round more than the value of the game gives it."


@contextmanager
def _progress_bar(total: int, label: str) -> Iterator[Callable[[int], None] | None]:
    """A bar with the time left, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.update(task, completed=done)
