"""The gallery: pictures, each with the code that drew it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

from coebl.plots import save

STUDY = """from coebl.study import Results, Study

Study(
    games=["diagonal:2", "biased-rps"], learners=["coebl:c=[0.5,2,8]", "ucb", "exp3"],
    rounds=300, seeds=10, metrics=["pseudo_regret", "exploitability"],
).run("results")"""

PICTURES = {
    "A curve with its band": """from coebl import simulate

result = simulate("biased-rps", "ucb", "exp3", seeds=20)
picture = result.plot("pseudo_regret")""",
    "Policies of three actions": """from coebl import simulate
from coebl.plots import plot_simplex

result = simulate("rps", "coebl:c=2", "exp3", seeds=1, keep=["policies"])
picture = plot_simplex(result)""",
    "Policies of two actions, and where small steps lead": """from coebl import simulate
from coebl.plots import plot_simplex

result = simulate("matching-pennies", "exp3", "exp3", seeds=1, keep=["policies"])
picture = plot_simplex(result)""",
    "Policies of many actions": """from coebl import simulate
from coebl.plots import plot_simplex

result = simulate("diagonal:3", "tsallis-inf", "tsallis-inf", seeds=1, keep=["policies"])
picture = plot_simplex(result)""",
    "All matches of a study": f"""{STUDY}
picture = Results("results").plot("exploitability", players=(["coebl:c=2", "ucb", "exp3"], "ucb"))""",
    "A metric against a hyper-parameter": """from coebl.study import Results

picture = Results("results").plot("pseudo_regret", players=(None, ["ucb", "exp3"]), sweep=True)""",
    "Who beats whom": """from coebl.plots import plot_heat_map
from coebl.study import Results

games = {"Diagonal, n = 2": "diagonal:n=2", "Biased RPS": "biased-rps"}
rows = {"UCB": "ucb", "Exp3": "exp3"}
cells = {(game, row): (games[game], rows[row], "coebl:c=2") for game in games for row in rows}
picture = plot_heat_map(Results("results"), "pseudo_regret", cells)""",
    "Why a learner loses": """from coebl.evidence.explain import explain
from coebl.plots.explained import plot_explanation
from coebl.study import Results

picture = plot_explanation(explain(Results("results"), "coebl"))""",
}


def gallery() -> Iterator[tuple[str, str | bytes]]:
    """Yield the page and its pictures, by their places on the site; the code on the page is run."""
    thumbnails = [
        f"[![{title}](gallery-{place}.svg)](#picture-{place}){{.thumbnail}}" for place, title in enumerate(PICTURES)
    ]
    head = "Every picture is drawn by the code below it. A click enlarges it."
    parts = ["# Gallery", head, "\n".join(thumbnails)]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for place, (title, code) in enumerate(PICTURES.items()):
            names: dict[str, Any] = {}
            exec(code, names)  # our code, from above
            picture = names["picture"]
            [path] = save(getattr(picture, "figure", picture), folder, f"picture-{place}", ["svg"])
            yield f"gallery-{place}.svg", Path(path).read_bytes()
            parts += [
                f"## {title} {{#picture-{place}}}",
                f"![{title}](gallery-{place}.svg){{.drawing}}",
                f"```python\n{code}\n```",
            ]
    yield "gallery.md", "\n\n".join(parts)
