"""Metrics of games of genomes: against the matrix of all genomes, and by hand."""

import numpy as np
import pytest

from coebl import simulate
from coebl.core.errors import InputError
from coebl.games import FunctionGame, parse_game
from coebl.metrics import Block, Metric, parse_metrics
from oracles.metrics import OF_GENOMES, atoms

MATRIX = ["regret", "pseudo_regret", "absolute_regret", "regret_magnitude", "absolute_pseudo_regret", "exploitability"]
OF_FOUR_GENES = [
    "diagonal:n=4,space=bits",
    "bigger-number:n=3,space=bits",
    "gene-bilinear:n=4,seed=1",
    "bilinear:n=4,alpha=0.2",
]


def play(game, rounds=5, runs=3, seed=0):
    """A block of random marginals, with some at 0 and 1, and random genomes and rewards, of a game that was dealt."""
    random = np.random.default_rng(seed)
    policies = list(np.clip(random.uniform(-0.2, 1.2, (2, rounds, runs, game.n)), 0, 1))
    actions = list(random.integers(0, 2, (2, rounds, runs, game.n), np.int8))
    reward = random.normal(size=(rounds, runs))
    return Block(game.dealt(range(runs)), 1, policies, actions, [reward, -reward])


def listed(game, block, run):
    """The same rounds of one run, played in the matrix of all genomes."""
    matrix = game.dealt([run]).to_matrix()
    policies = [np.array([[atoms(policy)] for policy in seat[:, run]]) for seat in block.policies]
    actions = [np.array([[int("".join(map(str, genome)), 2)] for genome in seat[:, run]]) for seat in block.actions]
    return Block(matrix, 1, policies, actions, [reward[:, run : run + 1] for reward in block.rewards])


@pytest.mark.parametrize("spec", OF_FOUR_GENES)
def test_metrics_are_those_of_the_matrix_of_all_genomes(spec):
    game = parse_game(spec)
    block = play(game)
    names = [*MATRIX, "average_exploitability"] if game.linear else MATRIX
    for name in names:
        [metric] = parse_metrics([name], game, 3)
        values = metric(block)
        for run in range(3):
            same = listed(game, block, run)
            [twin] = parse_metrics([name], same.game, 1)
            assert values[:, run] == pytest.approx(twin(same)[:, 0], abs=1e-9), (name, run)


@pytest.mark.parametrize("name", OF_GENOMES)
@pytest.mark.parametrize("spec", OF_FOUR_GENES)
def test_metrics_of_genomes_agree_with_their_twins(spec, name):
    game = parse_game(spec)
    block = play(game)
    [metric] = parse_metrics([name], game, 3)
    values = metric(block)
    for run in range(3):
        payoff = game.dealt([run]).to_matrix().payoff.tolist()
        for t in range(5):
            pair = [policy[t, run].tolist() for policy in block.policies]
            assert values[t, run] == pytest.approx(OF_GENOMES[name](payoff, game.value, *pair), abs=1e-9)


def test_by_hand():
    game = parse_game("diagonal:n=2,space=bits,mask=false")
    policies = [np.array([[[1.0, 1.0]], [[0.5, 0.75]]]), np.array([[[0.0, 0.0]], [[1.0, 1.0]]])]
    genomes = [np.zeros((2, 1, 2), np.int8)] * 2
    block = Block(game, 1, policies, genomes, [np.zeros((2, 1))] * 2)
    by_hand = {
        "exploitability": [1.0, 1 - 0.375],  # 2 - P(11) - P(11)
        "exploitability_at_least": [0.0, 1 - 0.375],  # 00 loses to 11, and so do 01 and 10: no single gene gains
        "mode_exploitability": [1.0, 1.0],  # of 11 and 00, then of 01 and 11
        "disengaged": [1.0, 0.0],
        "entropy": [0.0, (1 + 0.811278124459133) / 4],
        "pseudo_regret": [-1.0, -1.0 + 0.625],
    }
    for name, values in by_hand.items():
        [metric] = parse_metrics([name], game, 1)
        assert metric(block)[:, 0] == pytest.approx(values), name


def test_a_lower_bound_is_at_most_the_exploitability():
    def valleys(x, y):  # ascent by single genes stops at local optima
        return np.cos(2.5 * (x.sum(axis=-1) - y.sum(axis=-1))) * (x.sum(axis=-1) + 1) / (x.shape[-1] + 1)

    game = FunctionGame(valleys, 6)
    block = play(game, 4, 3)
    least, gap = (metric(block) for metric in parse_metrics(["exploitability_at_least", "exploitability"], game, 3))
    assert (least <= gap + 1e-12).all()
    assert (least < gap - 1e-3).any()


def test_a_game_without_oracles_has_the_metrics_of_rewards_alone():
    game = FunctionGame(lambda x, y: (x ^ y).mean(axis=-1), 12, name="mine")
    allowed = {metric.name: metric.needs for metric in parse_metrics(["all"], game, 2)}
    assert "entropy" in allowed
    assert set().union(*allowed.values()) <= {"genomes"}
    with pytest.raises(InputError, match="exploitability needs a game with an exact best response, which mine does"):
        simulate(game, "uniform", "uniform", rounds=3, seeds=2, metrics=["exploitability"])


def test_all_metrics_of_a_game_of_genomes():
    allowed = {metric.name for metric in parse_metrics(["all"], parse_game("gene-bilinear:n=30"), 2)}
    of_matrices = {"kl", "tv", "external_regret", "column_external_regret", "swap_regret"}
    assert allowed.isdisjoint(of_matrices | {"welfare", "welfare_ratio"})
    assert allowed >= {"regret", "pseudo_regret", "exploitability", "nash_conv", "mode_exploitability", "entropy"}


class Support(Metric):
    name = "support"

    def __call__(self, block):
        return (block.policies[0] > 0.01).sum(axis=-1)


class Earned(Metric):
    name = "earned"

    def __call__(self, block):
        return block.reward + 0 * block.outcomes.expected + len(block.policies)


class Genes(Support):
    needs = frozenset({"genomes"})


@pytest.mark.parametrize("until", [None, "regret > 1e9"])
def test_genes_are_not_taken_for_actions(until):
    """Policies are marginals here, so the probabilities above 0.01 are not a support."""
    game, options = "bigger-number:n=4,space=bits", {"rounds": 3, "seeds": 2, "until": until}
    with pytest.raises(
        InputError, match=r"^support reads policies or actions, which are of genes in bigger-number.*; w"
    ):
        simulate(game, "uniform", "uniform", metrics=[Support], **options)
    assert (simulate(game, "uniform", "uniform", metrics=[Genes], **options).final("support") == 4).all()
    simulate(game, "uniform", "uniform", metrics=[Earned], **options)
    assert (simulate("rps", "uniform", "uniform", metrics=[Support], **options).final("support") == 3).all()
