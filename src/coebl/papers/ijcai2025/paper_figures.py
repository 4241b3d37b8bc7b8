"""The figures of the paper, and two that it does not have.

`figure.needs(variant)` lists the matches of a figure, and `figure(results, variant, "paper")` draws it. The choice of
measures is "paper", as in the published figures, which come from the paper's program, or "noise-free": the same without
the noise of the rewards, and exploitability for KL and TV.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from coebl.engine.match import MatchName
from coebl.learners import parse_learner
from coebl.learners.coebl import Coebl
from coebl.naming import game_title, learner_title
from coebl.papers import Variant
from coebl.papers.drawing import Figure, Panel, curves_panel, heat_map_panel, line_title, sweep_panel
from coebl.papers.ijcai2025.paper_claims import (
    BASELINES,
    BEST_RESPONSE,
    FAMILIES,
    MAIN_SIZES,
    RATES,
    REFERENCE,
    ROLES,
    SETTING,
    SIZES,
    VARIANTS,
    actions_of,
    coebl,
    family_of_games,
    games,
    size_of,
)
from coebl.plots import plot_reference
from coebl.plots.style import GUIDE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Measure = dict[str, str]  # the metric by choice of measures
SELF_PLAY: Measure = {"paper": "regret_magnitude", "noise-free": "absolute_pseudo_regret"}
HEAD_TO_HEAD: Measure = {"paper": "regret", "noise-free": "pseudo_regret"}
DIVERGENCE: Measure = {"paper": "kl", "noise-free": "exploitability"}
DISTANCE: Measure = {"paper": "tv", "noise-free": "exploitability"}
CONVERGENCE = "exploitability"  # in self-play

Groups = list[list[Panel]]
Lines = dict[str, MatchName]  # by role

_BOTH: dict[str, str] = {"paper": "", "noise-free": "-noise-free"}
_ONE: dict[str, str] = {"paper": ""}
_AHEAD = "head-to-head; above 0, COEBL is ahead"


def heading(title: str, shown: Sequence[MatchName], variant: Variant) -> str:
    """Return the title of a figure, with the variant and COEBL's c in it."""
    learners = [parse_learner(spec) for spec in {spec for match in shown for spec in match[1:]}]
    rates = sorted({learner.c for learner in learners if isinstance(learner, Coebl)})
    named = f"{variant.title}, c = {' or '.join(f'{rate:g}' for rate in rates)}"
    return f"{title} ({variant.title if 'c =' in variant.title else named})"


_figure = partial(Figure, heading=heading, suffixes=_BOTH)


def curves(title: str, measure: Measure, lines: Lines, zoomed: bool = False) -> Panel:
    """Return a panel of curves, with what the paper's figures have beside them."""
    game = next(iter(lines.values())).game

    def finish(ax: Axes) -> None:
        if measure is SELF_PLAY:
            count = "K = 3" if game == "rps" else "$K = 2^n$"  # one entry of the legend for all panels
            rounds = range(0, SETTING.rounds + 1, SETTING.rounds // 100)
            plot_reference(ax, REFERENCE, actions_of(game), rounds, rf"$0.1\sqrt{{K^2 t}}$, {count}")
        if measure is HEAD_TO_HEAD:
            ax.axhline(0, **GUIDE)
        if zoomed:
            ax.set_yscale("log")
        elif measure is DISTANCE:
            ax.set_ylim(-0.08, 2.08)  # the whole range in these games, so that panels are comparable

    return curves_panel(title, measure, lines, finish)


def self_plays(variant: Variant, game: str) -> Lines:
    """Return every learner against itself."""
    return {role: variant.match(game, role) for role in ROLES}


def duels(variant: Variant, game: str) -> Lines:
    """Return every baseline against COEBL."""
    return {role: variant.match(game, role, "coebl") for role in BASELINES}


def rps_self_play(variant: Variant) -> Groups:
    """Regret, and distance to equilibrium twice: the paper zooms in on small distances, a log axis shows all."""
    lines = self_plays(variant, "rps")
    return [
        [
            curves("regret", SELF_PLAY, lines),
            curves("distance to equilibrium", DIVERGENCE, lines),
            curves("the same, zoomed: log scale", DIVERGENCE, lines, zoomed=True),
        ]
    ]


def rps_head_to_head(variant: Variant) -> Groups:
    """A panel per baseline."""
    lines = duels(variant, "rps")
    return [[curves(line_title(role, match), HEAD_TO_HEAD, {role: match}) for role, match in lines.items()]]


def by_size(
    family: str, sizes: Sequence[int], lines: Callable[[Variant, str], Lines], *measures: Measure
) -> Callable[[Variant], Groups]:
    """A row of panels per measure, with a panel per size."""

    def panels(variant: Variant) -> Groups:
        by_game = {f"n = {size_of(game)}": lines(variant, game) for game in family_of_games(family, sizes)}
        return [[curves(title, measure, lines) for title, lines in by_game.items()] for measure in measures]

    return panels


def heat_map(variant: Variant) -> Groups:
    """Every game by every baseline; all variants have one colour scale."""
    rows = {
        game_title(game): {learner_title(role): match for role, match in duels(variant, game).items()}
        for game in games()
    }
    alike = [match for other in VARIANTS.values() for game in games() for match in duels(other, game).values()]
    return [[heat_map_panel(HEAD_TO_HEAD["noise-free"], rows, alike)]]


def by_c(variant: Variant) -> Groups:
    """Losses of COEBL to a best response, and its exploitability in self-play, by c: a panel per game."""
    learners = {f"{rate:g}": coebl(rate) for rate in RATES}
    opponent = f"against a {learner_title(BEST_RESPONSE)}"
    rows = (
        (HEAD_TO_HEAD["noise-free"], opponent, lambda spec: BEST_RESPONSE),
        (CONVERGENCE, "in self-play", lambda spec: spec),
    )
    return [
        [
            sweep_panel(
                game_title(game),
                metric,
                "c of COEBL",
                {c: MatchName(game, spec, column(spec)) for c, spec in learners.items()},
                against,
            )
            for game in chosen
        ]
        for chosen in (games(MAIN_SIZES)[:4], games(MAIN_SIZES)[4:])
        for metric, against, column in rows
    ]


def _by_size_figures(sizes: Sequence[int], ending: str, *second: Measure) -> list[Figure]:
    """Self-play and head-to-head on both families; `second` is shown below the regret head to head."""
    return [
        figure
        for family in FAMILIES
        for title in [game_title(family)]
        for figure in (
            _figure(
                f"{family}-self-play{ending}",
                f"{title}, self-play",
                by_size(family, sizes, self_plays, SELF_PLAY, DISTANCE),
            ),
            _figure(
                f"{family}-head-to-head{ending}",
                f"{title}, {_AHEAD}",
                by_size(family, sizes, duels, HEAD_TO_HEAD, *second),
            ),
        )
    ]


FIGURES = [
    _figure("rps-self-play", "Rock-paper-scissors, self-play", rps_self_play),
    _figure("rps-head-to-head", f"Rock-paper-scissors, {_AHEAD}", rps_head_to_head),
    *_by_size_figures(MAIN_SIZES, ""),
    *_by_size_figures(SIZES, "-all", DISTANCE),
    _figure("heat-map", "Baselines against COEBL; above 0, COEBL is ahead", heat_map, suffixes=_ONE),
    _figure("by-c", "COEBL by c; lower is better, and the ring is the least", by_c, suffixes=_ONE, varied=False),
]
