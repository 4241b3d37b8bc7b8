"""Black-box search in games of bit strings: the contract (`base`), and the algorithms (`coevolution`).

A search chooses the genomes of both players, where a learner chooses the actions of one.

>>> from coebl.search.coevolution import Pdcoea
>>> str(Pdcoea(population=90, chi=0.1))
'pdcoea:population=90,chi=0.1'
"""

from coebl.search.base import Pairs, Search

__all__ = ["Pairs", "Search"]
