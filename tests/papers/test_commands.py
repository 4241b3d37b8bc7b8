"""coebl reproduce, claims, figures and report, as a user calls them."""

import json
import re
import shutil
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The part of the paper's study that C1 and C2 need, with few seeds."""
    place = tmp_path_factory.mktemp("paper")
    command = [sys.executable, "-m", "coebl", "reproduce", "--quick", "--claim", "C1", "--claim", "C2"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=place, check=False)
    assert done.returncode == 0, done.stderr
    assert "C1" in done.stdout
    assert "C3" not in done.stdout
    return place / "reproduction"


def test_one_claim_runs_only_what_it_needs(folder, coebl):
    assert len(list((folder / "cells").glob("*.parquet"))) == 5  # three pairings of the text, two more as released
    again = coebl("reproduce", "--quick", "--claim", "C1", cwd=folder.parent)
    assert again.returncode == 0
    assert "0 cells run, 1 found" in again.stdout
    assert len(list((folder / "cells").glob("*.parquet"))) == 5  # the others are left where they are


def test_one_figure_is_drawn_for_every_variant(folder, coebl):
    done = coebl("reproduce", "--quick", "--figure", "rps-head-to-head", "--workers", 1, cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    assert "0 cells run, 5 found" in done.stdout  # C1 and C2 are about the same matches
    assert done.stderr.splitlines()[-1] == "drawing the figures; this takes a while"
    written = {str(path.relative_to(folder / "figures")) for path in (folder / "figures").rglob("*.*")}
    names = {f"{name}.{ending}" for name in ("rps-head-to-head", "rps-head-to-head-noise-free") for ending in ENDINGS}
    assert written == {f"{variant}/{name}" for variant in ("text", "c=2", "as-released") for name in names}
    assert {path.name for path in folder.iterdir()}.isdisjoint({"report.html", "summary"})


ENDINGS = ("pdf", "svg", "png")


def test_figures_in_one_format(folder, tmp_path, coebl):
    options = ["--figure", "rps-head-to-head", "--variant", "text", "--format", "png", "--workers", 1]
    done = coebl("figures", folder, *options, "--out", tmp_path, cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    assert written == ["text/rps-head-to-head-noise-free.png", "text/rps-head-to-head.png"]


def test_claims_as_json(folder, coebl):
    done = coebl("claims", folder, "--json", cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    verdicts = json.loads(done.stdout)
    assert len(verdicts) == 16 * 3
    by_id = {(verdict["id"], verdict["variant"]): verdict for verdict in verdicts}
    assert by_id["C1", "text"]["n"] == 20
    assert by_id["C1", "text"]["low"] <= by_id["C1", "text"]["measured"] <= by_id["C1", "text"]["high"]
    assert by_id["C9", "text"]["verdict"] == "not testable"


def test_claims_are_marks_and_a_sentence_and_the_reasons_are_printed_on_request(folder, coebl):
    brief = coebl("claims", folder, cwd=folder.parent).stdout
    rows = [line for line in brief.splitlines() if re.match(r"C\d", line)]
    assert [row.split()[0] for row in rows] == [f"C{number}" for number in range(1, 17)]
    assert "against 0" not in brief
    answer, _, table = brief.partition("\n\n")
    assert "of 3 matches that were run (39 in all) and loses " in " ".join(answer.split())
    assert table.split()[0] == "claim"
    assert brief.splitlines()[-1].startswith(("for a page: coebl report", "page: "))
    details = coebl("claims", folder, "--details", cwd=folder.parent).stdout
    assert "ucb v coebl:c=2 on rps, round 2010: the mean" in details
    assert details.startswith(f"{answer}\n\n")


def test_claims_as_a_table_and_as_markdown(folder, coebl):
    table = coebl("claims", folder, "--claim", "C2", cwd=folder.parent).stdout
    assert coebl("claims", folder, "--claim", "c2", cwd=folder.parent).stdout == table
    assert "as-released" in table
    assert max(map(len, table.splitlines())) <= 100
    markdown = coebl("claims", folder, "--markdown", cwd=folder.parent).stdout
    assert markdown.strip().count("\n") == 2 + 16 - 1


def test_report_of_the_paper_has_the_verdicts(folder, coebl):
    done = coebl("report", folder, cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"page: {folder / 'report.html'}"
    page = (folder / "report.html").read_text()
    assert "not testable" in page
    assert coebl("claims", folder, cwd=folder.parent).stdout.splitlines()[-1] == done.stdout.strip()
    assert "C16" in page


def test_report_opens_the_browser_that_is_there(folder, tmp_path):
    """A fake browser that records what it opens; without one, a line is printed."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/asked\n')
    browser.chmod(0o755)
    command = [sys.executable, "-m", "coebl", "report", str(folder), "--out", str(tmp_path / "page.html"), "--open"]
    plain = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        command, env={**plain, "BROWSER": f"{browser} %s"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "asked").read_text().strip() == (tmp_path / "page.html").as_uri()
    alone = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
    assert (alone.returncode, alone.stderr) == (0, "there is no browser here to open it with\n")


def test_report_of_any_study(tmp_path, coebl):
    (tmp_path / "study.toml").write_text(
        'name = "mine"\ntitle = "My study"\ndescription = "Who is ahead?"\n'
        'rounds = 20\nseeds = 3\ngames = ["rps"]\nlearners = ["ucb", "exp3"]\n'
        "[match-ups]\nself-play = true\nall-pairs = true\n"
    )
    assert coebl("run", "study.toml", "--out", "results", cwd=tmp_path).returncode == 0
    done = coebl("report", "results", "--out", "page.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "<title>My study</title>" in page
    assert "Who is ahead?</p>" in page
    assert 'data-claim="' not in page
    assert "coebl run study.toml --out results" in page
    shutil.rmtree(tmp_path / "results" / "cells")
    done = coebl("report", "results", "--out", "other.html", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, coebl("results", "results", cwd=tmp_path).stderr)
    assert "no cell is finished yet" in done.stderr
    assert not (tmp_path / "other.html").exists()
    figures = coebl("figures", "results", cwd=tmp_path)
    assert figures.returncode == 2
    assert "this is the study mine, not that of a paper" in figures.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "--figure", "rps-selfplay"], "unknown figure 'rps-selfplay': did you mean 'rps-self-play'?"),
        (["reproduce", "--claim", "C17"], "unknown claim 'C17'"),
        (["reproduce", "ijcai2024"], "unknown paper 'ijcai2024': did you mean 'ijcai2025'?"),
        (["claims", "nowhere"], "nowhere: there is no such folder"),
        (["report", "nowhere"], "nowhere: there is no such folder"),
        (["figures", "nowhere"], "nowhere: there is no such folder"),
        (["claims", "nowhere", "--json", "--markdown"], "--json and --markdown are both given"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(arguments, message, tmp_path, coebl):
    done = coebl(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_figures_without_data_name_the_command_to_run(folder, coebl):
    done = coebl("figures", folder, "--figure", "diagonal-self-play", cwd=folder.parent)
    assert done.returncode == 2
    *progress, error = done.stderr.splitlines()
    assert "coebl reproduce" in error
    assert progress == ["drawing the figures; this takes a while"]
