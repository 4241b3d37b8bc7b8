"""The catalogue of games.

To add one, write a function here and put ``@GAMES.add("its-name", title="Its name")`` above it. A spec can set its
parameters, whose annotations hold their limits and their meaning; if some have no default, add an example such as
``example="its-name:n=3"``. The docstring opens with the sentence that `coebl list games` prints. It continues with the
matrix or the rule, the source and, if they are known, the value and the equilibrium: x is the strategy of the row
player, y that of the column player. Random games are in `coebl.games.random_games`.
"""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Literal

import numpy as np

from coebl.core.errors import InputError
from coebl.core.specs import Range, Share
from coebl.games import genome_games as genes
from coebl.games.game import Game, ZeroSumGame
from coebl.games.genomes import MOST_LISTED, GenomeGame
from coebl.games.noise import NOISES
from coebl.games.registry import GAMES, OtherGame, Seed, parse_matrix

_MOST_ACTIONS = 2000  # of blotto, whose number of actions grows fast: 2000 x 2000 payoffs take 32 MB

# Parameters that several games have
_BITS = Range(1, genes.MOST_COUNTED, note=f" with space=bits, 1 .. {MOST_LISTED} without")
_BitCount = Annotated[int, _BITS, "the bits of an action, at most 10 with space=indices"]
Genes = Annotated[int, Range(1, genes.MOST_COUNTED), "the number of genes"]
_Mask = Annotated[bool, "for genomes, true if hidden masks are drawn for each seed"]
_SpaceName = Annotated[
    Literal["indices", "bits"], "bits if actions are genomes and policies marginals; indices if actions are numbered"
]

_RPS = ["rock", "paper", "scissors"]


@GAMES.add("rps", title="Rock-paper-scissors")
def rps() -> Game:
    """The classic game, with the payoffs of the paper's table.

    [[0, 1, -1], [-1, 0, 1], [1, -1, 0]]: rock against paper pays the row player 1, the transpose of the usual game.
    Value 0; x = y = (1/3, 1/3, 1/3), unique.
    """
    return Game([[0, 1, -1], [-1, 0, 1], [1, -1, 0]], row_labels=_RPS, column_labels=_RPS)


@GAMES.add("biased-rps", title="Biased rock-paper-scissors")
def biased_rps() -> Game:
    """Rock-paper-scissors with unequal stakes, so that the equilibrium is far from uniform.

    [[0, -25, 50], [25, 0, -5], [-50, 5, 0]] / 50: OpenSpiel's `matrix_brps`, scaled into [-1, 1].
    Value 0; x = y = (1/16, 5/8, 5/16), unique.
    """
    payoff = np.array([[0, -25, 50], [25, 0, -5], [-50, 5, 0]]) / 50
    return Game(payoff, row_labels=_RPS, column_labels=_RPS)


@GAMES.add("perturbed-rps", title="Perturbed rock-paper-scissors")
def perturbed_rps() -> Game:
    """Rock-paper-scissors in which rock against paper counts a third as much as the other pairs.

    [[0, -1, 3], [1, 0, -3], [-3, 3, 0]] / 3: a common test of last-iterate convergence. Its original source could not
    be checked.
    Value 0; x = y = (3/7, 3/7, 1/7), unique.
    """
    payoff = np.array([[0, -1, 3], [1, 0, -3], [-3, 3, 0]]) / 3
    return Game(payoff, row_labels=_RPS, column_labels=_RPS)


@GAMES.add("matching-pennies", title="Matching pennies")
def matching_pennies() -> Game:
    """The row player wins if both show the same side.

    [[1, -1], [-1, 1]]. Value 0; x = y = (1/2, 1/2), unique.
    """
    sides = ["heads", "tails"]
    return Game([[1, -1], [-1, 1]], row_labels=sides, column_labels=sides)


@GAMES.add("diagonal", title="Diagonal", example="diagonal:n=3")
def diagonal(
    n: _BitCount,
    space: _SpaceName = "indices",
    binary: Annotated[bool, "true for the runtime papers' game: 1 if |u|_1 >= |v|_1, else 0; its value is 1"] = False,
    mask: _Mask = True,
) -> ZeroSumGame:
    """The bitstring with more ones wins; each player chooses among all 2^n.

    The payoff is the sign of |u|_1 - |v|_1. Lin and Lehre (2024), with the draw that the paper adds.
    Value 0; the unique equilibrium is pure: both play the string of n ones, the last action.
    """
    game = (genes.BinaryDiagonal if binary else genes.Diagonal)(n, mask=mask)
    return game if space == "bits" else _listed("diagonal", game)


