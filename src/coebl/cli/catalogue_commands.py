"""The commands list, show, check and solve: the catalogue, the contracts of custom parts, and equilibria."""

from __future__ import annotations

import inspect
import itertools
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.cli import options as opt
from coebl.cli.terminal import note, print_json, print_table, say, tidy_value
from coebl.core.errors import InputError, nearest, printable
from coebl.core.modules import load_file
from coebl.core.specs import split_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coebl import games, learners, metrics, testing
    from coebl.core import registry
    from coebl.learners import evolution
else:
    games, learners, metrics, testing, registry, evolution = opt.lazy(
        "games", "learners", "metrics", "testing", "core.registry", "learners.evolution"
    )

_Subject = Annotated[str, opt.argument("GAME|LEARNER|METRIC", "A spec, the file of a game, or file.py:Name.")]

_SHOWABLE = ("games", "learners", "metrics")
_MOST_ACTIONS = 24  # actions of a strategy that are printed


@opt.app.command("list")
def list_command(
    what: Annotated[str | None, opt.argument("WHAT", "games, learners, metrics, noises, operators, ...")] = None,
) -> None:
    """List games, learners, metrics, noises or operators.

    The evolutionary operators are mutations, recombinations, selections and populations, which are parameters of
    COEBL; each kind may also be named as WHAT. Without WHAT, print all names.

    \b
    Examples:
      coebl list
      coebl list games
      coebl list learners
      coebl list operators
      coebl list recombinations
    """
    registries = _registries()
    if what is None:
        for plural, registry in registries.items():
            say(f"{plural}: {', '.join(registry.names)}", hang=2)
        say("For descriptions: coebl list games, and so on. For a single entry: coebl show NAME.")
        return
    if what == "operators":
        for place, operators in enumerate(_operators()):
            print("\n" * (place > 0), end="")
            say(operators.plural)
            _print_entries(operators)
        return
    if what not in registries:
        known = [*registries, "operators"]
        raise InputError(f"WHAT is {what!r}; accepted: {', '.join(known)}{nearest(what, known)}")
    listed = registries[what]
    if what == "learners":
        _print_learners(listed)
    else:
        _print_entries(listed, showable=what in _SHOWABLE)
    for reason in listed.broken.values():
        note(f"coebl: {reason}")
    if what in _SHOWABLE:
        print()
        say(f"For the description of one of them: coebl show {listed.names[0]}")


def _registries() -> dict[str, registry.Registry[Any]]:
    listed: list[registry.Registry[Any]] = [games.GAMES, learners.LEARNERS, metrics.METRICS, games.NOISES]
    return {known.plural: known for known in [*listed, *_operators()]}


def _operators() -> tuple[registry.Registry[Any], ...]:
    return evolution.MUTATIONS, evolution.RECOMBINATIONS, evolution.SELECTIONS, evolution.POPULATIONS


def _print_learners(listed: Any) -> None:
    """Print the learners by kind, the least informed first."""
    by_kind = {kind: [entry for entry in listed if entry.factory.kind() == kind] for kind in learners.KINDS}
    for place, kind in enumerate(kind for kind, chosen in by_kind.items() if chosen):
        print("\n" * (place > 0), end="")
        say(f"{kind}{', for reference' * (kind in learners.REFERENCES)}: {learners.KINDS[kind]}")
        _print_entries(by_kind[kind], showable=True)


def _print_entries(entries: Iterable[registry.Entry[Any]], showable: bool = False) -> None:
    """Print a sentence about each entry, with an example, or with its parameters if `coebl show` cannot list them."""
    rows = []
    for entry in entries:
        meaning = getattr(entry.factory, "meaning", "") if isinstance(entry.factory, type) else ""
        usage = entry.usage if entry.parameters and not showable else entry.example
        rows.append({"": f"  {entry.name}", " ": (meaning or entry.summary) + f" ({usage})" * (usage != entry.name)})
    print_table(rows, wrap=["", " "])


