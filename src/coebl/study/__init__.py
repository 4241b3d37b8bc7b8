"""Studies: many matches over many seeds, described by one file, stored cell by cell, run here or on a cluster.

>>> from coebl.study import EXAMPLE, parse_study
>>> print(EXAMPLE.splitlines()[2])
name = "example"           # letters, digits, - _ .
>>> parse_study(EXAMPLE).name
'example'
"""

from coebl.study.cell import Cell
from coebl.study.errors import StudyError
from coebl.study.results import Results
from coebl.study.runner import RunSummary, run
from coebl.study.store import Store as Store
from coebl.study.studies import EXAMPLE, Study, parse_study, read_study

__all__ = ["EXAMPLE", "Cell", "Results", "RunSummary", "Study", "StudyError", "parse_study", "read_study", "run"]
