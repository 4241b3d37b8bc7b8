"""Spec strings: reading, checking and writing them."""

import math
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coebl.core.errors import InputError
from coebl.core.registry import Registry
from coebl.core.specs import Range

THINGS: Registry[dict] = Registry("thing", "things")


@THINGS.add("every-type")
def every_type(
    n: Annotated[int, Range(1, 10), "the number of rows"] = 3,
    rate: float = 0.5,
    exact: bool = False,
    rule: Literal["first", "random", 7] = "first",
    weights: Annotated[tuple[float, ...], Range(0, open_low=True)] = (1.0, 2.0),
    label: str = "a",
) -> dict:
    """Has a parameter of every type.

    More text.
    """
    return {"n": n, "rate": rate, "exact": exact, "rule": rule, "weights": weights, "label": label}


@THINGS.add("plain")
def plain() -> dict:
    return {}


@THINGS.add("wrapped")
def wrapped(inner: Annotated[str, THINGS], depth: Annotated[float, Range(0, 1, open_low=True)] = 1.0) -> dict:
    return {"inner": inner, "depth": depth}


@THINGS.add("two-needed")
def two_needed(first: int, second: float, third: int = 0) -> dict:
    return {"first": first, "second": second, "third": third}


def read(spec):
    return THINGS.parse(spec)[1]


def rewrite(spec):
    entry, arguments = THINGS.parse(spec)
    return entry.write(arguments)


@pytest.mark.parametrize(
    ("spec", "arguments"),
    [
        (
            "every-type:n=4,rate=1e-3,exact=true,rule=random,weights=0.5/3,label=b",
            {"n": 4, "rate": 0.001, "exact": True, "rule": "random", "weights": (0.5, 3.0), "label": "b"},
        ),
        ("every-type:rule=7,rate=2", {"rule": 7, "rate": 2.0}),  # the choice, not its string
        ("every-type:weights=4,exact=False", {"weights": (4.0,), "exact": False}),
        ("plain", {}),
        (" plain ", {}),
        ("plain:", {}),
        ("every-type:4,rate=1", {"n": 4, "rate": 1.0}),  # a single value sets the first parameter
        ("wrapped:every-type", {"inner": "every-type"}),
        ("wrapped:every-type:4", {"inner": "every-type:n=4"}),  # in its shortest form
        ("wrapped:inner=every-type:n=4+rate=2,depth=0.5", {"inner": "every-type:n=4,rate=2", "depth": 0.5}),
    ],
)
def test_arguments_are_read_with_their_types(spec, arguments):
    entry, parsed = THINGS.parse(spec)
    assert parsed == arguments
    assert [type(value) for value in parsed.values()] == [type(value) for value in arguments.values()]
    made = entry.factory(**arguments)
    assert {key: made[key] for key in arguments} == arguments


