"""The operators that COEBL is composed of."""

import numpy as np

from coebl.engine import Match, simulate
from coebl.engine.seated import build_seat
from coebl.games import Game
from coebl.learners import parse_learner
from coebl.learners.evolution import MUTATIONS, SELECTIONS, fitness

WIDE = Game([[0.9, -0.4, 0.3, -0.8], [-0.5, 0.7, -0.9, 0.2], [0.1, -0.2, 0.6, -0.3]])


def test_mutants_have_the_centre_and_the_deviation_of_their_visits():
    """4,000 mutants of each of 3 entries: mean and deviation within 4.5 standard errors of what they should be."""
    runs, scale = 4_000, 4.0
    mean, count = np.full((runs, 1, 3), 0.5), np.broadcast_to([[[0.0, 1.0, 8.0]]], (runs, 1, 3))
    bonus = np.sqrt([2, 2, 4 / 9])
    for name, deviation in (("gaussian", [1, 1, 1 / 8]), ("gaussian-prose", [1, np.sqrt(1 / 2), 1 / 3])):
        mutation = MUTATIONS.make(name)
        seat = build_seat(parse_learner("coebl"), range(runs), (1, 3), 10, (-1.0, 1.0))
        mutants = mutation.draw(seat, mutation.centre(mean, count, scale), mutation.deviation(count))[:, 0]
        error = np.array(deviation) / np.sqrt(runs)
        assert (np.abs(mutants.mean(axis=0) - (0.5 + bonus)) < 4.5 * error).all()
        assert (np.abs(mutants.std(axis=0) - deviation) < 4.5 * error / np.sqrt(2)).all()


def test_the_prose_plays_otherwise_than_the_formula():
    ends = [
        simulate(Match.of(WIDE, f"coebl:c=2,mutation={name}", "uniform", 50), 1).row_policy for name in MUTATIONS.names
    ]
    assert np.abs(ends[0] - ends[1]).max() > 1e-3


def test_elitist_keeps_what_is_as_fit_run_by_run():
    matrix = np.array([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [2.0, 2.0]]])
    previous, new = np.array([[0.5, 0.5]] * 2), np.array([[0.0, 1.0]] * 2)
    np.testing.assert_array_equal(fitness(new, matrix), [1, 2])
    np.testing.assert_array_equal(SELECTIONS.make("elitist")(previous, new, matrix), [[0.5, 0.5], [0, 1]])
    np.testing.assert_array_equal(SELECTIONS.make("none")(previous, new, matrix), new)
