"""The engine: matches, the loop over rounds, results, and players for real contests.

>>> from coebl.engine import Keep, Record, simulate
>>> record: Record = 50
>>> keep: list[Keep] = ["actions", "policies"]
>>> result = simulate("rps", "ucb", "exp3", rounds=100, seeds=4, record=record, keep=keep)
>>> result.rounds, result.kept["actions"][0].shape
(array([ 50, 100]), (100, 4))
"""

from coebl.engine.genome_player import GenomePlayer
from coebl.engine.match import Match
from coebl.engine.player import Player
from coebl.engine.records import Interval, Ticket
from coebl.engine.result import Keep, Result
from coebl.engine.simulate import Record, simulate
from coebl.engine.table import PolicyError

__all__ = [
    "GenomePlayer",
    "Interval",
    "Keep",
    "Match",
    "Player",
    "PolicyError",
    "Record",
    "Result",
    "Ticket",
    "simulate",
]
