"""What a page shows besides results: its title, the finding in words and in bars, selections of lines, references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from coebl.evidence.judge import Outcome, Verdict
from coebl.evidence.pairwise import Families
from coebl.plots.curves import Reference

_FIRST = ("absolute_pseudo_regret", "pseudo_regret", "exploitability")  # metrics without noise, which need fewer seeds


@dataclass(frozen=True)
class Preset:
    """A selection of lines: the specs of the learners shown on each game; "*" means all other games.

    >>> Preset("the text", {"rps": ["coebl:c=2", "ucb"], "*": ["coebl", "ucb"]}, id="text").on("diagonal:n=2")
    ['coebl', 'ucb']
    """

    name: str
    learners: Mapping[str, Sequence[str]]
    id: str = ""  # the id of the variant with these learners, if any; its verdicts are shown under this name
    note: str = ""  # an explanation, in a sentence
    opponent: int | None = None  # the index of the common opponent, if the page has a heat map of who beats it

    def on(self, game: str) -> list[str]:
        """Return the learners on a game."""
        return list(self.learners.get(game, self.learners.get("*", ())))


@dataclass(frozen=True)
class Score:
    """The checks of the main claim in a variant, as a bar."""

    title: str
    note: str
    parts: list[tuple[Outcome, str, int]]  # an outcome, the word for it, and the number of checks


@dataclass(frozen=True)
class Presentation:
    """The parts of a page that the results do not contain."""

    title: str
    question: str = ""  # the subject of the study, in a paragraph
    source: str = ""  # the publication that the study is about
    link: str = ""  # the address of the publication
    headline: str = ""  # the id of the main claim
    answer: str = ""  # the finding, and its numbers in a second line: a template, see `filled_answer`
    words: Sequence[str] = ("hold", "undecided", "fail")  # for the checks of the main claim, in its bars
    presets: Sequence[Preset] = ()  # selections of lines; the first one is shown first
    first: Sequence[str] = _FIRST  # metrics that come before the others
    game: str = ""  # the spec of the game that is shown first
    strongest: str = ""  # the opponent of a sweep; by default the first learner that sees its opponent's policy
    convergence: Sequence[str] = ()  # metrics of self-play shown beside that opponent, in order of preference
    reference: Reference | None = None  # a line beside cumulative metrics in self-play, on games of K by K
    switches: Mapping[str, str] = field(default_factory=dict)  # labels of the learners that replace others, by spec
    citation: str = ""
    family: Families = "all pairings"  # the tests of head-to-heads that are corrected together

    def outcomes(self, verdicts: Iterable[Verdict]) -> dict[str, list[Outcome]]:
        """Return the outcomes of the checks of the main claim, by variant."""
        main = (verdict for verdict in verdicts if verdict.id == self.headline)
        return {verdict.variant: [check.verdict for check in verdict.checks] for verdict in main}

    def filled_answer(self, outcomes: Mapping[str, Sequence[str]]) -> str:
        """Return the answer with the numbers of these outcomes of the main claim, by variant.

        The answer refers to them as {ID[holds]}, by the id of a variant; {tested} is the number of checks with data,
        {which} the total number if there are more. If the answer names a variant that was not judged, the result is "".

        >>> show = Presentation("A title", answer="{tested} checks{which}: {a[holds]} hold.")
        >>> show.filled_answer({"a": ["holds", "fails", "not testable"]})
        '2 checks that were run (3 in all): 1 hold.'
        """
        counts = {variant: Counter(words) for variant, words in outcomes.items()}
        first = next(iter(counts.values()), Counter())
        total, tested = first.total(), first.total() - first["not testable"]
        which = f" that were run ({total} in all)" if tested < total else ""
        try:
            return self.answer.strip().format_map({"tested": tested, "which": which, **counts})
        except KeyError:
            return ""

    def scores(self, verdicts: Iterable[Verdict]) -> list[Score]:
        """Return a bar for each variant: the numbers of checks of the main claim that hold, are undecided, and fail."""
        presets = {preset.id: preset for preset in self.presets}
        kinds: tuple[Outcome, ...] = ("holds", "not significant", "fails")
        return [
            Score(
                title=presets[variant].name if variant in presets else variant,
                note=presets[variant].note if variant in presets else "",
                parts=[(kind, word, found.count(kind)) for kind, word in zip(kinds, self.words, strict=True)],
            )
            for variant, found in self.outcomes(verdicts).items()
        ]
