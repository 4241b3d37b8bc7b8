"""Runs have not changed: digests of every metric of short matches, of a study, and of players.

If a change moves results, list it in the changelog and write the digests again:

    .venv/bin/python tests/test_unchanged.py

Runs have the same bits on every CPU: tests/test_portable.py.
"""

import hashlib
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars
import pytest

from coebl import Game, Match, Player, simulate
from coebl.study import Results, parse_study, run

FILE = Path(__file__).parent / "unchanged.json"

WIDE = Game(
    [[0.5, -1.0, 0.2, 0.0], [-0.3, 0.8, 0.1, -0.6], [0.9, -0.2, -0.7, 0.4]], name="3 x 4", payoff_range=(-1.0, 1.5)
)
TALL = Game(np.random.default_rng(1).uniform(-1, 1, (24, 20)), name="24 x 20")  # beyond the kernel for small games
LARGE = Game(np.random.default_rng(2).uniform(-1, 1, (60, 50)), name="60 x 50")  # single precision
MATCHES = [
    ("rps", "coebl:c=2", "coebl:c=2", 150, None),
    ("rps", "ucb", "coebl:c=2", 150, None),
    ("rps", "ucb", "ucb:ties=random", 150, "bernoulli"),
    ("rps", "exp3", "exp3-ix", 100, None),
    ("rps", "exp3-as-released", "exp3-ix-as-released", 60, None),
    ("biased-rps", "coebl:c=0.5,mutation=gaussian-prose", "ucb", 150, "laplace:sigma=0.5"),
    ("biased-rps", "exp3:rewards=raw", "nash", 60, "student-t"),
    ("diagonal:2", "coebl", "ucb", 150, None),
    ("diagonal:3", "coebl:c=2", "coebl:c=8,selection=none", 100, None),
    ("diagonal:4", "ucb", "coebl:c=2", 60, None),
    ("diagonal:4", "exp3", "coebl", 40, None),
    ("diagonal:5", "coebl", "coebl:c=2", 30, None),
    ("diagonal:5", "ucb", "ucb", 40, None),
    ("diagonal:6", "ucb", "coebl", 15, None),
    ("bigger-number:5", "ucb", "ucb", 400, None),  # long enough for the solver to repair what rounding has spoilt
    ("bigger-number:2", "coebl:c=2", "best-response", 150, None),
    ("bigger-number:3", "best-response", "ucb", 100, "exponential"),
    ("bigger-number:3", "exp3-ix", "best-response", 60, None),
    ("blotto:coins=4,fields=2", "uniform", "ucb:ties=random", 80, None),
    ("permuted:game=diagonal:2,seed=3", "ucb", "coebl:c=2", 80, "none"),
    ("hide-and-seek", "nash", "coebl:c=2", 80, None),
    ("trap:-1", "fixed:0.25/0.75", "ucb", 80, None),
    ("trap:1", "coebl:c=2", "switching:mixtures=1/0_0/1,at=20", 80, None),
    ("maiti", "exp3-ix", "ucb", 80, None),
    (WIDE, "coebl:c=0.5", "ucb", 120, None),
    (WIDE, "ucb:ties=random", "coebl:c=2,mutation=gaussian-prose,selection=none", 120, "bernoulli"),
    (WIDE, "exp3", "coebl:c=2", 80, None),
    (WIDE, "exp3-ix", "exp3:rewards=raw", 80, None),
    (TALL, "coebl:c=0.5", "ucb", 30, None),
    (TALL, "ucb:ties=random", "uniform", 30, None),
    (TALL, "exp3-ix", "coebl", 20, None),
    (LARGE, "coebl:c=0.5", "ucb", 15, None),
    (LARGE, "ucb", "coebl:c=2", 15, None),
    (WIDE, "thompson", "tsallis-inf", 60, None),
    (WIDE, "k-learning", "ots-rm", 40, None),
    (WIDE, "gp-mw:kernel=rbf", "maximin-ucb", 40, None),
    (WIDE, "hedge", "regret-matching", 40, None),
    (TALL, "ots-hedge", "gp-mw", 20, None),
    (TALL, "kin", "thompson", 20, None),
    ("hide-and-seek", "kin", "explore-then-commit", 60, None),
    ("biased-rps", "regret-matching-plus", "mmd", 60, None),
    ("rps", "exp3-ix-neu", "coebl:c=2,selection=comma,recombination=both,population=pool:size=2+mutants=4", 40, None),
    (WIDE, "strain:kinship=0", "kin", 60, None),
    (WIDE, "strain", "kin", 60, None),
    ("diagonal:n=20,space=bits", "pbil", "gene-lr", 60, None),
    ("bigger-number:n=6,space=bits,shuffle=true", "umda", "hill-climber", 80, "none"),
    ("gene-bilinear:n=5", "gene-bilin", "as-atoms:learner=exp3", 30, None),
    ("drifting:game=rps,every=20", "ucb:forgetting=0.99", "exp3", 60, None),
]
STUDY = """
name = "unchanged"
rounds = 40
seeds = 6
seeds_per_cell = 3
games = ["rps", "diagonal:n=[2,3]"]
learners = ["coebl:c=2", "ucb"]
noise = ["gaussian:sigma=0.5", "none"]
record = 5
metrics = ["regret", "pseudo_regret", "tv", "exploitability"]
[match-ups]
self-play = true
all-pairs = true
"""
PLAYERS = ["coebl:c=0.5", "ucb:ties=random", "exp3", "exp3-ix"]


