"""Evolutionary operators that compose: mutation, recombination, selection, populations (docs/evolution.md).

>>> from coebl.learners import Coebl
>>> from coebl.learners.evolution import MUTATIONS, Pool, Sparse, Student
>>> learner = Coebl(mutation=Sparse(of=Student(freedom=4)), population=Pool(size=5, mutants=10))
>>> str(learner)
'coebl:mutation=sparse:of=student:freedom=4,population=pool:size=5+mutants=10'
>>> MUTATIONS.make("sparse:of=student:freedom=4") == learner.mutation
True
"""

from coebl.learners.evolution.breeding import Breeder, Generation, Individuals, fitness
from coebl.learners.evolution.mutation import (
    MUTATIONS,
    Adaptive,
    Gaussian,
    GaussianProse,
    Inherited,
    Laplace,
    Mutation,
    Posterior,
    Sparse,
    Student,
)
from coebl.learners.evolution.population import POPULATIONS, Hosts, Pool, Population
from coebl.learners.evolution.recombination import (
    RECOMBINATIONS,
    Crossover,
    FromBoth,
    FromColumn,
    FromRow,
    Nothing,
    Recombination,
)
from coebl.learners.evolution.selection import SELECTIONS, Comma, Dominance, Elitist, Newest, Selection, Tournament

__all__ = [
    "MUTATIONS",
    "POPULATIONS",
    "RECOMBINATIONS",
    "SELECTIONS",
    "Adaptive",
    "Breeder",
    "Comma",
    "Crossover",
    "Dominance",
    "Elitist",
    "FromBoth",
    "FromColumn",
    "FromRow",
    "Gaussian",
    "GaussianProse",
    "Generation",
    "Hosts",
    "Individuals",
    "Inherited",
    "Laplace",
    "Mutation",
    "Newest",
    "Nothing",
    "Pool",
    "Population",
    "Posterior",
    "Recombination",
    "Selection",
    "Sparse",
    "Student",
    "Tournament",
    "fitness",
]
