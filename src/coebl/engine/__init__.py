"""The engine: streams of random numbers, the loop over rounds, what a run leaves behind."""

from coebl.engine.match import Match
from coebl.engine.player import Player
from coebl.engine.recorder import Keep
from coebl.engine.result import Result
from coebl.engine.seated import PolicyError
from coebl.engine.simulate import Record, simulate

__all__ = ["Keep", "Match", "Player", "PolicyError", "Record", "Result", "simulate"]
