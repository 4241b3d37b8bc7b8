"""Papers as data: the experiments, claims and figures of each.

To add a paper, create a folder with an ordinary study file and a `Paper`, and add a line to `PAPERS`.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from coebl.core.errors import InputError, look_up, shorten
from coebl.core.specs import files_in
from coebl.engine.match import MatchName
from coebl.evidence.checks import Check
from coebl.evidence.judge import Claim, Verdict, judge
from coebl.learners import LEARNERS
from coebl.report.presentation import Presentation, Preset

if TYPE_CHECKING:
    from coebl.papers.reproduce import Figure
    from coebl.plots import Reference
    from coebl.study import Results, Study

PAPERS = {"ijcai2025": "coebl.papers.ijcai2025:PAPER", "aaai2025": "coebl.papers.aaai2025:PAPER"}
"""The "module:attribute" of each paper, by its name, which is also the name of its study."""

DEFAULT = "ijcai2025"
DEFAULT_FOLDER = Path("reproduction")

Checks = Callable[["Variant"], list[Check]]


@dataclass(frozen=True, eq=False)  # hashed by identity
class Variant:
    """A reading of a paper: the spec of the learner that plays each role, or specs by game; "*" is every other game.

    >>> text = Variant("text", "the text", {"coebl": {"rps": "coebl:c=2", "*": "coebl"}, "ucb": "ucb"})
    >>> print(text.match("rps", "ucb", "coebl"))
    ucb v coebl:c=2 on rps
    """

    id: str  # on the command line and in files
    title: str  # in tables and figures
    learners: Mapping[str, str | Mapping[str, str]]  # by role
    note: str = ""  # an explanation, in a sentence

    @cached_property
    def roles(self) -> dict[str, dict[str, str]]:
        """The specs of each role by game: "*", and the games on which another spec plays."""
        by_game = {role: {"*": spec} if isinstance(spec, str) else spec for role, spec in self.learners.items()}
        return {
            role: {game: spec for game, spec in specs.items() if game == "*" or spec != specs["*"]}
            for role, specs in by_game.items()
        }

    def spec(self, role: str, game: str) -> str:
        """Return the learner that plays a role on a game; a name that is not a role is itself a learner."""
        specs = self.roles.get(role, {"*": role})
        return specs.get(game, specs["*"])

    def match(self, game: str, *roles: str) -> MatchName:
        """Return the match of these roles on a game, in the order of the seats; of one role, its self-play."""
        seated = roles * 2 if len(roles) == 1 else roles
        return MatchName(game, *(self.spec(role, game) for role in seated))

    def preset(self, opponent: str) -> Preset:
        """Return the lines of this variant on the page; all other roles meet the role `opponent`."""
        games = sorted({"*"}.union(*self.roles.values()))
        by_game = {game: [self.spec(role, game) for role in self.roles] for game in games}
        return Preset(self.title, by_game, self.id, self.note, list(self.roles).index(opponent))


@dataclass(frozen=True)
class QuickRun:
    """The part of a paper's study that takes minutes."""

    games: Sequence[str]
    seeds: int  # seeds below this number
    figures: Sequence[str]


