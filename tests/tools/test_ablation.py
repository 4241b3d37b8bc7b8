"""The ablation study: its results are of the whole study, and docs/ablation.md agrees with them."""

import json
import tarfile
from pathlib import Path

import pytest

from coebl.evidence.pairwise import ALL_GAMES
from coebl.study import Results, read_study
from published import different, frozen_row
from tools.ablation import STUDY, Files, summarise
from tools.suggestions import KIN, OUTCOMES, comparisons

ROOT = Path(__file__).parents[2]
RESULTS, FROZEN = ROOT / "results" / "ablation", ROOT / "tests" / "frozen"


@pytest.fixture(scope="module")
def files():
    return Files(RESULTS)


def test_the_results_are_those_of_the_whole_study(files):
    study = read_study(ROOT / STUDY)
    learners = dict.fromkeys(row for _, row, _ in study.matches())
    wanted = {(test, outcome) for test in comparisons(learners) for outcome in OUTCOMES}
    tested = [test for test in files.differences if test.game == ALL_GAMES]
    assert {((test.suggestion, test.learner, test.base), test.outcome) for test in tested} == wanted
    assert files.summary["tests"] == len(tested) == len(wanted)
    assert files.summary["games"] == {cell.game: cell.rounds for cell in study.cells}
    assert files.summary["seeds"] == 20


def test_the_text_agrees_with_the_numbers(files):
    def significance(variant, outcome, base=None):
        """Return -1 where the variant is significantly better, 1 where worse, else 0; for c = 8 and c = 2."""
        tests = [files.test(c + variant, outcome, base and c + base) for c in ("coebl:", "coebl:c=2,")]
        return [test.estimate.sign for test in tests]

    assert significance("mutation=sparse:probability=0", "best-response") == [-1, -1]
    for mutation in ("gaussian-prose", "posterior"):
        assert (
            significance(f"mutation={mutation}", "best-response")
            == significance(f"mutation={mutation}", "exp3")
            == [1, 1]
        )
    quiet = ["mutation=laplace", "mutation=student", "mutation=adaptive,selection=elitist:judge=means"]
    quiet += ["population=hosts"]
    assert all(significance(variant, outcome) == [0, 0] for variant in quiet for outcome in OUTCOMES)
    assert significance("recombination=row", "ucb") == significance("recombination=row", "exp3") == [-1, -1]
    assert significance("recombination=column", "ucb") == [1, 1]
    for recombination in ("row", "column", "both", "crossover", "crossover:by=row"):
        assert min(significance(f"recombination={recombination}", "best-response")) == 0
    for crossover in ("crossover", "crossover:by=row"):
        assert min(min(significance(f"recombination={crossover}", outcome)) for outcome in OUTCOMES) == 0
    assert significance("population=pool:turnover=0.1", "best-response") == [-1, -1]
    several = "population=pool:size=4+mutants=4"
    assert significance(several, "best-response") == [-1, -1]
    assert significance(f"{several}+play=draw", "best-response", several) == [1, 1]
    assert significance("population=pool:mutants=4", "best-response") == [0, -1]
    for against_plain in (True, False):
        assert not any(
            test.estimate.sign
            for tests in files.of_suggestion("selection", against_plain).values()
            for test in tests.values()
        )
    for none in ("coebl:selection=none", "coebl:c=2,selection=none"):
        assert all(
            (test.estimate.mean, test.estimate.low, test.estimate.high) == (0, 0, 0)
            for test in differences_of(files, none)
        )
    kin = [
        test
        for (learner, _) in files.of_suggestion(KIN)
        for test in differences_of(files, learner)
        if test.estimate.sign
    ]
    assert all(test.estimate.sign > 0 for test in kin)
    assert {(test.learner, test.outcome) for test in kin} == {
        *(("kin:mutation=0", outcome) for outcome in ("ucb", "self-play")),
        *(("kin:own=1", outcome) for outcome in ("ucb", "exp3", "self-play")),
        *((learner, "best-response") for learner in ("kin:turnover=1", "kin:c=0")),
    }


def differences_of(files, learner):
    return [files.test(learner, outcome) for outcome in OUTCOMES]


def test_the_files_have_the_numbers_of_the_runs(tmp_path):
    """The numbers of the frozen folder, which test_frozen.py computes too."""
    with tarfile.open(FROZEN / "ablation.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    study = read_study(FROZEN / "ablation.toml")
    summarise(Results(tmp_path / "ablation"), study, tmp_path)
    files, expected = Files(tmp_path), json.loads((FROZEN / "ablation.json").read_text())
    assert different([*map(frozen_row, files.differences)], expected["differences"]) == []
    assert different([*files.means.values()], [row["mean"] for row in expected["means"]]) == []
    assert files.summary["games"] == {cell.game: cell.rounds for cell in study.cells}
    assert {path.name for path in tmp_path.glob("*.*g")} == {"coebl.png", "coebl.svg", "kin.png", "kin.svg"}