@GAMES.add("bigger-number", title="BiggerNumber", example="bigger-number:n=2")
def bigger_number(
    n: _BitCount,
    original: Annotated[bool, "true if a difference of 1 counts twice, as in the source; for space=indices"] = False,
    space: _SpaceName = "indices",
    mask: _Mask = True,
    shuffle: Annotated[bool, "for genomes, true if the order of significance is drawn for each seed too"] = False,
) -> ZeroSumGame:
    """The larger of two numbers of n bits wins.

    The payoff is the sign of x - y, for x and y in 0 .. 2^n - 1, as in the paper, which simplifies its IJCAI 2024
    source; with original=true, 2 or -2 where x and y differ by exactly 1, as the paper describes that source.
    Value 0; the unique equilibrium is pure: both play the largest number, the last action.
    """
    game = genes.BiggerNumber(n, shuffle, mask=mask)
    if space == "bits":
        if original:
            raise InputError("bigger-number: original is true with space=bits; accepted: one of them. Leave one out.")
        return game
    listed = _listed("bigger-number", game)
    if not original:
        return listed
    difference = np.subtract.outer(np.arange(2**n), np.arange(2**n))
    payoff = np.where(np.abs(difference) == 1, 2 * difference, listed.payoff)
    return Game(payoff, row_labels=listed.row_labels, column_labels=listed.row_labels, payoff_range=(-2, 2))


def _listed(name: str, game: GenomeGame) -> Game:
    if game.n > MOST_LISTED:
        raise InputError(f"{name}: n is {game.n}; accepted: an integer, {_BITS}.")
    return game.to_matrix()


@GAMES.add("blotto", title="Colonel Blotto")
def blotto(
    coins: Annotated[int, Range(1, 1000), "the coins of each player"] = 6,
    fields: Annotated[int, Range(1, 100), "the number of battlefields"] = 3,
) -> Game:
    """Both spread coins over battlefields, and the player who wins more fields gets 1.

    The larger stake wins a field, and equal stakes win nothing; the payoff is the sign of the fields won minus the
    fields lost. Actions are all ordered ways to spread all the coins, such as 3/2/1. Borel (1921).
    Value 0, by symmetry; the equilibrium is in general not unique.
    """
    count = math.comb(coins + fields - 1, fields - 1)
    if count > _MOST_ACTIONS:
        raise InputError(
            f"blotto: coins={coins},fields={fields} makes {count:.5g} actions; accepted: at most {_MOST_ACTIONS}. "
            "Use fewer coins or fields."
        )
    # Stars and bars: the coins of a field are the places between two neighbouring bars.
    places = coins + fields - 1
    bars = [(-1, *chosen, places) for chosen in itertools.combinations(range(places), fields - 1)]
    stakes = np.diff(np.array(bars), axis=1) - 1  # (actions, fields)
    balance = sum(np.sign(np.subtract.outer(stake, stake)) for stake in stakes.T)
    labels = ["/".join(str(stake) for stake in action) for action in stakes]
    return Game(np.sign(balance), row_labels=labels, column_labels=labels, payoff_range=(-1, 1))


@GAMES.add("kuhn-poker", title="Kuhn poker")
def kuhn_poker() -> Game:
    """Kuhn's three-card poker in full strategic form, 64 x 64.

    Both ante 1 and get one of the cards J, Q, K. The row player checks or bets 1; after a check so does the column
    player; a player who faces a bet folds or calls, and the higher card wins the pot. An action fixes for each card the
    first move and the reply to a bet, "J:bet/fold Q:check/call K:check/call" for instance. Payoffs are exact
    expectations over the six deals. Kuhn (1950).
    Value -1/18; not unique: a player who bets first never faces a bet, so only 27 of the 64 rows differ.
    """
    plans = list(itertools.product(("check", "bet"), ("fold", "call")))  # of a card: first move, reply to a bet
    strategies = list(itertools.product(range(len(plans)), repeat=3))
    plan = np.array(strategies)  # (64, 3), the plan for each card
    payoff = np.zeros((64, 64))
    for row_card, column_card in itertools.permutations(range(3), 2):
        sign = 1 if row_card > column_card else -1
        hands = np.array([[_kuhn_hand(row, column, sign) for column in plans] for row in plans])
        payoff += hands[np.ix_(plan[:, row_card], plan[:, column_card])]
    labels = [
        " ".join(f"{card}:{'/'.join(plans[k])}" for card, k in zip("JQK", strategy, strict=True))
        for strategy in strategies
    ]
    return Game(payoff / 6, row_labels=labels, column_labels=labels, payoff_range=(-2, 2))