@dataclass(frozen=True)
class Paper:
    """The experiments, claims and figures of a paper, and the content of its page."""

    name: str
    file: str  # the content of its study file
    variants: Mapping[str, Variant]  # by id
    claims: Mapping[str, Claim]
    figures: Mapping[str, Figure]
    quick: QuickRun
    page: Presentation
    averaged: Mapping[str, int]  # metrics whose mean over this many last rounds is tabulated too
    role: str = ""  # the role that all others meet, and that the paper proposes
    change: str = ""  # NAME=VALUE, if a changed copy of each variant is added
    added: Sequence[Mapping[str, Any]] = ()  # parts of the study that these need

    @cached_property
    def study(self) -> Study:
        """The experiments."""
        from coebl.study import Study, parse_study

        if not self.added:
            return parse_study(self.file)
        contents = tomllib.loads(self.file)
        return Study(**contents | {"parts": [*contents["parts"], *self.added]})

    def command_in(self, folder: Path = DEFAULT_FOLDER) -> str:
        """Return the command that reproduces it in a folder."""
        change = f" --set {self.change}" if self.change else ""
        place = f" --out {shlex.quote(str(folder))}" if folder != DEFAULT_FOLDER else ""
        return "coebl reproduce" + f" {self.name}" * (self.name != DEFAULT) + place + change

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
        return self.page.filled_answer(self.page.outcomes(verdicts)).replace("\n", " ")

    def scores(self, verdicts: Iterable[Verdict]) -> list[str]:
        """Return a line per variant: the numbers of checks of the main claim that hold, are undecided, and fail."""
        return [
            f"{bar.title}: {', '.join(f'{count} {word}' for _, word, count in bar.parts)}"
            for bar in self.page.scores(verdicts)
        ]

    def needed(
        self, figures: Iterable[str] = (), claims: Iterable[str] = (), variants: Iterable[Variant] = ()
    ) -> list[MatchName]:
        """Return the matches that these figures and claims need in these variants, or in any, each once."""
        parts: list[Figure | Claim] = [
            *look_up("figure", figures, self.figures),
            *look_up("claim", claims, self.claims),
        ]
        chosen = list(variants) or self.variants.values()
        return list(dict.fromkeys(match for part in parts for variant in chosen for match in part.needs(variant)))

    def changed(self, change: str) -> Paper:
        """Return the paper with a changed copy of each variant, and the matches that these need.

        Args:
            change: NAME=VALUE, a hyper-parameter of the learner that the paper proposes, or a role and its learner.

        >>> what_if = load_paper("ijcai2025").changed("c=1")
        >>> list(what_if.variants)
        ['text', 'c=2', 'as-released', 'text-c=1', 'as-released-c=1']
        """
        name, equals, value = change.partition("=")
        if not (name and equals and value) or files_in(value):
            raise InputError(
                f"--set is {shorten(change)}; accepted: NAME=VALUE, such as c=1, without a Python file in VALUE."
            )
        words = f"{name} = {value}"
        added: list[Variant] = []
        for variant in self.variants.values():
            roles: dict[str, Any] = dict(variant.roles)
            try:
                if name in roles:
                    roles[name] = LEARNERS.canonical(value)
                else:
                    roles[self.role] = {game: _with(spec, change) for game, spec in roles[self.role].items()}
            except InputError as error:
                raise InputError(f"--set is {shorten(change)}: {error}") from None
            title, note = f"{variant.title}, {words}", f"As “{variant.title}”, with {words}."
            new = Variant(f"{variant.id}-{change}", title, roles, note)
            if all(other.roles != new.roles for other in (*self.variants.values(), *added)):
                added.append(new)
        missing = _parts_with(self.needed(self.figures, self.claims, added) if added else [], self.study)
        if not missing:
            raise InputError(
                f"--set is {change}, which changes no match of {self.name}; accepted: another value or name."
            )
        variants = {**self.variants, **{variant.id: variant for variant in added}}
        page = replace(self.page, presets=[variant.preset(self.role) for variant in variants.values()])
        return replace(self, variants=variants, page=page, change=change, added=[*self.added, *missing])


def _with(spec: str, change: str) -> str:
    """Return the spec of a learner with one hyper-parameter changed."""
    entry, arguments = LEARNERS.parse(spec)
    return entry.write(arguments | entry.check(entry.read(change)))


def _parts_with(matches: Iterable[MatchName], study: Study) -> list[dict[str, Any]]:
    """Return parts with the matches that a study lacks, recorded like the others on their games."""
    present, missing = set(study.matches()), dict[str, list[list[str]]]()
    for match in matches:
        if match not in present:
            missing.setdefault(match.game, []).append([*match.players])
    cells = {cell.game: cell for cell in reversed(study.cells)}  # the first of each game
    return [
        {"games": [game], "seeds_per_cell": len(cells[game].seeds), "metrics": cells[game].metrics, "players": of_game}
        for game, of_game in missing.items()
    ]


def read_paper(
    package: str, checks: Mapping[str, Checks], figures: Iterable[Figure], reference: Reference | None = None
) -> Paper:
    """Return the paper in a folder of the package, from its study.toml and paper.toml.

    Args:
        package: the folder, as a name to import.
        checks: the checks of each claim, by its id.
        figures: the figures of the paper.
        reference: a line beside cumulative metrics in self-play.
    """
    study_text, paper_text = (
        resources.files(package).joinpath(name).read_text(encoding="utf-8") for name in ("study.toml", "paper.toml")
    )
    study, data = tomllib.loads(study_text), tomllib.loads(paper_text)
    variants = {id: Variant(id, **values) for id, values in data["variants"].items()}
    words = data["page"]
    opponent = words.pop("opponent")
    presets = [variant.preset(opponent) for variant in variants.values()]
    return Paper(
        name=study["name"],
        file=study_text,
        variants=variants,
        claims={id: Claim(id, checks=checks[id], **values) for id, values in data["claims"].items()},
        figures={figure.name: figure for figure in figures},
        quick=QuickRun(**data["quick"]),
        page=Presentation(study["title"], study["description"], presets=presets, reference=reference, **words),
        averaged=data["averaged"],
        role=opponent,
    )


def load_paper(name: str) -> Paper:
    """Load a paper by its name."""
    (home,) = look_up("paper", name, PAPERS)
    paper = resolve_name(home)
    assert isinstance(paper, Paper)
    return paper


def paper_of(study: str) -> Paper | None:
    """Return the paper whose study has this name, if there is one."""
    return load_paper(study) if study in PAPERS else None
