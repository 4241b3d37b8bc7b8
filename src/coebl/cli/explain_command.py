"""The command explain: why a learner of a study loses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from coebl.cli import options as opt
from coebl.cli.terminal import print_table, progress_bar, say
from coebl.core.errors import printable

_LISTED = 8  # matches


@opt.app.command("explain")
def explain_command(
    folder: opt.StudyFolder,
    learner: Annotated[str, typer.Argument(metavar="LEARNER", help="A learner of the study.")],
    out: Annotated[Path | None, opt.option("FILE", "An svg, png or pdf file; by default in DIR/figures.")] = None,
    runs: Annotated[int, opt.integer("Runs of the worst match that are played again; 0 for none.", least=0)] = 5,
) -> None:
    """Explain why a learner of a study loses, in sentences and a figure.

    Its worst games and opponents, the rounds in which the loss arises, what it plays there, and what a best response
    would take. Matches and rounds are those stored; for what it plays, a few seeds of its worst match are played again.
    A learner in a file is played again if it is named by its path.

    \b
    Examples:
      coebl explain results exp3
      coebl explain mine path/to/mine.py:Mine --out why.png
    """
    from coebl.core.specs import without_folder
    from coebl.core.text import in_interval
    from coebl.evidence.explain import explain
    from coebl.kernels.cache import announce_compilation
    from coebl.plots import save
    from coebl.plots.explained import plot_explanation
    from coebl.study import Results

    format = opt.figure_format("--out", out) if out else "svg"
    name = re.sub(r"[^\w-]", "_", without_folder(learner))[:100]
    target = out or folder / "figures" / f"explain-{name}.svg"
    with progress_bar("the worst match"), announce_compilation():
        found = explain(Results(folder), learner, runs=runs)
    for number, sentence in enumerate(found.sentences()):
        say(sentence, "" if number else "bold")
    print()
    rows = []
    for loss in found.losses[:_LISTED]:
        share = loss.share
        mean, low, high = in_interval(*(100 * number for number in (share.mean, share.low, share.high)))
        word = {1: "lost", 0: "undecided", -1: "won"}[share.sign]
        rows.append([found.match_title(loss), mean, f"{low} .. {high}", word])
    print_table(["against", "lost, %", "95 % interval", ""], rows, right=["lost, %"], wrap=["against"])
    if len(found.losses) > _LISTED:
        print(f"and {len(found.losses) - _LISTED} more")
    say(
        f"lost: below the value of the game, by {found.metric}, in % of the payoff range a round, both seats pooled; "
        f"p values with Holm's correction over {found.losses[0].share.family}."
    )
    with progress_bar("the figure"):
        [path] = save(plot_explanation(found), target.parent, target.stem, [format], within=folder)
    print(f"wrote {printable(str(path))}")
