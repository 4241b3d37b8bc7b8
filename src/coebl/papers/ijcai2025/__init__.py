"""Lin, "Randomised optimism via competitive co-evolution for matrix games with bandit feedback", IJCAI 2025.

`study.toml` has what is run, `experiments` who plays what in which variant, `figures` and `claims` what is made of it.
"""

from coebl.papers import Paper, Quick
from coebl.papers.ijcai2025.claims import CLAIMS, SPAN, answer
from coebl.papers.ijcai2025.experiments import (
    BEST_RESPONSE,
    MAIN_SIZES,
    QUESTION,
    REFERENCE,
    ROLES,
    STUDY,
    TITLE,
    VARIANTS,
    Variant,
    coebl,
    games,
)
from coebl.papers.ijcai2025.figures import CONVERGENCE, DISTANCE, FIGURES, FURTHER, HEAD_TO_HEAD, MAIN_TEXT, SELF_PLAY
from coebl.report.page import Frontier, Preset

__all__ = ["PAPER"]

CITATION = """\
@inproceedings{lin2025randomised,
  author    = {Shishen Lin},
  title     = {Randomised Optimism via Competitive Co-Evolution for Matrix Games with Bandit Feedback},
  booktitle = {International Joint Conference on Artificial Intelligence (IJCAI)},
  year      = {2025}
}"""


def _preset(variant: Variant) -> Preset:
    """The lines of the page that belong to a variant."""
    learners = {"rps": [variant.spec(role, "rps") for role in ROLES], "*": [variant.spec(role, "") for role in ROLES]}
    return Preset(variant.title, learners, id=variant.id, note=variant.note, opponent=ROLES.index("coebl"))


PAPER = Paper(
    name="ijcai2025",
    title=TITLE,
    question=QUESTION,
    study=STUDY,
    variants=VARIANTS,
    claims=CLAIMS,
    figures=FIGURES,
    quick=Quick(games(MAIN_SIZES), seeds=20, figures=[figure.name for figure in (*MAIN_TEXT, *FURTHER)]),
    answer=answer,
    presets=[_preset(variant) for variant in VARIANTS.values()],
    first=[SELF_PLAY["noise-free"], HEAD_TO_HEAD["noise-free"], DISTANCE["paper"]],
    frontier=Frontier(BEST_RESPONSE, [CONVERGENCE, DISTANCE["paper"]]),
    reference=REFERENCE,
    averaged={"tv": SPAN},
    headline="C14",
    switches={
        "exp3-as-released": "D1: Exp3 updated as released",
        "exp3-ix-as-released": "D2: Exp3-IX updated as released",
        coebl(2): "D3: c = 2, as released",
    },
    citation=CITATION,
)
