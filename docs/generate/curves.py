"""The curves on the pages of learners and metrics, drawn when the site is built, and kept until a source changes."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from coebl import simulate
from coebl.learners import Responder, parse_learner
from coebl.plots import plot_panels, save
from coebl.runs import MatchSpecs, Runs
from repository import ROOT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES = ("biased-rps", "diagonal:n=2", "random-gaussian:m=5,n=8,seed=1")
ROUNDS, SEEDS = 300, 20
COMPANY = ("ucb", "exp3")  # drawn beside a learner, so that its curve can be judged
OPPONENT = "best-response"

_KEPT = ROOT / "build" / "curves"


def learner_curves(spec: str) -> bytes | None:
    """Pseudo-regret of a learner and its company against the best response; None if it cannot sit in these games."""
    if isinstance(parse_learner(spec), Responder):
        matches = [MatchSpecs(game, row, spec) for game in GAMES for row in COMPANY]
    elif parse_learner(spec).hyper_parameters().keys() & {"strategy", "mixtures"}:
        return None
    else:
        rows = dict.fromkeys([spec, *COMPANY])
        matches = [MatchSpecs(game, row, OPPONENT) for game in GAMES for row in rows]
    return _kept(f"learner {spec}", lambda: plot_panels(_Played(matches), "pseudo_regret", matches))


def metric_curves(name: str) -> bytes:
    """A metric of three learners in self-play."""
    matches = [MatchSpecs(game, spec, spec) for game in GAMES for spec in ("coebl:c=2", *COMPANY)]
    return _kept(f"metric {name}", lambda: plot_panels(_Played(matches), name, matches))


class _Played:
    """A source of runs that plays a match when it is asked for."""

    def __init__(self, matches: list[MatchSpecs]) -> None:
        self._matches = matches

    def matches(self) -> list[MatchSpecs]:
        return self._matches

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        result = simulate(game, row, column, rounds=ROUNDS, seeds=SEEDS, metrics=[metric], record=3)
        return Runs(result.rounds, result.seeds, result.metrics[metric])


def _kept(what: str, draw: Callable[[], Figure]) -> bytes:
    name = hashlib.sha256(f"{what} {sources()}".encode()).hexdigest()[:24]
    path = _KEPT / f"{name}.svg"
    if not path.exists():
        save(draw(), _KEPT, name, ["svg"])
    return path.read_bytes()


@lru_cache
def sources() -> str:
    """A digest of the code that a curve depends on; comments and docstrings are no part of it."""
    digest = hashlib.sha256()
    package = ROOT / "src" / "coebl"
    for path in sorted([Path(__file__), *package.rglob("*.py")]):
        if not any((package / part) in path.parents for part in ("cli", "study", "report", "papers", "claims")):
            digest.update(ast.unparse(_undocumented(ast.parse(path.read_bytes()))).encode())
    return digest.hexdigest()


def _undocumented(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                child.value.value = ""
    return tree
