"""Lin, "Randomised optimism via competitive co-evolution for matrix games with bandit feedback", IJCAI 2025.

`study.toml` has the experiments, `variants` the learners of each variant, `paper_figures` and `paper_claims` the rest.
"""

from coebl.papers import Paper, Quick
from coebl.papers.ijcai2025.paper_claims import ANSWER, CLAIMS, HEADLINE, SPAN
from coebl.papers.ijcai2025.paper_figures import (
    CONVERGENCE,
    DISTANCE,
    FIGURES,
    FURTHER,
    HEAD_TO_HEAD,
    MAIN_TEXT,
    SELF_PLAY,
)
from coebl.papers.ijcai2025.variants import (
    BEST_RESPONSE,
    MAIN_SIZES,
    QUESTION,
    REFERENCE,
    STUDY,
    TITLE,
    VARIANTS,
    coebl,
    games,
)
from coebl.report.page import Presentation

__all__ = ["PAPER"]

CITATION = """\
@inproceedings{lin2025randomised,
  author    = {Shishen Lin},
  title     = {Randomised Optimism via Competitive Co-Evolution for Matrix Games with Bandit Feedback},
  booktitle = {International Joint Conference on Artificial Intelligence (IJCAI)},
  year      = {2025}
}"""

PAPER = Paper(
    name="ijcai2025",
    study=STUDY,
    variants=VARIANTS,
    claims=CLAIMS,
    figures=FIGURES,
    quick=Quick(games(MAIN_SIZES), seeds=20, figures=[figure.name for figure in (*MAIN_TEXT, *FURTHER)]),
    page=Presentation(
        title=TITLE,
        question=QUESTION,
        headline=HEADLINE,
        answer=ANSWER,
        words=("won", "undecided", "lost"),
        presets=[variant.preset("coebl") for variant in VARIANTS.values()],
        first=[SELF_PLAY["noise-free"], HEAD_TO_HEAD["noise-free"], DISTANCE["paper"]],
        strongest=BEST_RESPONSE,
        convergence=[CONVERGENCE, DISTANCE["paper"]],
        reference=REFERENCE,
        switches={
            "exp3-as-released": "D1: Exp3 updated as released",
            "exp3-ix-as-released": "D2: Exp3-IX updated as released",
            coebl(2): "D3: c = 2, as released",
        },
        citation=CITATION,
    ),
    averaged={"tv": SPAN},
)
