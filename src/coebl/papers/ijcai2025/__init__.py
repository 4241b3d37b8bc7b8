"""Lin, "Randomised optimism via competitive co-evolution for matrix games with bandit feedback", IJCAI 2025.

`study.toml` has the experiments, `paper.toml` the variants, the claims and the words of the page. This module has the
games and roles, the checks of the claims, and the figures: those of the paper, and two others. Head to head, COEBL is
the column player.

The choice of measures of a figure is "paper", as in the published figures, or "noise-free": the same without the noise
of the rewards, and exploitability for KL and TV.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.specs import split_spec
from coebl.engine.match import MatchName
from coebl.evidence.checks import Check, Largest, Near, Sample, Setting, Sublinear, above, below
from coebl.learners import Coebl, parse_learner
from coebl.naming import game_title, learner_style, learner_title, learner_words, metric_words
from coebl.papers import Checks, Variant, read_paper
from coebl.papers.reproduce import Figure, Panel, Parts
from coebl.plots import Reference, plot_curves, plot_heat_map, plot_reference, plot_sweep
from coebl.plots.style import GUIDE, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from coebl.study import Results

SETTING = Setting(3000, "gaussian")  # of study.toml

SIZES = (2, 3, 4, 5, 6, 7)
MAIN_SIZES = (2, 3, 4)  # of the figures in the main text, and of the quick run
FAMILIES = ("diagonal", "bigger-number")
ROLES = ("coebl", "ucb", "exp3", "exp3-ix")  # the learners of the paper; a variant has the spec that plays each
BASELINES = ROLES[1:]
BEST_RESPONSE = "best-response"
REFERENCE = Reference("0.1 √(K² t)", lambda actions, rounds: 0.1 * actions * np.sqrt(rounds))
RATES = (0, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8)  # the c of the figure by-c


def coebl(rate: float) -> str:
    """Return the canonical spec of COEBL with this c."""
    return str(Coebl(c=rate))


def games(sizes: Sequence[int] = SIZES) -> list[str]:
    """Return rock-paper-scissors, then both families by size."""
    return ["rps", *(game for family in FAMILIES for game in family_of_games(family, sizes))]


def family_of_games(name: str, sizes: Sequence[int] = SIZES) -> list[str]:
    """Return the games of a family by size."""
    return [f"{name}:n={size}" for size in sizes]


def size_of(game: str) -> int | None:
    """Return the n of a game of the two families; None for rock-paper-scissors."""
    size = split_spec(game).arguments.get("n")
    return None if size is None else int(size)


def actions_of(game: str) -> int:
    """Return K, the number of actions of each player."""
    size = size_of(game)
    return 3 if size is None else 2**size


def has_bound(game: str) -> bool:
    """Return True if the theorem covers a game, T >= 2 m²; there, learners also meet a best response."""
    return 2 * actions_of(game) ** 2 <= SETTING.rounds


ROUNDS = SETTING.rounds
_CONVERGED = 0.05  # TV(x) + TV(y), on average over the last rounds
_SPAN = 100  # the number of first rounds, and of last rounds
DIAGONAL, BIGGER_NUMBER = map(family_of_games, FAMILIES)


def _duels(variant: Variant, chosen: Iterable[str], roles: Iterable[str] = BASELINES) -> list[Sample]:
    """Return the last rounds of the matches of the baselines against COEBL."""
    return [SETTING.end(variant.match(game, role, "coebl")) for game in chosen for role in roles]


def _last(match: MatchName) -> Sample:
    return SETTING.between(match, ROUNDS - _SPAN + 1, ROUNDS)


def _grows_sublinearly(match: MatchName) -> Check:
    """Return the check that the regret grows sublinearly over the last two thirds of the rounds."""
    return Sublinear((SETTING.end(match), SETTING.at(match, ROUNDS // 3)))


def _small_advantage(variant: Variant) -> list[Check]:
    samples = [SETTING.at(variant.match("rps", "ucb", "coebl"), round) for round in (2010, 2500, ROUNDS)]
    return [check for sample in samples for check in (above(sample, 5), below(sample, 10))]


def _speed(variant: Variant) -> list[Check]:
    """Return checks of distances at the end: Exp3's is larger than at the start, and faster learners are nearer.

    Means over all rounds would not show it: Exp3-IX begins at the uniform policy, the equilibrium of this game.
    """
    exp3 = variant.match("rps", "exp3")
    slow, coebl_, ucb = (_last(variant.match("rps", role)) for role in ("exp3-ix", "coebl", "ucb"))
    return [
        above(_last(exp3), minus=SETTING.between(exp3, 1, _SPAN)),
        above(slow, minus=coebl_),
        above(slow, minus=ucb),
    ]


def _beneath_the_line(variant: Variant) -> list[Check]:
    checks: list[Check] = []
    for game in DIAGONAL:
        match = variant.match(game, "coebl")
        checks.append(_grows_sublinearly(match))
        for round in (ROUNDS // 3, 2 * ROUNDS // 3, ROUNDS):
            checks.append(below(SETTING.at(match, round), 0.1 * actions_of(game) * math.sqrt(round)))
    return checks


def _ahead(chosen: Sequence[str], roles: Sequence[str] = BASELINES) -> Checks:
    """Return the checks that COEBL is ahead of the baselines on these games."""
    return lambda variant: [above(sample) for sample in _duels(variant, chosen, roles)]


def _convergence(converges: Sequence[str], others_do_not: Sequence[str], others: Sequence[str] = BASELINES) -> Checks:
    """Return the checks that COEBL converges in self-play on some games, and that other learners do not on some."""
    return lambda variant: [
        *(below(_last(variant.match(game, "coebl")), _CONVERGED) for game in converges),
        *(above(_last(variant.match(game, role)), _CONVERGED) for game in others_do_not for role in others),
    ]


def _numbers_on_diagonal(variant: Variant) -> list[Check]:
    duels = _duels(variant, DIAGONAL)
    six_first = sorted(duels, key=lambda sample: size_of(sample.match.game) != 6)
    return [
        *(above(sample, 16.2) for sample in duels),
        Largest(tuple(six_first), 0, first=len(BASELINES)),
        Near(tuple(duels), 389.8, "largest"),
    ]


def _convergence_of_ucb(variant: Variant) -> list[Check]:
    four, *larger = (_last(variant.match(game, "ucb", "coebl")) for game in family_of_games("diagonal", (4, 5, 6, 7)))
    return [below(four, _CONVERGED), *(above(sample, _CONVERGED) for sample in larger)]


def _numbers_on_bigger_number(variant: Variant) -> list[Check]:
    duels = _duels(variant, BIGGER_NUMBER)
    extremes = Near(tuple(duels), 8.39, "least"), Near(tuple(duels), 351.27, "largest")
    return [*(above(sample) for sample in duels), *extremes]


def _growth(variant: Variant) -> list[Check]:
    return [
        above(SETTING.end(variant.match(larger, role)), minus=SETTING.end(variant.match(smaller, role)))
        for family in FAMILIES
        for role in ROLES
        for smaller, larger in pairwise(family_of_games(family))
    ]


def _robustness(variant: Variant) -> list[Check]:
    ucb, own = (
        [SETTING.end(variant.match(game, role, BEST_RESPONSE)) for game in games() if has_bound(game)]
        for role in ("ucb", "coebl")
    )
    return [above(sample, minus=other) for sample, other in zip(ucb, own, strict=True)]


def _theorem(variant: Variant) -> list[Check]:
    rate = 8
    if variant.spec("coebl", "*") != coebl(rate):
        return []
    bounds = {game: Coebl.regret_bound(actions_of(game), actions_of(game), ROUNDS, rate) for game in games()}
    return [
        below(SETTING.end(MatchName(game, coebl(rate), BEST_RESPONSE)), bound)
        for game, bound in bounds.items()
        if bound is not None
    ]


CHECKS: dict[str, Checks] = {
    "C1": _small_advantage,
    "C2": _ahead(["rps"], ["exp3", "exp3-ix"]),
    "C3": lambda variant: [_grows_sublinearly(variant.match("rps", role)) for role in ROLES],
    "C4": _speed,
    "C5": _beneath_the_line,
    "C6": _convergence(DIAGONAL[:2], DIAGONAL[:2]),
    "C7": _convergence([], DIAGONAL[2:], ROLES),
    "C8": _numbers_on_diagonal,
    "C9": _ahead(DIAGONAL),
    "C10": _convergence_of_ucb,
    "C11": _convergence(BIGGER_NUMBER[:3], BIGGER_NUMBER),
    "C12": _numbers_on_bigger_number,
    "C13": _growth,
    "C14": _ahead(games()),
    "C15": _robustness,
    "C16": _theorem,
}


# Figures

Measure = dict[str, str]  # the metric by choice of measures
SELF_PLAY: Measure = {"paper": "regret_magnitude", "noise-free": "absolute_pseudo_regret"}
HEAD_TO_HEAD: Measure = {"paper": "regret", "noise-free": "pseudo_regret"}
_DIVERGENCE: Measure = {"paper": "kl", "noise-free": "exploitability"}
_DISTANCE: Measure = {"paper": "tv", "noise-free": "exploitability"}
_CONVERGENCE = "exploitability"  # in self-play

_Groups = list[list[Panel]]
Lines = dict[str, MatchName]  # by role

_AHEAD = "head-to-head; above 0, COEBL is ahead"


def heading(title: str, shown: Sequence[MatchName], variant: Variant) -> str:
    """Return the title of a figure, with the variant and COEBL's c in it."""
    learners = [parse_learner(spec) for spec in {spec for match in shown for spec in match[1:]}]
    rates = sorted({learner.c for learner in learners if isinstance(learner, Coebl)})
    named = f"{variant.title}, c = {' or '.join(f'{rate:g}' for rate in rates)}"
    return f"{title} ({variant.title if 'c =' in variant.title else named})"


