"""What the page calls games, learners and metrics, and how it draws learners, as plain values for its script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coebl.core.errors import InputError
from coebl.core.specs import split_spec
from coebl.games import GAMES, parse_game
from coebl.learners import KINDS, REFERENCES
from coebl.plots.described import Known, MetricWords
from coebl.plots.labels import learner_words, parameters_text, registered
from coebl.plots.looks import looks, natural
from coebl.plots.sweeps import Sweep, learner_titles

_PIXELS = 2  # a dash of one line width on the page, whose lines are a little wider


@dataclass(frozen=True)
class Preset:
    """A choice of lines: which learners are shown on a game, by spec; "*" stands for every game not named.

    >>> Preset("the text", {"rps": ["coebl:c=2", "ucb"], "*": ["coebl", "ucb"]}, id="text").on("diagonal:n=2")
    ['coebl', 'ucb']
    """

    name: str
    learners: Mapping[str, Sequence[str]]
    id: str = ""  # the variant of the verdicts that these learners are, if any: it is then shown by this name
    note: str = ""  # what the choice is, in a sentence

    def on(self, game: str) -> list[str]:
        """The learners on a game."""
        return list(self.learners.get(game, self.learners.get("*", ())))

    def entry(self, games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The preset for the script, with its learners by game."""
        return {"name": self.name, "note": self.note, "learners": [self.on(game["spec"]) for game in games]}


def game_entry(name: str, spec: str, noise: str) -> dict[str, Any]:
    """A game by the name that it has in the source; its noise only if there are several."""
    family, parameters, _ = split_spec(spec)
    entry = registered(GAMES, spec)
    return {
        "name": name,
        "spec": spec,
        "family": family,
        "familyTitle": entry.title if entry else family,
        "size": parameters,
        "sizeTitle": parameters_text(parameters),
        "noise": noise,
        "noiseTitle": parameters_text(noise.replace(":", ",")),
        "actions": _actions(spec),
    }


def game_order(game: Mapping[str, Any]) -> tuple[Any, ...]:
    """A key that sorts games as they are registered, those that are not by their specs, and sizes by number."""
    known = GAMES.names
    place = known.index(game["family"]) if game["family"] in known else len(known)
    return (place, natural(game["spec"]), natural(game["noise"]))


def _actions(spec: str) -> list[int] | None:
    """How many actions the two players have, if the game is registered here."""
    try:
        return list(parse_game(spec).payoff.shape) if registered(GAMES, spec) else None
    except InputError:
        return None


def learner_entries(
    specs: Sequence[str], plainest: Sequence[str], sweeps: Sequence[Sweep], known: Known
) -> list[dict[str, Any]]:
    """Every learner with its look and its place in a sweep.

    Args:
        specs: the learners.
        plainest: those that are shown, by one preset or another.
        sweeps: those among the learners.
        known: what the source says of its learners.
    """
    titles = learner_titles(specs, known)
    swept = {spec: place for place, sweep in enumerate(sweeps) for spec in sweep.values}
    return [
        {
            "spec": spec,
            "title": titles[spec],
            "colour": look.colour,
            "shade": look.shade,
            "dash": ",".join(f"{_PIXELS * length:g}px" for length in look.dashes) or "solid",
            "symbol": look.symbol,
            "sweep": swept.get(spec),
            "value": sweeps[swept[spec]].values[spec] if spec in swept else None,
            "sees": _sees(spec, known),
        }
        for spec, look in looks(specs, plainest, known).items()
    ]


def _sees(spec: str, known: Known) -> str:
    """What a learner sees if that is more than a bandit does: results beside it are not those of equals."""
    kind = learner_words(spec, known).kind
    return next((f"{one}, {KINDS[one]}" for one in REFERENCES if one == kind), "")


def sweep_entry(sweep: Sweep, known: Known) -> dict[str, str]:
    """A sweep for the script: who, and by which parameter."""
    title = learner_words(next(iter(sweep.values)), known).title
    return {"title": title or sweep.learner, "parameter": sweep.parameter}


def metric_entry(name: str, words: MetricWords) -> dict[str, Any]:
    """A metric in words. What does not add up over the rounds is a distance, and has a figure of its own."""
    return {
        "name": name,
        "title": words.title,
        "definition": words.definition,
        "meaning": words.meaning,
        "distance": words.known and not words.cumulative,
        "cumulative": words.cumulative,
        "signed": words.signed,
    }
