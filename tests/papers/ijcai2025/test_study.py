"""The paper's study: its file has what its figures and claims need, and a full run finds the cells of any part."""

from importlib import resources

import pytest

from coebl.engine.match import MatchName
from coebl.games import parse_game
from coebl.learners import parse_learner
from coebl.metrics import METRICS
from coebl.papers.ijcai2025 import BASELINES, PAPER, ROLES, SETTING, VARIANTS, actions_of, games, has_bound
from coebl.papers.reproduce import experiments
from coebl.study import read_study

SEVEN = {
    "regret",
    "pseudo_regret",
    "absolute_regret",
    "regret_magnitude",
    "absolute_pseudo_regret",
    "exploitability",
    "tv",
}


@pytest.fixture(scope="module")
def study():
    return PAPER.study


def match_ups(variant, game):
    """The seven of the paper."""
    return {
        *(variant.match(game, role) for role in ROLES),
        *(variant.match(game, role, "coebl") for role in BASELINES),
    }


def test_it_is_a_file_with_what_figures_and_claims_need_in_any_variant_and_nothing_else(study):
    with resources.as_file(resources.files("coebl.papers.ijcai2025").joinpath("study.toml")) as path:
        assert read_study(path) == study
    assert (study.name, study.title, study.description) == (PAPER.name, PAPER.page.title, PAPER.page.question)
    assert set(study.matches()) == set(PAPER.needed(PAPER.figures, PAPER.claims))
    assert len(study.matches()) == 317


def test_every_match_is_played_as_in_the_paper(study):
    assert SETTING == (3000, "gaussian")
    assert {(cell.rounds, cell.noise, cell.record) for cell in study.cells} == {(*SETTING, 10)}
    for cell in study.cells:
        assert set(cell.metrics) == SEVEN | ({"kl"} if cell.game == "rps" else set())
    by_match = {}
    for cell in study.cells:
        by_match.setdefault((cell.game, *cell.players), []).extend(cell.seeds)
    assert all(seeds == list(range(50)) for seeds in by_match.values())


def test_claims_and_figures_ask_for_metrics_that_are_recorded():
    asked = {metric for claim in PAPER.claims.values() for metric in claim.metrics}
    assert asked <= SEVEN | {"kl"} <= set(METRICS.names)
    on_others = {claim.id for claim in PAPER.claims.values() if "kl" in claim.metrics}
    assert {pairing.game for pairing in PAPER.needed(claims=on_others)} == {"rps"}


def test_thirteen_games_and_seven_match_ups_with_the_settings_of_the_text():
    assert len(games()) == 13
    for game in games():
        listed = match_ups(VARIANTS["text"], game)
        assert len(listed) == 7
        coebl = [spec for pairing in listed for spec in pairing[1:] if spec.startswith("coebl")]
        assert {parse_learner(spec).c for spec in coebl} == {2.0 if game == "rps" else 8.0}
        assert len(coebl) == 2 + 3


def test_each_variant_is_one_step_from_the_one_before():
    text, rate, released = (match_ups(variant, "diagonal:n=3") for variant in VARIANTS.values())
    assert {spec for pairing in text - rate for spec in pairing[1:]} == {"coebl", "exp3", "exp3-ix", "ucb"}
    assert text & rate == {MatchName("diagonal:n=3", spec, spec) for spec in ("exp3", "exp3-ix", "ucb")}
    changed = {spec for pairing in released - rate for spec in pairing[1:]}
    assert changed == {"coebl:c=2", "exp3-as-released", "exp3-ix-as-released"}
    assert MatchName("diagonal:n=3", "ucb", "coebl:c=2") in rate & released


def test_the_theorem_covers_games_of_up_to_32_actions():
    assert all(parse_game(game).shape == (actions_of(game), actions_of(game)) for game in games())
    speaks = [game for game in games() if has_bound(game)]
    assert speaks == ["rps", *(f"{family}:n={n}" for family in ("diagonal", "bigger-number") for n in (2, 3, 4, 5))]


def test_a_part_and_the_quick_run_are_found_again_by_the_whole(study):
    whole = set(study.cells)
    quick = experiments(PAPER, quick=True).cells
    assert set(quick) < whole
    assert {cell.seeds for cell in quick} == {tuple(range(20))}
    assert {actions_of(cell.game) for cell in quick} == {3, 4, 8, 16}
    assert len(quick) == 221  # every match on these games, in one cell
    part = experiments(PAPER, figures=["rps-self-play"], claims=["C9"])
    assert set(part.cells) < whole
    assert set(part.matches()) == set(PAPER.needed(["rps-self-play"], ["C9"]))
    assert part.text == study.text == PAPER.file
    chosen = experiments(PAPER, quick=True, claims=["C9"])
    assert {cell.game for cell in chosen.cells} == {"diagonal:n=2", "diagonal:n=3", "diagonal:n=4"}


def test_presets_name_the_learners_of_each_variant():
    text, rate, released = PAPER.page.presets
    assert text.on("rps") == ["coebl:c=2", "ucb", "exp3", "exp3-ix"]
    assert text.on("diagonal:n=3") == ["coebl", "ucb", "exp3", "exp3-ix"]
    assert rate.on("bigger-number:n=3")[0] == "coebl:c=2"
    assert released.on("rps") == ["coebl:c=2", "ucb", "exp3-as-released", "exp3-ix-as-released"]
