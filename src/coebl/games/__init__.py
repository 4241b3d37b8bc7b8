"""Games: the payoff matrix with its noise, a catalogue of them, files, and interchange with other libraries."""

from coebl.games.catalogue import GAMES, parse_game
from coebl.games.game import Game
from coebl.games.io.files import SUFFIXES, load_game, read_game, write_game
from coebl.games.noise import NOISES, Noise, parse_noise

__all__ = [
    "GAMES",
    "NOISES",
    "SUFFIXES",
    "Game",
    "Noise",
    "load_game",
    "parse_game",
    "parse_noise",
    "read_game",
    "write_game",
]
