"""The command line. Each command imports what it needs when it runs, so that help is quick."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.errors import CoeblError, InputError, check_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor

    from coebl.engine import Match
    from coebl.games import Game
    from coebl.specs import Entry
    from coebl.statistics import Interval

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
        code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except CoeblError as error:
        print(f"coebl: {error}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        print("coebl: stopped", file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        usage = getattr(error, "format_message", None)  # only mistakes in the command's words have it
        if usage is None:
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(usage())
            sys.exit(2)
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "coebl"
        print(f"coebl: {' '.join(usage().split())} See: {path} --help", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader, head for one, has had enough
        sys.stderr.close()
        sys.exit(141)


def _print_version(wanted: bool) -> None:
    if wanted:
        from coebl import __version__

        print(f"coebl {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Learn to play unknown two-player zero-sum matrix games from noisy payoffs.

    Examples: coebl solve kuhn-poker; coebl match --game rps --row ucb --column coebl:c=2; coebl list learners
    """


@app.command("solve")
def solve_command(
    game: GameArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print the value of a game and an optimal strategy of each player.

    Examples: coebl solve kuhn-poker; coebl solve diagonal:4 --json; coebl solve my-game.csv
    """
    loaded = _load_game(game)
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


@app.command("match")
def match_command(
    game: Annotated[str, typer.Option(help="A game's spec, or a file.")],
    row: Annotated[str, typer.Option(help="The row player's learner.")],
    column: Annotated[str, typer.Option(help="The column player's learner.")],
    rounds: Annotated[int, typer.Option(help="Rounds per run.")] = 3000,
    seeds: Annotated[int, typer.Option(help="How many runs.")] = 50,
    first_seed: Annotated[int, typer.Option(help="The first run's seed; the others follow.")] = 0,
    noise: Annotated[str | None, typer.Option(help="A noise's spec; by default the game's own.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Play two learners against each other and print how it ended.

    Examples: coebl match --game diagonal:3 --row ucb --column coebl:c=2;
    coebl match --game my-game.csv --row exp3 --column best-response --rounds 500 --seeds 20 --noise laplace
    """
    from coebl.engine import Match, simulate
    from coebl.statistics import mean_interval

    match = Match.of(_load_game(game), row, column, rounds, noise)
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
    print(f"value of the game {_tidy(match.game)}\n")
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


@app.command("check")
def check_command(
    subject: Annotated[
        str, typer.Argument(metavar="LEARNER|GAME", help="A learner's or game's spec, or file.py:Class.")
    ],
) -> None:
    """Hold a learner or a game to its contract, point by point.

    Examples: coebl check ucb; coebl check path/to/mine.py:Mine; coebl check diagonal:4
    """
    from coebl.games import GAMES, SUFFIXES
    from coebl.testing import check_game, check_learner

    is_game = subject.partition(":")[0] in GAMES or Path(subject).suffix.lower() in SUFFIXES
    report = check_game(_load_game(subject)) if is_game else check_learner(subject)
    print(report)
    if not report.passed:
        raise typer.Exit(1)


@app.command("list")
def list_command(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="games, learners, metrics or noises.")] = "games",
) -> None:
    """List what can be named in a spec: games, learners, metrics or noises.

    Examples: coebl list games; coebl list learners
    """
    from coebl.games import GAMES, NOISES
    from coebl.learners import LEARNERS, SEES
    from coebl.metrics import METRICS

    if what == "metrics":
        for name, metric in METRICS.items():
            print(f"{name:<24}  {metric.definition}")
        return
    registries: dict[str, Iterable[Entry[Any]]] = {"games": GAMES, "learners": LEARNERS, "noises": NOISES}
    if what not in registries:
        raise InputError(f"WHAT is {what!r}; accepted: games, learners, metrics or noises.")
    entries = list(registries[what])
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        print(f"{entry.name:<{width}}  {entry.summary}")
        if what == "learners":
            learner: Any = entry.factory
            horizon = ", needs the horizon" if learner.needs_horizon else ""
            print(f"{'':<{width}}  sees {SEES[learner.sees]}{horizon}")
            if learner.cites:
                print(f"{'':<{width}}  {learner.cites}")
        if entry.parameters:
            print(f"{'':<{width}}  {entry.usage}")


@app.command("show")
def show_command(
    subject: Annotated[str, typer.Argument(metavar="GAME|LEARNER", help="A game's spec or file, or a learner's spec.")],
) -> None:
    """Print a game, with its payoffs, source and value, or what a learner is.

    Examples: coebl show rps; coebl show blotto:coins=4,fields=3; coebl show my-game.csv; coebl show coebl
    """
    import inspect

    from coebl.games import GAMES
    from coebl.learners import LEARNERS, SEES, parse_learner

    name = subject.partition(":")[0]
    if name in LEARNERS or name.endswith(".py"):
        learner = parse_learner(subject) if ":" in subject else None
        entry = LEARNERS.entry_of(learner) if learner else LEARNERS[name]
        kind: Any = entry.factory
        print(f"{learner or entry.name}\n\n{inspect.getdoc(kind)}\n")
        print(f"usage: {entry.usage}")
        for parameter in entry.parameters:
            print(f"  {parameter.name}: {parameter.accepts}")
        print(f"sees {SEES[kind.sees]}; {'needs' if kind.needs_horizon else 'does not need'} the horizon")
        print(kind.cites)
        return
    loaded = _load_game(subject)
    print(loaded)
    print(f"\nvalue {_tidy(loaded)}; payoffs in {loaded.payoff_range[0]:g} .. {loaded.payoff_range[1]:g}")
    name = (loaded.spec or "").partition(":")[0]
    if name in GAMES:
        print(f"\n{inspect.getdoc(GAMES[name].factory)}")


