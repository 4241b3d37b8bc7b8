"""Lines: every learner has its colour and dashes, and no two learners of a study look alike."""

import colorsys

import pytest

from coebl.learners import LEARNERS
from coebl.naming import FIRST_FREE, PALETTE, learner_style, looks, slot_look

OWN = [f"mine{number}.py:Mine" for number in range(3 * len(PALETTE))]


def test_a_learner_has_the_slot_that_its_class_names():
    found = looks(["exp3-ix", "ucb", "mine.py:Mine", "coebl"])
    for name in ("coebl", "ucb", "exp3-ix"):
        colour, dashes = PALETTE[LEARNERS[name].factory.colour]
        assert found[name][:2] == (colour, dashes)
    assert found["mine.py:Mine"][:2] == PALETTE[FIRST_FREE]
    assert list(found) == ["coebl", "ucb", "exp3-ix", "mine.py:Mine"], "slot by slot"


def test_learners_without_a_slot_take_free_ones_in_any_order():
    specs = ["uniform", "nash", "mine.py:Mine", "ucb", "best-response"]
    assert looks(specs) == looks(specs[::-1])
    colours = [look.colour for look in looks(specs).values()]
    assert len(set(colours)) == len(specs)


def test_a_slot_that_is_taken_is_not_free(monkeypatch):
    monkeypatch.setattr(LEARNERS["ucb"].factory, "colour", FIRST_FREE)
    assert looks(["ucb", "uniform"])["uniform"].colour == PALETTE[FIRST_FREE + 1][0]


def test_there_may_be_more_learners_than_slots():
    found = looks([*OWN, "coebl", "ucb", "exp3", "exp3-ix"])
    assert len({look[:2] for look in found.values()}) == len(found)


@pytest.mark.parametrize("base", ["exp3", "exp3-ix"])
def test_variants_share_a_colour_and_not_a_symbol(base):
    plain, other = looks([base, f"{base}-as-released"]).values()
    assert (plain.colour, plain.dashes) == (other.colour, other.dashes)
    assert plain.symbol == ""
    assert other.symbol != ""
    alone = learner_style(f"{base}-as-released")
    assert alone == learner_style(base), "by itself it is plain"


def test_smaller_values_of_a_sweep_are_darker():
    specs = [f"coebl:c={c}" for c in (10, 0, 2, 9)]
    found = looks([*specs, "coebl"], plainest=["coebl:c=2"])
    assert list(found) == ["coebl:c=0", "coebl:c=2", "coebl", "coebl:c=9", "coebl:c=10"]
    shades = [look.shade for look in found.values()]
    assert shades == sorted(shades, reverse=True)
    assert shades[-1] == 0
    light = [sum(int(look.style["color"][at : at + 2], 16) for at in (1, 3, 5)) for look in found.values()]
    assert light == sorted(light)
    assert len({look.symbol for look in found.values()}) == 5
    assert found["coebl:c=2"].symbol == ""


def test_dashes_and_colours_of_the_palette_all_differ():
    assert len({colour for colour, _ in PALETTE}) == len({dashes for _, dashes in PALETTE}) == len(PALETTE)
    for colour, dashes in PALETTE:
        assert len(dashes) % 2 == 0
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        assert colorsys.rgb_to_hls(*channels)[1] < 0.7, "it can be seen on white"


def test_the_palette_begins_again_with_other_dashes():
    again = slot_look(len(PALETTE))
    assert again.colour == slot_look(0).colour
    assert again.dashes != slot_look(0).dashes
