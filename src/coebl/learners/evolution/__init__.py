"""Evolutionary operators that compose: mutation, recombination, selection, populations (docs/evolution.md).

>>> from coebl.learners.evolution import MUTATIONS, POPULATIONS, RECOMBINATIONS, SELECTIONS
>>> MUTATIONS.make("gaussian"), POPULATIONS.make("pool:size=5,mutants=10")
(Gaussian(), Pool(size=5, mutants=10, play='mean', turnover=1.0))
>>> RECOMBINATIONS.names
['none', 'row', 'column', 'both', 'crossover']
>>> SELECTIONS.names
['elitist', 'none', 'comma', 'tournament', 'dominance']
"""

from coebl.learners.evolution.breeding import Breeder, Generation, Individuals, fitness
from coebl.learners.evolution.mutation import MUTATIONS, Mutation
from coebl.learners.evolution.population import POPULATIONS, Population
from coebl.learners.evolution.recombination import RECOMBINATIONS, Recombination
from coebl.learners.evolution.selection import SELECTIONS, Selection

__all__ = [
    "MUTATIONS",
    "POPULATIONS",
    "RECOMBINATIONS",
    "SELECTIONS",
    "Breeder",
    "Generation",
    "Individuals",
    "Mutation",
    "Population",
    "Recombination",
    "Selection",
    "fitness",
]
