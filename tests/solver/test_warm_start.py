"""Warm starts: the same answers, by the same rules, for less work."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.engine import Match, simulate
from coebl.solver import fallback_count, maximin
from oracles.certificate import certify
from oracles.highs import value_by_highs


@pytest.mark.parametrize(("m", "n"), [(24, 20), (30, 45), (50, 64), (96, 70)])
def test_a_walk_of_changed_entries_equals_solving_anew(m, n):
    random = np.random.default_rng([m, n])
    batch = random.normal(size=(6, m, n))
    found = maximin(batch)
    cold = found.pivots.mean()
    warm = []
    for step in range(60):
        batch = batch.copy()
        for k in range(len(batch)):
            size = random.choice([1e-6, 0.1, 1.0, 3.0])
            batch[k, random.integers(m), random.integers(n)] += size * random.normal()
        found = maximin(batch, start=found)
        warm.append(found.pivots.mean())
        if step % 10 == 9:
            anew = maximin(batch)
            np.testing.assert_allclose(found.strategy, anew.strategy, atol=1e-9)
            np.testing.assert_allclose(found.value, anew.value, atol=1e-9)
    for k in range(len(batch)):
        certify(batch[k], found.strategy[k], found.opponent[k], found.value[k])
        assert found.value[k] == pytest.approx(value_by_highs(batch[k]), abs=1e-6)
    assert np.mean(warm) < 0.2 * cold


@pytest.mark.parametrize("m", [24, 64])
def test_tied_matrices_as_ucb_meets_them(m):
    random = np.random.default_rng(m)
    runs = 3
    count, total = np.zeros((runs, m, m)), np.zeros((runs, m, m))
    found = None
    for step in range(150):
        batch = total / np.maximum(1, count) + 5 / np.sqrt(np.maximum(1, count))
        found = maximin(batch, start=found)
        if step % 15 == 0:
            np.testing.assert_allclose(found.strategy, maximin(batch).strategy, atol=1e-8)
        for k in range(runs):
            i = random.choice(m, p=found.strategy[k])
            j = random.integers(m)
            count[k, i, j] += 1
            total[k, i, j] += random.choice([-1, 0, 1])
    assert found.fallbacks == 0


def test_a_start_can_be_used_again_but_helps_once():
    random = np.random.default_rng(0)
    batch = random.normal(size=(2, 30, 30))
    first = maximin(batch)
    changed = batch.copy()
    changed[:, 3, 4] += 1
    helped = maximin(changed, start=first)
    alone = maximin(changed, start=first)
    np.testing.assert_allclose(helped.strategy, alone.strategy, atol=1e-10)
    assert helped.pivots.sum() < alone.pivots.sum()


def test_a_start_of_another_shape_or_another_game_does_no_harm():
    random = np.random.default_rng(1)
    start = maximin(random.normal(size=(2, 30, 30)))
    batch = 1e6 + random.normal(size=(2, 40, 30))
    np.testing.assert_array_equal(maximin(batch, start=start).strategy, maximin(batch).strategy)
    start = maximin(random.normal(size=(2, 30, 30)))
    batch = 1e6 * random.normal(size=(2, 30, 30))
    np.testing.assert_array_equal(maximin(batch, start=start).strategy, maximin(batch).strategy)


def test_an_array_changed_in_place_is_as_good_as_a_new_one():
    random = np.random.default_rng(2)
    batch = random.normal(size=(4, 60, 60))
    found = maximin(batch)
    cold, warm = found.pivots.mean(), []
    for _ in range(20):
        batch[:, random.integers(60), random.integers(60)] += random.normal(size=4)
        found = maximin(batch, start=found)
        warm.append(found.pivots.mean())
        for k in range(len(batch)):
            certify(batch[k], found.strategy[k], found.opponent[k], found.value[k])
    assert np.mean(warm) < 0.2 * cold


@pytest.mark.parametrize("sign", [1, -1])
def test_the_gap_is_relative_to_the_range_of_today(sign):
    """The entry that spans the payoffs goes, or is one of two, or a new one comes: the range moves as it should."""
    random = np.random.default_rng(7)
    batch = random.uniform(-1, 1, size=(1, 40, 40))
    found = maximin(batch)
    for i, j, payoff in [(3, 5, 2.0), (8, 1, 2.0), (3, 5, 0.1), (8, 1, 0.2), (8, 1, -2.0), (8, 1, 0.0)]:
        batch[0, i, j] = sign * payoff
        found = maximin(batch, start=found)
        x, y = found.strategy[0], found.opponent[0]
        gap = (batch[0] @ y).max() - (x @ batch[0]).min()
        assert found.gap[0] == pytest.approx(gap / np.ptp(batch[0]), abs=1e-13)
        state = found._state[0]  # gaps are too small to tell by
        scaled = state.tableaux.B[0]
        assert state.scale[0, 2:].tolist() == [scaled.min(), scaled.max()]
        assert found.value[0] == pytest.approx(value_by_highs(batch[0]), abs=1e-8)


def test_not_a_number_after_a_start_is_refused_and_does_no_lasting_harm():
    random = np.random.default_rng(9)
    batch = random.normal(size=(2, 30, 30))
    found = maximin(batch)
    before = found.strategy.copy()
    broken = batch.copy()
    broken[1, 4, 6] = np.nan
    with pytest.raises(InputError, match=r"payoffs\[1\]\[4, 6\] is nan"):
        maximin(broken, start=found)
    np.testing.assert_array_equal(maximin(batch).strategy, before)


def test_threads_may_share_a_start():
    batch = np.random.default_rng(3).normal(size=(4, 24, 24))
    expected = maximin(batch).value
    with ThreadPoolExecutor(4) as pool:
        for _ in range(50):
            start = maximin(batch)
            answers = [pool.submit(maximin, batch, start=start) for _ in range(4)]
            for answer in answers:
                np.testing.assert_allclose(answer.result().value, expected, atol=1e-9)


def test_memory_that_is_handed_on_carries_nothing_over():
    random = np.random.default_rng(8)
    batches = [random.normal(size=(3, 30, 30)) for _ in range(3)]
    held = [maximin(batch) for batch in batches]  # each with memory of its own
    for batch, answer in zip(batches, held, strict=True):
        again = maximin(batch)  # in memory that the loop's last answer left
        np.testing.assert_array_equal(again.strategy, answer.strategy)
        np.testing.assert_array_equal(again.pivots, answer.pivots)
        del again


def test_ucb_on_a_large_game_needs_no_fallback():
    """Self-play on Diagonal: the matrices are tied all over, and single precision once gave up on them."""
    before = fallback_count()
    result = simulate(Match.of("diagonal:6", "ucb", "ucb", rounds=150), 6, metrics=["exploitability"])
    assert fallback_count() == before
    assert np.isfinite(result.final("exploitability")).all()


def test_tied_and_untied_agree_on_the_answer():
    random = np.random.default_rng(6)
    count = random.poisson(0.02, size=(4, 64, 64))
    batch = np.where(count > 0, random.normal(size=count.shape), 0) + 5 / np.sqrt(np.maximum(1, count))
    np.testing.assert_allclose(maximin(batch, tied=True).strategy, maximin(batch).strategy, atol=1e-7)
