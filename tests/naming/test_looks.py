"""Lines: every learner has its colour and dashes, and no two learners of a study look alike."""

import colorsys
import re
from importlib.resources import files
from itertools import combinations, pairwise

import numpy as np
import pytest

from coebl.core.specs import split_spec
from coebl.learners import LEARNERS
from coebl.naming import FIRST_FREE, GREY, PALETTE, learner_style, looks, slot_look
from coebl.plots.policy_plots import AREA_COLOURS
from coebl.plots.style import AGAINST, FOR

OWN = [f"mine{number}.py:Mine" for number in range(3 * len(PALETTE))]


def test_a_learner_has_the_slot_that_its_class_declares():
    by_spec = looks(["exp3-ix", "ucb", "mine.py:Mine", "coebl"])
    for name in ("coebl", "ucb", "exp3-ix"):
        colour, dashes = PALETTE[LEARNERS[name].factory.colour]
        assert by_spec[name][:2] == (colour, dashes)
    assert by_spec["mine.py:Mine"][:2] == PALETTE[FIRST_FREE]
    assert list(by_spec) == ["coebl", "ucb", "exp3-ix", "mine.py:Mine"], "in the order of the slots"


def test_new_learners_are_last_in_the_registry():
    place = LEARNERS.names.index("fictitious-play")
    assert place == 40, "colours of published figures follow the order of homes: enter a new learner as the last"


def test_the_look_of_a_learner_does_not_depend_on_the_others():
    everyone = LEARNERS.names
    alone = {spec: looks([spec])[spec] for spec in everyone}
    variants = {"exp3-as-released", "exp3-ix-as-released"}
    assert len({look[:2] for look in alone.values()}) == len(everyone) - len(variants), "colour and dashes"
    for few in (everyone[:7], everyone[-8:], ["ots-rm", "coebl:c=2", "coebl", "kin"]):
        for order in (few, few[::-1]):
            for spec, look in looks(order).items():
                assert look[:2] == alone[split_spec(spec).name][:2]


def test_custom_learners_take_free_colours_in_any_order():
    specs = ["yours.py:Yours", "mine.py:Mine", "ucb", "kin"]
    assert looks(specs) == looks(specs[::-1])
    assert len({look.colour for look in looks(specs).values()}) == len(specs)


def test_a_slot_that_is_taken_is_not_free(monkeypatch):
    monkeypatch.setattr(LEARNERS["ucb"].factory, "colour", FIRST_FREE)
    assert looks(["ucb", "mine.py:Mine"])["mine.py:Mine"].colour == PALETTE[FIRST_FREE + 1][0]


def test_with_more_learners_than_colours_only_some_are_coloured():
    by_spec = looks([*LEARNERS.names, "mine.py:Mine"])
    coloured = {spec for spec, look in by_spec.items() if look.colour != GREY}
    named = {spec: LEARNERS[spec].factory.colour for spec in LEARNERS.names}
    assert coloured == {spec for spec, slot in named.items() if slot in range(len(PALETTE))} | {"mine.py:Mine"}
    chosen = ["ots-rm", "gp-mw"]
    by_spec = looks(LEARNERS.names, plainest=chosen)
    assert [by_spec[spec] for spec in chosen] == [looks([spec])[spec] for spec in chosen]


def test_there_may_be_more_learners_than_slots():
    by_spec = looks([*OWN, "coebl", "ucb", "exp3", "exp3-ix"])
    assert len({look[:2] for look in by_spec.values()}) == len(by_spec)


@pytest.mark.parametrize("base", ["exp3", "exp3-ix"])
def test_variants_share_a_colour_and_not_a_symbol(base):
    plain, other = looks([base, f"{base}-as-released"]).values()
    assert (plain.colour, plain.dashes) == (other.colour, other.dashes)
    assert plain.symbol == ""
    assert other.symbol != ""
    alone = learner_style(f"{base}-as-released")
    assert alone == learner_style(base), "alone, it has no symbol"


def test_settings_have_symbols_and_the_look_of_the_learner():
    specs = [f"coebl:c={c}" for c in (10, 0, 2, 9)]
    by_spec = looks([*specs, "coebl"], plainest=["coebl:c=2"])
    assert list(by_spec) == ["coebl:c=0", "coebl:c=2", "coebl", "coebl:c=9", "coebl:c=10"]
    assert {look[:2] for look in by_spec.values()} == {PALETTE[0]}
    assert len({look.symbol for look in by_spec.values()}) == 5
    assert by_spec["coebl:c=2"].symbol == ""


# Machado, Oliveira and Fernandes (2009), for linear RGB: what remains of colours without one of the three cones.
VISION = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}


def in_lab(colour, vision):
    """Return a colour in CIELAB, where a distance of about 2 can just be seen."""
    channels = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])
    xyz = to_xyz @ np.clip(vision @ linear, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISION)
def test_the_palette_is_distinguishable_with_any_colour_vision(vision):
    seen = [in_lab(colour, VISION[vision]) for colour, _ in PALETTE]
    least = min(np.linalg.norm(first - second) for first, second in combinations(seen, 2))
    assert least > 15
    style = (files("coebl.report") / "assets" / "page.css").read_text()
    columns, rows = (re.findall(rf"--{who}-wins: (#\w+);", style) for who in ("column", "row"))  # light, dark, paper
    pairs = [*zip(columns, rows, strict=True), (FOR, AGAINST), *pairwise(AREA_COLOURS)]
    for pair in pairs:
        first, second = (in_lab(colour, VISION[vision]) for colour in pair)
        assert np.linalg.norm(first - second) > 12, pair


def test_dashes_and_colours_of_the_palette_all_differ():
    assert len({colour for colour, _ in PALETTE}) == len({dashes for _, dashes in PALETTE}) == len(PALETTE)
    for colour, dashes in PALETTE:
        assert len(dashes) % 2 == 0
        channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        assert colorsys.rgb_to_hls(*channels)[1] < 0.7, "it can be seen on white"


def test_the_palette_repeats_with_other_dashes():
    again = slot_look(len(PALETTE))
    assert again.colour == slot_look(FIRST_FREE).colour, "the free ones first"
    assert again.dashes != slot_look(FIRST_FREE).dashes
