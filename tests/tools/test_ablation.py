"""The ablation study: its results are of the whole study, and docs/ablation.md agrees with them."""

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from coebl.evidence.pairwise import ALL_GAMES
from coebl.study import Results, read_study
from published import different
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
    wanted = {(one, outcome) for one in comparisons(learners) for outcome in OUTCOMES}
    tested = [one for one in files.differences if one.game == ALL_GAMES]
    assert {((one.wish, one.learner, one.base), one.outcome) for one in tested} == wanted
    assert files.summary["tests"] == len(tested) == len(wanted)
    assert files.summary["games"] == {cell.game: cell.rounds for cell in study.cells}
    assert files.summary["seeds"] == 20


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


def test_the_files_have_the_numbers_of_the_runs(tmp_path):
    """The numbers of the frozen folder, which test_frozen.py computes too."""
    with tarfile.open(FROZEN / "ablation.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    study = read_study(FROZEN / "ablation.toml")
    summarise(Results(tmp_path / "ablation"), study, tmp_path)
    files, expected = Files(tmp_path), json.loads((FROZEN / "ablation.json").read_text())
    assert different([one._asdict() for one in files.differences], expected["differences"]) == []
    assert different([*files.means.values()], [row["mean"] for row in expected["means"]]) == []
    assert files.summary["games"] == {cell.game: cell.rounds for cell in study.cells}
    assert {path.name for path in tmp_path.glob("*.*g")} == {"coebl.png", "coebl.svg", "kin.png", "kin.svg"}