USAGE = "every-type:n=3,rate=0.5,exact=false,rule=first,weights=1/2,label=a"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("every-type:n=0", "every-type: n is 0; accepted: an integer, 1 .. 10."),
        ("every-type:n=11", "every-type: n is 11; accepted: an integer, 1 .. 10."),
        ("every-type:n=1.5", "every-type: n is '1.5'; accepted: an integer, 1 .. 10."),
        ("every-type:n=", "every-type: n is ''; accepted: an integer, 1 .. 10."),
        ("every-type:rate=fast", "every-type: rate is 'fast'; accepted: a number."),
        ("every-type:rate=nan", "every-type: rate is nan; accepted: a number."),
        ("every-type:rate=-inf", "every-type: rate is -inf; accepted: a number."),
        ("every-type:exact=1", "every-type: exact is '1'; accepted: true or false."),
        ("every-type:rule=last", "every-type: rule is 'last'; accepted: one of first, random, 7."),
        ("every-type:weights=1/-2", "every-type: weights is (1.0, -2.0); accepted: numbers separated by /, > 0."),
        ("every-type:weights=1/", "every-type: weights is '1/'; accepted: numbers separated by /, > 0."),
        ("every-type:n=1,n=2", "every-type: n is given twice; give it once."),
        ("every-type:1,n=2", "every-type: n is given twice; give it once."),
        ("every-type:1,2", f"every-type: '2' has no name; accepted: {USAGE}."),
        ("every-type:n=1,", f"every-type: '' has no name; accepted: {USAGE}."),
        ("every-type:rat=1", f"every-type has no parameter 'rat': did you mean 'rate'? Accepted: {USAGE}."),
        ("every-type:zzz=1", f"every-type has no parameter 'zzz'. Accepted: {USAGE}."),
        ("plain:1", "plain: '1' has no name; accepted: plain, without parameters."),
        ("plain:a=1", "plain has no parameter 'a'. Accepted: plain, without parameters."),
        ("wrapped", "wrapped needs inner; accepted: wrapped:inner=...,depth=1."),
        ("wrapped:plain,depth=0", "wrapped: depth is 0.0; accepted: a number, 0 < ... 1."),
        ("two-needed", "two-needed needs first, second; accepted: two-needed:first=...,second=...,third=0."),
        ("two-needed:second=1", "two-needed needs first; accepted: two-needed:first=...,second=...,third=0."),
        ("wrapped:plane", "unknown thing 'plane': did you mean 'plain'? See: coebl list things"),
        ("wrapped:inner=every-type:n=0", "every-type: n is 0; accepted: an integer, 1 .. 10."),
        ("plane", "unknown thing 'plane': did you mean 'plain'? See: coebl list things"),
        ("qqqqqq", "unknown thing 'qqqqqq'. See: coebl list things"),
        ("", "unknown thing ''. See: coebl list things"),
    ],
)
def test_invalid_specs_are_rejected(spec, message):
    with pytest.raises(InputError) as caught:
        THINGS.parse(spec)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("spec", "shortest"),
    [
        ("every-type:n=3,rate=0.5,exact=false,rule=first,weights=1/2,label=a", "every-type"),
        ("every-type:4", "every-type:n=4"),
        ("every-type:exact=TRUE,n=04", "every-type:n=4,exact=true"),  # in the order of the parameters
        ("every-type:rate=2.0,weights=1.0/2.50", "every-type:rate=2,weights=1/2.5"),
        ("every-type:rate=-20.0", "every-type:rate=-20"),
        ("every-type:rule=7", "every-type:rule=7"),
        ("wrapped:plain", "wrapped:inner=plain"),  # required parameters are always written
        ("two-needed:second=1e-9,first=0", "two-needed:first=0,second=1e-09"),
    ],
)
def test_the_shortest_spec_leaves_out_defaults(spec, shortest):
    assert rewrite(spec) == shortest
    assert rewrite(shortest) == shortest


def test_a_registry_lists_its_entries_in_order_and_rejects_duplicate_names():
    assert [entry.name for entry in THINGS] == ["every-type", "plain", "wrapped", "two-needed"]
    assert THINGS["every-type"].summary == "Has a parameter of every type."
    assert THINGS["every-type"].parameters[0].meaning == "the number of rows"
    assert every_type.__doc__.endswith("More text.\n    ")  # as it is written
    with pytest.raises(ValueError, match="two things are called 'plain'"):
        THINGS.add("plain")(plain)


def test_ranges_print_their_limits_and_contain_numbers():
    assert (str(Range(1, 10)), str(Range(0)), str(Range(2, open_low=True))) == ("1 .. 10", ">= 0", "> 2")
    held = [number in Range(1, 10) for number in (0.9, 1, 10, 10.1, math.nan)]
    assert held == [False, True, True, False, False]
    assert 2 not in Range(2, open_low=True)


floats = st.floats(allow_nan=False, allow_infinity=False)


@given(floats, st.lists(st.floats(min_value=0, exclude_min=True, allow_infinity=False), min_size=1))
def test_floats_round_trip_to_the_last_bit(rate, weights):
    arguments = {"rate": rate, "weights": tuple(weights)}
    spec = THINGS["every-type"].write(arguments)
    defaults = {"rate": 0.5, "weights": (1.0, 2.0)}  # left out if they are equal
    assert defaults | read(spec) == arguments
    assert rewrite(spec) == spec


@given(
    st.recursive(
        st.builds(lambda n, rate: ("every-type", {"n": n, "rate": rate}), st.integers(1, 10), floats),
        lambda inner: st.builds(
            lambda thing, depth: ("wrapped", {"inner": THINGS[thing[0]].write(thing[1]), "depth": depth}),
            inner,
            st.floats(0, 1, exclude_min=True),
        ),
        max_leaves=6,
    )
)
def test_nested_specs_round_trip(thing):
    name, arguments = thing
    spec = THINGS[name].write(arguments)
    entry, again = THINGS.parse(spec)
    assert entry.name == name
    assert entry.write(again) == spec
    assert {"n": 3, "rate": 0.5, "depth": 1.0} | again == {"n": 3, "rate": 0.5, "depth": 1.0} | arguments