_figure = partial(Figure, heading=heading, suffixes={"paper": "", "noise-free": "-noise-free"})


def line_title(role: str, match: MatchName) -> str:
    """Return the title of a line: the role in the first seat, and its opponent, unless it plays itself."""
    return learner_title(role) + f" v {learner_words(match.column).title}" * (match.row != match.column)


def curves(title: str, measure: Measure, lines: Lines, zoomed: bool = False, alike: bool = False) -> Panel:
    """Return a panel of curves, with a colour per role, and the reference lines and axes of the paper's figures."""
    game = next(iter(lines.values())).game
    styles = {line_title(role, match): learner_style(role) for role, match in lines.items()}

    def draw(results: Results, ax: Axes, parts: Parts, measures: str) -> None:
        plot_curves(results, measure[measures], {label: match for label, (match,) in parts.items()}, ax, styles, False)
        ax.set_title(title)
        ax.locator_params(axis="x", nbins=3)
        ax.locator_params(axis="y", nbins=5)
        if measure is SELF_PLAY:
            count = "K = 3" if game == "rps" else "$K = 2^n$"  # one entry of the legend for all panels
            rounds = range(0, SETTING.rounds + 1, SETTING.rounds // 100)
            plot_reference(ax, REFERENCE, actions_of(game), rounds, rf"$0.1\sqrt{{K^2 t}}$, {count}")
        if measure is HEAD_TO_HEAD:
            ax.axhline(0, **GUIDE)
        if zoomed:
            ax.set_yscale("log")
        elif measure is _DISTANCE:
            ax.set_ylim(-0.08, 2.08)  # the whole range in these games, so that panels are comparable

    parts = {line_title(role, match): [match] for role, match in lines.items()}
    return Panel(parts, draw, WIDTH / 3, 1.55, whole=True, alike=alike)


def _self_plays(variant: Variant, game: str) -> Lines:
    """Return the match of every learner against itself."""
    return {role: variant.match(game, role) for role in ROLES}


def duels(variant: Variant, game: str) -> Lines:
    """Return the match of every baseline against COEBL."""
    return {role: variant.match(game, role, "coebl") for role in BASELINES}


def _rps_self_play(variant: Variant) -> _Groups:
    """Return panels of regret, and of the distance to equilibrium, in full and on a log axis (the paper zooms in)."""
    lines = _self_plays(variant, "rps")
    distances = curves("distance to equilibrium", _DIVERGENCE, lines)
    zoomed = curves("the same, zoomed: log scale", _DIVERGENCE, lines, zoomed=True)
    return [[curves("regret", SELF_PLAY, lines), distances, zoomed]]


def _rps_head_to_head(variant: Variant) -> _Groups:
    """Return a panel per baseline."""
    lines = duels(variant, "rps")
    return [[curves(line_title(role, match), HEAD_TO_HEAD, {role: match}) for role, match in lines.items()]]


def by_size(
    family: str, sizes: Sequence[int], lines: Callable[[Variant, str], Lines], *measures: Measure
) -> Callable[[Variant], _Groups]:
    """Return the function that lists a row of panels per measure, with a panel per size."""

    def panels(variant: Variant) -> _Groups:
        by_game = {f"n = {size_of(game)}": lines(variant, game) for game in family_of_games(family, sizes)}
        return [
            [curves(title, measure, lines, alike=measure is HEAD_TO_HEAD) for title, lines in by_game.items()]
            for measure in measures
        ]

    return panels


def heat_map(variant: Variant) -> _Groups:
    """Return a heat map of games by baselines, with one colour scale for all variants."""
    rows = {
        game_title(game): {learner_title(role): match for role, match in duels(variant, game).items()}
        for game in games()
    }

    def draw(results: Results, ax: Axes, parts: Parts, measures: str) -> None:
        cells = {(label, baseline): match for label in parts for baseline, match in rows[label].items()}
        every = {match for other in VARIANTS.values() for game in games() for match in duels(other, game).values()}
        plot_heat_map(results, HEAD_TO_HEAD["noise-free"], cells, ax, alike=every.intersection(results.matches()))

    return [[Panel({label: [*row.values()] for label, row in rows.items()}, draw, 4.2, 0.5, 0.26)]]


def _by_c(variant: Variant) -> _Groups:
    """Return panels of COEBL's losses to a best response, and of its exploitability in self-play, by c, per game."""

    def panel(game: str, opponent: str) -> Panel:
        metric = HEAD_TO_HEAD["noise-free"] if opponent else _CONVERGENCE
        against = f"against a {learner_title(opponent)}" if opponent else "in self-play"

        def draw(results: Results, ax: Axes, parts: Parts, measures: str) -> None:
            best = plot_sweep(results, metric, {rate: match for rate, (match,) in parts.items()}, ax)
            ax.set_title(f"{game_title(game)}\nbest {best.value}", fontsize="small")
            ax.set_xlabel("c of COEBL")
            ax.set_ylabel(f"{metric_words(metric).in_a_sentence}\n{against}")
            ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
            ax.tick_params(axis="x", labelrotation=90)

        parts = {f"{rate:g}": [MatchName(game, coebl(rate), opponent or coebl(rate))] for rate in RATES}
        return Panel(parts, draw, WIDTH / 4, 1.75)

    shown = games(MAIN_SIZES)
    return [
        [panel(game, opponent) for game in row] for row in (shown[:4], shown[4:]) for opponent in (BEST_RESPONSE, "")
    ]


def _by_size_figures(sizes: Sequence[int], ending: str, *second: Measure) -> Iterator[Figure]:
    """Yield the figures of both families, self-play and head to head; `second` is shown below the latter's regret."""
    for family in FAMILIES:
        alone = by_size(family, sizes, _self_plays, SELF_PLAY, _DISTANCE)
        yield _figure(f"{family}-self-play{ending}", f"{game_title(family)}, self-play", alone)
        duelling = by_size(family, sizes, duels, HEAD_TO_HEAD, *second)
        yield _figure(f"{family}-head-to-head{ending}", f"{game_title(family)}, {_AHEAD}", duelling)


FIGURES = [
    _figure("rps-self-play", "Rock-paper-scissors, self-play", _rps_self_play),
    _figure("rps-head-to-head", f"Rock-paper-scissors, {_AHEAD}", _rps_head_to_head),
    *_by_size_figures(MAIN_SIZES, ""),
    *_by_size_figures(SIZES, "-all", _DISTANCE),
    Figure("heat-map", "Baselines against COEBL; above 0, COEBL is ahead", heat_map, heading),
    Figure("by-c", "COEBL by c; lower is better, and the ring is the least", _by_c, varied=False),
]

PAPER = read_paper(__name__, CHECKS, FIGURES, REFERENCE)
VARIANTS = PAPER.variants
