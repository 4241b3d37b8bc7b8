"""The pages of the reference that are generated from the registries, the command line and the papers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from latex2mathml.converter import convert

from coebl.cli.terminal import tidy_value
from coebl.core.registry import Entry, Registry
from coebl.core.text import markdown_table
from coebl.games import GAMES, NOISES, Game, TensorGame, ZeroSumGame, parse_game, parse_matrix
from coebl.learners import KINDS, LEARNERS, REFERENCES, SIGHTS, Learner, Responder
from coebl.learners.base import AIMS
from coebl.learners.evolution import MUTATIONS, POPULATIONS, RECOMBINATIONS, SELECTIONS
from coebl.metrics import METRICS, Metric
from coebl.papers import PAPERS, load_paper
from curves import GAMES as DRAWN
from curves import (
    GENOME_GAMES,
    ROUNDS,
    SEEDS,
    drawings,
    game_curves,
    game_matrix,
    learner_curves,
    metric_curves,
    metric_games,
    policy_panels,
    policy_replay,
    tutorial_picture,
    vega,
)
from docstrings import fenced
from gallery import gallery
from inside import round_stepper
from public import PACKAGES, names, public
from repository import ROOT

_MOST_SHOWN = 12  # actions of a game whose payoffs are drawn with numbers, instead of printed
_MOST_REPLAYED = 16  # actions of a game whose page has a replay
_HOW_DRAWN = (
    f"over {ROUNDS} rounds, with Gaussian noise of standard deviation 1: means of {SEEDS} seeds, drawn when the site "
    "was built."
)


class Page(NamedTuple):
    """A page of the site, or a picture on one."""

    uri: str
    content: str | bytes


def pages() -> Iterator[Page]:
    """Yield all generated pages."""
    yield from learner_pages()
    yield from game_pages()
    yield from metric_pages()
    yield Page("reference/noises.md", _list_page("Noises", "What is added to a payoff before it is seen.", NOISES))
    yield Page("reference/evolution.md", _operators_page())
    yield Page("reference/commands.md", _commands_page())
    yield Page("reference/papers.md", _papers_page())
    yield from python_pages()
    yield from convergence_pictures()


def convergence_pictures() -> Iterator[Page]:
    """Yield the pictures of the pages that explain, by the names in their links."""
    text = (ROOT / "docs" / "explanation" / "convergence.md").read_text("utf-8")
    for game, learner in re.findall(r"\(policies-(.+)-of-(.+)\.svg\)", text):
        spec = learner.replace("_", ":", 1)
        yield Page(f"explanation/policies-{game}-of-{learner}.svg", policy_panels(game, spec))
    yield Page("explanation/replay.html", policy_replay("rps", "exp3", ".."))
    yield Page("assets/vega.js", vega())
    for page in sorted((ROOT / "docs" / "tutorials").glob("*.md")):
        text = page.read_text("utf-8")
        if f"({page.stem}.svg)" in text:
            yield Page(f"tutorials/{page.stem}.svg", tutorial_picture(text))
    yield Page("explanation/one-round.html", round_stepper())
    yield from (Page(*picture) for picture in [*drawings(), *gallery()])


# Learners


def learner_pages() -> Iterator[Page]:
    """Yield a page per learner, and a list of learners by what they see."""
    by_kind: dict[str, list[list[str]]] = {kind: [] for kind in KINDS}
    for entry in LEARNERS:
        learner: Any = entry.factory
        link = f"[{entry.title}]({entry.name}.md)"
        by_kind[learner.kind()].append([link, f"`{entry.name}`", entry.summary])
        yield from _pages_of_learner(entry, learner)
    parts = ["# Learners", "By what they see, from the least to the most. `coebl list learners` prints the same."]
    for kind, meaning in KINDS.items():
        reference = ", for reference" if kind in REFERENCES else ""
        table = _table(["learner", "spec", ""], by_kind[kind])
        parts += [f"## {kind.capitalize()}{reference}", f"{meaning.capitalize()}.", table]
    yield Page("reference/learners/index.md", "\n\n".join(parts))


def _pages_of_learner(entry: Entry[Learner], learner: type[Learner]) -> Iterator[Page]:
    """Yield the page of a learner, and its curves and its replay if it has them."""
    kind = learner.kind()
    sights = [SIGHTS[sight] for sight in SIGHTS if sight in learner.sees]
    horizon = "It needs the number of rounds in advance." if learner.needs_horizon else "It does not need the horizon."
    body = _symbols(inspect.getdoc(learner) or "")
    parts = [
        f"# {entry.title}",
        f"`{entry.example}` · {kind}",
        body,
        "## What it sees",
        "The payoffs of the pairs of genomes that it asks for, with noise: it is of the kind *search*."
        if kind == "search"
        else f"{', '.join(['Its actions and rewards', *sights])}: it is of the kind *{kind}*. {horizon}",
        *_section("Its aim", _aim(learner)),
        *_section("Parameters", _parameters(entry)),
        *_section("Proven bound", _bound(learner)),
        *_section("Source", learner.cites),
    ]
    path, of_genomes = f"reference/learners/{entry.name}", "indices" not in learner.plays
    curves = learner_curves(entry.example)
    if curves and of_genomes:
        parts += [
            "## Curves",
            f"![Exploitability in self-play]({entry.name}.svg){{.wide}}",
            f"Exploitability in self-play on `{'`, `'.join(GENOME_GAMES)}` {_HOW_DRAWN} It is 0 in an equilibrium. "
            "[Games too large for a matrix](../../large-games.md) has longer runs.",
        ]
    elif curves:
        parts += [
            "## Curves",
            f"![Pseudo-regret on three games]({entry.name}.svg){{.wide}}",
            f"Pseudo-regret on `{'`, `'.join(DRAWN)}` {_HOW_DRAWN} The column player is the best response, so lower is "
            "better, and no learner can be below 0. So few rounds show how a learner starts, not where it ends.",
        ]
    if curves:
        yield Page(f"{path}.svg", curves)
    if curves and not of_genomes and not issubclass(learner, Responder):
        yield Page(f"{path}-replay.html", policy_replay("rps", entry.example, "../.."))
        parts += [
            "## Replay",
            f'<iframe src="{entry.name}-replay.html" title="One run in self-play" loading="lazy"></iframe>',
            "One run in self-play on rock-paper-scissors: see [what convergence looks "
            "like](../../explanation/convergence.md).",
        ]
    yield Page(f"{path}.md", "\n\n".join([*parts, "## In Python", _snippet(entry)]))


def _section(title: str, text: str) -> list[str]:
    """Return a heading and its text; nothing if there is none."""
    return [f"## {title}", text] if text else []


def _snippet(entry: Entry[Learner]) -> str:
    home = LEARNERS.homes[entry.name].partition(":")[2]
    return f"```python\nfrom coebl.learners import {home}, parse_learner\n\nparse_learner({entry.example!r})\n```"


def _aim(learner: type[Learner]) -> str:
    """Return the aim of a learner in games that are not zero-sum; "" for learners of genomes."""
    if "indices" not in learner.plays:
        return ""
    return f"In [a game that is not zero-sum](../../how-to/general-sum-games.md) it aims {AIMS[learner.aim]}."


def _bound(learner: type[Learner]) -> str:
    doc = inspect.getdoc(learner.regret_bound) or ""
    if doc == inspect.getdoc(Learner.regret_bound):
        return ""
    text = doc.partition("\n\n")[0]
    text = text.replace("The bound of docs/kin-bound.md", "[the bound of Kin](../../kin-bound.md)")
    if "sqrt(" in text:
        formula, _, words = text.partition("),")
        text = f"$`{_latex(formula + ')')}`$,{words}"
    number = learner.regret_bound(3, 3, 3000)
    example = f" With 3 x 3 actions and 3000 rounds it is {number:,.0f}." if number is not None else ""
    return f"On the expected Nash regret against any opponent, with payoffs in [0, 1] and unit noise: {text}{example}"


# Games, metrics, noises, operators


def _start_of_show(game: Game) -> str:
    """Return the summary that `coebl show` prints before the description of a game."""
    low, high = game.payoff_range
    return f"{game}\n\nvalue {tidy_value(game)}; payoffs in {low:g} .. {high:g}"


def _solved(entry: Entry[Any]) -> list[str]:
    """Return the section on the equilibrium of a game."""
    game = parse_matrix(entry.example)
    low, high = game.payoff_range
    small = max(game.shape) <= _MOST_SHOWN
    printed = f"```console\n{_start_of_show(game)}\n...\n```"
    return [
        "## Solved",
        f"The value of `{entry.example}` is {tidy_value(game)}, and its payoffs lie in [{low:g}, {high:g}]."
        if small
        else f"The first actions, as `coebl show {entry.example}` prints them:\n\n{printed}",
        f"Is the equilibrium of this game the only one? {game.unique_equilibrium.answer.capitalize()}: "
        f"{game.unique_equilibrium.reason}.",
        f"![Payoffs and equilibrium of {entry.title}]({entry.name}-payoffs.svg)",
        "Payoffs to the row player, blue above the value of the game and orange below it. The bars are the "
        "probabilities of an equilibrium.",
    ]


def _head(entry: Entry[Any], game: ZeroSumGame | TensorGame) -> list[str]:
    return [
        f"# {entry.title}",
        f"`{entry.example}` · {' x '.join(map(str, game.shape))} actions",
        _symbols(inspect.getdoc(entry.factory) or ""),
        *_section("Parameters", _parameters(entry)),
    ]


def game_pages() -> Iterator[Page]:
    """Yield a page per game, and a list of games."""
    rows = []
    for entry in GAMES:
        rows.append([f"[{entry.title}]({entry.name}.md)", f"`{entry.example}`", entry.summary])
        game = parse_game(entry.example)
        if isinstance(game, TensorGame):
            printed = f"`coebl show {game.spec}` prints:\n\n```console\n{game}\n...\n```"
            yield Page(f"reference/games/{entry.name}.md", "\n\n".join([*_head(entry, game), "## Payoffs", printed]))
            continue
        changes = hasattr(game, "steady")  # its payoffs: no matrix can be shown
        parts = [
            *_head(entry, game),
            *([] if changes else _solved(entry)),
            "## Curves",
            f"![Exploitability of three learners in self-play]({entry.name}.svg)",
            f"Exploitability of three learners in self-play, on `{entry.example}` {_HOW_DRAWN} It is 0 in an "
            "equilibrium.",
        ]
        if not changes:
            yield Page(f"reference/games/{entry.name}-payoffs.svg", game_matrix(entry.example))
        if isinstance(game, Game) and max(game.shape) <= _MOST_REPLAYED and not changes:
            about = f"One run of COEBL, c = 2, in self-play on {entry.title}"
            parts += [
                "## Replay",
                f'<iframe src="{entry.name}-replay.html" title="{about}" loading="lazy"></iframe>',
                f"{about}.",
            ]
            yield Page(f"reference/games/{entry.name}-replay.html", policy_replay(entry.example, "coebl:c=2", "../.."))
        yield Page(f"reference/games/{entry.name}.svg", game_curves(entry.example))
        yield Page(f"reference/games/{entry.name}.md", "\n\n".join(parts))
    head = (
        "# Games\n\nPayoffs of zero-sum games are to the row player. `coebl list games` prints the same, "
        "`coebl show NAME` one.\n\n"
    )
    yield Page("reference/games/index.md", head + _table(["game", "for example", ""], rows))


def metric_pages() -> Iterator[Page]:
    """Yield a page per metric, and a list of metrics."""
    rows = []
    for entry in METRICS:
        metric: Any = entry.factory
        formula = _formula(metric)
        definition = f"$`{formula}`$" if formula else _words(metric)
        rows.append([f"[{entry.title}]({entry.name}.md)", f"`{entry.name}`", definition])
        yield Page(f"reference/metrics/{entry.name}.svg", metric_curves(entry.name))
        yield Page(f"reference/metrics/{entry.name}.md", _metric_page(entry, metric))
    head = (
        "# Metrics\n\nFrom the row player's side: A is the payoffs, V the value of the game, $`x_t`$ and $`y_t`$ the "
        "policies of round t, $`a_t`$ and $`b_t`$ the actions, $`r_t`$ the observed reward, $`x^*`$ and $`y^*`$ the "
        "equilibrium, and $`u_p`$ the payoffs to player p. A metric about "
        "one player, such as `swap_regret`, is that of the first seat, `swap_regret:2` that of the second. [What "
        "regret means](../../explanation/regret.md) says which to use.\n\n"
    )
    yield Page("reference/metrics/index.md", head + _table(["metric", "name", "definition"], rows))


def _metric_page(entry: Entry[Metric], metric: type[Metric]) -> str:
    facts = {
        f"{metric.better} is better": metric.better is not None,
        "it adds up over the rounds": metric.cumulative,
        "its sign says who is ahead: above 0, the column player": metric.signed,
    }
    without = [f"`{game.name}`" for game in GAMES if metric.reason_undefined(parse_game(game.example))][:4]
    return "\n\n".join(
        [
            f"# {entry.title}",
            f"`{entry.name}`",
            metric.meaning,
            f"$`{formula}`$" if (formula := _formula(metric)) else f"{_words(metric)[:1].upper()}{_words(metric)[1:]}.",
            (inspect.getdoc(metric) or "").partition("\n\n")[2],
            f"{'; '.join(fact for fact, true in facts.items() if true).capitalize()}.",
            f"It is undefined for some [games](../games/index.md), such as {', '.join(without)}." if without else "",
            "## Curves",
            f"![{entry.title} of three learners in self-play]({entry.name}.svg){{.wide}}",
            f"{entry.title} of three learners in self-play, on `{'`, `'.join(metric_games(entry.name))}` {_HOW_DRAWN}",
        ]
    )


FORMULAS = {  # of metrics whose label in figures is not their whole definition
    "kl": r"\sum_i x_{t,i} \ln (x_{t,i} / x^*_i) + \sum_j y_{t,j} \ln (y_{t,j} / y^*_j)",
    "tv": r"\frac{1}{2} \sum_i \lvert x_{t,i} - x^*_i \rvert + \frac{1}{2} \sum_j \lvert y_{t,j} - y^*_j \rvert",
    "exploitability": r"\max_i (A y_t)_i - \min_j (x_t^\top A)_j",
    "average_exploitability": r"\max_i (A \bar y_t)_i - \min_j (\bar x_t^\top A)_j, \quad "
    r"\bar x_t = \frac{1}{t} \sum_{s \le t} x_s, \; \bar y_t = \frac{1}{t} \sum_{s \le t} y_s",
    "nash_conv": r"\sum_p \left( \max_i u_p(i, x_t^{-p}) - u_p(x_t) \right)",
    "external_regret": r"\max_i \sum_t (A_{i b_t} - A_{a_t b_t})",
    "column_external_regret": r"\sum_t A_{a_t b_t} - \min_j \sum_t A_{a_t j}",
    "swap_regret": r"\sum_k \max_i \sum_{t : a_t = k} (A_{i b_t} - A_{k b_t})",
    "payoff": r"\frac{1}{T} \sum_t x_t^\top A y_t",
    "welfare": r"\frac{1}{T} \sum_t \sum_p u_p(a_t, b_t)",
    "entropy": r"\mathrm{mean}_g \left( -p_g \log_2 p_g - (1 - p_g) \log_2 (1 - p_g) \right)",
}


def _formula(metric: type[Metric]) -> str:
    """Return the definition of a metric in LaTeX; nothing if it is given in words."""
    label = metric.formula.replace(r"\!", "").replace(r"\Sigma\,", r"\sum_t ")
    return FORMULAS.get(metric.name, label.strip("$") if re.fullmatch(r"\$[^$]+\$", label) else "")


def _words(metric: type[Metric]) -> str:
    """Return the definition of a metric in words, with its symbols as formulas."""
    return re.sub(r"\b([xy]_t)(?:'( A y_t))?", r"$`\1\2`$", metric.definition).replace("t A", r"t^\top A")


def _symbols(text: str) -> str:
    """Return a docstring in which powers and indices such as 2^n and A_ij, outside of code, are formulas."""
    code = r"^```.*?^```|`[^`]*`|^ {4}[^\n]*$"
    text = re.sub(rf"({code})|\b(\w\^\w|[A-Z]_(?:ij|ji))\b", _symbol, text, flags=re.MULTILINE | re.DOTALL)
    return text.replace("_ij`$", "_{ij}`$").replace("_ji`$", "_{ji}`$")


def _symbol(match: re.Match[str]) -> str:
    return match[1] or f"$`{match[2]}`$"


def typeset_formulas(markdown: str) -> str:
    """Replace formulas such as $`x_t`$, which GitHub typesets too, by MathML: displayed, or in a sentence."""
    block = re.compile(r"^( *)\$`([^`]+)`\$$", re.MULTILINE)
    markdown = block.sub(lambda match: match[1] + convert(match[2], display="block"), markdown)
    # Markdown takes a line that begins with <math> for a block
    return re.sub(r"\$`([^`]+)`\$", lambda match: f"<span>{convert(match[1])}</span>", markdown)


def _latex(bound: str) -> str:
    """Return a bound such as 2 sqrt(T log(m)) in LaTeX; the root extends to the last parenthesis."""
    before, _, rest = bound.partition("sqrt(")
    root = rest.rpartition(")")[0]
    return f"{before}\\sqrt{{{root}}}".replace("log", "\\log").replace("²", "^2")


def _list_page(title: str, text: str, *registries: Registry[Any]) -> str:
    parts = [f"# {title}", text]
    for registry in registries:
        parts += [f"## {registry.plural.capitalize()}"] * (len(registries) > 1)
        for entry in registry:
            parts += [f"### {entry.name}", inspect.getdoc(entry.factory) or "", _parameters(entry)]
    return "\n\n".join(parts)


def _operators_page() -> str:
    text = "The parts of COEBL and Kin, by name. [Evolution](../evolution.md) explains how they work together."
    return _list_page("Operators of evolution", text, MUTATIONS, RECOMBINATIONS, SELECTIONS, POPULATIONS)


def _parameters(entry: Entry[Any]) -> str:
    """Return a table of the parameters of a spec."""
    if not entry.parameters:
        return ""
    rows = []
    for p in entry.parameters:
        default = "required" if p.required else f"`{p.write(p.default)}`"
        rows.append([f"`{p.name}`", default, p.accepts, f"{p.meaning}." if p.meaning else ""])
    return _table(["parameter", "default", "accepted", "meaning"], rows)


def _table(head: list[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table([head, *(map(_cell, row) for row in rows)]).rstrip()


def _cell(text: str) -> str:
    return text if text.startswith("$`") else text.replace("|", "\\|")  # in a formula, it is a double bar


# Commands and papers


def _commands_page() -> str:
    import typer

    from coebl.cli import app

    root: Any = typer.main.get_command(app)
    parts = ["# Commands", "The output of `coebl COMMAND --help`."]
    for path, command in _commands(root, "coebl"):
        context = type(root).context_class(command, info_name=path, terminal_width=100, max_content_width=100)
        parts += [f"## {path}", f"```text\n{command.get_help(context).strip()}\n```"]
    return "\n\n".join(parts)


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, f"{path} {name}")


def _papers_page() -> str:
    asked = "The figures, claims and variants that `coebl reproduce`, `coebl figures` and `coebl claims` accept."
    parts = ["# Papers: figures, claims, variants", asked]
    for name in PAPERS:
        paper: Any = load_paper(name)
        parts += [
            f"## {name}",
            f"*{paper.page.title}*",
            "### Figures",
            f"`{paper.command_in()} --figure NAME` runs and draws one of them. If a figure depends on the variant, its "
            "file's name ends with the variant's; `-noise-free` is the same figure without the rewards' noise.",
            _table(["figure", "shows"], ((f"`{name}`", figure.title) for name, figure in paper.figures.items())),
            "### Claims",
            f"`{paper.command_in()} --claim ID` runs what one of them needs. [Findings](../findings.md) and "
            "[large games](../large-games.md) have the verdicts.",
            _table(["claim", "sentence"], ((id, claim.sentence) for id, claim in paper.claims.items())),
            "### Variants",
            _table(["variant", "who plays"], ((f"`{id}`", variant.note) for id, variant in paper.variants.items())),
        ]
    return "\n\n".join(parts)


# Python


def python_pages() -> Iterator[Page]:
    """Yield a page per package, with every public name that is documented there."""
    homes = public()
    where = {id(name.value): name.home for name in homes}
    for package in PACKAGES:
        module = import_module(package)
        parts = [f"# {package}", fenced(inspect.getdoc(module) or "")]
        if package == PACKAGES[0]:
            exported = [getattr(module, name) for name in names(package)]
            listed = ((f"[`{value.__name__}`][{where[id(value)]}]", _first(value)) for value in exported)
            parts += ["These names can be imported from `coebl` itself.", _table(["name", "what it is"], listed)]
        parts += [f"::: {name.home}" for name in homes if name.package == package]
        yield Page(f"reference/python/{package}.md", "\n\n".join(parts))


def _first(value: Any) -> str:
    return (inspect.getdoc(value) or "").partition("\n")[0]
