"""Papers: what each of them runs, draws and claims.

To add a paper, write its folder, with a `Paper` in it, then one line in `PAPERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from coebl.core.errors import InputError, look_up
from coebl.core.modules import load
from coebl.evidence.judge import Claim, Verdict, judge
from coebl.runs import MatchSpecs, Source

if TYPE_CHECKING:
    import matplotlib.figure

    from coebl.plots import Reference
    from coebl.report.page import Frontier, Preset

PAPERS = {"ijcai2025": "coebl.papers.ijcai2025:PAPER"}
"""Where each paper is: name, which is also that of its study, to "module:attribute"."""


class Variant(Protocol):
    """A reading of a paper: who plays the parts of its learners."""

    @property
    def id(self) -> str:
        """Its short name, on the command line and in files."""

    @property
    def title(self) -> str:
        """Its name in tables and figures."""


V = TypeVar("V", bound=Variant)
V_contra = TypeVar("V_contra", bound=Variant, contravariant=True)


class Figure(Protocol[V_contra]):
    """A figure of a paper, which may be drawn in several ways."""

    @property
    def name(self) -> str:
        """Its name on the command line and, up to a suffix, of its files."""

    @property
    def varied(self) -> bool:
        """Whether it depends on the variant."""

    def needs(self, variant: V_contra) -> list[MatchSpecs]:
        """The matches that it shows when there is data for all of them."""

    def has_data(self, source: Source, variant: V_contra) -> bool:
        """Whether there is enough data to draw a part of it."""

    def drawings(self, source: Source, variant: V_contra) -> Iterable[tuple[str, matplotlib.figure.Figure]]:
        """The name of each file, without its format, and what it shows."""


@dataclass(frozen=True)
class Quick:
    """The part of a paper's study that takes minutes."""

    games: Sequence[str]
    seeds: int  # those below this number
    figures: Sequence[str]


@dataclass(frozen=True)
class Paper(Generic[V]):
    """What a paper runs, draws and claims, and what its page shows."""

    name: str
    title: str
    question: str  # what its reproduction is about, in a paragraph
    study: str  # the text of its study file
    variants: Mapping[str, V]
    claims: Mapping[str, Claim[V]]
    figures: Mapping[str, Figure[V]]
    quick: Quick
    answer: Callable[[Sequence[Mapping[str, Any]]], str] = lambda verdicts: ""  # what came out, from plain verdicts
    presets: Sequence[Preset] = ()  # the choices of lines on its page
    first: Sequence[str] = ()  # the metrics that its page shows first
    frontier: Frontier | None = None
    reference: Reference | None = None  # the line that it holds regrets against
    headline: str = ""  # the claim that its page begins with
    switches: Mapping[str, str] = field(default_factory=dict)  # learners that stand in for others, and what that is
    citation: str = ""
    averaged: Mapping[str, int] = field(default_factory=dict)  # metrics whose mean over so many last rounds is tabled

    @property
    def titles(self) -> dict[str, str]:
        """What each variant is called, by its id."""
        return {id: variant.title for id, variant in self.variants.items()}

    def judge(
        self, source: Source, claims: str | Iterable[str] | None = None, variants: str | Iterable[str] | None = None
    ) -> list[Verdict]:
        """A verdict on each claim, or on those named, in each variant, or in those named."""
        chosen = {variant.id: variant for variant in look_up("variant", variants, self.variants)}
        return judge(source, look_up("claim", claims, self.claims), chosen)

    def needed(self, figures: Iterable[str] = (), claims: Iterable[str] = ()) -> list[MatchSpecs]:
        """The matches that these figures and claims need in any variant, each once."""
        parts: list[Figure[V] | Claim[V]] = [
            *look_up("figure", figures, self.figures),
            *look_up("claim", claims, self.claims),
        ]
        return list(dict.fromkeys(each for part in parts for v in self.variants.values() for each in part.needs(v)))


def load_paper(name: str) -> Paper[Any]:
    """The paper of a name.

    >>> load_paper("ijcai2025").name
    'ijcai2025'
    """
    (home,) = look_up("paper", name, PAPERS)
    paper = load(home)
    assert isinstance(paper, Paper)
    return paper


def paper_of(study: str) -> Paper[Any] | None:
    """The paper whose study has this name, if there is one."""
    return load_paper(study) if study in PAPERS else None


def no_data(figure: Figure[V], variant: V) -> InputError:
    """What to say where a figure cannot be drawn."""
    return InputError(
        f"there is no data for figure {figure.name} ({variant.title}); into the same folder, run: "
        f"coebl reproduce --figure {figure.name}"
    )
