"""The paper's experiments as a study: all of them, once each, and any part of them resumable."""

import pytest

from coebl.games import parse_game
from coebl.learners import parse_learner
from coebl.papers.ijcai2025.claims import CLAIMS, needed
from coebl.papers.ijcai2025.experiments import (
    QUICK_SEEDS,
    QUICK_SIZES,
    SEEDS,
    VARIANTS,
    Pairing,
    actions_of,
    all_pairings,
    best_responses,
    games,
    match_ups,
    study,
)
from coebl.papers.ijcai2025.figures import FIGURES
from coebl.papers.ijcai2025.reproduction import pairings, presets


def test_thirteen_games_and_seven_match_ups_with_the_settings_of_the_paper():
    assert len(games()) == 13
    for game in games():
        listed = match_ups(VARIANTS["text"], game)
        assert len(set(listed)) == 7
        rate = 2.0 if game == "rps" else 8.0
        coebl = [spec for pairing in listed for spec in pairing[1:] if spec.startswith("coebl")]
        assert {parse_learner(spec).c for spec in coebl} == {rate}
        assert len(coebl) == 2 + 3


def test_each_variant_is_one_step_from_the_one_before():
    text, rate, released = (set(match_ups(variant, "diagonal:n=3")) for variant in VARIANTS.values())
    assert {spec for pairing in text - rate for spec in pairing[1:]} == {"coebl", "exp3", "exp3-ix", "ucb"}
    assert text & rate == {Pairing("diagonal:n=3", spec, spec) for spec in ("exp3", "exp3-ix", "ucb")}
    changed = {spec for pairing in released - rate for spec in pairing[1:]}
    assert changed == {"coebl:c=2", "exp3-as-released", "exp3-ix-as-released"}
    assert Pairing("diagonal:n=3", "ucb", "coebl:c=2") in rate & released


@pytest.mark.parametrize("game", games())
def test_actions_are_those_of_the_game(game):
    assert parse_game(game).shape == (actions_of(game), actions_of(game))


def test_best_responses_are_played_where_the_theorem_speaks():
    speaks = [game for game in games() if best_responses(game)]
    assert speaks == ["rps", *(f"{family}:n={n}" for family in ("diagonal", "bigger-number") for n in (2, 3, 4, 5))]


def test_specs_are_canonical_so_that_results_are_found_by_them():
    for pairing in all_pairings():
        assert tuple(pairing) == (parse_game(pairing.game).spec, *(str(parse_learner(spec)) for spec in pairing[1:]))


def test_the_study_has_all_that_any_claim_or_figure_needs():
    everything = set(all_pairings())
    assert {pairing for claim in CLAIMS for pairing in needed(claim)} <= everything
    for figure in FIGURES.values():
        for variant in VARIANTS.values():
            assert set(figure.needs(variant)) <= everything


def test_a_part_and_the_quick_run_are_found_again_by_the_whole():
    cells = study(all_pairings()).cells
    assert {seed for cell in cells for seed in cell.seeds} == set(range(SEEDS))
    by_match = {}
    for cell in cells:
        by_match.setdefault((cell.game, cell.row, cell.column), []).extend(cell.seeds)
    assert all(sorted(seeds) == list(range(SEEDS)) for seeds in by_match.values())
    whole = {cell.digest() for cell in cells}
    quick = study(all_pairings(QUICK_SIZES), QUICK_SEEDS).cells
    assert {cell.digest() for cell in quick} < whole
    assert {seed for cell in quick for seed in cell.seeds} == set(range(QUICK_SEEDS))
    assert {cell.digest() for cell in study(pairings(figures=["rps-self-play"], claims=["C9"])).cells} < whole


def test_quick_leaves_out_large_games_also_where_a_claim_asks_for_them():
    sizes = {pairing.game for pairing in pairings(claims=["C9"], quick=True)}
    assert sizes == {"diagonal:n=2", "diagonal:n=3", "diagonal:n=4"}


def test_presets_name_the_learners_of_each_variant():
    text, rate, released = presets()
    assert text.on("rps") == ["coebl:c=2", "ucb", "exp3", "exp3-ix"]
    assert text.on("diagonal:n=3") == ["coebl", "ucb", "exp3", "exp3-ix"]
    assert rate.on("bigger-number:n=3")[0] == "coebl:c=2"
    assert released.on("rps") == ["coebl:c=2", "ucb", "exp3-as-released", "exp3-ix-as-released"]
