"""How specs and metrics read to people: in figures, tables and on the page.

Titles stand on the things themselves. Results may name what is not here, such as a learner in a user's own file or a
metric that was handed in as a class: these go by the names that were stored. No file is run to name what is in it.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any, NamedTuple

from coebl.core.errors import InputError
from coebl.core.registry import Registry
from coebl.core.specs import Entry, split_spec
from coebl.games import GAMES
from coebl.learners import LEARNERS
from coebl.metrics import METRICS, metric_class


def registered(registry: Registry[Any], spec: str) -> Entry[Any] | None:
    """The entry of a spec's name; None if it is not registered here, or stands in a file."""
    parts = split_spec(spec)
    return registry[parts.name] if not parts.file and parts.name in registry else None


def learner_title(spec: str, shown: Collection[str] = ()) -> str:
    """A learner as people read it; one that is not registered here is its own title.

    Args:
        spec: its spec.
        shown: parameters that are named even where the spec leaves them at their defaults.

    >>> [learner_title(spec).replace("\u00a0", " ") for spec in ("ucb", "coebl:c=2", "mine.py:Mine:c=2")]
    ['UCB', 'COEBL, c = 2', 'mine.py:Mine:c=2']
    >>> learner_title("coebl", shown=["c"]).replace("\u00a0", " ")
    'COEBL, c = 8'
    """
    entry = registered(LEARNERS, spec)
    return spec if entry is None else _title(entry, spec, shown)


def game_title(spec: str) -> str:
    """A game as people read it; one that is not registered here is its own title.

    >>> game_title("diagonal:n=4").replace("\u00a0", " ")
    'Diagonal, n = 4'
    """
    entry = registered(GAMES, spec)
    return spec if entry is None else _title(entry, spec)


def parameters_text(parameters: str) -> str:
    """The parameters of a spec as they are printed; no line ends at an equals sign.

    >>> parameters_text("m=20,n=30").replace("\u00a0", " ")
    'm = 20, n = 30'
    """
    return parameters.replace("=", "\u00a0=\u00a0").replace(",", ", ")


def _title(entry: Entry[Any], spec: str, shown: Collection[str] = ()) -> str:
    parameters = split_spec(spec).parameters
    with suppress(InputError):  # a spec that only another version can read is printed as it is
        given = entry.read(parameters)
        added = {p.name: p.default for p in entry.parameters if p.name in shown and not p.required}
        texts = {p.name: p.write((added | given)[p.name]) for p in entry.parameters if p.name in added | given}
        parameters = ",".join(f"{name}={text}" for name, text in texts.items())
    return ", ".join(filter(None, [entry.title, parameters_text(parameters)]))


class MetricWords(NamedTuple):
    """A metric in words; of one that is not registered here the title alone is known."""

    title: str
    definition: str = ""
    formula: str = ""  # the definition in mathtext
    meaning: str = ""
    cumulative: bool = False
    known: bool = False  # whether it is registered here

    @property
    def in_a_sentence(self) -> str:
        """The title inside a sentence: small, unless it is an abbreviation or not ours.

        >>> metric_words("pseudo_regret").in_a_sentence, metric_words("kl").in_a_sentence
        ('pseudo-regret', 'KL divergence')
        """
        keep = self.title[:2].isupper() or not self.known
        return self.title if keep else self.title[:1].lower() + self.title[1:]


def metric_words(name: str) -> MetricWords:
    """What to call a metric, and what it is.

    >>> metric_words("tv").title, metric_words("my_own").title
    ('TV distance', 'my own')
    """
    plain = name.replace("_", " ")
    if registered(METRICS, name) is None:
        return MetricWords(plain)
    metric = metric_class(name)
    definition = getattr(metric, "definition", "")
    return MetricWords(metric.title or plain, definition, metric.formula, metric.meaning, metric.cumulative, known=True)


def metric_label(name: str) -> str:
    """A metric as the label of an axis: its name, and its formula on a second line where there is one.

    >>> metric_label("average_exploitability")
    'average exploitability'
    """
    words = metric_words(name)
    return "\n".join(filter(None, (words.in_a_sentence, words.formula)))
