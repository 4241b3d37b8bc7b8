"""Papers: the experiments, claims and figures of each, as data.

To add a paper, write a folder with an ordinary study file and a `Paper`, then one line in `PAPERS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coebl.core.errors import look_up
from coebl.core.modules import load
from coebl.evidence.checks import MatchSpecs
from coebl.evidence.judge import Claim, Verdict, judge

if TYPE_CHECKING:
    from coebl.papers.drawing import Figure
    from coebl.report.page import Presentation
    from coebl.study import Results

PAPERS = {"ijcai2025": "coebl.papers.ijcai2025:PAPER"}
"""The "module:attribute" of each paper, by its name, which is also the name of its study."""


@dataclass(frozen=True)
class Variant:
    """A reading of a paper; subclasses say which learners play the roles of the paper's learners."""

    id: str  # on the command line and in files
    title: str  # in tables and figures


@dataclass(frozen=True)
class Quick:
    """The part of a paper's study that takes minutes."""

    games: Sequence[str]
    seeds: int  # seeds below this number
    figures: Sequence[str]


@dataclass(frozen=True)
class Paper:
    """The experiments, claims and figures of a paper, and the content of its page."""

    name: str
    study: str  # the content of its study file
    variants: Mapping[str, Any]  # by id, each a `Variant`
    claims: Mapping[str, Claim[Any]]
    figures: Mapping[str, Figure]
    quick: Quick
    page: Presentation
    answer: Callable[[Mapping[str, Counter[str]]], str] = lambda outcomes: (
        ""
    )  # from those of the main claim, by variant
    averaged: Mapping[str, int] = field(default_factory=dict)  # metrics also tabled as means over so many last rounds

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the variants, by id."""
        return {id: variant.title for id, variant in self.variants.items()}

    def judge(
        self, results: Results, claims: str | Iterable[str] | None = None, variants: str | Iterable[str] | None = None
    ) -> list[Verdict]:
        """Judge each claim, or those named, in each variant, or in those named."""
        chosen = {variant.id: variant for variant in look_up("variant", variants, self.variants)}
        return judge(results, look_up("claim", claims, self.claims), chosen)

    def result(self, verdicts: Iterable[Verdict]) -> str:
        """Return the result of the reproduction in one sentence, or "" if the main claim is not judged."""
        return self.answer(
            {
                verdict.variant: Counter(check.verdict for check in verdict.checks)
                for verdict in verdicts
                if verdict.id == self.page.headline
            }
        )

    def needed(self, figures: Iterable[str] = (), claims: Iterable[str] = ()) -> list[MatchSpecs]:
        """Return the matches that these figures and claims need in any variant, each once."""
        parts: list[Figure | Claim[Any]] = [
            *look_up("figure", figures, self.figures),
            *look_up("claim", claims, self.claims),
        ]
        variants = self.variants.values()
        return list(dict.fromkeys(match for part in parts for variant in variants for match in part.needs(variant)))


def load_paper(name: str) -> Paper:
    """Load a paper by its name.

    >>> load_paper("ijcai2025").name
    'ijcai2025'
    """
    (home,) = look_up("paper", name, PAPERS)
    paper = load(home)
    assert isinstance(paper, Paper)
    return paper


def paper_of(study: str) -> Paper | None:
    """Return the paper whose study has this name, if there is one."""
    return load_paper(study) if study in PAPERS else None
