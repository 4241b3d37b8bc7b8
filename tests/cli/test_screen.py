"""What people see first: tables and verdicts on a terminal, in a pipe, and where characters are missing."""

import io
import json
import signal
import sys
from pathlib import Path

import pytest

from coebl.cli import screen
from coebl.cli.studies import going_on
from coebl.cli.verdicts import print_details, print_verdicts
from coebl.evidence.judge import CheckResult, Reported, Verdict
from coebl.papers.ijcai2025 import PAPER

RESULTS = Path(__file__).parents[2] / "results" / "ijcai2025"


def read_verdicts():
    """The verdicts that are committed, as objects."""

    def check(values):
        return CheckResult(**{key: value for key, value in values.items() if key != "verdict"})

    listed = json.loads((RESULTS / "claims.json").read_text())
    return [
        Verdict(
            **values
            | {
                "checks": list(map(check, values["checks"])),
                "reported": [Reported(**one) for one in values["reported"]],
            }
        )
        for values in listed
    ]


@pytest.fixture(scope="module")
def verdicts():
    return read_verdicts()


@pytest.fixture
def columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.usefixtures("columns")
class TestVerdicts:
    def test_a_row_per_claim_and_a_mark_per_variant(self, verdicts, capsys):
        print_verdicts(verdicts, PAPER.titles)
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines[2:-1]] == list(PAPER.claims)
        assert lines[2 + 13].split()[-6:] == ["✗", "23/39", "✗", "10/39", "✗", "2/39"]
        assert lines[2 + 15].split()[-3:] == ["✓", "·", "·"]
        assert len({line.rindex("✗") for line in lines[2:-1] if line.count("✗") == 3}) == 1  # one column below another
        assert max(map(len, lines)) <= 100
        assert "\x1b" not in "".join(lines)

    @pytest.mark.parametrize("wide", [40, 60, 80])
    def test_on_a_narrow_terminal_the_claims_are_cut_or_left_out(self, verdicts, capsys, monkeypatch, wide):
        monkeypatch.setenv("COLUMNS", str(wide))
        print_verdicts(verdicts, PAPER.titles)
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= wide
        assert [line.split()[0] for line in lines if line.startswith("C")] == list(PAPER.claims)
        assert any("COEBL" in line for line in lines) == (wide > 40)
        print_details(verdicts[:3], PAPER.titles)
        assert max(map(len, capsys.readouterr().out.splitlines())) <= max(wide, 74)  # the tally is not wrapped

    def test_colours_are_for_terminals(self, verdicts, capsys, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)
        print_verdicts(verdicts, PAPER.titles)
        print_details(verdicts[:3], PAPER.titles)
        said = capsys.readouterr().out
        assert "\x1b[1;31m✗ 23/39" in said
        assert "\x1b[32m✓" in said
        assert "\x1b[1;31m        fails" in said

    def test_an_output_without_marks_has_letters(self, verdicts, monkeypatch):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
        monkeypatch.setattr(sys, "stdout", stream)
        print_verdicts(verdicts, PAPER.titles)
        stream.flush()
        said = stream.buffer.getvalue().decode()
        assert "x 23/39" in said
        assert "\\u" not in said


@pytest.mark.usefixtures("columns")
def test_what_does_not_fit_is_cut_and_numbers_stand_on_the_right(capsys):
    screen.print_table(
        ["a", "long", "n"], [["x\x1b[2J", "word " * 40, "7"], ["yy", "short", "1000"]], ["n"], cut="long"
    )
    header, first, second = capsys.readouterr().out.splitlines()
    assert header.split() == ["a", "long", "n"]
    assert len(first) == len(second) == 100
    assert first.startswith(r"x\x1b[2J  word word")
    assert first.endswith("...     7")
    assert second.endswith("  1000")


def interrupt():
    raise KeyboardInterrupt


def test_a_title_is_wrapped_between_words_and_not_before_a_unit(capsys):
    screen.print_table(["95 %", "the worst case"], [["1-3", "7"]])
    assert capsys.readouterr().out.splitlines() == ["      the", "      worst", "95 %  case", "1-3   7"]


def test_a_sentence_is_not_broken_before_a_unit_or_in_an_equation(capsys, monkeypatch):
    monkeypatch.setattr(screen, "width", lambda: 14)
    screen.say("it took 12345 % with c = 2, or 0.1 .. 0.2")
    assert capsys.readouterr().out.splitlines() == ["it took", "12345 % with", "c = 2, or", "0.1 .. 0.2"]


@pytest.mark.parametrize(("stop", "code"), [(interrupt, 130), (lambda: signal.raise_signal(signal.SIGTERM), 143)])
def test_whoever_stops_a_command_is_told_how_to_go_on(stop, code, capsys):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as stopped, going_on("coebl run it.toml --out here", 2, None):
        stop()
    assert stopped.value.code == code
    assert capsys.readouterr().err == "\ncoebl: stopped; to continue: coebl run it.toml --out here --workers 2\n"
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_tournament_that_is_stopped_while_it_ranks_says_how_to_go_on(coebl, tmp_path, monkeypatch):
    """Everything has been played, and the ranking of a large one takes seconds."""
    monkeypatch.setattr("coebl.tournament.outcome.finish", lambda *_: interrupt())
    monkeypatch.setattr("coebl.cli.tournament.run_study", lambda *_: None)
    done = coebl("tournament", "--learners", "exp3,uniform", "--games", "rps", "--out", "out", cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr == (
        "\ncoebl: stopped; to continue: coebl tournament --learners exp3,uniform --games rps --out out\n"
    )


@pytest.mark.parametrize("outcome", [130, KeyboardInterrupt])
def test_control_c_says_stopped_whether_typer_returns_or_raises(coebl, monkeypatch, outcome):
    def interrupted(**_):
        if outcome == 130:
            return outcome
        raise outcome

    monkeypatch.setattr("coebl.cli.app", interrupted)
    done = coebl("solve", "rps")
    assert done[:1] + done[-1:] == (130, "coebl: stopped\n")
