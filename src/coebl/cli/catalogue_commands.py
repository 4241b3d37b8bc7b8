"""The commands list, show, check and solve: what there is, whether custom parts meet their contract, and equilibria."""

from __future__ import annotations

import inspect
import itertools
import json
import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.cli import options as opt
from coebl.cli.terminal import print_table, say, tidy_value
from coebl.core.errors import InputError, nearest, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coebl.core.registry import Entry, Registry
    from coebl.games import Game, GenomeGame, TensorGame
    from coebl.metrics import Metric

Subject = Annotated[
    str, typer.Argument(metavar="GAME|LEARNER|METRIC", help="A spec, the file of a game, or file.py:Name.")
]

_MOST_ACTIONS = 24  # of a strategy that are printed


@opt.app.command("list")
def list_command(
    what: Annotated[str | None, typer.Argument(metavar="WHAT", help="games, learners, metrics, mutations, ...")] = None,
) -> None:
    """List games, learners, metrics, noises or operators.

    The evolutionary operators are mutations, recombinations, selections and populations, which are parameters of
    COEBL. Without WHAT, print all names.

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
    entries: list[Any] = list(registries[what])
    for reason in registries[what].broken.values():
        print(f"coebl: {printable(reason)}", file=sys.stderr)
    showable = what in ("games", "learners", "metrics")
    if what != "learners":
        _print_entries(entries, showable)
    else:
        _print_kinds(entries)
    if showable:
        print()
        say(f"For all about one of them: coebl show {entries[0].name}")


def _print_kinds(entries: Sequence[Any]) -> None:
    """Print learners by what they see, from those that see least to those that see most."""
    from coebl.learners import KINDS, REFERENCES

    for place, (kind, meaning) in enumerate(KINDS.items()):
        if chosen := [entry for entry in entries if entry.factory.kind() == kind]:
            print("\n" * (place > 0), end="")
            say(f"{kind}{', for reference' * (kind in REFERENCES)}: {meaning}")
            _print_entries(chosen, showable=True)


def _registries() -> dict[str, Registry[Any]]:
    from coebl.games import GAMES, NOISES
    from coebl.learners import LEARNERS
    from coebl.metrics import METRICS

    registries: tuple[Registry[Any], ...] = (GAMES, LEARNERS, METRICS, NOISES, *_operators())
    return {registry.plural: registry for registry in registries}


def _print_entries(entries: Iterable[Entry[Any]], showable: bool) -> None:
    print_table(["", ""], [(f"  {entry.name}", _summary(entry, showable)) for entry in entries], wrap=[""])


def _summary(entry: Entry[Any], showable: bool) -> str:
    """A sentence about an entry; with its parameters, if it cannot be shown or has no defaults for them."""
    meaning = getattr(entry.factory, "meaning", "") if isinstance(entry.factory, type) else ""
    usage = entry.usage if entry.parameters and not showable else entry.example
    return (meaning or entry.summary) + f" ({usage})" * (usage != entry.name)


def _metric_lines(metric: type[Metric]) -> Iterator[str]:
    if metric.meaning:
        yield metric.meaning
    yield f"{metric.definition}; {metric.better} is better"
    if metric.signed:
        yield "from the row player's side: below 0 the row player is ahead, above 0 the column player"


@opt.app.command("show")
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
    from coebl.core.registry import Entry
    from coebl.core.specs import split_spec
    from coebl.games import GAMES, TensorGame, parse_game
    from coebl.learners import LEARNERS, parse_learner
    from coebl.metrics import metric_class

    kind, parts = _kind_of(subject), split_spec(subject)
    if kind == GAMES.kind:
        game = parse_game(subject)
        print(f"{game}\n")
        if isinstance(game, TensorGame):
            for seat, (low, high) in zip(game.seats, game.ranges, strict=True):
                print(f"{printable(seat)}: payoffs in {low:g} .. {high:g}, security {game.security(seat).value:.10g}")
        else:
            low, high = game.payoff_range
            value = "not known" if "value" in getattr(game, "unknown", ()) else tidy_value(game)
            print(f"value {value}; payoffs in {low:g} .. {high:g}")
        if game.spec:
            _print_description(GAMES[split_spec(game.spec).name])
    elif kind == LEARNERS.kind:
        entry = LEARNERS[parts.name]
        print(parse_learner(subject) if parts.parameters else entry.name)
        _print_description(entry)
        _print_learner(entry)
    else:
        metric = metric_class(subject)
        print(metric.name)
        _print_description(Entry(metric.name, metric))
        for line in _metric_lines(metric):
            say(line)


def _print_description(entry: Entry[Any]) -> None:
    """Print the title and the docstring, wrapped to the terminal; pseudo-code and examples keep their lines."""
    print(f"\n{entry.title}\n")
    for paragraph in (inspect.getdoc(entry.factory) or "").split("\n\n"):
        if paragraph.startswith("Args:"):
            paragraph = re.sub(r"\n {8,}", " ", paragraph)  # each parameter is one line
        if re.search(r"^(?: |>>> )", paragraph, re.MULTILINE):
            for line in paragraph.splitlines():
                say(line, hang=4)
        else:
            say(" ".join(paragraph.splitlines()))
        print()


def _print_learner(entry: Entry[Any]) -> None:
    from coebl.learners import KINDS
    from coebl.learners.base import AIMS

    learner: Any = entry.factory
    say(f"usage: {entry.usage}", hang=4)
    for parameter in entry.parameters:
        say(f"  {parameter.name}: {parameter.accepts}", hang=4)
    if entry.example != entry.name:
        print(f"  for example {entry.example}")
    kind = learner.kind()
    say(f"{kind}: {KINDS[kind]}; {'needs' if learner.needs_horizon else 'does not need'} the horizon")
    if kind != "search":
        say(f"in a game that is not zero-sum it aims {AIMS[learner.aim]}")
    if learner.cites:
        say(learner.cites)


@opt.app.command("check")
def check_command(subject: Subject) -> None:
    """Check a learner, game or metric against its contract.

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
    """The kind that a spec names: learner, game or metric. Functions in a custom file are games."""
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
        for operators in _operators():
            if isinstance(member, type) and issubclass(member, operators.base or ()):
                raise _in_coebl(parts.name, operators)
        return GAMES.kind if inspect.isfunction(member) else LEARNERS.kind
    for registry in (LEARNERS, GAMES, METRICS):
        if parts.name in registry:
            return registry.kind
    if is_path(subject):
        return GAMES.kind
    for operators in _operators():
        if parts.name in operators:
            raise _in_coebl(parts.name, operators)
    hint = nearest(parts.name, [*GAMES.names, *LEARNERS.names, *METRICS.names])
    raise InputError(
        f"unknown game, learner or metric {parts.name!r}{hint} See: coebl list games, coebl list learners, "
        "coebl list metrics"
    )


