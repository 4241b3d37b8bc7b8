"""The command line. Each command imports what it needs when it runs, so that help is quick."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.errors import CoeblError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coebl.games import Game
    from coebl.specs import Entry

app = typer.Typer(
    help="Learn to play unknown two-player zero-sum matrix games from noisy payoffs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

GameArgument = Annotated[
    str, typer.Argument(metavar="GAME", help="A game's spec, or a .csv, .npy, .json or .nfg file.")
]

_MOST_ACTIONS = 24  # how many actions of a strategy are printed


def main() -> None:
    """Run a command; a mistake in its input is one line and exit code 2."""
    try:
        app()
    except CoeblError as error:
        print(f"coebl: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader, head for one, has had enough
        sys.stderr.close()
        sys.exit(141)


@app.command("solve")
def solve_command(
    game: GameArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print the value of a game and an optimal strategy of each player.

    Examples: coebl solve kuhn-poker; coebl solve diagonal:4 --json; coebl solve my-game.csv
    """
    loaded = load_game(game)
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
    print(f"value to the row player  {_tidy(loaded)}")
    print(f"certified to             {max(solution.gap, 0.0):.1e} of the payoff range")
    print(f"only equilibrium         {loaded.unique_equilibrium}")
    for player, labels, strategy in (
        ("row", loaded.row_labels, solution.row),
        ("column", loaded.column_labels, solution.column),
    ):
        print(f"\n{player} player's strategy")
        _print_strategy(labels, strategy.tolist())


def _tidy(game: Game) -> str:
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


@app.command("list")
def list_command(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="games or noises.")] = "games",
) -> None:
    """List what can be named in a spec: games or noises.

    Examples: coebl list games; coebl list noises
    """
    from coebl.games import GAMES, NOISES

    registries: dict[str, Iterable[Entry[Any]]] = {"games": GAMES, "noises": NOISES}
    if what not in registries:
        raise InputError(f"WHAT is {what!r}; accepted: {' or '.join(registries)}.")
    entries = list(registries[what])
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        print(f"{entry.name:<{width}}  {entry.summary}")
        if entry.parameters:
            print(f"{'':<{width}}  {entry.usage}")


@app.command("show")
def show_command(game: GameArgument) -> None:
    """Print a game: its payoffs, where it comes from, its value.

    Examples: coebl show rps; coebl show blotto:coins=4,fields=3; coebl show my-game.csv
    """
    import inspect

    from coebl.games import GAMES

    loaded = load_game(game)
    print(loaded)
    print(f"\nvalue {_tidy(loaded)}; payoffs in {loaded.payoff_range[0]:g} .. {loaded.payoff_range[1]:g}")
    name = (loaded.spec or "").partition(":")[0]
    if name in GAMES:
        print(f"\n{inspect.getdoc(GAMES[name].factory)}")


def load_game(text: str) -> Game:
    """A game from a spec, or from a file if the text looks like one."""
    from coebl.games import SUFFIXES, parse_game, read_game

    path = Path(text)
    if path.suffix.lower() in SUFFIXES or path.exists():
        return read_game(path)
    return parse_game(text)


if __name__ == "__main__":
    main()
