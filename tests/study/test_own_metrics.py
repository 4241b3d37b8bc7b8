"""Metrics in custom files: in a study, in its results, and in the digests of its cells."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from coebl.study import Results, StudyError, parse_study, read_study, run
from sources import MINE, SURPRISE
from study_texts import exp3_study


def written(folder, metrics, code=SURPRISE):
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(code)
    (folder / "study.toml").write_text(exp3_study(f"metrics = [{metrics}]"))
    return folder / "study.toml"


def mistakes_of(path):
    with pytest.raises(StudyError) as caught:
        read_study(path)
    return caught.value.mistakes


def test_a_metric_next_to_the_study_is_a_column_of_its_results(tmp_path):
    study = read_study(written(tmp_path / "a", '"mine.py:Half", "regret", "mine.py:Surprise"'))
    assert run(study, tmp_path / "out", executor=ThreadPoolExecutor(1), quiet=True).finished == 1
    results = Results(tmp_path / "out")
    assert results.metrics == ["regret", "half", "surprise"]
    table = results.curves().to_pandas()
    assert (table["surprise"] > 0).all()  # with Gaussian noise
    np.testing.assert_array_equal(table["half"] * 2, table["surprise"])
    assert [row["metric"] for row in results.summary()] == ["regret", "half", "surprise"]


def test_the_digest_depends_on_the_content_of_the_file_and_not_on_its_place(tmp_path):
    def digest(folder, code=SURPRISE, metrics='"mine.py:Surprise"'):
        [cell] = read_study(written(tmp_path / folder, metrics, code)).cells
        return cell.digest()

    first = digest("a")
    assert digest("b") == first
    assert digest("c", SURPRISE.replace("/ 2", "/ 3")) != first
    assert digest("d", metrics='"mine.py:Half"') != first
    two = digest("e", metrics='"mine.py:Half", "mine.py:Surprise", "mine.py:Half"')
    assert digest("f", metrics='"./mine.py:Surprise", "mine.py:Half"') == two


def test_a_changed_file_makes_its_cells_run_again(tmp_path):
    def play(code):
        study = read_study(written(tmp_path / "a", '"mine.py:Surprise"', code))
        return run(study, tmp_path / "out", executor=ThreadPoolExecutor(1), quiet=True)

    assert play(SURPRISE).finished == 1
    assert play(SURPRISE).found == 1
    again = play(SURPRISE + "\n")
    assert again.finished == 1
    [note] = again.notes
    assert note.startswith("1 cell was made from mine.py, which has changed since: moved to set-aside")


@pytest.mark.parametrize(
    ("metrics", "code", "said"),
    [
        ('"other.py:M"', SURPRISE, "other.py: no such file"),
        ('"mine.py:Surprse"', SURPRISE, "has no metric 'Surprse': did you mean 'Surprise'?"),
        ('"mine.py:Surprise:c=2"', SURPRISE, "a metric has no parameters"),
        (
            '"mine.py:Surprise"',
            SURPRISE.replace('"surprise"', '"regret"'),
            "another metric or column is called 'regret'",
        ),
        ('"mine.py:Surprise"', SURPRISE.replace('"surprise"', '"seed"'), "another metric or column is called 'seed'"),
        ('"mine.py:Surprise"', SURPRISE.replace('"surprise"', '"a b"'), "the class attribute name is 'a b'"),
        (
            '"mine.py:Surprise"',
            SURPRISE.replace('    name = "surprise"\n', ""),
            "it has no name; accepted: a class attribute",
        ),
        ('"mine.py:Metric"', SURPRISE, "it has no name; accepted: a class attribute"),
        ('"mine.py:M"', "M = 3\n", "accepted: a class that extends coebl.metrics.Metric"),
        ('"mine.py:M"', "1 / 0\n", "ZeroDivisionError"),
        (
            '"mine.py:Surprise"',
            SURPRISE.replace(
                "    def", "    @classmethod\n    def reason_undefined(cls, game):\n        return 'no'\n    def", 1
            ),
            "not for the game rps: no",
        ),
    ],
)
def test_a_metric_that_cannot_be_used(tmp_path, metrics, code, said):
    [mistake] = mistakes_of(written(tmp_path, metrics, code))
    assert "line 7, metrics[0]: " in mistake
    assert said in mistake
    assert "\n" not in mistake


def test_two_metrics_of_one_name_are_rejected(tmp_path):
    twice = SURPRISE.replace('"half"', '"surprise"')
    [mistake] = mistakes_of(written(tmp_path, '"mine.py:Surprise", "mine.py:Half"', twice))
    assert "metrics[1]: mine.py:Half: another metric or column is called 'surprise'" in mistake


@pytest.mark.parametrize(("fault", "said"), [("1 / 0", "ZeroDivisionError"), ("sys.exit(0)", "SystemExit: 0")])
def test_an_error_of_the_metric_names_the_line_of_its_file(tmp_path, fault, said):
    code = SURPRISE.replace("abs(block.reward - block.outcomes.earned)", fault).replace("\n", "; import sys\n", 1)
    summary = run(
        read_study(written(tmp_path, '"mine.py:Surprise"', code)),
        tmp_path / "out",
        executor=ThreadPoolExecutor(1),
        quiet=True,
    )
    [cause] = summary.causes
    assert f"mine.py, line 8: {said}" in cause


def test_a_study_without_custom_metrics_has_the_same_digests_as_before():
    [cell] = parse_study(exp3_study('metrics = ["regret", "tv"]')).cells
    assert cell.digest() == "821873aa0fd453262d90d9893b287767"


def test_the_axis_of_a_custom_metric_has_its_title(tmp_path):
    code = SURPRISE.replace('title = "Surprise"', 'title = "How far off it was"')
    study = read_study(written(tmp_path / "a", '"mine.py:Surprise"', code))
    run(study, tmp_path / "out", executor=ThreadPoolExecutor(1), quiet=True)
    (tmp_path / "a" / "mine.py").unlink()  # what the cell stores suffices
    [ax] = Results(tmp_path / "out").plot("surprise").axes
    assert ax.get_ylabel() == "how far off it was"


def test_the_default_of_a_swept_learner_is_shown_without_its_file(tmp_path, coebl):
    (tmp_path / "mine.py").write_text(MINE)
    text = 'name = "swept"\nrounds = 5\nseeds = 2\ngames = ["rps"]\nlearners = ["mine.py:Mine:rate=[0.5,2]", "ucb"]\n'
    (tmp_path / "study.toml").write_text(f"{text}[match-ups]\nall-pairs = true\n")
    run(read_study(tmp_path / "study.toml"), tmp_path / "out", executor=ThreadPoolExecutor(1), quiet=True)
    (tmp_path / "mine.py").write_text("raise SystemExit('it was run')\n")
    for words in (["results"], ["results", "--details"], ["compare", "mine", "mine:rate=2"]):
        shown = coebl(words[0], "out", *words[1:], cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert "mine.py:Mine:rate=0.5" in shown.stdout