def _kuhn_hand(row: tuple[str, str], column: tuple[str, str], sign: int) -> int:
    """Return the row player's payoff for two plans; sign is 1 if the row player has the higher card, else -1."""
    if row[0] == "bet":
        return 1 if column[1] == "fold" else 2 * sign
    if column[0] == "check":
        return sign
    return -1 if row[1] == "fold" else 2 * sign


@GAMES.add("hide-and-seek", title="Hide and seek")
def hide_and_seek(
    weights: Annotated[tuple[float, ...], Range(0, open_low=True), "the prize of each place"] = (1.0, 2.0, 4.0),
) -> Game:
    """The row player seeks, and wins the prize of the place in which the column player hides.

    diag(weights), with the weights written as 1/2/4. After von Neumann's game of the same name (1953).
    Value 1 / sum(1/w); x = y, in proportion to 1/w, unique.
    """
    return Game(np.diag(weights))


@GAMES.add("trap", title="Trap")
def trap(r: Annotated[float, Range(-1, 1), "the payoff of the trap"] = 1.0) -> Game:
    """A 2 x 2 game whose large payoff r is a trap, designed to mislead Thompson sampling.

    [[r, 0], [0, -1]]: O'Donoghue, Lattimore and Osband (2021), equation (9).
    For r > 0: value 0, x = (1, 0), y = (0, 1), unique. For r = 0: value 0, x = (1, 0), any y.
    For r < 0: value r / (1 - r), x = y = (1, -r) / (1 - r), unique; so at r = -1, -1/2 and uniform.
    """
    return Game([[r, 0.0], [0.0, -1.0]], payoff_range=(-1, 1))


@GAMES.add("ito", title="Ito et al. (2 x 2)")
def ito(
    family: Annotated[Literal[1, 2, 3, 4], "the number of the family"] = 1,
    epsilon: Annotated[float, Range(0, 1, open_low=True), "the small gap, e"] = 0.1,
) -> Game:
    """Four families of 2 x 2 games that are easy or hard to learn, depending on the gaps at the equilibrium.

    They cover the four cases of the analysis of Ito, Luo, Tsuchiya and Wu (2025). The constants of the source could
    not be checked: those here are ours. All equilibria are unique. With e for epsilon:

    1. [[0, e], [-e, 0]]: strict and pure, small gaps. Value 0, x = y = (1, 0).
    2. [[0, 1], [-e, 0]]: strict and pure, a small gap and a large one. Value 0, x = y = (1, 0).
    3. [[e, 0], [0, e]]: mixed, symmetric. Value e/2, x = y = (1/2, 1/2).
    4. [[1, 0], [0, e]]: mixed, lopsided. Value e / (1 + e), x = y = (e, 1) / (1 + e).

    The payoff range is -1 .. 1 for all, so that it does not reveal epsilon.
    """
    payoff = {
        1: [[0.0, epsilon], [-epsilon, 0.0]],
        2: [[0.0, 1.0], [-epsilon, 0.0]],
        3: [[epsilon, 0.0], [0.0, epsilon]],
        4: [[1.0, 0.0], [0.0, epsilon]],
    }[family]
    return Game(payoff, payoff_range=(-1, 1))


@GAMES.add("maiti", title="Maiti et al. (2 x 2)")
def maiti() -> Game:
    """A 2 x 2 game with a mixed equilibrium, after Maiti et al. (2023).

    [[2/3, 0], [0, 1/3]]. Value 2/9; x = y = (1/3, 2/3), unique.
    """
    return Game([[2 / 3, 0], [0, 1 / 3]])


