"""The ablation study: its results are of the whole study, and docs/ablation.md agrees with them."""

from pathlib import Path

import numpy as np
import pytest

from coebl.evidence.pairwise import ALL_GAMES
from coebl.evidence.statistics import holm, paired_difference
from coebl.study import Results, parse_study, read_study
from study_runs import go, runs_of
from tools.ablation import STUDY, Files, summarise
from tools.suggestions import KIN, OUTCOMES, SUGGESTIONS, comparisons

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "ablation"


@pytest.fixture(scope="module")
def files():
    return Files(RESULTS)


def test_the_results_are_those_of_the_whole_study(files):
    study = read_study(ROOT / STUDY)
    learners = dict.fromkeys(row for _, row, _ in study.matches())
    wanted = {(one, outcome) for one in comparisons(learners) for outcome in OUTCOMES}
    tested = [one for one in files.differences if one.game == ALL_GAMES]
    assert {((one.wish, one.learner, one.base), one.outcome) for one in tested} == wanted
    assert files.summary["tests"] == len(tested) == len(wanted)
    assert files.summary["games"] == {cell.game: cell.rounds for cell in study.cells}
    assert files.summary["seeds"] == 20
    corrected = holm([one.p for one in tested])
    np.testing.assert_allclose([one.p_holm for one in tested], corrected, rtol=1e-4)


def test_what_is_compared_was_fixed_in_the_studys_file():
    learners = dict.fromkeys(row for _, row, _ in read_study(ROOT / STUDY).matches())
    found, more = comparisons(learners), "population=pool:mutants=4"
    assert {one.wish for one in found} == {*SUGGESTIONS, KIN}
    assert {(one.learner, one.base) for one in found if one.base not in ("coebl", "coebl:c=2", "kin")} == {
        (f"coebl:{c}{variant}", f"coebl:{c}{base}")
        for c in ("", "c=2,")
        for variant, base in [
            ("mutation=adaptive,selection=elitist:judge=means", "selection=elitist:judge=means"),
            *(
                (f"selection={one},{more}", f"selection=elitist:judge=means,{more}")
                for one in ("comma", "tournament", "dominance")
            ),
            ("population=pool:size=4+mutants=4+play=draw", "population=pool:size=4+mutants=4"),
        ]
    }


def test_what_the_words_say_is_what_the_numbers_say(files):
    def shown(variant, outcome, base=None):
        """Return -1 where the variant is significantly better, 1 where worse, else 0; for c = 8 and c = 2."""
        found = []
        for c in ("coebl:", "coebl:c=2,"):
            one = files.test(c + variant, outcome, base and c + base)
            found.append(int(np.sign(one.mean)) * one.significant)
        return found

    assert shown("mutation=sparse:probability=0", "best-response") == [-1, -1]
    for mutation in ("gaussian-prose", "posterior"):
        assert shown(f"mutation={mutation}", "best-response") == shown(f"mutation={mutation}", "exp3") == [1, 1]
    quiet = ["mutation=laplace", "mutation=student", "mutation=adaptive,selection=elitist:judge=means"]
    quiet += ["population=hosts"]
    assert all(shown(variant, outcome) == [0, 0] for variant in quiet for outcome in OUTCOMES)
    assert shown("recombination=row", "ucb") == shown("recombination=row", "exp3") == [-1, -1]
    assert shown("recombination=column", "ucb") == [1, 1]
    for recombination in ("row", "column", "both", "crossover", "crossover:by=row"):
        assert min(shown(f"recombination={recombination}", "best-response")) == 0
    for crossover in ("crossover", "crossover:by=row"):
        assert min(min(shown(f"recombination={crossover}", outcome)) for outcome in OUTCOMES) == 0
    assert shown("population=pool:turnover=0.1", "best-response") == [-1, -1]
    several = "population=pool:size=4+mutants=4"
    assert shown(several, "best-response") == [-1, -1]
    assert shown(f"{several}+play=draw", "best-response", several) == [1, 1]
    assert shown("population=pool:mutants=4", "best-response") == [0, -1]
    for plainly in (True, False):
        assert not any(
            one.significant for tests in files.of_suggestion("selection", plainly).values() for one in tests.values()
        )
    for none in ("coebl:selection=none", "coebl:c=2,selection=none"):
        assert all(one[5:8] == (0, 0, 0) for one in found_of(files, none))
    kin = [one for (learner, _) in files.of_suggestion(KIN) for one in found_of(files, learner) if one.significant]
    assert all(one.mean > 0 for one in kin)
    assert {(one.learner, one.outcome) for one in kin} == {
        *(("kin:mutation=0", outcome) for outcome in ("ucb", "self-play")),
        *(("kin:own=1", outcome) for outcome in ("ucb", "exp3", "self-play")),
        *((learner, "best-response") for learner in ("kin:turnover=1", "kin:c=0")),
    }


def found_of(files, learner):
    return [files.test(learner, outcome) for outcome in OUTCOMES]


def test_a_small_study_is_summarised_by_hand_alike(tmp_path):
    study = parse_study("""
        name = "small"
        seeds = 4
        record = "last"
        metrics = ["pseudo_regret", "exploitability"]
        learners = ["coebl:c=2", "coebl:c=2,recombination=both", "kin", "kin:c=0"]
        [match-ups]
        self-play = true
        one-against-all = ["best-response", "ucb", "exp3"]
        [[parts]]
        rounds = 20
        games = ["rps"]
        [[parts]]
        rounds = 10
        games = ["diagonal:n=2"]
    """)
    go(study, tmp_path / "runs")
    results = Results(tmp_path / "runs")
    summarise(results, study, tmp_path)
    files = Files(tmp_path)
    assert files.summary["games"] == {"rps": 20, "diagonal:n=2": 10}
    assert {path.name for path in tmp_path.glob("*.*g")} == {"coebl.png", "coebl.svg", "kin.png", "kin.svg"}

    def regret(learner):
        each = [
            runs_of(results, game, learner, "ucb", "pseudo_regret").values[-1] * 100 / rounds
            for game, rounds in files.summary["games"].items()
        ]
        return np.mean(each, axis=0)

    variant = "coebl:c=2,recombination=both"
    expected = paired_difference(regret(variant), regret("coebl:c=2"), seeds=range(4))
    found = files.test(variant, "ucb")
    ends = expected
    np.testing.assert_allclose(found[5:9], (ends.mean, ends.low, ends.high, expected.p), rtol=1e-5)
    assert found.p_holm >= found.p
    alone = runs_of(results, "rps", "kin:c=0", "kin:c=0", "exploitability").values[-1]
    plain = runs_of(results, "rps", "kin", "kin", "exploitability").values[-1]
    assert files.test("kin:c=0", "self-play", game="rps").mean == pytest.approx(np.mean(alone - plain), rel=1e-5)