def digest(values) -> str:
    numbers = np.asarray(values, dtype=np.float64)
    return hashlib.sha256((numbers + 0.0).tobytes()).hexdigest()[:24]  # -0.0 is 0.0


def title(match) -> str:
    game, row, column, rounds, noise = match
    return f"{getattr(game, 'name', game)}, {row} v {column}, {rounds} rounds, {noise or 'own'} noise"


def of_match(match) -> dict[str, str]:
    """A digest of every metric, and of how the match ended."""
    game, row, column, rounds, noise = match
    played = Match.of(game, row, column, rounds=rounds, noise=noise)
    kept = "counts" if isinstance(played.game, Game) else "actions"  # genomes cannot be counted
    result = simulate(played, [3, 0, 11, 7], record=3, metrics=["all"], keep=[kept])
    digests = {name: digest(values) for name, values in result.metrics.items()}
    digests |= {"row policy": digest(result.row_policy), "column policy": digest(result.column_policy)}
    return digests | {kept: digest(result.kept[kept])}


def of_study(folder: str) -> dict[str, str]:
    """The names of the stored cells, which digest all that they depend on, and a digest of their numbers."""
    outcome = run(parse_study(STUDY), folder, workers=2, quiet=True)
    assert not outcome.failed
    results = Results(folder)
    players = polars.col("players").list
    table = results.curves().sort("game", "noise", players.get(0), players.get(1), "rounds", "seed", "round")
    numbers = np.column_stack([table[name].to_numpy() for name in ("seed", "round", *results.metrics)])
    names = hashlib.sha256("".join(results.store.digests()).encode()).hexdigest()[:24]
    return {"cells": names, "numbers": digest(numbers)}


def of_player(spec: str) -> dict[str, str]:
    """The policies and actions of a player with fixed opponents and rewards."""
    player = Player(spec, actions=3, opponent_actions=4, horizon=60, seed=5, payoff_range=(-1.0, 1.5), noise=1.25)
    random = np.random.default_rng(4)
    actions, policies = [], []
    for _ in range(60):
        policies.append(player.policy)
        actions.append(player.act())
        opponent = int(random.integers(4))
        player.observe(opponent=opponent, reward=float(WIDE.payoff[actions[-1], opponent] + random.normal()))
    return {"actions": digest(actions), "policies": digest(policies)}


def expected() -> dict[str, dict[str, str]]:
    return json.loads(FILE.read_text())


@pytest.mark.parametrize("match", MATCHES, ids=title)
def test_a_match_is_unchanged(match):
    wanted = expected()[title(match)]
    digests = of_match(match)
    assert {name: digests.get(name) for name in wanted} == wanted  # a metric that is new has no digest yet


def test_a_study_with_two_workers_is_unchanged(tmp_path):
    assert of_study(str(tmp_path / "results")) == expected()["study"]


@pytest.mark.parametrize("spec", PLAYERS)
def test_a_player_is_unchanged(spec):
    assert of_player(spec) == expected()[f"player {spec}"]


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        digests = {title(match): of_match(match) for match in MATCHES}
        digests["study"] = of_study(folder + "/results")
    digests |= {f"player {spec}": of_player(spec) for spec in PLAYERS}
    FILE.write_text(json.dumps(digests, indent=1) + "\n")
    sys.stdout.write(f"{len(digests)} entries: {FILE}\n")