@GAMES.add("scaled", title="Scaled game", example="scaled:game=rps,scale=0.1")
def scaled(
    game: OtherGame,
    scale: Annotated[float, Range(0, open_low=True), "the factor of its payoffs"] = 1.0,
    shift: Annotated[float, "the number that is then added"] = 0.0,
    noise: Annotated[str, NOISES, "the noise of the rewards; by default that of the other game, unscaled"] = "",
) -> Game:
    """Another game with its payoffs multiplied by a number, then shifted.

    scale A + shift: a small scale makes the signal weak beside the noise, and a shift moves the value away from zero.
    The payoff range moves with the payoffs. Commas of the inner spec are written +, as in
    scaled:game=random-skew:n=4+seed=2,shift=3.
    The equilibria are those of the other game; the value is scale times its value plus the shift.
    """
    original = parse_matrix(game)
    low, high = original.payoff_range
    return Game(
        scale * original.payoff + shift,
        row_labels=original.row_labels,
        column_labels=original.column_labels,
        noise=noise or original.noise,
        payoff_range=(scale * low + shift, scale * high + shift),
    )


@GAMES.add("bilinear", title="Bilinear", example="bilinear:n=4")
def bilinear(
    n: Genes,
    alpha: Annotated[Share, "the equilibrium share of ones of the column player"] = 0.5,
    beta: Annotated[Share, "the equilibrium share of ones of the row player"] = 0.5,
    mask: _Mask = True,
) -> GenomeGame:
    """The payoff depends on the shares of ones of both genomes, u and v: it is (u - beta)(v - alpha).

    The game of the runtime papers, in units of shares.
    Value 0; every mixture with mean shares beta and alpha is an equilibrium.
    """
    return genes.Bilinear(n, alpha, beta, mask=mask)


@GAMES.add("lead", title="Lead", example="lead:n=4")
def lead(
    n: Genes, power: Annotated[float, Range(0, 10), "the power of the lead"] = 1.0, mask: _Mask = True
) -> GenomeGame:
    """The genome with more ones wins a power of its lead: sign(d) |d|^power, where d = (|u|_1 - |v|_1) / n.

    With power=0 it is diagonal; a larger power makes small leads weak signals.
    Value 0; the unique equilibrium is pure: both play n ones.
    """
    return genes.CountGame(
        lambda k, l: np.sign(k - l) * np.abs((k - l) / n) ** power, n, payoff_range=(-1, 1), mask=mask
    )


@GAMES.add("gene-bilinear", title="Gene-bilinear", example="gene-bilinear:n=4")
def gene_bilinear(
    n: Annotated[int, Range(1, 1000), "the number of genes"],
    seed: Seed = 0,
    interaction: Annotated[float, Range(0), "the weight of pairs of genes, relative to single genes"] = 1.0,
    mask: _Mask = True,
) -> GenomeGame:
    """A random game that is linear in the genes of each player, [1, X]' C [1, Y] with X and Y in {-1, 1}^n.

    The entries of C are independent and normal, with variance 0.5 / n for single genes, interaction^2 / n^2 for pairs
    and 0 for the constant.
    The value is that of a linear program; an equilibrium may be pure, mixed, or pure in some genes only.
    """
    random = np.random.default_rng(seed)
    own, other = math.sqrt(0.5 / n) * random.standard_normal((2, n))
    pairs = interaction / n * random.standard_normal((n, n))
    # In bits: X = 2x - 1, Y = 2y - 1.
    return genes.GeneBilinear(
        pairs.sum() - own.sum() - other.sum(),
        2 * own - 2 * pairs.sum(axis=1),
        2 * other - 2 * pairs.sum(axis=0),
        4 * pairs,
        mask=mask,
    )


@GAMES.add("coverage", title="Coverage", example="coverage:n=4")
def coverage(
    n: Annotated[int, Range(1, 1000), "the number of targets"],
    seed: Seed = 0,
    spill: Annotated[Share, "how much covering a target protects its neighbours"] = 0.5,
    mask: _Mask = True,
) -> GenomeGame:
    """An attacker, the row player, hits some of n targets, and a defender covers some; both pay costs.

    A target that is hit pays its value to the attacker. Covering a target takes away all of its value, and spill / 2
    of the value of each of its two neighbours in a circle. Values are uniform on 0.5 .. 1.5, costs of hitting
    0.2 to 0.6 and of covering 0.1 to 0.4 times the value, all divided by n.
    The value is that of a linear program.
    """
    random = np.random.default_rng(seed)
    worth = random.uniform(0.5, 1.5, n) / n
    hitting, covering = random.uniform(0.2, 0.6, n) * worth, random.uniform(0.1, 0.4, n) * worth
    circle = np.eye(n)
    protects = circle + spill / 2 * (np.roll(circle, 1, axis=1) + np.roll(circle, -1, axis=1))
    return genes.GeneBilinear(0.0, worth - hitting, covering, -worth[:, None] * protects, mask=mask)
