"""Runs that end when a condition is met."""

import numpy as np
import pytest

from coebl import Match, simulate
from coebl.core.errors import InputError
from coebl.engine.until import Until

MATCH = Match.of([[0.3, -0.7, 0.2], [-0.4, 0.9, -0.1]], "ucb", "exp3", rounds=400)
CONDITION = "exploitability < 0.08"


def first(values, bound):
    met = values < bound
    return [int(column.argmax()) + 1 if column.any() else None for column in met.T]


@pytest.mark.parametrize("block_rounds", [None, 1, 7, 400])
def test_the_time_is_that_of_the_first_round_in_the_full_record(block_rounds):
    full = simulate(MATCH, range(8), keep=["policies"])
    short = simulate(MATCH, range(8), until=CONDITION, block_rounds=block_rounds)
    times = first(full.metrics["exploitability"], 0.08)
    assert None in times  # so that both cases are seen
    assert any(times)
    assert short.hitting_times == times
    ends = [(time or MATCH.rounds) - 1 for time in times]
    for name in ("regret", "pseudo_regret", "exploitability"):
        assert np.array_equal(short.final(name), full.metrics[name][ends, range(8)])
    for policies, kept in zip(short.policies, full.kept["policies"], strict=True):
        assert np.array_equal(policies, kept[ends, range(8)])


def test_the_policies_at_the_ends_are_kept_without_any_metric():
    with_metrics, without = (
        simulate(MATCH, 8, until=CONDITION, block_rounds=7, **some) for some in ({}, {"metrics": []})
    )
    for policy, same in zip(with_metrics.policies, without.policies, strict=True):
        assert np.array_equal(policy, same)


def test_it_stops_when_all_runs_are_done():
    done = []
    simulate("matching-pennies", "uniform", "uniform", rounds=10**9, seeds=3, until=CONDITION, progress=done.append)
    assert done[-1] <= 256


def test_a_condition_reads_back():
    for text in ("optimum", "exploitability < 0.1", "tv >= 2", "regret <= -1e-05"):
        assert str(Until.parse(text)) == text
        assert Until.parse(str(Until.parse(text))) == Until.parse(text)


BAD = ["", "exploitability", "exploitability = 1", "exploitability < x", "tv < nan", 3, "< 3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"until": text}, "until is .*accepted: optimum, or a metric") for text in BAD),
        ({"until": "exploitabilty < 1"}, "did you mean 'exploitability'"),
        ({"until": "optimum"}, "game has no is_target"),
        ({"until": CONDITION, "record": "all"}, "record is .all.*accepted: .last"),  # only the ends are recorded
        ({"until": CONDITION, "keep": ["actions"]}, "^keep is"),
    ],
)
def test_mistakes_are_one_line(options, message):
    with pytest.raises(InputError, match=message) as error:
        simulate(MATCH, 2, **options)
    assert "\n" not in str(error.value)


def test_without_a_condition_there_are_no_hitting_times():
    with pytest.raises(InputError, match=r"^metric 'hitting_time' was not recorded\. Pass until=\.$"):
        _ = simulate(MATCH, 1, record="last").hitting_times
