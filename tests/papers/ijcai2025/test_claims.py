"""The sixteen claims on made-up results: a world in which all hold, and changes to it that each refute one."""

import math
import zlib

import numpy as np
import pytest

from coebl.engine.match import MatchName
from coebl.papers.ijcai2025 import PAPER, VARIANTS, size_of
from made_curves import MadeCurves, MadeRuns

ROUNDS = np.arange(10, 3001, 10)
CLAIMS = PAPER.claims
ALL = PAPER.needed(claims=CLAIMS)
TEXT = VARIANTS["text"]


def role(spec):
    return spec.partition(":")[0].removesuffix("-as-released")


def world(pairing, metric):
    """The mean at every round in a world where all sixteen claims hold."""
    game, row, column = pairing.game, role(pairing.row), role(pairing.column)
    family, size = game.partition(":")[0], size_of(game) or 3
    if metric == "kl":
        return {"exp3": ROUNDS / 3000, "exp3-ix": 0.5}.get(row, 0.1)
    if metric == "tv":
        converges = {("coebl", "diagonal"): (2, 3), ("coebl", "bigger-number"): (2, 3, 4), ("ucb", "diagonal"): (4,)}
        self_play = row == column
        return 0.01 if (row == "coebl") == self_play and size in converges.get((row, family), ()) else 0.5
    if column == "best-response":
        return {"ucb": 200, "coebl": 100}[row]
    if row == column:
        return 0.02 * size * np.sqrt(ROUNDS)
    if family == "rps":
        return {"ucb": 7, "exp3": 50, "exp3-ix": 30}[row]
    landmarks = {
        ("diagonal", 6, "ucb"): 389.8,
        ("bigger-number", 2, "exp3"): 8.39,
        ("bigger-number", 7, "ucb"): 351.27,
    }
    return landmarks.get((family, size, row), 30 + size)


class Synthetic(MadeCurves):
    """Results that are a mean plus noise; `changes` replaces means."""

    metrics = tuple(dict.fromkeys(metric for claim in CLAIMS.values() for metric in claim.metrics))

    def __init__(self, changes=None, noise=1.0, keep=lambda pairing: True):
        self.changes, self.noise = changes or {}, noise
        self.present = list(filter(keep, ALL))

    def matches(self):
        return self.present

    def runs(self, game, row, column, metric):
        pairing = MatchName(game, row, column)
        random = np.random.default_rng(zlib.crc32(repr((pairing, metric)).encode()))
        mean = np.broadcast_to(self.changes.get(pairing, world(pairing, metric)), len(ROUNDS))
        sd = self.noise * (0.001 if metric in ("kl", "tv") else 0.1)
        noise = random.standard_normal((len(ROUNDS), 20))
        noise -= noise.mean(axis=1, keepdims=True)  # so that no verdict is a false alarm, which one in twenty may be
        return MadeRuns(ROUNDS, np.arange(20), mean[:, None] + sd * noise, 3000)


def verdict(claim, source, variant="text"):
    (only,) = PAPER.judge(source, claim, variant)
    return only


def duel(baseline, game):
    return TEXT.match(game, baseline, "coebl")


def alone(learner, game):
    return TEXT.match(game, learner)


