"""The command play: scores, answers that are not actions, and how it ends; mistakes are in test_mistakes.py."""

import io
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

PENNIES = ("play", "--game", "matching-pennies", "--seed", "1")


@pytest.fixture
def answers(monkeypatch):
    return lambda *lines: monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_the_score_adds_up_against_a_fixed_opponent(coebl, answers):
    answers("heads", "T", "tails")
    run = coebl(*PENNIES, "--against", "fixed:1/0")
    assert (run.returncode, run.stderr) == (0, "")
    lines = [line.strip() for line in run.stdout.splitlines()]
    assert [line for line in lines if line.startswith("you ")] == [
        "you heads, it heads: +1; score +1 after 1 round",
        "you tails, it heads: -1; score +0 after 2 rounds",
        "you tails, it heads: -1; score -1 after 3 rounds",
    ]
    assert "You have -1 after 3 rounds: -0.333 a round. An equilibrium is worth +0.000." in run.stdout
    assert "Best against it: heads, worth +1.000." in run.stdout
    assert "You played tails 2, heads 1." in run.stdout


def test_a_learner_learns_from_a_person_who_repeats(coebl, answers):
    answers(*["rock"] * 300)
    run = coebl("play", "--game", "rps", "--against", "ucb", "--rounds", "300", "--seed", "3")
    assert "You played rock 300." in run.stdout
    score = float(run.stdout.split("You have ")[1].split()[0])
    assert score < -150  # losing every round would be -300


def test_an_answer_that_is_not_an_action_costs_no_round(coebl, answers):
    answers("x", "", "h\x07", "heads", "q", "tails")
    run = coebl(*PENNIES, "--against", "exp3")
    wrong = [line.strip() for line in run.stdout.splitlines() if "accepted" in line]
    assert wrong[0] == "'x' is no action; accepted: heads, tails, or q to stop."
    assert len(wrong) == 2
    assert "\x07" not in run.stdout
    assert "after 1 round:" in run.stdout


def test_a_prefix_of_several_actions_is_ambiguous(coebl, answers, tmp_path):
    (tmp_path / "near.csv").write_text(",a,b\nleft,1,2\nlength,2,1\n")
    answers("le", "lef")
    run = coebl("play", "--game", "near.csv", "--against", "exp3", cwd=tmp_path)
    assert "'le' is more than one action; accepted: left, length, or q to stop." in run.stdout
    assert "after 1 round:" in run.stdout


def test_play_ends_after_its_rounds_or_at_the_end_of_the_input(coebl, answers):
    answers("heads", "heads", "heads")
    assert "after 2 rounds:" in coebl(*PENNIES, "--against", "exp3", "--rounds", "2").stdout
    answers()
    assert coebl(*PENNIES, "--against", "exp3").stdout.splitlines()[-1] == "No round was played."


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_ctrl_c_ends_with_the_score():
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "coebl", *PENNIES, "--against", "exp3"]
    run = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.write(ours, b"heads\n")
    seen = b""
    end = time.monotonic() + 90
    while b"after 1 round" not in seen and time.monotonic() < end:
        seen += os.read(run.stdout.fileno(), 1000)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    os.close(ours), os.close(theirs)
    assert run.returncode == 0
    assert b"after 1 round:" in seen + out
    assert b"Traceback" not in err
