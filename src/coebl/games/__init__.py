"""Games: the payoff matrix with its noise, a catalogue of them, files, and interchange with other libraries."""

from coebl.games.game import Game
from coebl.games.noise import NOISES, Noise, parse_noise

__all__ = ["NOISES", "Game", "Noise", "parse_noise"]
