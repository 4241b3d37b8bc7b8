"""Plots of results: curves with bands, heat maps, sweeps, policies.

Each function reads the results of a study, or a Polars frame in the columns of `Results.curves`, draws on the given
matplotlib axes or on those of a new figure, and returns them. `plot_simplex` shows one run of a `Result`.

>>> from coebl.plots import FORMATS, plot_curves, save
>>> from coebl.study import Results
>>> results = Results("results")
>>> ax = plot_curves(results, "pseudo_regret", {"UCB": ("rps", "ucb", "exp3")})
>>> [path.name for path in save(ax.figure, "figures", "ucb-v-exp3", FORMATS)]
['ucb-v-exp3.pdf', 'ucb-v-exp3.svg', 'ucb-v-exp3.png']
"""

from coebl.plots.curves import Reference, plot_curves, plot_panels, plot_reference
from coebl.plots.heat_map import plot_heat_map
from coebl.plots.hitting import plot_ecdf, plot_scaling
from coebl.plots.policy_plots import plot_simplex
from coebl.plots.style import FORMATS, save
from coebl.plots.sweep import Best, plot_sweep, plot_sweeps

__all__ = [
    "FORMATS",
    "Best",
    "Reference",
    "plot_curves",
    "plot_ecdf",
    "plot_heat_map",
    "plot_panels",
    "plot_reference",
    "plot_scaling",
    "plot_simplex",
    "plot_sweep",
    "plot_sweeps",
    "save",
]
