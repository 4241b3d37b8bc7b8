"""The engine: streams of random numbers, the loop over rounds, what a run leaves behind."""

from coebl.engine.match import Match
from coebl.engine.player import Player
from coebl.engine.result import Result
from coebl.engine.simulate import PolicyError, Record, simulate

__all__ = ["Match", "Player", "PolicyError", "Record", "Result", "simulate"]
