"""Titles of learners, games and metrics, and the line styles of learners: for tables, figures and the page.

Titles are attributes of classes. Results may name a learner that is not registered here, such as one in a user's file:
its title is the one that was stored with the results (`known_to`), or else its spec. No file is run to find a title.

Colour and dashes identify a learner in every figure; symbols identify its settings. The class of a learner may declare
its slot in the palette (`colour`), which is stored with results. The other registered learners have the slots after the
palette, in the order of the registry. Custom learners take the free slots, in the order of their names. Two learners
with the same slot are variants, which symbols distinguish like two settings of one learner.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any, ClassVar, Literal, NamedTuple

from coebl.core.errors import InputError, nearest, shorten
from coebl.core.registry import Registry
from coebl.core.specs import split_spec
from coebl.core.text import listed, natural
from coebl.games import GAMES, NOISES
from coebl.learners import LEARNERS, Learner
from coebl.learners.base import Kind
from coebl.metrics import Metric, registered_metric

_STORED = {"strict": True, "extra": "forbid"}  # how pydantic reads descriptions in the files of cells


@dataclass(frozen=True)
class LearnerWords:
    """The description of a learner."""

    __pydantic_config__: ClassVar = _STORED

    title: str  # without parameters
    colour: int | None = None  # its place in the palette of figures
    kind: Kind | None = None  # how much it sees
    parameters: Mapping[str, str] = field(default_factory=dict)  # all parameters, with their values as in a spec


_UNTITLED = LearnerWords("")


@dataclass(frozen=True)
class MetricWords:
    """The description of a metric."""

    __pydantic_config__: ClassVar = _STORED

    title: str
    definition: str = ""
    formula: str = ""  # the definition in mathtext
    meaning: str = ""
    cumulative: bool = False
    signed: bool = False  # True if its sign shows who is ahead
    better: Literal["lower", "higher"] | None = "lower"  # None if it describes, and neither is better
    in_payoffs: bool = False  # True if it is in units of the payoffs

    @property
    def in_a_sentence(self) -> str:
        """The title inside a sentence: in lower case, unless it is an abbreviation.

        >>> [MetricWords(title).in_a_sentence for title in ("Pseudo-regret", "KL divergence", "NashConv")]
        ['pseudo-regret', 'KL divergence', 'NashConv']
        """
        rest = self.title.partition(" ")[0][1:]  # of the first word
        return self.title[:1].lower() + self.title[1:] if rest == rest.lower() else self.title


@dataclass(frozen=True)
class Known:
    """Descriptions of learners and metrics, in addition to those that are registered here.

    >>> custom = Known({"mine.py:Mine": LearnerWords("My learner", colour=3)})
    >>> learner_title("mine.py:Mine", known=custom)
    'My learner'
    """

    learners: Mapping[str, LearnerWords] = field(default_factory=dict)  # by spec
    metrics: Mapping[str, MetricWords] = field(default_factory=dict)  # by name
    widths: Mapping[str, float] = field(default_factory=dict)  # of payoff ranges by game, the widest of any seat


NOTHING = Known()


def known_of(learners: Iterable[Learner], metrics: Iterable[type[Metric]]) -> Known:
    """Return the descriptions of learners and of classes of metrics.

    >>> from coebl.learners import Ucb
    >>> known_of([Ucb()], []).learners["ucb"].title
    'UCB'
    """
    return Known(
        {str(learner): describe_learner(learner) for learner in learners},
        {metric.name: describe_metric(metric) for metric in metrics},
    )


def known_to(results: object) -> Known:
    """Return the descriptions that are stored with the results of a study; none for other data.

    >>> from coebl.study import Results
    >>> known_to(Results("results")).metrics["pseudo_regret"].title
    'Pseudo-regret'
    """
    learners: dict[str, LearnerWords] = {}
    metrics: dict[str, MetricWords] = {}
    widths: dict[str, float] = {}
    for record in results.records() if hasattr(results, "records") else ():
        learners |= record.learners
        metrics |= record.metric_info
        if record.payoff_range is not None:
            widths[record.game] = max(high - low for low, high in record.payoff_ranges or [record.payoff_range])
    return Known(learners, metrics, widths)


def describe_learner(learner: Any) -> LearnerWords:
    """Return the description of a learner, or of its class, which has no parameters."""
    colour = learner.colour if type(learner.colour) is int and 0 <= learner.colour < 1 << 31 else None
    parameters: dict[str, str] = {}
    if not isinstance(learner, type):
        values, entry = learner.hyper_parameters(), LEARNERS.entry_of(type(learner))
        parameters = {p.name: p.write(values[p.name]) for p in entry.parameters if p.name in values}
    return LearnerWords(learner.title, colour, learner.kind(), parameters)


def describe_metric(metric: Any) -> MetricWords:
    """Return the description of a metric from its class, which may be user-defined."""
    fields = ("title", "definition", "formula", "meaning")
    words: dict[str, Any] = {key: str(getattr(metric, key, "")) for key in fields}
    words |= {key: bool(getattr(metric, key)) for key in ("cumulative", "signed", "in_payoffs")}
    return MetricWords(**words, better=metric.better)


# Learners


def learner_words(spec: str, known: Known = NOTHING) -> LearnerWords:
    """Return the description of a learner: from its results, else from its registered class, else an empty one."""
    entry = LEARNERS.registered(spec)
    words = known.learners.get(spec, _UNTITLED)
    if entry is None or words.title:
        return words
    return replace(words if spec in known.learners else describe_learner(entry.factory), title=entry.title)


def learner_title(spec: str, shown: Collection[str] = (), known: Known = NOTHING) -> str:
    """Return the title of a learner; the spec if it has none.

    >>> [learner_title(spec).replace("\u00a0", " ") for spec in ("ucb", "coebl:c=2", "mine.py:Mine:c=2")]
    ['UCB', 'COEBL, c = 2', 'mine.py:Mine:c=2']
    >>> learner_title("coebl", shown=["c"]).replace("\u00a0", " ")
    'COEBL, c = 8'
    """
    title = learner_words(spec, known).title
    return _with_parameters(title, _learner_settings(spec, known).text(shown)) if title else spec


def learner_titles(specs: Iterable[str], known: Known = NOTHING) -> dict[str, str]:
    """Return a distinct title for each learner; in a sweep every title has its number.

    >>> [title.replace("\u00a0", " ") for title in learner_titles(["coebl", "coebl:c=2", "ucb"]).values()]
    ['COEBL, c = 8', 'COEBL, c = 2', 'UCB']
    """
    specs = list(dict.fromkeys(specs))
    swept = {spec: sweep.parameter for sweep in find_sweeps(specs, known) for spec in sweep.values}
    titles = {spec: learner_title(spec, [swept[spec]] if spec in swept else (), known) for spec in specs}
    counts = Counter(titles.values())
    return {spec: title if counts[title] == 1 else f"{title} ({spec})" for spec, title in titles.items()}


def spelled_out(specs: Iterable[str], known: Known = NOTHING) -> dict[str, str]:
    """Return each spec with all parameters that any spec of the same learner sets.

    >>> spelled_out(["coebl", "coebl:c=2", "ucb"])
    {'coebl': 'coebl:c=8', 'coebl:c=2': 'coebl:c=2', 'ucb': 'ucb'}
    """
    by_spec = {spec: _learner_settings(spec, known) for spec in specs}
    shown: dict[str, set[str]] = {}
    for settings in by_spec.values():
        shown.setdefault(settings.name, set()).update(settings.given)
    texts = ((spec, settings.name, settings.text(shown[settings.name])) for spec, settings in by_spec.items())
    return {spec: f"{name}:{text}" if text else name for spec, name, text in texts}


class Settings(NamedTuple):
    """The name of a learner, a game or a noise, and its parameters, with their values as strings."""

    name: str
    given: Collection[str]  # the parameters that the spec sets
    values: Mapping[str, str]  # of all parameters, as far as they are known
    written: str  # all parameters, as the spec has them

    def text(self, shown: Collection[str] = ()) -> str:
        """Return the parameters that the spec sets and those to be shown."""
        chosen = (f"{name}={text}" for name, text in self.values.items() if name in self.given or name in shown)
        return ",".join(chosen) or self.written


def read_settings(registry: Registry[Any], spec: str, words: LearnerWords = _UNTITLED) -> Settings:
    """Return the settings of a spec; if it is not registered here, those in `words` and in the spec.

    >>> read_settings(GAMES, "diagonal:4").text()
    'n=4'
    """
    parts = split_spec(spec)
    if match := registry.known(spec):
        entry, given = match
        values = entry.defaults | given
        return Settings(
            parts.name, given, {p.name: p.write(values[p.name]) for p in entry.parameters}, parts.parameters
        )
    return Settings(parts.name, parts.arguments, {**words.parameters, **parts.arguments}, parts.parameters)


def _learner_settings(spec: str, known: Known) -> Settings:
    return read_settings(LEARNERS, spec, learner_words(spec, known))


class Sweep(NamedTuple):
    """Learners that differ only in one number.

    >>> [sweep] = find_sweeps(["coebl:c=8", "coebl:c=0.5", "ucb"])
    >>> sweep.title, sweep.parameter, list(sweep.values.values())
    ('COEBL', 'c', [0.5, 8.0])
    """

    title: str  # of the learner, without parameters; its name if it has none
    parameter: str
    values: dict[str, float]  # spec to the number, increasing


def find_sweeps(specs: Iterable[str], known: Known = NOTHING) -> list[Sweep]:
    """Return the longest sweep of each learner that has one, in the order in which the learners are first named.

    >>> find_sweeps(["ucb", "coebl:c=2", "coebl", "coebl:c=4,selection=none"])
    [Sweep(title='COEBL', parameter='c', values={'coebl:c=2': 2.0, 'coebl': 8.0})]
    """
    by_name: dict[str, dict[str, dict[str, float | str]]] = {}
    for spec in dict.fromkeys(specs):
        settings = _learner_settings(spec, known)
        by_name.setdefault(settings.name, {})[spec] = {key: _number(text) for key, text in settings.values.items()}
    longest = [(name, *_longest(members)) for name, members in by_name.items()]
    return [
        Sweep(learner_words(next(iter(values)), known).title or name, parameter, values)
        for name, parameter, values in longest
        if len(values) > 1
    ]


def _longest(members: dict[str, dict[str, float | str]]) -> tuple[str, dict[str, float]]:
    """Return the parameter of the sweep that includes the most of these settings of a learner, and its values."""
    groups: dict[tuple[str, frozenset[tuple[str, float | str]]], dict[str, float]] = {}
    for spec, arguments in members.items():
        for parameter, value in arguments.items():
            if isinstance(value, float):
                others = frozenset((key, other) for key, other in arguments.items() if key != parameter)
                groups.setdefault((parameter, others), {})[spec] = value
    (parameter, _), values = max(groups.items(), key=lambda group: len(group[1]), default=(("", None), {}))
    return parameter, dict(sorted(values.items(), key=lambda item: item[1]))


def _number(text: str) -> float | str:
    with suppress(ValueError):
        if math.isfinite(number := float(text)):
            return number
    return text


# Games


def game_title(spec: str) -> str:
    """Return the title of a game; the spec if it is not registered here.

    >>> game_title("diagonal:n=4").replace("\u00a0", " ")
    'Diagonal, n = 4'
    """
    entry = GAMES.registered(spec)
    return spec if entry is None else _with_parameters(entry.title, read_settings(GAMES, spec).text())


def game_titles(specs: Iterable[str]) -> list[str]:
    """Return the titles of games; those that differ only in their last number are joined.

    >>> [title.replace("\u00a0", " ") for title in game_titles(["rps", "diagonal:n=5", "diagonal:n=6"])]
    ['Rock-paper-scissors', 'Diagonal, n = 5, 6']
    """
    values: dict[str, list[str]] = {}  # by the part of the title before them
    for title in map(game_title, specs):
        start, equals, value = title.rpartition("\u00a0=\u00a0")
        values.setdefault(start + equals, []).append(value)
    return [start + ", ".join(listed) for start, listed in values.items()]


def noise_title(spec: str) -> str:
    """Return the name of a noise and its parameters.

    >>> noise_title("gaussian:sigma=2").replace("\u00a0", " ")
    'gaussian, sigma = 2'
    """
    settings = read_settings(NOISES, spec)
    return _with_parameters(settings.name, settings.text())


def parameters_text(parameters: str) -> str:
    """Return the parameters of a spec with spaces; no line breaks at an equals sign.

    >>> parameters_text("m=20,n=30").replace("\u00a0", " ")
    'm = 20, n = 30'
    """
    return parameters.replace("=", "\u00a0=\u00a0").replace(",", ", ")


def _with_parameters(title: str, parameters: str) -> str:
    return ", ".join(filter(None, [title, parameters_text(parameters)]))


# Metrics


def metric_words(name: str, known: Known = NOTHING) -> MetricWords:
    """Return the description of a metric: from its results, else from its registered class, else its name as title.

    >>> metric_words("tv").title, metric_words("my_own").title
    ('TV distance', 'my own')
    """
    metric = registered_metric(name)
    words = MetricWords("") if metric is None else describe_metric(metric)
    if stored := known.metrics.get(name):  # older cells do not store `signed` and `in_payoffs`
        signed, in_payoffs = stored.signed or words.signed, stored.in_payoffs or words.in_payoffs
        words = replace(stored, signed=signed, in_payoffs=in_payoffs)
    return replace(words, title=words.title or name.replace("_", " "))


def metric_label(name: str, known: Known = NOTHING) -> str:
    """Return a metric as the label of an axis: its title, and its formula on a second line if there is one.

    >>> metric_label("average_exploitability")
    'average exploitability'
    """
    words = metric_words(name, known)
    return "\n".join(filter(None, (words.in_a_sentence, words.formula)))


# Specs in results

REGISTRIES: dict[str, Registry[Any]] = {"game": GAMES, "player": LEARNERS, "noise": NOISES}
NOTHING_YET = "no cell is finished yet; run the study first."


def find(kind: str, spec: str, present: Collection[str], name: str = "") -> str:
    """Return the spec among `present` that is equivalent to this one, or the only one with its class or file.

    If there is none, the error message calls it `name`, by default the kind: game, player or noise.
    """
    if not isinstance(spec, str):
        raise InputError(f"the {name or kind} is {shorten(spec)}; accepted: a spec.")
    if spec in present:
        return spec
    if (shortest := REGISTRIES[kind].shortest(spec)) in present:
        return shortest
    candidates = [other for other in present if spec.casefold() in _short_names(other)]
    if len(candidates) == 1:
        return candidates[0]
    if not present:
        raise InputError(NOTHING_YET)
    raise InputError(
        f"no finished cell has the {name or kind} {spec!r}{nearest(spec, present)} Present: {listed(present)}."
    )


def check_recorded(metric: object, present: Collection[str]) -> None:
    """Reject a metric that the results of a study do not have."""
    if not present:
        raise InputError(NOTHING_YET)
    if metric not in present:
        raise InputError(
            f"metric {metric!r} was not recorded{nearest(metric, present)} Present: {listed(present)}. To record it, "
            "add it to metrics in the study file, and run again."
        )


def _short_names(spec: str) -> set[str]:
    """Return short names for a spec that names a file, in lower case: with its class or its file instead of both."""
    parts = split_spec(spec)
    if not parts.file:
        return set()
    names = parts.attribute, parts.file, parts.file.removesuffix(".py")
    return {f"{name}:{parts.parameters}".rstrip(":").casefold() for name in names}


# Lines

Style = Mapping[str, Any]  # keywords of a matplotlib line

# Six of Okabe and Ito's colours and two dark ones, which are distinguishable with any colour vision (the tests simulate
# it); each with its dashes, in line widths, for print without colours. Dots are for the reference line.
PALETTE: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("#0072B2", ()),
    ("#D55E00", (6, 1.5)),
    ("#009E73", (6, 1.2, 1.2, 1.2)),
    ("#CC79A7", (2.5, 1.2)),
    ("#E69F00", (9, 1.2, 2, 1.2)),
    ("#56B4E9", (6, 1, 1, 1, 1, 1)),
    ("#882255", (4, 3)),
    ("#225522", (12, 2)),
)
FIRST_FREE = 4  # the first slot for custom learners that declare none
GREY = "#8C8C8C"  # for learners without a slot in the palette, if there are more learners than colours
SYMBOLS = {  # names of symbols on the page to matplotlib's markers
    "": "",
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "x": "x",
    "star": "*",
    "cross": "P",
    "triangle-down": "v",
    "hexagon": "h",
}


class Look(NamedTuple):
    """The appearance of a learner's line."""

    colour: str  # of its slot, as #RRGGBB
    dashes: tuple[float, ...]  # dash, gap, dash, gap, ... in line widths; empty for a solid line
    symbol: str = ""  # a key of SYMBOLS, drawn at several points of the line

    @property
    def style(self) -> Style:
        """The keywords of a matplotlib line."""
        return {
            "color": self.colour,
            "linestyle": (0, self.dashes) if self.dashes else "-",
            "linewidth": 1.0 if self.dashes else 1.3,
            "marker": SYMBOLS[self.symbol],
            "markersize": 3.5,
            "markevery": 1 / 9,  # of the diagonal of the axes
        }


