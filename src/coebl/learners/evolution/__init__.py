"""Evolutionary operators that compose: mutation, recombination, selection, populations (docs/evolution.md).

Every registered operator can be imported from here.

>>> from coebl.learners import Coebl
>>> from coebl.learners.evolution import MUTATIONS, POPULATIONS, RECOMBINATIONS, SELECTIONS, Pool, Sparse, Student
>>> learner = Coebl(mutation=Sparse(of=Student(freedom=4)), population=Pool(size=5, mutants=10))
>>> str(learner)
'coebl:mutation=sparse:of=student:freedom=4,population=pool:size=5+mutants=10'
>>> MUTATIONS.make("sparse:of=student:freedom=4") == learner.mutation
True
>>> RECOMBINATIONS.names[:3], POPULATIONS.names[:2], SELECTIONS.names[:3]
(['none', 'row', 'column'], ['pool', 'hosts'], ['elitist', 'none', 'comma'])
"""

from typing import Any

from coebl.learners.evolution.breeding import Generation
from coebl.learners.evolution.selection import POPULATIONS, SELECTIONS, Population, Selection
from coebl.learners.evolution.variation import MUTATIONS, RECOMBINATIONS, Mutation, Recombination

__all__ = [
    "MUTATIONS",
    "POPULATIONS",
    "RECOMBINATIONS",
    "SELECTIONS",
    "Generation",
    "Mutation",
    "Population",
    "Recombination",
    "Selection",
]


def _operators() -> dict[str, Any]:
    """Return the classes of all registered operators by their names."""
    entries = (entry for names in (MUTATIONS, RECOMBINATIONS, SELECTIONS, POPULATIONS) for entry in names)
    return {entry.factory.__name__: entry.factory for entry in entries}


def __getattr__(name: str) -> Any:
    if (operators := _operators()).get(name):
        return operators[name]
    raise AttributeError(f"module 'coebl.learners.evolution' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_operators()})