@opt.app.command("show")
def show_command(
    subject: Annotated[str, opt.argument("NAME", "A name or spec, the file of a game, or file.py:Name.")],
) -> None:
    """Print the description of a game, learner, metric, noise or operator.

    For a game: its payoffs, source and value. For a learner: how it works, what it sees, and its parameters. For a
    metric: its definition. For a noise or an operator: how it works, and its parameters.

    \b
    Examples:
      coebl show rps
      coebl show blotto:coins=4,fields=3
      coebl show my-game.csv
      coebl show coebl
      coebl show tv
      coebl show pool
    """
    fitting, parts = _registries_of(subject), split_spec(subject)
    shown = fitting[0]
    if shown is games.GAMES:
        game = games.parse_game(subject)
        print(f"{game}\n")
        if isinstance(game, games.TensorGame):
            for seat, (low, high) in zip(game.seats, game.ranges, strict=True):
                print(f"{printable(seat)}: payoffs in {low:g} .. {high:g}, security {game.security(seat).value:.10g}")
        else:
            low, high = game.payoff_range
            print(f"value {tidy_value(game)}; payoffs in {low:g} .. {high:g}")
        if game.spec:
            _print_description(games.GAMES[split_spec(game.spec).name])
    elif shown is learners.LEARNERS:
        entry = learners.LEARNERS[parts.name]
        print(learners.parse_learner(subject) if parts.parameters else entry.name)
        _print_description(entry)
        _print_learner(entry)
    elif shown is not metrics.METRICS:
        for place, known in enumerate(fitting):  # such as the mutation and the noise with the name gaussian
            entry = known[parts.name]
            print("\n" * (place > 0) + f"{entry.name}, a {known.kind}")
            _print_description(entry)
            _print_usage(entry)
    else:
        metric = metrics.metric_class(subject)
        print(metric.name)
        _print_description(registry.Entry(metric.name, metric))
        if metric.meaning not in " ".join(_doc(metric).split()):
            say(metric.meaning)
        say("; ".join(filter(None, (metric.definition, f"{metric.better} is better" * bool(metric.better)))))
        if metric.signed:
            say("from the row player's side: below 0 the row player is ahead, above 0 the column player")


def _print_description(entry: registry.Entry[Any]) -> None:
    """Print title, docstring and parameters, wrapped to the terminal; pseudo-code and examples keep their lines."""
    print(f"\n{entry.title}\n")
    text = _doc(entry.factory)
    if meanings := "".join(f"\n    {p.name}: {p.meaning}." for p in entry.parameters if p.meaning):
        text += meanings if "\n\nArgs:" in text else f"\n\nArgs:{meanings}"
    for paragraph in filter(None, text.split("\n\n")):
        if paragraph.startswith("Args:"):
            paragraph = re.sub(r"\n {8,}", " ", paragraph)  # each parameter is one line
        if re.search(r"^(?: |>>> )", paragraph, re.MULTILINE):
            for line in paragraph.splitlines():
                say(line, hang=4)
        else:
            say(" ".join(paragraph.splitlines()))
        print()


def _doc(factory: Any) -> str:
    """Return a docstring, not that of a base class."""
    return inspect.cleandoc(factory.__doc__ or "")


def _print_learner(entry: registry.Entry[Any]) -> None:
    from coebl.learners.base import AIMS

    learner: Any = entry.factory
    _print_usage(entry)
    kind = learner.kind()
    say(f"{kind}: {learners.KINDS[kind]}; {'needs' if learner.needs_horizon else 'does not need'} the horizon")
    if kind != "search":
        say(f"in a game that is not zero-sum it aims {AIMS[learner.aim]}")
    if learner.cites:
        say(learner.cites)


def _print_usage(entry: registry.Entry[Any]) -> None:
    say(f"usage: {entry.usage}", hang=4)
    for parameter in entry.parameters:
        say(f"  {parameter.name}: {parameter.accepts}", hang=4)
    if entry.example != entry.name:
        print(f"  for example {entry.example}")


@opt.app.command("check")
def check_command(subject: _Subject) -> None:
    """Check a learner, game or metric against its contract; an operator as part of a learner, a noise of a game.

    \b
    Examples:
      coebl check ucb
      coebl check path/to/mine.py:Mine
      coebl check diagonal:4
      coebl check regret
      coebl check coebl:mutation=path/to/mine.py:Noisy
      coebl check scaled:game=rps,noise=path/to/mine.py:Loud
    """
    shown = _registries_of(subject)[0]
    if shown is metrics.METRICS:
        report = testing.check_metric(metrics.metric_class(subject))
    elif shown is learners.LEARNERS:
        report = testing.check_learner(subject)
    elif shown is games.GAMES:
        report = testing.check_game(games.parse_game(subject))
    else:
        name = split_spec(subject).name
        owner = "game that has it: scaled:game=rps," if shown is games.NOISES else "learner that has it: coebl:"
        raise InputError(
            f"{name} is a {shown.kind}; accepted: a game, a learner or a metric. Check a {owner}{shown.kind}={name}. "
            f"See: coebl list {shown.plural}"
        )
    print(report)
    if not report.passed:
        raise typer.Exit(1)


