"""The pictures on the pages of learners, games and metrics, drawn when the site is built, kept until sources change."""

from __future__ import annotations

import ast
import doctest
import hashlib
import inspect
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars
from matplotlib.figure import Figure

from coebl import simulate
from coebl.core.errors import InputError
from coebl.games import Game, parse_game, parse_matrix
from coebl.learners import Responder, parse_learner
from coebl.metrics import metric_class
from coebl.plots import plot_panels, plot_simplex, save
from coebl.report import read_asset, replay, vega_script
from drawings import DRAWINGS
from matrices import plot_matrix
from repository import ROOT

if TYPE_CHECKING:
    from coebl.engine import Result

GAMES = ("biased-rps", "diagonal:n=2", "random-gaussian:m=5,n=8,seed=1")
ROUNDS, SEEDS = 300, 20
COMPANY = ("ucb", "exp3")  # drawn beside a learner, for comparison
THREE = ("coebl:c=2", *COMPANY)  # on the pages of games and metrics
OPPONENT = "best-response"
GENOME_GAMES = ("diagonal:n=5,space=bits", "bigger-number:n=5,space=bits", "coverage:n=4")
OF_GENOMES = ("pbil", "gene-lr", "umda")  # drawn on games of genomes
GENERAL_SUM = ("chicken", "shapley", "cournot")
OF_GENERAL_SUM = ("exp3", "hart-mas-colell", "ucb")  # drawn on games that are not zero-sum

_REPLAY = ("replay.html", "replay_body.html", "replay.css", "replay.js", "theme.js")  # the assets of a replay
_KEPT = ROOT / "build" / "curves"


def learner_curves(spec: str) -> bytes | None:
    """Plot the pseudo-regret of a learner and others against the best response; None if it cannot play these games.

    Learners of genomes are shown by their exploitability in self-play.
    """
    learner = parse_learner(spec)
    if learner.kind() == "search" or learner.hyper_parameters().keys() & {"strategy", "mixtures"}:
        return None
    metric = "pseudo_regret"
    if "indices" not in learner.plays:
        metric = "exploitability"
        matches = [(game, row, row) for game in GENOME_GAMES for row in dict.fromkeys([spec, *OF_GENOMES[:2]])]
    elif isinstance(learner, Responder):
        matches = [(game, row, spec) for game in GAMES for row in COMPANY]
    else:
        matches = [(game, row, OPPONENT) for game in GAMES for row in dict.fromkeys([spec, *COMPANY])]
    return _kept(f"learner {spec}", lambda: _plot(matches, metric))


def game_curves(spec: str) -> bytes:
    """Plot the exploitability of three learners in self-play on a game."""
    learners = THREE if isinstance(parse_game(spec), Game) else OF_GENOMES
    matches = [(spec, learner, learner) for learner in learners]
    return _kept(f"game {spec}", lambda: _plot(matches, "exploitability"))


def game_matrix(spec: str) -> bytes:
    """Plot the payoffs of a game."""
    return _kept(f"matrix {spec}", lambda: plot_matrix(parse_matrix(spec)))


def policy_panels(game: str, learner: str) -> bytes:
    """Plot the policies of a learner in self-play, in one run of 3000 rounds."""
    return _kept(f"policies {game} {learner}", lambda: plot_simplex(_self_play(game, learner)))


def policy_replay(game: str, learner: str, up: str) -> str:
    """Return that run as a page; `up` is the path from it to the top of the site, where Vega is."""

    def written(path: Path) -> None:
        page: str = _self_play(game, learner).replay().html()
        policy = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', page)
        assert policy  # which allows no script of another file
        path.write_text(page.replace(vega(), "").replace(policy[0], ""), "utf-8")

    made_of = inspect.getsource(replay) + "".join(map(read_asset, _REPLAY))
    page = kept_as("html", f"replay {game} {learner} {made_of}", written).decode()
    return page.replace("<script></script>", f'<script src="{up}/assets/vega.js"></script>')


