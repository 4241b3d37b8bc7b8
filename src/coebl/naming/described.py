"""What results say about the learners and metrics that they name, so that nothing has to be imported to name them.

A cell's metadata has a table "things", with what stood on the classes when the cell was made.

"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from coebl.learners import LEARNERS, Learner
from coebl.metrics import Metric

Table = dict[str, dict[str, Any]]
Words = TypeVar("Words", "LearnerWords", "MetricWords")


class LearnerWords(NamedTuple):
    """A learner in words, and its colour; parameters are not part of the title."""

    title: str = ""
    colour: int | None = None  # its place in the palette of figures
    kind: str = ""  # how much it sees, see `coebl.learners.base.KINDS`
    parameters: Mapping[str, str] = MappingProxyType({})  # all of them, with their values as a spec writes them

    @classmethod
    def of(cls, learner: type[Learner]) -> LearnerWords:
        """The words that the class itself declares."""
        return cls(learner.title, learner.colour, learner.kind())


class MetricWords(NamedTuple):
    """A metric in words; only the title is known for an unregistered metric that no results describe."""

    title: str
    definition: str = ""
    formula: str = ""  # the definition in mathtext
    meaning: str = ""
    cumulative: bool = False
    signed: bool = False  # whether its sign says who is ahead
    better: str = "lower"  # or higher
    in_payoffs: bool = False  # whether it is in units of the payoffs
    known: bool = False  # whether more than the name is known

    @classmethod
    def of(cls, metric: type[Metric]) -> MetricWords:
        """The words that the class itself declares."""
        title = metric.title or plain_name(metric.name)
        definition = getattr(metric, "definition", "")
        facts = metric.cumulative, metric.signed, metric.better, metric.in_payoffs
        return cls(title, definition, metric.formula, metric.meaning, *facts, known=True)

    @property
    def in_a_sentence(self) -> str:
        """The title inside a sentence: small, unless it is an abbreviation or a bare name.

        >>> MetricWords("Pseudo-regret", known=True).in_a_sentence, MetricWords("KL divergence").in_a_sentence
        ('pseudo-regret', 'KL divergence')
        """
        keep = self.title[:2].isupper() or not self.known
        return self.title if keep else self.title[:1].lower() + self.title[1:]


@dataclass(frozen=True)
class Known:
    """What is known about learners and metrics besides what is registered here.

    >>> own = Known({"mine.py:Mine": LearnerWords("My learner", colour=3)})
    >>> from coebl.naming import learner_title
    >>> learner_title("mine.py:Mine", known=own)
    'My learner'
    """

    learners: Mapping[str, LearnerWords] = field(default_factory=dict)  # by spec
    metrics: Mapping[str, MetricWords] = field(default_factory=dict)  # by name
    widths: Mapping[str, float] = field(default_factory=dict)  # of the ranges of payoffs, by game


NOTHING = Known()


@runtime_checkable
class Described(Protocol):
    """A source that says more of its matches than their specs."""

    def metadata(self) -> list[dict[str, Any]]:
        """What is stored about every cell besides its numbers; its "things", if there, are those of `describe`."""


def known_of(learners: Iterable[Learner], metrics: Iterable[type[Metric]]) -> Known:
    """Return what learners and classes of metrics declare.

    >>> from coebl.learners import Ucb
    >>> known_of([Ucb()], []).learners["ucb"].title
    'UCB'
    """
    return Known(
        {
            str(learner): LearnerWords.of(type(learner))._replace(parameters=parameters_of(learner))
            for learner in learners
        },
        {metric.name: MetricWords.of(metric) for metric in metrics},
    )


def parameters_of(learner: Learner) -> dict[str, str]:
    """All parameters of a learner, with their values as a spec writes them.

    >>> from coebl.learners import Coebl
    >>> parameters_of(Coebl(c=2))["c"]
    '2'
    """
    values = learner.hyper_parameters()
    entry = LEARNERS.entry_of(type(learner), str(learner))
    return {p.name: p.write(values[p.name]) for p in entry.parameters if p.name in values}


def known_to(source: object) -> Known:
    """What a source says of its learners and metrics.

    >>> from coebl.study import Results
    >>> known_to(Results("results")).metrics["pseudo_regret"].title
    'Pseudo-regret'
    """
    if not isinstance(source, Described):
        return NOTHING
    learners: dict[str, LearnerWords] = {}
    metrics: dict[str, MetricWords] = {}
    widths: dict[str, float] = {}
    for cell in source.metadata():
        for spec, stored in _table(cell, "learners").items():
            learners[spec] = _read(LearnerWords(), stored)
        for name, stored in _table(cell, "metrics").items():
            metrics[name] = _read(MetricWords(plain_name(name), known=True), stored)
        if game := (cell.get("things") or {}).get("game"):
            low, high = game["payoff_range"]
            widths[cell["labels"]["game"]] = high - low
    return Known(learners, metrics, widths)


def plain_name(name: str) -> str:
    """The name of a metric for people who read no code."""
    return name.replace("_", " ")


def _table(cell: Mapping[str, Any], kind: str) -> Table:
    """A part of a cell's "things"; older cells have none."""
    things = cell.get("things")
    table = things.get(kind) if isinstance(things, dict) else None
    return {name: stored for name, stored in table.items() if isinstance(stored, dict)} if table else {}


def _read(words: Words, stored: Mapping[str, Any]) -> Words:
    """The words with what is stored of them; what is empty, or not of the right type, stays as it is."""
    types = {"colour": int, "cumulative": bool, "signed": bool, "in_payoffs": bool, "parameters": dict}
    kept = {
        name: stored[name]
        for name in words._fields
        if type(stored.get(name)) is types.get(name, str) and stored[name] != ""
    }
    return words._replace(**kept)
