"""The commands list, show and check: what the package contains, and whether custom parts meet their contract."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from coebl.cli.options import app
from coebl.cli.terminal import print_table, say
from coebl.core.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from coebl.core.registry import Entry, Registry
    from coebl.learners import Learner
    from coebl.metrics import Metric

Subject = Annotated[
    str, typer.Argument(metavar="GAME|LEARNER|METRIC", help="A spec, the file of a game, or file.py:Name.")
]


@app.command("list")
def list_command(
    what: Annotated[
        str | None, typer.Argument(metavar="[WHAT]", help="games, learners, metrics, noises, mutations, ...")
    ] = None,
) -> None:
    """List the games, learners, metrics, noises, or evolutionary operators.

    The operators are mutations, recombinations, selections and populations, which are parameters of COEBL. Without
    WHAT, print all names.

    \b
    Examples:
      coebl list
      coebl list games
      coebl list learners
      coebl list recombinations
    """
    registries = _registries()
    if what is None:
        for plural, registry in registries.items():
            say(f"{plural}: {', '.join(registry.names)}", hang=2)
        say("For descriptions: coebl list games, and so on; for one game, learner or metric: coebl show NAME.")
        return
    if what not in registries:
        raise InputError(f"WHAT is {what!r}; accepted: {', '.join(registries)}.")
    if what == "learners":
        _print_learners(registries[what])
    else:
        _print_entries(registries[what], _metric_lines if what == "metrics" else _lines)


def _registries() -> dict[str, Registry[Any]]:
    from coebl.games import GAMES, NOISES
    from coebl.learners import LEARNERS
    from coebl.learners.evolution import MUTATIONS, POPULATIONS, RECOMBINATIONS, SELECTIONS
    from coebl.metrics import METRICS

    operators = MUTATIONS, RECOMBINATIONS, SELECTIONS, POPULATIONS
    return {registry.plural: registry for registry in (GAMES, LEARNERS, METRICS, NOISES, *operators)}


def _print_entries(entries: Iterable[Entry[Any]], lines: Callable[[Entry[Any]], Iterable[str]]) -> None:
    """Print each entry with its title and further lines."""
    rows = []
    for entry in entries:
        title = [entry.title] if entry.title != entry.name else []
        name = f"  {entry.name}"
        for line in [*title, *lines(entry)]:
            rows.append((name, line))
            name = ""
    print_table(["", ""], rows, wrap=[""])


def _lines(entry: Entry[Any]) -> Iterator[str]:
    yield entry.summary
    yield from _usage_lines(entry)


def _usage_lines(entry: Entry[Any]) -> Iterator[str]:
    if entry.parameters:
        yield entry.usage
    if entry.example != entry.name:
        yield f"for example {entry.example}"


def _metric_lines(entry: Entry[Any]) -> Iterator[str]:
    metric = cast("type[Metric]", entry.factory)
    if metric.meaning:
        yield metric.meaning
    yield f"{metric.definition}; {metric.better} is better"
    if metric.signed:
        yield "from the row player's side: below 0 the row player is ahead, above 0 the column player"


def _learner_lines(entry: Entry[Any]) -> Iterator[str]:
    learner = cast("type[Learner]", entry.factory)
    yield entry.summary
    if learner.needs_horizon:
        yield "needs the number of rounds in advance"
    if learner.cites:
        yield learner.cites
    yield from _usage_lines(entry)


def _print_learners(entries: Iterable[Entry[Any]]) -> None:
    """Print the learners by how much they see, from the least to the most."""
    from coebl.learners import KINDS, REFERENCES

    listed = list(entries)
    for kind, meaning in KINDS.items():
        chosen = [entry for entry in listed if cast("type[Learner]", entry.factory).kind() == kind]
        if chosen:
            print(f"{kind}{', for reference' * (kind in REFERENCES)}: {meaning}\n")
            _print_entries(chosen, _learner_lines)
            print()


@app.command("show")
def show_command(subject: Subject) -> None:
    """Print the description of a game, a learner or a metric.

    For a game: its payoffs, source and value. For a learner: how it works, what it sees, and its parameters. For a
    metric: its definition.

    \b
    Examples:
      coebl show rps
      coebl show blotto:coins=4,fields=3
      coebl show my-game.csv
      coebl show coebl
      coebl show tv
    """
    {"learner": _show_learner, "game": _show_game, "metric": _show_metric}[_kind_of(subject)](subject)


def _show_game(spec: str) -> None:
    from coebl.cli.match_commands import tidy_value
    from coebl.core.specs import split_spec
    from coebl.games import GAMES, parse_game

    game = parse_game(spec)
    low, high = game.payoff_range
    print(game)
    print(f"\nvalue {tidy_value(game)}; payoffs in {low:g} .. {high:g}")
    if game.spec:
        entry = GAMES[split_spec(game.spec).name]
        print(f"\n{entry.title}\n\n{inspect.getdoc(entry.factory) or ''}".rstrip())


def _show_learner(spec: str) -> None:
    from coebl.core.specs import split_spec
    from coebl.learners import KINDS, LEARNERS, parse_learner

    parts = split_spec(spec)
    entry = LEARNERS[parts.name]
    learner = cast("type[Learner]", entry.factory)
    kind = learner.kind()
    print(parse_learner(spec) if parts.parameters else entry.name)
    print(f"\n{entry.title}\n\n{inspect.getdoc(learner) or ''}".rstrip())
    print(f"\nusage: {entry.usage}")
    for parameter in entry.parameters:
        print(f"  {parameter.name}: {parameter.accepts}")
    if entry.example != entry.name:
        print(f"  for example {entry.example}")
    print(f"{kind}: {KINDS[kind]}; {'needs' if learner.needs_horizon else 'does not need'} the horizon")
    if learner.cites:
        print(learner.cites)


def _show_metric(name: str) -> None:
    from coebl.metrics import METRICS

    entry = METRICS[name]
    print(f"{entry.name}\n\n{entry.title}\n\n{inspect.getdoc(entry.factory) or ''}".rstrip())
    print("", *_metric_lines(entry), sep="\n")


@app.command("check")
def check_command(subject: Subject) -> None:
    """Check a learner, a game or a metric against its contract, point by point.

    \b
    Examples:
      coebl check ucb
      coebl check path/to/mine.py:Mine
      coebl check diagonal:4
      coebl check regret
    """
    from coebl.games import parse_game
    from coebl.metrics import metric_class
    from coebl.testing import check_game, check_learner, check_metric

    kind = _kind_of(subject)
    if kind == "metric":
        report = check_metric(metric_class(subject))
    else:
        report = check_learner(subject) if kind == "learner" else check_game(parse_game(subject))
    print(report)
    if not report.passed:
        raise typer.Exit(1)


def _kind_of(subject: str) -> str:
    """The kind of thing that a spec names: learner, game or metric. Functions in a custom file are games."""
    from coebl.core.modules import load_file
    from coebl.core.specs import split_spec
    from coebl.games import GAMES
    from coebl.games.registry import is_path
    from coebl.learners import LEARNERS
    from coebl.metrics import METRICS, Metric

    parts = split_spec(subject)
    if parts.file:
        member = getattr(load_file(parts.file), parts.attribute, None)
        if isinstance(member, type) and issubclass(member, Metric):
            return METRICS.kind
        return GAMES.kind if inspect.isfunction(member) else LEARNERS.kind
    for registry in (LEARNERS, GAMES, METRICS):
        if parts.name in registry:
            return registry.kind
    if is_path(subject):
        return GAMES.kind
    hint = nearest(parts.name, [*GAMES.names, *LEARNERS.names, *METRICS.names])
    raise InputError(
        f"unknown game, learner or metric {parts.name!r}{hint} See: coebl list games, coebl list learners, "
        "coebl list metrics"
    )