def vega() -> str:
    """Return the script of Vega and Vega-Lite."""
    return vega_script()


def tutorial_picture(page: str) -> bytes:
    """Return the picture of a tutorial: the one that its code names `picture`, or else its first game."""

    def draw() -> Figure:
        names: dict[str, Any] = {}
        game: Any = None
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            for name, text in re.findall(r'^```\w+ title="(\S+)"\n(.+?)^```', page, re.MULTILINE | re.DOTALL):
                Path(name).write_text(text, "utf-8")
            sys.path.insert(0, folder)
            for example in doctest.DocTestParser().get_examples(page):
                with suppress(*([InputError] if example.exc_msg else [])):
                    exec(example.source, names)  # our code, which the tests run too
                game = game or names.get("game")
            sys.path.remove(folder)
        picture: Any = names.get("picture") or plot_matrix(game)
        return picture if isinstance(picture, Figure) else picture.figure

    return _kept(f"tutorial {page}", draw)


def _self_play(game: str, learner: str) -> Result:
    return simulate(game, learner, learner, rounds=3000, seeds=1, metrics=["exploitability"], keep=["policies"])


def drawings() -> Iterator[tuple[str, bytes]]:
    """Yield the drawings of the pages that explain, with their places on the site."""
    for uri, draw in DRAWINGS.items():
        yield uri, _kept(f"drawing {uri} {Path(inspect.getfile(draw)).read_text('utf-8')}", draw)


def metric_games(name: str) -> tuple[str, ...]:
    """Return the games on which a metric is drawn; KL is infinite if an equilibrium leaves out an action."""
    if "genomes" in metric_class(name).needs:
        return GENOME_GAMES
    if "welfare" in metric_class(name).needs or name in ("nash_conv", "swap_regret"):
        return GENERAL_SUM
    return ("biased-rps", "perturbed-rps", "hide-and-seek") if name == "kl" else GAMES


def metric_curves(name: str) -> bytes:
    """Plot a metric of three learners in self-play."""
    games = metric_games(name)
    learners = OF_GENOMES if games is GENOME_GAMES else OF_GENERAL_SUM if games is GENERAL_SUM else THREE
    matches = [(game, learner, learner) for game in games for learner in learners]
    return _kept(f"metric {name}", lambda: _plot(matches, name))


def _plot(matches: list[tuple[str, str, str]], metric: str) -> Figure:
    return plot_panels(polars.concat([_played(*match, metric) for match in matches]), metric, matches)


@cache  # the learners for comparison are on many pages
def _played(game: str, row: str, column: str, metric: str) -> polars.DataFrame:
    return simulate(game, row, column, rounds=ROUNDS, seeds=SEEDS, metrics=[metric], record=3).curves()


def _kept(what: str, draw: Callable[[], Figure]) -> bytes:
    return kept_as("svg", what, lambda path: save(draw(), path.parent, path.stem, ["svg"]))


def kept_as(ending: str, what: str, write: Callable[[Path], object]) -> bytes:
    """Return what a function writes to a file; it writes again when its description or the sources have changed."""
    name = hashlib.sha256(f"{what} {_sources()}".encode()).hexdigest()[:24]
    path = _KEPT / f"{name}.{ending}"
    if not path.exists():
        _KEPT.mkdir(parents=True, exist_ok=True)
        write(path)
    return path.read_bytes()


@cache
def _sources() -> str:
    """Return a digest of the code that a curve depends on, without comments and docstrings."""
    digest = hashlib.sha256()
    package = ROOT / "src" / "coebl"
    for path in sorted([Path(__file__), Path(inspect.getfile(plot_matrix)), *package.rglob("*.py")]):
        if not any((package / part) in path.parents for part in ("cli", "study", "report", "papers", "claims")):
            digest.update(ast.unparse(_undocumented(ast.parse(path.read_bytes()))).encode())
    return digest.hexdigest()


def _undocumented(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                child.value.value = ""
    return tree