# one or two matches that play otherwise, and the claim that does not survive it
SPOILERS = [
    ("C1", {duel("ucb", "rps"): 11}),
    ("C1", {duel("ucb", "rps"): 4}),
    ("C1", {duel("ucb", "rps"): np.where(ROUNDS > 2600, 11, 7)}),
    ("C2", {duel("exp3-ix", "rps"): -10}),
    ("C3", {alone("exp3", "rps"): 0.01 * ROUNDS}),
    ("C4", {alone("ucb", "rps"): 0.9}),
    ("C4", {alone("coebl", "rps"): np.where(ROUNDS > 2800, 0.6, 0)}),  # close on average, but not at the end
    ("C4", {alone("exp3", "rps"): 1 - ROUNDS / 3000}),
    ("C5", {alone("coebl", "diagonal:n=3"): 0.9 * np.sqrt(ROUNDS)}),
    ("C5", {alone("coebl", "diagonal:n=7"): 0.05 * ROUNDS}),  # below the line, but linear
    ("C5", {alone("coebl", "diagonal:n=2"): np.where(ROUNDS < 1500, 0.5, 0.3) * np.sqrt(ROUNDS)}),  # above it, once
    ("C6", {alone("ucb", "diagonal:n=2"): 0.01}),
    ("C6", {alone("coebl", "diagonal:n=3"): 0.06}),
    ("C7", {alone("exp3", "diagonal:n=6"): 0.01}),
    ("C8", {duel("exp3", "diagonal:n=5"): 10}),
    ("C8", {duel("ucb", "diagonal:n=6"): 200, duel("exp3", "diagonal:n=7"): 389.8}),  # the right maximum elsewhere
    ("C8", {duel("ucb", "diagonal:n=6"): 500}),
    ("C8", {duel("ucb", "diagonal:n=6"): 300}),
    ("C9", {duel("exp3", "diagonal:n=5"): -10}),
    ("C10", {duel("ucb", "diagonal:n=4"): 0.5}),
    ("C10", {duel("ucb", "diagonal:n=7"): 0.01}),
    ("C11", {alone("coebl", "bigger-number:n=4"): 0.5}),
    ("C11", {alone("exp3-ix", "bigger-number:n=7"): 0.01}),
    ("C12", {duel("exp3", "bigger-number:n=2"): 20}),
    ("C12", {duel("ucb", "bigger-number:n=3"): 2}),
    ("C12", {duel("ucb", "bigger-number:n=3"): 400}),
    ("C12", {duel("ucb", "bigger-number:n=3"): -2}),
    ("C13", {alone("exp3", "diagonal:n=5"): 0.01 * np.sqrt(ROUNDS)}),
    ("C14", {duel("ucb", "rps"): -5}),
    ("C15", {TEXT.match("diagonal:n=3", "ucb", "best-response"): 50}),
    ("C16", {MatchName("diagonal:n=2", "coebl", "best-response"): 20_000}),
]
assert {claim for claim, _ in SPOILERS} == set(CLAIMS)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("claim", CLAIMS)
def test_all_hold_in_a_world_made_for_it(claim, variant):
    result = verdict(claim, Synthetic(), variant)
    if claim == "C16" and variant != "text":
        assert (result.verdict, result.note) == ("not testable", "the theorem needs c >= 8")
        assert math.isnan(result.estimate.mean)
        return
    assert result.verdict == "holds", result.note
    assert {reported.verdict for reported in result.reported} <= {"holds"}
    assert [reported.metric for reported in result.reported] == list(CLAIMS[claim].metrics[1:])


@pytest.mark.parametrize(("claim", "changes"), SPOILERS)
def test_fails(claim, changes):
    result = verdict(claim, Synthetic(changes))
    assert result.verdict == "fails"
    assert str(next(iter(changes))) in result.note


@pytest.mark.parametrize("claim", CLAIMS)
def test_is_undecided_in_noise(claim):
    assert verdict(claim, Synthetic(noise=1e7)).verdict == "not significant"


def test_a_change_in_one_variant_refutes_the_claim_in_that_variant_only():
    changed = VARIANTS["as-released"].match("rps", "exp3", "coebl")
    verdicts = PAPER.judge(Synthetic({changed: -10}), "C2")
    assert {result.variant: result.verdict for result in verdicts} == {
        "text": "holds",
        "c=2": "holds",
        "as-released": "fails",
    }


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_a_claim_needs_is_enough(claim):
    wanted = set(PAPER.needed(claims=[claim]))
    assert verdict(claim, Synthetic(keep=wanted.__contains__)).verdict == "holds"


@pytest.mark.parametrize(
    ("after", "then", "before", "expected"),
    [(2900, 0.04, 9, "holds"), (2990, 0.4, 0, "holds"), (2990, 0.6, 0, "fails"), (2910, 0.04, 9, "fails")],
)
def test_convergence_is_over_the_last_hundred_rounds(after, then, before, expected):
    changes = {alone("coebl", "diagonal:n=2"): np.where(after < ROUNDS, then, before)}
    assert verdict("C6", Synthetic(changes)).verdict == expected