@app.command("run")
def run_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study's TOML file.")],
    out: Annotated[Path, typer.Option(help="The folder of the results; made, or resumed.")],
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes; by default one per core.")] = None,
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask cluster instead.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run, and stop.")] = False,
) -> None:
    """Run a study, or what is left of it; results are kept cell by cell.

    Examples: coebl run study.toml --out results; coebl run study.toml --out results --dask tcp://scheduler:8786
    """
    from coebl.study import read_study, run
    from coebl.study.progress import duration
    from coebl.study.store import Store

    study = read_study(file)
    if dry_run:
        there = {path.stem for path in Store.open(out).paths()} if (out / "study.toml").exists() else set()
        todo = [cell for cell in study.cells if cell.digest() not in there]
        for cell in todo:
            print(cell)
        print(f"{len(todo)} of {len(study.cells)} cells to run")
        return
    try:
        with _dask_executor(dask) as executor:
            outcome = run(study, out, executor=executor, workers=workers)
    except KeyboardInterrupt:
        print(f"\ncoebl: stopped; to go on: coebl run {file} --out {out}", file=sys.stderr)
        sys.exit(130)
    for note in outcome.notes:
        print(note, file=sys.stderr)
    print(f"{outcome.finished} cells run, {outcome.found} found, in {duration(outcome.seconds)}: {out}")
    if outcome.failed:
        for cell in outcome.failed:
            print(f"failed: {cell}", file=sys.stderr)
        print(f"tracebacks are in {out / 'failed'}; run again to retry", file=sys.stderr)
        raise typer.Exit(1)


@contextmanager
def _dask_executor(address: str | None) -> Iterator[Executor | None]:
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--dask needs Dask; run: pip install 'coebl[dask]'") from None
    try:
        client: Any = Client(address, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InputError(f"--dask {address}: no cluster answers there ({error}); check the address.") from None
    with client:
        yield client.get_executor()


study_app = typer.Typer(help="Write or look at a study's file.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(study_app, name="study")


@study_app.command("new")
def study_new_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")] = Path("study.toml"),
) -> None:
    """Write a commented example of a study's file.

    Example: coebl study new my-study.toml
    """
    from coebl.study import EXAMPLE

    if file.exists():
        raise InputError(f"{file} exists; name another file.")
    try:
        file.write_text(EXAMPLE)
    except OSError as error:
        raise InputError(f"{file} cannot be written ({error.strerror}); name another place.") from None
    print(f"wrote {file}; next: coebl study show {file}, then coebl run {file} --out results")


@study_app.command("show")
def study_show_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study's TOML file.")],
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes to estimate for.")] = None,
) -> None:
    """Print a study's cells, the time it will take, by a quick calibration, and the disk it will use.

    Example: coebl study show my-study.toml
    """
    from coebl.study import read_study
    from coebl.study.progress import duration
    from coebl.study.run import disk_use, estimate, rounds_of, warm_up

    study = read_study(file)
    for cell in study.cells:
        print(cell)
    rounds = sum(map(rounds_of, study.cells))
    warm_up()
    print(f"{len(study.cells)} cells, {rounds:,} rounds in all")
    print(f"about {duration(estimate(study, workers))} on this machine, about {disk_use(study) / 1e6:,.1f} MB on disk")


@app.command("results")
def results_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A study's folder.")],
    metric: Annotated[list[str] | None, typer.Option(help="Only this metric; may be given more than once.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """Print the means after the last round of a study's matches, with 95 % intervals.

    Examples: coebl results results; coebl results results --metric pseudo_regret --csv
    """
    import csv

    from coebl.study import Results

    results = Results(folder)
    rows: list[dict[str, Any]] = [dict(row) for row in results.summary(metrics=metric)]
    columns = ["game", "noise", "row", "column", "round", "metric", "mean", "low", "high", "sd", "n"]
    if as_csv:
        writer = csv.DictWriter(sys.stdout, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
        return
    shown = ["game", "row", "column", "round", "metric", "n"]
    if len({row["noise"] for row in rows}) > 1:
        shown.insert(1, "noise")
    widths = {name: max([len(name), *(len(str(row[name])) for row in rows)]) for name in shown}
    header = "  ".join(f"{name:<{width}}" for name, width in widths.items())
    print(f"{header}  {'mean':>12}  95 % interval (Student)")
    for row in rows:
        cells = "  ".join(f"{row[name]!s:<{width}}" for name, width in widths.items())
        print(f"{cells}  {row['mean']:>12.4f}  {row['low']:.4f} .. {row['high']:.4f}")
    failures = len(results.store.failures())
    print(
        f"from {len(results.cells())} finished cells"
        + (f"; {failures} failed, see {folder}/failed" if failures else "")
    )


def _load_game(text: str) -> Game:
    from coebl.games import load_game

    return load_game(text)


if __name__ == "__main__":
    main()