def lighter(colour: str, share: float) -> str:
    """Return a colour moved towards white.

    >>> lighter("#0072B2", 0.5)
    '#80B8D8'
    """
    channels = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(channel + (255 - channel) * share):02X}" for channel in channels)


# The palette; then its colours with the dashes of the others, those that no built-in learner declares first.
_SLOTS = [Look(*look) for look in PALETTE] + [
    Look(PALETTE[place][0], PALETTE[(place + step) % len(PALETTE)][1])
    for part in (range(FIRST_FREE, len(PALETTE)), range(FIRST_FREE))
    for step in range(1, len(PALETTE))
    for place in part
]


def slot_look(slot: int) -> Look:
    """Return the look of a slot, without a symbol."""
    return _SLOTS[slot % len(_SLOTS)]


def learner_style(spec: str, known: Known = NOTHING) -> Style:
    """Return the keywords of the line of a learner that is drawn in one setting only.

    >>> style = learner_style("exp3")
    >>> style["color"], style["linestyle"]
    ('#009E73', (0, (6, 1.2, 1.2, 1.2)))
    """
    return looks([spec], known=known)[spec].style


def looks(specs: Iterable[str], plainest: Sequence[str] = (), known: Known = NOTHING) -> dict[str, Look]:
    """Return the look of each learner, in the order of the slots, and of the numbers in a sweep.

    Of the settings of a learner, those in `plainest` come first, and the first has no symbol. If `plainest` (by default
    all) has more learners than the palette has colours, only custom learners and those that declare a slot are
    coloured; the others are grey, and keep their dashes.

    >>> by_spec = looks(["coebl:c=2", "coebl:c=8", "ucb"])
    >>> [(spec, look.colour, look.symbol) for spec, look in by_spec.items()]
    [('coebl:c=2', '#0072B2', ''), ('coebl:c=8', '#0072B2', 'circle'), ('ucb', '#D55E00', '')]
    """
    specs = list(dict.fromkeys(specs))
    slots = _slots(specs, known)
    swept = {spec: value for sweep in find_sweeps(specs, known) for spec, value in sweep.values.items()}
    by_slot: dict[int, list[str]] = {}
    for spec in sorted(specs, key=lambda spec: (swept.get(spec, 0), natural(spec))):
        by_slot.setdefault(slots[spec], []).append(spec)
    many = len({slots.get(spec) for spec in plainest or specs}) > len(PALETTE)
    by_spec: dict[str, Look] = {}
    for slot, members in sorted(by_slot.items()):
        ranked = [spec for spec in dict.fromkeys([*plainest, *members]) if spec in members]
        symbols = dict(zip(ranked, cycle(SYMBOLS), strict=False))
        for spec in members:
            look = slot_look(slot)._replace(symbol=symbols[spec])
            is_grey = many and slot >= len(PALETTE) and LEARNERS.registered(spec) is not None
            by_spec[spec] = look._replace(colour=GREY) if is_grey else look
    return by_spec


def _slots(specs: Iterable[str], known: Known) -> dict[str, int]:
    """Return the slot of each spec; all settings of a learner share one.

    It is the slot that the class declares. Otherwise, a registered learner has a slot after the palette, and a custom
    learner the free slot whose colour is used least.
    """
    slots: dict[str, int] = {}  # by name
    custom: list[str] = []
    names = {spec: split_spec(spec).name for spec in sorted(specs, key=natural)}
    for spec, name in names.items():
        entry = LEARNERS.registered(spec)
        declared = learner_words(spec, known if entry is None else NOTHING).colour
        if declared is not None:
            slots[name] = declared
        elif entry is not None:
            slots[name] = len(PALETTE) + LEARNERS.names.index(name)
        elif name not in custom:
            custom.append(name)
    for name in custom:
        used = Counter(slot_look(slot).colour for slot in slots.values())
        free = {*range(FIRST_FREE, FIRST_FREE + len(PALETTE) + len(slots))} - {*slots.values()}
        slots[name] = min(sorted(free), key=lambda slot: used[slot_look(slot).colour])
    return {spec: slots[name] for spec, name in names.items()}
