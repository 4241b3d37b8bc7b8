"""Tables and verdicts on a terminal, in a pipe, and where characters are missing; and what follows an interrupt."""

import io
import re
import signal
import sys
from unittest.mock import Mock

import pytest

from coebl.cli import terminal
from coebl.cli.recipe_commands import print_marks, print_reasons
from coebl.cli.study_commands import resume_hint
from coebl.naming import game_title
from coebl.papers.ijcai2025 import PAPER
from published import read_verdicts


@pytest.fixture(scope="module")
def verdicts():
    return read_verdicts()


@pytest.fixture
def on_terminal(monkeypatch):
    """Make Rich treat the output as a terminal of some width."""

    def resize(columns, **environment):
        for name, value in {"COLUMNS": str(columns), "FORCE_COLOR": "1", "TERM": "xterm", **environment}.items():
            monkeypatch.setenv(name, value)

    monkeypatch.delenv("NO_COLOR", raising=False)
    return resize


def plain(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()


class TestVerdicts:
    def test_a_row_per_claim_and_a_mark_per_variant(self, verdicts, capsys):
        print_marks(verdicts, PAPER.titles)
        out = capsys.readouterr().out
        rows = [line for line in out.splitlines() if line.startswith("C")]
        assert [line.split()[0] for line in rows] == list(PAPER.claims)
        assert rows[13].split()[-6:] == ["✗", "23/39", "✗", "10/39", "✗", "2/39"]
        assert rows[15].split()[-3:] == ["✓", "·", "·"]
        assert len({line.rindex("✗") for line in rows if line.count("✗") == 3}) == 1  # aligned
        assert all(verdict.text in out for verdict in verdicts)  # nothing is cut in a pipe
        assert "…" not in out
        assert "\x1b" not in out

    @pytest.mark.parametrize("columns", [60, 80, 120])
    def test_claims_are_wrapped_to_the_width_of_a_terminal(self, verdicts, capsys, on_terminal, columns):
        on_terminal(columns)
        print_marks(verdicts, PAPER.titles)
        lines = plain(capsys.readouterr().out)
        assert max(map(len, lines)) <= columns
        rows = [line for line in lines if line.startswith("C")]
        assert [line.split()[0] for line in rows] == list(PAPER.claims)
        assert "…" not in "".join(lines)  # nothing is cut
        assert rows[13].split()[-6:] == ["✗", "23/39", "✗", "10/39", "✗", "2/39"]
        print_reasons(verdicts, PAPER.titles)
        out = capsys.readouterr().out
        assert max(map(len, plain(out))) <= columns
        words = " ".join("\n".join(plain(out)).split())
        assert all(f"{verdict.id} {verdict.text}" in words for verdict in verdicts)

    def test_variants_with_the_same_reasons_are_grouped_and_a_tally_follows(self, verdicts, capsys):
        print_reasons(verdicts[:3], PAPER.titles)
        lines = capsys.readouterr().out.splitlines()
        assert lines[4] == "    the text, c = 2 everywhere, as released"
        assert lines[5] == "        fails           -0.8372 [-2.069, 0.3943] against 5"
        assert [line.split() for line in lines[-4:]] == [
            ["holds", "fails", "undecided", "not", "testable"],
            ["the", "text", "0", "1", "0", "0"],
            ["c", "=", "2", "everywhere", "0", "1", "0", "0"],
            ["as", "released", "0", "1", "0", "0"],
        ]

    def test_colours_are_for_terminals(self, verdicts, capsys, on_terminal):
        on_terminal(100)
        print_marks(verdicts, PAPER.titles)
        print_reasons(verdicts[:3], PAPER.titles)
        out = capsys.readouterr().out
        assert "\x1b[1;31m✗ 23/39" in out
        assert "\x1b[32m✓" in out
        assert "\x1b[1;31m        fails" in out
        on_terminal(100, NO_COLOR="1")
        print_marks(verdicts, PAPER.titles)
        assert not re.search(r"\x1b\[[\d;]*3\dm", capsys.readouterr().out)

    def test_an_output_without_marks_has_letters(self, verdicts, monkeypatch):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
        monkeypatch.setattr(sys, "stdout", stream)
        print_marks(verdicts, PAPER.titles)
        stream.flush()
        text = stream.buffer.getvalue().decode()
        assert "x 23/39" in text
        assert "\\u2" not in text


ROWS = [
    {"a": "x\x1b[2J", "long": "word " * 40, "95 % interval": "-0.5 .. 1000", "n": "7"},
    {"a": "yy", "long": "coebl:c=2", "95 % interval": "none", "n": "1000"},
]


def test_in_a_pipe_every_row_is_one_line(capsys):
    terminal.print_table(ROWS, ["n"], wrap=["long"])
    header, first, second = capsys.readouterr().out.splitlines()
    assert header.split() == ["a", "long", "95", "%", "interval", "n"]
    assert first.startswith(r"x\x1b[2J  word word")
    assert first.endswith("word   -0.5 .. 1000      7")
    assert second.endswith("  1000")


def test_on_a_terminal_names_are_wrapped_and_numbers_are_not(capsys, on_terminal):
    on_terminal(60)
    terminal.print_table(ROWS, ["n"], wrap=["long"])
    lines = plain(capsys.readouterr().out)
    assert max(map(len, lines)) <= 60
    assert lines[1].endswith("-0.5 .. 1000      7")
    assert lines[2].strip().startswith("word word")
    on_terminal(20)  # too narrow for the numbers: the terminal has to break the lines
    terminal.print_table(ROWS, ["n"], wrap=["long"])
    assert "-0.5 .. 1000      7" in capsys.readouterr().out


def test_titles_are_printed_with_plain_spaces(capsys):
    terminal.say(f"missing: {game_title('diagonal:n=50,space=bits')}")
    assert capsys.readouterr().out == "missing: Diagonal, n = 50, space = bits\n"


def test_a_sentence_is_not_broken_before_a_unit_or_in_an_equation(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "width", lambda: 14)
    terminal.say("it took 12345 % with c = 2, or 0.1 .. 0.2")
    assert capsys.readouterr().out.splitlines() == ["it took", "12345 % with", "c = 2, or", "0.1 .. 0.2"]


def test_long_titles_of_narrow_columns_are_wrapped(capsys, on_terminal):
    on_terminal(80)
    titles = ["the text", "c = 2 everywhere", "as released", "the text, c = 1", "as released, c = 1"]
    claim = "Evolution is consistently more robust than deterministic optimism."
    terminal.print_table([{"": "C15", "claim": claim} | dict.fromkeys(titles, "✗ 14/21")], wrap=["claim", *titles])
    lines = plain(capsys.readouterr().out)
    assert max(map(len, lines)) <= 80
    first = next(place for place, line in enumerate(lines) if line.startswith("C15"))
    assert " ".join(line[5 : lines[first].index("✗")].strip() for line in lines[first:]) == claim, "no word is broken"
    assert [line.count("c = 1") for line in lines[:first]][-1] == 2, "nor an equation, in either title"


def test_a_command_under_nohup_continues():
    before, terminated = signal.signal(signal.SIGHUP, signal.SIG_IGN), signal.getsignal(signal.SIGTERM)
    try:
        with resume_hint("coebl run it.toml --out here"):
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is terminated
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_tournament_that_is_stopped_while_it_ranks_prints_how_to_resume(coebl, tmp_path, monkeypatch):
    """Everything has been played, and the ranking of a large one takes seconds."""
    monkeypatch.setattr("coebl.tournament.outcome.finish", Mock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr("coebl.cli.recipe_commands.run_study", lambda *_: None)
    monkeypatch.setattr("coebl.study.Results", Mock())
    done = coebl("tournament", "--learners", "exp3,uniform", "--games", "rps", "--out", "out", cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr == (
        "\ncoebl: stopped; finished cells are kept; "
        "to continue: coebl tournament --out out --learners exp3,uniform --games rps\n"
    )


@pytest.mark.parametrize("outcome", [130, KeyboardInterrupt])
def test_control_c_prints_stopped_whether_typer_returns_or_raises(coebl, monkeypatch, outcome):
    def interrupted(**_):
        if outcome == 130:
            return outcome
        raise outcome

    monkeypatch.setattr("coebl.cli.app", interrupted)
    done = coebl("solve", "rps")
    assert done[:1] + done[-1:] == (130, "coebl: stopped\n")
