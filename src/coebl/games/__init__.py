"""Games: payoff matrices with noise, a catalogue, files, and interchange with other libraries.

>>> from coebl.games import GAMES, NOISES, SUFFIXES
>>> GAMES.make("diagonal:n=2").payoff.shape, GAMES["rps"].title
((4, 4), 'Rock-paper-scissors')
>>> NOISES.names[:3]
['gaussian', 'misstated', 'none']
>>> sorted(SUFFIXES)
['.csv', '.json', '.nfg', '.npy']
"""

from coebl.games import catalogue, random_games, general_sum  # noqa: I001 - each registers its games, in this order
from coebl.games.game import AnyGame, Game, NamedGame, ZeroSumGame, is_zero_sum
from coebl.games.game_files import SUFFIXES, read_game, write_game
from coebl.games.equilibria import Correlated, Profile
from coebl.games.genome_games import BiggerNumber, Bilinear, BinaryDiagonal, CountGame, Diagonal, GeneBilinear
from coebl.games.genomes import FunctionGame, GenomeGame
from coebl.games.noise import NOISES, Noise, parse_noise
from coebl.games.random_games import DriftingGame
from coebl.games.registry import GAMES, parse_game, parse_matrix, solve
from coebl.games.spaces import Bits, Indices, Space
from coebl.games.tensor import TensorGame

__all__ = [
    "GAMES",
    "NOISES",
    "SUFFIXES",
    "AnyGame",
    "BiggerNumber",
    "Bilinear",
    "BinaryDiagonal",
    "Bits",
    "Correlated",
    "CountGame",
    "Diagonal",
    "DriftingGame",
    "FunctionGame",
    "Game",
    "GeneBilinear",
    "GenomeGame",
    "Indices",
    "NamedGame",
    "Noise",
    "Profile",
    "Space",
    "TensorGame",
    "ZeroSumGame",
    "catalogue",
    "general_sum",
    "is_zero_sum",
    "parse_game",
    "parse_matrix",
    "parse_noise",
    "random_games",
    "read_game",
    "solve",
    "write_game",
]
