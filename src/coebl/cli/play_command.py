"""The command play: a person against a learner."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated

from coebl.cli import options as opt
from coebl.cli.terminal import print_table, say
from coebl.core.errors import InputError, check_integer, printable
from coebl.core.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coebl.core.arrays import Floats
    from coebl.games import Game

_STOP = ("q", "quit", "exit")
_SHOWN = 6  # actions of a game whose payoffs are printed
_LISTED = 16  # actions that are named in a line


@opt.app.command("play")
def play_command(
    game: opt.GameSpec,
    against: Annotated[str, opt.option("SPEC", "The learner that you play against.")],
    rounds: Annotated[int, opt.integer("Rounds; q or Ctrl-C ends earlier.")] = 30,
    seed: Annotated[int | None, opt.integer("Seed of the learner; by default another one every time.")] = None,
) -> None:
    """Play against a learner, round by round.

    You are the row player, payoffs have no noise, and the learner chooses before you do. Answer with an action, or with
    the beginning of its name. The learner's policy is shown at the end.

    \b
    Examples:
      coebl play --game rps --against coebl:c=2
      coebl play --game matching-pennies --against exp3 --rounds 50
    """
    from coebl.engine import Player
    from coebl.games import parse_game, parse_matrix
    from coebl.kernels.cache import announce_compilation

    check_integer("--rounds", rounds, 1, 10**6)
    played = parse_matrix(parse_game(game, "none"))
    if len(played.row_labels) > 1000:
        raise InputError(
            f"--game is {game}, of {len(played.row_labels)} actions; accepted: at most 1000 to choose from."
        )
    with announce_compilation():
        learner = Player(
            against,
            played.column_labels,
            played.row_labels,
            horizon=rounds,
            seed=seed,
            payoff_range=played.ranges[1],
            noise=0.0,
        )
        learner.act()  # rejects a learner that cannot play before anything is asked
    title = f"{printable(played.spec or played.name)} against {printable(against)}"
    say(f"{title}, {counted(rounds, 'round')}. You are the row player.")
    if max(played.shape) <= _SHOWN:
        print(f"\n{str(played).partition(chr(10))[2]}\n")
    say(f"Your actions: {_listed(played.row_labels)}; q stops.", hang=2)
    mine: Counter[int] = Counter()
    score = 0.0
    try:
        for action in _answers(played.row_labels, rounds):
            other = learner.act()
            payoff = float(played.payoff[action, int(other)])
            learner.observe(reward=-payoff, opponent=action)
            mine[action] += 1
            score += payoff
            you, it = played.row_labels[action], played.column_labels[int(other)]
            say(
                f"  you {you}, it {it}: {payoff:+.4g}; score {score + 0.0:+.4g} after {counted(mine.total(), 'round')}",
                hang=4,
            )
    except KeyboardInterrupt:
        print()
    _sum_up(played, mine, score, learner.policy)


def _answers(labels: Sequence[str], rounds: int) -> Iterator[int]:
    """Yield the actions that are answered, until all rounds are played, a word that stops, or the end of the input."""
    left, asks = rounds, sys.stdin.isatty()
    while left:
        try:
            line = input(f"{rounds - left + 1}> ") if asks else sys.stdin.readline()
        except EOFError:
            return
        if not asks and not line:
            return
        words = line.strip().lower()
        exact = [place for place, label in enumerate(labels) if label.lower() == words]
        if words in _STOP and not exact:
            return
        fitting = exact or [place for place, label in enumerate(labels) if words and label.lower().startswith(words)]
        if len(fitting) == 1:
            left -= 1
            yield fitting[0]
        elif words or asks:  # a pipe may have empty lines
            reason = "more than one action" if len(fitting) > 1 else "no action"
            say(f"  {one_line(words, 40)!r} is {reason}; accepted: {_listed(labels)}, or q to stop.", hang=4)


def _sum_up(game: Game, mine: Counter[int], score: float, policy: Floats) -> None:
    """Print the score, and the policy that the learner would have played next beside an equilibrium."""
    rounds = mine.total()
    if not rounds:
        say("No round was played.")
        return
    value = game.value if abs(game.value) > 1e-12 else 0.0
    mean = f"{score / rounds:+.3f} a round. An equilibrium is worth {value:+.3f}."
    say(f"You have {score + 0.0:+.4g} after {counted(rounds, 'round')}: {mean}")
    answers: Floats = game.payoff @ policy
    best = int(answers.argmax())
    say(f"Its policy now is below. Best against it: {game.row_labels[best]}, worth {answers[best]:+.3f}.")
    star = game.solution.column
    shown = sorted(range(len(policy)), key=lambda action: (-policy[action], action))[:_LISTED]
    rows = [(game.column_labels[a], f"{policy[a]:.3f}", "#" * round(30 * policy[a]), f"{star[a]:.3f}") for a in shown]
    print_table(["its action", "policy", "", "equilibrium"], rows, right=["policy", "equilibrium"], wrap=["its action"])
    yours = ", ".join(f"{game.row_labels[action]} {count}" for action, count in mine.most_common(_LISTED))
    say(f"You played {yours}.", hang=2)


def _listed(labels: Sequence[str]) -> str:
    more = f", ... ({len(labels)} in all)" if len(labels) > _LISTED else ""
    return ", ".join(one_line(label, 30) for label in labels[:_LISTED]) + more
