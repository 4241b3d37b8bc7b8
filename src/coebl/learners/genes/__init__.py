"""Learners that play genomes: their policies are the probabilities of a 1, one per gene.

Rewards are used in units of half the known range, counted from its middle, so that no step depends on the units of the
game: `Seat.unit` gives them.
"""