def _operators() -> tuple[Registry[Any], ...]:
    from coebl.learners.evolution import MUTATIONS, POPULATIONS, RECOMBINATIONS, SELECTIONS

    return MUTATIONS, RECOMBINATIONS, SELECTIONS, POPULATIONS


def _in_coebl(name: str, operators: Registry[Any]) -> InputError:
    """The error for an operator, which is nothing by itself."""
    return InputError(
        f"{name} is a {operators.kind}; accepted: a game, a learner or a metric. Name a learner that has it: "
        f"coebl:{operators.kind}={name}. See: coebl list {operators.plural}"
    )


# The equilibria of a game


@opt.app.command("solve")
def solve_command(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A spec; a .csv, .npy, .json or .nfg file; or file.py:function.")
    ],
    as_json: opt.AsJson = False,
) -> None:
    """Print the value of a game and both optimal strategies, or the equilibria of one that is not zero-sum.

    \b
    Examples:
      coebl solve kuhn-poker
      coebl solve diagonal:4 --json
      coebl solve chicken
      coebl solve my-game.csv
    """
    from coebl.games import Game, GenomeGame, TensorGame, parse_game
    from coebl.kernels.cache import announce_compilation

    loaded = parse_game(game)
    with announce_compilation():
        if isinstance(loaded, GenomeGame):
            _print_value(loaded, as_json)
            return
        if isinstance(loaded, TensorGame):
            _print_equilibria(loaded, as_json)
            return
        assert isinstance(loaded, Game)
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
        _print_strategy(labels, strategy.tolist())


def _print_value(game: GenomeGame, as_json: bool) -> None:
    """Print the value of a game of genomes; its equilibria have 2^n entries, and are not printed."""
    name = game.spec or game.name
    if as_json:
        print(json.dumps({"name": name, "value": game.value, "genes": game.n}))
        return
    print(f"{printable(name)}: two genomes of {game.n} genes")
    print(f"value to the row player  {tidy_value(game)}")


def _print_equilibria(game: TensorGame, as_json: bool) -> None:
    """Print the Nash equilibria of two players, and the correlated equilibrium that pays most in all."""
    best = game.correlated()
    found = game.equilibria() if len(game.shape) == 2 else []
    if as_json:
        nash = [{"strategies": [x.tolist() for x in p.strategies], "payoffs": p.payoffs} for p in found]
        correlated = {"joint": best.joint.tolist(), "payoffs": best.payoffs}
        print(json.dumps({"name": game.spec or game.name, "equilibria": nash, "correlated": correlated}))
        return
    print(f"{printable(game.spec or game.name)}: {' x '.join(map(str, game.shape))}")
    for number, profile in enumerate(found, 1):
        print(f"\nequilibrium {number}, certified to {profile.regret:.1e} of the payoff range")
        for seat, labels, strategy, payoff in zip(
            game.seats, game.labels, profile.strategies, profile.payoffs, strict=True
        ):
            print(f"{printable(seat)} earns {payoff:.6g}")
            _print_strategy(labels, strategy.tolist())
    earned = ", ".join(f"{payoff:.6g}" for payoff in best.payoffs)
    print(f"\nthe correlated equilibrium that pays most in all, certified to {max(best.regret, best.gap):.1e}")
    print(f"the players earn {earned}")
    names = [
        " ".join(own[a] for own, a in zip(game.labels, at, strict=True))
        for at in itertools.product(*map(range, game.shape))
    ]
    _print_strategy(names, [chance if chance > 1e-9 else 0.0 for chance in best.joint.ravel().tolist()])


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
        "gap": max(solution.gap, 0.0),  # below zero only by rounding
        "status": solution.status,
        "pivots": solution.pivots,
    }


def _print_strategy(labels: Sequence[str], strategy: Sequence[float]) -> None:
    """Print the actions that are played, and count the others."""
    played = [(label, chance) for label, chance in zip(labels, strategy, strict=True) if chance > 0]
    shown = played[:_MOST_ACTIONS]
    print_table(
        ["", "", ""], [(f"  {label}", f"{chance:.6f}", "#" * round(40 * chance)) for label, chance in shown], wrap=[""]
    )
    if len(played) > len(shown):
        print(f"  and {len(played) - len(shown)} more actions: see --json")
    if len(played) < len(labels):
        print(f"  {len(labels) - len(played)} of {len(labels)} actions are not played")