def _registries_of(subject: str) -> list[registry.Registry[Any]]:
    """Return the registries that a spec may refer to, usually one. Functions in a custom file are games."""
    from coebl.games.registry import is_path

    parts = split_spec(subject)
    shown: list[registry.Registry[Any]] = [learners.LEARNERS, games.GAMES, metrics.METRICS]
    kinds = [*shown, *_operators(), games.NOISES]
    if parts.file:
        module = load_file(parts.file)
        member = getattr(module, parts.attribute, None)
        if member is None:
            members = {known.kind: [name for names in known.in_module(module) for name in names] for known in kinds}
            registries = [known for known in kinds if members[known.kind]]
            near = [known for known in registries if nearest(parts.attribute, members[known.kind]) != "."]
            _ = [*near, *registries, learners.LEARNERS][0][parts.name]  # raises an error that lists what the file has
        fitting = [known for known in kinds if known.fits(member)] or shown
    else:
        fitting = [known for known in kinds if parts.name in known] or [games.GAMES] * is_path(subject)
    if not fitting:
        hint = nearest(parts.name, [name for known in kinds for name in known.names])
        lists = ", ".join(f"coebl list {plural}" for plural in _SHOWABLE)
        raise InputError(f"unknown game, learner or metric {parts.name!r}{hint} See: {lists}")
    return fitting


# The equilibria of a game


@opt.app.command("solve")
def solve_command(
    game: Annotated[str, opt.argument("GAME", "A spec; a .csv, .npy, .json or .nfg file; or file.py:function.")],
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
    loaded = games.parse_game(game)
    name = loaded.spec or loaded.name
    if isinstance(loaded, games.TensorGame):
        _print_equilibria(loaded, as_json)
        return
    if isinstance(loaded, games.GenomeGame):  # its equilibria have 2^n entries, and are not printed
        value = loaded.value  # raises an error before anything is printed if the value is not known
        if as_json:
            print_json({"name": name, "value": value, "genes": loaded.n})
            return
        print(f"{printable(name)}: two genomes of {loaded.n} genes")
        print(f"value to the row player  {tidy_value(loaded)}")
        return
    assert isinstance(loaded, games.Game)
    solution, unique = loaded.solution, loaded.unique_equilibrium
    gap = max(solution.gap, 0.0)  # below zero only by rounding
    if as_json:
        summary = {
            "name": name,
            "value": solution.value,
            "row": solution.row.tolist(),
            "column": solution.column.tolist(),
            "row_labels": loaded.row_labels,
            "column_labels": loaded.column_labels,
            "unique": {"answer": unique.answer, "reason": unique.reason},
            "gap": gap,
            "status": solution.status,
            "pivots": solution.pivots,
        }
        print_json(summary)
        return
    print(f"{printable(name)}: {' x '.join(map(str, loaded.shape))}")
    print(f"value to the row player  {tidy_value(loaded)}")
    print(f"certified to             {gap:.1e} of the payoff range")
    print(f"only equilibrium         {printable(str(unique))}")
    print("\nrow player's strategy")
    _print_strategy(loaded.row_labels, solution.row.tolist())
    print("\ncolumn player's strategy")
    _print_strategy(loaded.column_labels, solution.column.tolist())


def _print_equilibria(game: games.TensorGame, as_json: bool) -> None:
    """Print the Nash equilibria of a two-player game, and the correlated equilibrium with the highest total payoff."""
    best = game.correlated()
    equilibria = game.equilibria() if len(game.shape) == 2 else []
    if as_json:
        nash = [{"strategies": [x.tolist() for x in p.strategies], "payoffs": p.payoffs} for p in equilibria]
        correlated = {"joint": best.joint.tolist(), "payoffs": best.payoffs}
        print_json({"name": game.spec or game.name, "equilibria": nash, "correlated": correlated})
        return
    print(f"{printable(game.spec or game.name)}: {' x '.join(map(str, game.shape))}")
    for number, profile in enumerate(equilibria, 1):
        print(f"\nequilibrium {number}, certified to {profile.regret:.1e} of the payoff range")
        players = zip(game.seats, game.labels, profile.strategies, profile.payoffs, strict=True)
        for seat, labels, strategy, payoff in players:
            print(f"{printable(seat)} earns {payoff:.6g}")
            _print_strategy(labels, strategy.tolist())
    earned = ", ".join(f"{payoff:.6g}" for payoff in best.payoffs)
    print(f"\nthe correlated equilibrium with the highest total payoff, certified to {max(best.regret, best.gap):.1e}")
    print(f"the players earn {earned}")
    names = [" ".join(labels) for labels in itertools.product(*game.labels)]
    _print_strategy(names, [chance if chance > 1e-9 else 0.0 for chance in best.joint.ravel().tolist()])


def _print_strategy(labels: Sequence[str], strategy: Sequence[float]) -> None:
    """Print the actions that are played, and count the others."""
    played = [(label, chance) for label, chance in zip(labels, strategy, strict=True) if chance > 0]
    shown = played[:_MOST_ACTIONS]
    rows = [{"": f"  {label}", " ": f"{chance:.6f}", "  ": "#" * round(40 * chance)} for label, chance in shown]
    print_table(rows, wrap=["", " ", "  "])
    if len(played) > len(shown):
        print(f"  and {len(played) - len(shown)} more actions: see --json")
    if len(played) < len(labels):
        print(f"  {len(labels) - len(played)} of {len(labels)} actions are not played")
