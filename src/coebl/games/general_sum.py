"""The catalogue of games that are not zero-sum.

To add one, write a function here, as in `coebl.games.catalogue`. Its docstring lists the equilibria, which
`tests/games/test_general_equilibria.py` checks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.arrays import Floats
from coebl.core.errors import InputError
from coebl.core.specs import Positive, Range
from coebl.core.text import counted
from coebl.games.random_games import GENERAL_SUM, generator
from coebl.games.registry import GAMES, Columns, Rows, Seed
from coebl.games.tensor import TensorGame

Players = Annotated[int, Range(2, 8), "the number of players"]
_Positives = Annotated[tuple[float, ...], Range(0, open_low=True)]

_MOST_CELLS = 1_000_000  # joint actions of a game with a parameter `players`


def _symmetric(payoff: ArrayLike, labels: Sequence[str]) -> TensorGame:
    """Return a game in which the payoffs of the second player are those of the first, transposed."""
    return TensorGame((payoff, np.transpose(payoff)), labels=[labels, labels])


@GAMES.add("prisoners-dilemma", title="Prisoner's dilemma")
def prisoners_dilemma() -> TensorGame:
    """Both earn most together if they cooperate, but each earns more by defecting.

    Payoffs to the row player: [[3, 0], [5, 1]]; to the column player, the transpose. Tucker (1950).
    The unique equilibrium is (defect, defect), which pays 1 each; it is the only correlated equilibrium too.
    """
    return _symmetric([[3, 0], [5, 1]], ["cooperate", "defect"])


@GAMES.add("stag-hunt", title="Stag hunt")
def stag_hunt() -> TensorGame:
    """Hunting the stag together pays most, but hunting the hare is safe.

    Payoffs to the row player: [[4, 0], [3, 3]]; to the column player, the transpose. After Rousseau (1755).
    Three equilibria: (stag, stag) pays 4, (hare, hare) pays 3, and x = y = (3/4, 1/4) pays 3.
    """
    return _symmetric([[4, 0], [3, 3]], ["stag", "hare"])


@GAMES.add("chicken", title="Chicken")
def chicken() -> TensorGame:
    """Each wants to go straight while the other swerves, and a crash is worst.

    Payoffs to the row player: [[6, 2], [7, 0]]; to the column player, the transpose. Aumann (1974).
    Three equilibria: (swerve, straight) pays 2 and 7, (straight, swerve) pays 7 and 2, and x = y = (2/3, 1/3) pays 14/3
    each. The best correlated equilibrium pays 21/4 each: (swerve, swerve) with probability 1/2, and each of the pure
    equilibria with 1/4.
    """
    return _symmetric([[6, 2], [7, 0]], ["swerve", "straight"])


@GAMES.add("battle-of-the-sexes", title="Battle of the sexes")
def battle_of_the_sexes() -> TensorGame:
    """Both want to meet, at places that they rank differently.

    Payoffs: [[3, 0], [0, 2]] and [[2, 0], [0, 3]]. Luce and Raiffa (1957).
    Three equilibria: (opera, opera) pays 3 and 2, (fight, fight) pays 2 and 3, and x = (3/5, 2/5), y = (2/5, 3/5) pays
    6/5 each.
    """
    return TensorGame(([[3, 0], [0, 2]], [[2, 0], [0, 3]]), labels=[["opera", "fight"]] * 2)


@GAMES.add("coordination", title="Coordination")
def coordination(n: Annotated[int, Range(1, 1000), "the number of actions"] = 3) -> TensorGame:
    """Both earn 1 if they choose the same action, else nothing.

    Payoffs: the identity matrix to both.
    2^n - 1 equilibria: both play uniformly on the same set of k actions, which pays 1/k.
    """
    return TensorGame((np.eye(n), np.eye(n)))


@GAMES.add("shapley", title="Shapley's game")
def shapley() -> TensorGame:
    """A 3 x 3 game in which fictitious play cycles forever.

    Payoffs: [[1, 0, 0], [0, 1, 0], [0, 0, 1]] and [[0, 1, 0], [0, 0, 1], [1, 0, 0]]. Shapley (1964).
    The unique equilibrium is x = y = (1/3, 1/3, 1/3), which pays 1/3 each. A correlated equilibrium pays 1/2 each:
    uniform on the six cells in which someone earns 1.
    """
    return TensorGame((np.eye(3), np.roll(np.eye(3), 1, axis=1)))


@GAMES.add("travellers-dilemma", title="Traveller's dilemma")
def travellers_dilemma(
    high: Annotated[int, Range(1, 1000), "the highest price"] = 10,
    low: Annotated[int, Range(0, 1000), "the lowest price"] = 2,
    bonus: Annotated[float, Range(1, open_low=True), "the bonus for the lower price, at the other's expense"] = 2.0,
) -> TensorGame:
    """Two travellers name a price; both get the lower price, and whoever named it gets a bonus from the other.

    Actions are the integers from low to high. Basu (1994), with prices up to 100.
    The unique equilibrium is (low, low), far below what both would get with high prices.
    """
    if low >= high:
        raise InputError(f"travellers-dilemma: low is {low}; accepted: less than high, {high}.")
    prices = np.arange(low, high + 1)
    payoff = np.minimum.outer(prices, prices) - bonus * np.sign(np.subtract.outer(prices, prices))
    return _symmetric(payoff, [str(price) for price in prices])


@GAMES.add("cournot", title="Cournot competition")
def cournot(
    players: Players = 2,
    most: Annotated[int, Range(1, 100), "the largest quantity"] = 8,
    demand: Annotated[Positive, "the price of the first unit"] = 12.0,
    cost: Annotated[float, "the cost of a unit"] = 0.0,
) -> TensorGame:
    """Firms choose quantities, and the price falls with their sum.

    Actions are the quantities 0 .. most; a firm earns (max(0, demand - sum) - cost) times its quantity. Cournot (1838).
    With two firms the pure equilibria are (4, 4), (3, 5) and (5, 3): 4 = (demand - cost) / 3 is the equilibrium of real
    quantities, and the others exist because quantities are integers. The firms would earn most with a sum of 6.
    """
    quantities = _joint("cournot", players, most + 1)
    price = np.maximum(0.0, demand - quantities.sum(axis=0))
    return TensorGame([(price - cost) * quantity for quantity in quantities])


@GAMES.add("bertrand", title="Bertrand competition")
def bertrand(most: Annotated[int, Range(1, 1000), "the price at which nothing is sold"] = 10) -> TensorGame:
    """Two firms choose prices, and the cheaper firm sells to all.

    Actions are the prices 0 .. most; most - p units are sold at the lower price p, half by each firm if prices are
    equal. There are no costs. Bertrand (1883).
    The pure equilibria are (0, 0) and (1, 1), far below the price most / 2 at which firms would earn most together.
    """
    prices = np.arange(most + 1.0)
    share = (np.sign(np.subtract.outer(prices, prices)) * -1 + 1) / 2  # 1 if the row player is cheaper, 1/2 if equal
    return _symmetric(share * (prices * (most - prices))[:, None], [f"{price:g}" for price in prices])


@GAMES.add("first-price-auction", title="First-price auction")
def first_price_auction(
    values: Annotated[_Positives, "the object's worth to each bidder, written 5/3; two to eight bidders"] = (5.0, 3.0),
) -> TensorGame:
    """Bidders who know each other's values bid integers; the highest bidder wins the object and pays the bid.

    Bids are 0, 1, ... up to the largest value. Equal highest bids win with equal probability.
    With the values 5 and 3 the pure equilibria are (3, 2), (3, 3) and (4, 3).
    """
    if not 2 <= len(values) <= 8:
        raise InputError(f"first-price-auction: values has {counted(len(values), 'number')}; accepted: two to eight.")
    bids = _joint("first-price-auction", len(values), int(max(values)) + 1)
    wins = bids == bids.max(axis=0)
    return TensorGame(
        [(value - bid) * won / wins.sum(axis=0) for value, bid, won in zip(values, bids, wins, strict=True)]
    )


@GAMES.add("jordan", title="Jordan's game")
def jordan() -> TensorGame:
    """Matching pennies for three players: each but the last wants to match the next, the last to differ from the first.

    A player earns 1 for success, else -1. Jordan (1993).
    The unique equilibrium is uniform for all, which pays 0 each. A correlated equilibrium pays 1/3 each: uniform on the
    six cells in which two players succeed.
    """
    first, second, third = 1 - 2 * _joint("jordan", 3, 2)
    return TensorGame((first * second, second * third, -third * first), labels=[["heads", "tails"]] * 3)


@GAMES.add("congestion", title="Congestion")
def congestion(
    players: Players = 3,
    slopes: Annotated[_Positives, "the slope of each road's delay, written 1/2"] = (1.0, 2.0),
) -> TensorGame:
    """Each player chooses a road, whose delay grows with the number of players on it.

    The payoff is minus the slope of the road times the number of players on it. Rosenthal (1973).
    With three players and the slopes 1 and 2 the pure equilibria are the three joint actions with two players on the
    first road: every player has a delay of 2. Any such game has a pure equilibrium, a minimum of its potential.
    """
    roads = _joint("congestion", players, len(slopes)).astype(np.int64)
    on_road = np.stack([(roads == road).sum(axis=0) for road in range(len(slopes))])
    delay = np.array(slopes).reshape(-1, *[1] * players) * on_road
    return TensorGame([-np.take_along_axis(delay, road[None], axis=0)[0] for road in roads])


@GAMES.add("public-goods", title="Public goods")
def public_goods(
    players: Players = 3,
    tokens: Annotated[int, Range(1, 100), "the tokens of each player"] = 1,
    factor: Annotated[Positive, "the factor by which the pool is multiplied"] = 2.0,
) -> TensorGame:
    """Each player keeps tokens or gives them to a pool, which is multiplied and split evenly among all.

    Actions are the tokens given, 0 .. tokens. A player earns what it keeps plus factor / players of the pool.
    If the factor is between 1 and the number of players, as by default, no one gives anything in the unique
    equilibrium, which pays `tokens`; all would earn most if everyone gave everything.
    """
    given = _joint("public-goods", players, tokens + 1)
    return TensorGame([tokens - own + factor / players * given.sum(axis=0) for own in given])


@GAMES.add("random-general-sum", title="Random, general-sum")
def random_general_sum(
    m: Rows = 10,
    n: Columns = 10,
    correlation: Annotated[float, Range(-1, 1), "the correlation of both players' payoffs in a cell"] = 0.0,
    seed: Seed = 0,
) -> TensorGame:
    """Normal payoffs that are correlated between the two players.

    m x n, A_ij and B_ij ~ N(0, 1). With correlation -1 the game is zero-sum; with 1 both have the same payoffs.
    The equilibria are not known.
    """
    row, other = generator(seed, GENERAL_SUM).standard_normal((2, m, n))
    return TensorGame((row, correlation * row + math.sqrt(1 - correlation**2) * other))


def _joint(game: str, players: int, actions: int) -> Floats:
    """Return the action of each player in every joint action: (players, m1, ..., mN)."""
    if actions**players > _MOST_CELLS:
        raise InputError(
            f"{game}: {players} players with {actions} actions have {actions**players:,} joint actions; accepted: at "
            f"most {_MOST_CELLS:,}. Use fewer players or actions."
        )
    return np.indices((actions,) * players).astype(np.float64)
