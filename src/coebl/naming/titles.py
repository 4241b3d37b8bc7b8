"""How specs and metrics read to people: in figures, tables and on the page.

Titles stand on the classes of the things themselves. Results may name what is not registered here, such as a learner in
a user's own file: it goes by what the results say of it (`coebl.naming.described`), else by its spec. No file is run to
name what is in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from coebl.core.registry import Registry
from coebl.core.specs import split_spec
from coebl.games import GAMES
from coebl.learners import LEARNERS
from coebl.metrics import METRICS
from coebl.naming.described import NOTHING, Known, LearnerWords, MetricWords, plain_name


def learner_words(spec: str, known: Known = NOTHING) -> LearnerWords:
    """What is known of a learner: by its results, else as it is registered here, else nothing."""
    entry = LEARNERS.registered(spec)
    words = known.learners.get(spec, LearnerWords())
    if entry is None or words.title:
        return words
    factory: Any = entry.factory
    return (words if spec in known.learners else LearnerWords.of(factory))._replace(title=entry.title)


def learner_title(spec: str, shown: Collection[str] = (), known: Known = NOTHING) -> str:
    """A learner's title for people; an unknown learner is shown by its spec.

    Args:
        spec: its spec.
        shown: parameters that are named even where the spec leaves them at their defaults.
        known: what the results say of their learners.

    >>> [learner_title(spec).replace("\u00a0", " ") for spec in ("ucb", "coebl:c=2", "mine.py:Mine:c=2")]
    ['UCB', 'COEBL, c = 2', 'mine.py:Mine:c=2']
    >>> learner_title("coebl", shown=["c"]).replace("\u00a0", " ")
    'COEBL, c = 8'
    """
    words = learner_words(spec, known)
    if not words.title:
        return spec
    if LEARNERS.registered(spec) is None:
        spec = _with_defaults(spec, shown, words)
    return _with_parameters(words.title, LEARNERS, spec, shown)


def spelled_out(specs: Iterable[str], known: Known = NOTHING) -> dict[str, str]:
    """Specs of learners as people read them side by side: what one of a name sets, the others of that name show too.

    Args:
        specs: of learners.
        known: what the results say of their learners.

    >>> spelled_out(["coebl", "coebl:c=2", "ucb"])
    {'coebl': 'coebl:c=8', 'coebl:c=2': 'coebl:c=2', 'ucb': 'ucb'}
    """
    texts = LEARNERS.disambiguate(specs)
    shown: dict[str, set[str]] = {}
    for spec in texts:
        shown.setdefault(split_spec(spec).name, set()).update(split_spec(spec).arguments)
    return {
        spec: _with_defaults(spec, shown[split_spec(spec).name], words) if words.parameters and text == spec else text
        for spec, text in texts.items()
        for words in [learner_words(spec, known) if LEARNERS.registered(spec) is None else LearnerWords()]
    }


def _with_defaults(spec: str, shown: Collection[str], words: LearnerWords) -> str:
    """A spec that names these parameters too, of a learner of which only the results know the defaults."""
    parts = split_spec(spec)
    given = parts.arguments
    known = {name: given.get(name, text) for name, text in words.parameters.items() if name in given or name in shown}
    written = ",".join(f"{name}={text}" for name, text in (given | known).items())
    return f"{parts.name}:{written}" if written else spec


def game_title(spec: str) -> str:
    """A game as people read it; one that is not registered here is its own title.

    Args:
        spec: of the game.

    >>> game_title("diagonal:n=4").replace("\u00a0", " ")
    'Diagonal, n = 4'
    """
    entry = GAMES.registered(spec)
    return spec if entry is None else _with_parameters(entry.title, GAMES, spec)


def parameters_text(parameters: str) -> str:
    """The parameters of a spec as they are printed; no line ends at an equals sign.

    >>> parameters_text("m=20,n=30").replace("\u00a0", " ")
    'm = 20, n = 30'
    """
    return parameters.replace("=", "\u00a0=\u00a0").replace(",", ", ")


def _with_parameters(title: str, registry: Registry[Any], spec: str, shown: Collection[str] = ()) -> str:
    parameters = split_spec(spec).parameters  # of a spec that is not known here, as they are
    if found := registry.known(spec):
        entry, given = found
        added = {p.name: p.default for p in entry.parameters if p.name in shown and not p.required}
        texts = {p.name: p.write((added | given)[p.name]) for p in entry.parameters if p.name in added | given}
        parameters = ",".join(f"{name}={text}" for name, text in texts.items())
    return ", ".join(filter(None, [title, parameters_text(parameters)]))


def metric_words(name: str, known: Known = NOTHING) -> MetricWords:
    """What to call a metric, and what it is: by its results, else as it is registered here, else by its name.

    Args:
        name: of the metric.
        known: what the results say of their metrics, see `known_to`.

    >>> metric_words("tv").title, metric_words("my_own").title
    ('TV distance', 'my own')
    """
    entry = METRICS.registered(name)
    words = MetricWords(plain_name(name)) if entry is None else MetricWords.of(entry.factory)  # type: ignore[arg-type]
    if name not in known.metrics:
        return words
    stored = known.metrics[name]
    # older cells do not say whether a metric is signed, and whether it is in payoffs
    return stored._replace(signed=stored.signed or words.signed, in_payoffs=stored.in_payoffs or words.in_payoffs)


def metric_label(name: str, known: Known = NOTHING) -> str:
    """A metric as the label of an axis: its name, and its formula on a second line if there is one.

    Args:
        name: of the metric.
        known: what the results say of their metrics, see `known_to`.

    >>> metric_label("average_exploitability")
    'average exploitability'
    """
    words = metric_words(name, known)
    return "\n".join(filter(None, (words.in_a_sentence, words.formula)))
