"""The engine: streams of random numbers, the loop over rounds, what a run leaves behind."""

from coebl.engine.loop import PolicyError, Record, simulate
from coebl.engine.match import Match
from coebl.engine.player import Player
from coebl.engine.result import Result

__all__ = ["Match", "Player", "PolicyError", "Record", "Result", "simulate"]
