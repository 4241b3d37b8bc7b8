"""Evolutionary operators that compose: mutation of estimated payoffs, selection between policies."""

from coebl.learners.evolution.mutation import MUTATIONS, Mutation
from coebl.learners.evolution.selection import SELECTIONS, Selection, fitness

__all__ = ["MUTATIONS", "SELECTIONS", "Mutation", "Selection", "fitness"]
