"""Commands that look at what there is: list, show, check."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.cli.app import app
from coebl.cli.screen import say
from coebl.core.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from coebl.core.registry import Entry, Registry
    from coebl.learners import Learner
    from coebl.metrics import Metric


@app.command("list")
def list_command(
    what: Annotated[
        str | None, typer.Argument(metavar="[WHAT]", help="games, learners, metrics, noises, mutations, ...")
    ] = None,
) -> None:
    """List the games, learners, metrics, noises, or the operators of evolution.

    Those are the mutations, recombinations, selections and populations, which COEBL takes as parameters. Without WHAT,
    the names of all of them.

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
        say("For what they are: coebl list games, and so on; for a game, a learner or a metric: coebl show NAME.")
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
    """Each entry with its title, and what else there is to say below it."""
    listed = list(entries)
    width = max(len(entry.name) for entry in listed)
    for entry in listed:
        first = [entry.title] if entry.title != entry.name else []
        for number, line in enumerate([*first, *lines(entry)]):
            print(f"  {entry.name if number == 0 else '':<{width}}  {line}")


def _lines(entry: Entry[Any]) -> Iterator[str]:
    yield entry.summary
    yield from _usage_lines(entry)


def _usage_lines(entry: Entry[Any]) -> Iterator[str]:
    if entry.parameters:
        yield entry.usage
    if entry.example != entry.name:
        yield f"for example {entry.example}"


def _metric_lines(entry: Entry[Any]) -> Iterator[str]:
    metric: type[Metric] = entry.factory  # type: ignore[assignment]
    if metric.meaning:
        yield metric.meaning
    yield f"{metric.definition}; {metric.better} is better"
    if metric.signed:
        yield "the row player's: below 0 the row player is ahead, above 0 the column player"


def _print_learners(entries: Iterable[Entry[Any]]) -> None:
    """The learners by how much they see, from the least to the most."""
    from coebl.learners import KINDS, REFERENCES

    listed = list(entries)
    for kind, meaning in KINDS.items():
        chosen = [entry for entry in listed if _learner_class(entry).kind() == kind]
        if chosen:
            reference = ", for reference" if kind in REFERENCES else ""
            print(f"{kind}{reference}: {meaning}\n")
            _print_entries(chosen, _learner_lines)
            print()


def _learner_lines(entry: Entry[Any]) -> Iterator[str]:
    learner = _learner_class(entry)
    yield entry.summary
    if learner.needs_horizon:
        yield "needs the number of rounds in advance"
    if learner.cites:
        yield learner.cites
    yield from _usage_lines(entry)


def _learner_class(entry: Entry[Any]) -> type[Learner]:
    learner: Any = entry.factory
    found: type[Learner] = learner
    return found


@app.command("show")
def show_command(
    subject: Annotated[
        str, typer.Argument(metavar="GAME|LEARNER|METRIC", help="A spec, a game's file, or file.py:Name.")
    ],
) -> None:
    """Print a game, a learner or a metric.

    A game with its payoffs, source and value; a learner with what it does, what it sees, and its parameters; a metric
    with its definition.

    \b
    Examples:
      coebl show rps
      coebl show blotto:coins=4,fields=3
      coebl show my-game.csv
      coebl show coebl
      coebl show tv
    """
    shows = {"learner": _show_learner, "game": _show_game, "metric": _show_metric}
    shows[_kind_of(subject)](subject)


def _show_game(text: str) -> None:
    from coebl.cli.play import tidy_value
    from coebl.core.specs import split_spec
    from coebl.games import GAMES, parse_game

    game = parse_game(text)
    low, high = game.payoff_range
    print(game)
    print(f"\nvalue {tidy_value(game)}; payoffs in {low:g} .. {high:g}")
    if game.spec:
        entry = GAMES[split_spec(game.spec).name]
        description = inspect.getdoc(entry.factory) or ""
        print(f"\n{entry.title}\n\n{description}".rstrip())


def _show_learner(spec: str) -> None:
    from coebl.core.specs import split_spec
    from coebl.learners import KINDS, LEARNERS, parse_learner

    parts = split_spec(spec)
    entry = LEARNERS[parts.name]
    learner = _learner_class(entry)
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
    print()
    for line in _metric_lines(entry):
        print(line)


@app.command("check")
def check_command(
    subject: Annotated[
        str, typer.Argument(metavar="LEARNER|GAME|METRIC", help="A spec, a game's file, or file.py:Name.")
    ],
) -> None:
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
    """Whether a text names a learner, a game or a metric; in a user's own file, functions are games."""
    from coebl.core.modules import load_file
    from coebl.core.specs import split_spec
    from coebl.games import GAMES
    from coebl.games.registry import is_path
    from coebl.learners import LEARNERS
    from coebl.metrics import METRICS, Metric

    parts = split_spec(subject)
    if parts.file:
        found = getattr(load_file(parts.file), parts.attribute, None)
        if isinstance(found, type) and issubclass(found, Metric):
            return METRICS.kind
        return GAMES.kind if inspect.isfunction(found) else LEARNERS.kind
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
