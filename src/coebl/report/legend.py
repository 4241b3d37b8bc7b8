"""What the page calls games, learners and metrics, and how it draws learners, as plain values for its script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coebl.core.errors import InputError
from coebl.core.specs import split_spec
from coebl.core.text import natural
from coebl.games import GAMES, parse_game
from coebl.learners import KINDS, REFERENCES
from coebl.naming import Known, MetricWords, Sweep, learner_titles, learner_words, looks, parameters_text

_PIXELS = 2  # a dash of one line width on the page, whose lines are a little wider
_LIGHTER = 0.2  # how far every colour is moved towards white on a dark page
_SHAPES = {  # the symbols of lines as outlines about the origin, of radius about 1
    "circle": "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z",
    "square": "M-.9,-.9H.9V.9H-.9Z",
    "diamond": "M0,-1.25L1.25,0L0,1.25L-1.25,0Z",
    "triangle-up": "M0,-1.15L1.15,.9H-1.15Z",
    "x": "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z",
    "star": "M0,-1.3L.3,-.4L1.25,-.4L.5,.2L.75,1.1L0,.55L-.75,1.1L-.5,.2L-1.25,-.4L-.3,-.4Z",
    "cross": "M-.35,-1.1H.35V-.35H1.1V.35H.35V1.1H-.35V.35H-1.1V-.35H-.35Z",
    "triangle-down": "M0,1.15L1.15,-.9H-1.15Z",
    "hexagon": "M1.15,0L.57,1H-.57L-1.15,0L-.57,-1H.57Z",
}


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
    opponent: int | None = None  # the place of the learner whom the others meet, if the page draws who beats it

    def on(self, game: str) -> list[str]:
        """The learners on a game."""
        return list(self.learners.get(game, self.learners.get("*", ())))

    def entry(self, games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The preset for the script, with its learners by game."""
        return {
            "id": self.id or self.name,
            "name": self.name,
            "note": self.note,
            "learners": [self.on(game["spec"]) for game in games],
            "opponent": self.opponent,
        }


def game_entry(name: str, spec: str, noise: str) -> dict[str, Any]:
    """A game by the name that it has in the source; its noise only if there are several."""
    family, parameters, _ = split_spec(spec)
    entry = GAMES.registered(spec)
    titles = {
        "familyTitle": entry.title if entry else family,
        "sizeTitle": parameters_text(parameters),
        "noiseTitle": parameters_text(noise.replace(":", ",")),
    }
    return {
        "name": name,
        "title": ", ".join(filter(None, titles.values())),
        **titles,
        "spec": spec,
        "family": family,
        "size": parameters,
        "noise": noise,
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
        return list(parse_game(spec).payoff.shape) if GAMES.known(spec) else None
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
            "marked": titles[spec] + ("\u00a0†" if _sees(spec, known) else ""),  # in tables
            "colour": _shaded(look.colour, look.shade, 0),
            "darkColour": _shaded(look.colour, _LIGHTER + (1 - _LIGHTER) * look.shade, 255),
            "dash": [_PIXELS * length for length in look.dashes],
            "shape": _SHAPES.get(look.symbol, ""),
            "sweep": swept.get(spec),
            "value": sweeps[swept[spec]].values[spec] if spec in swept else None,
            "sees": _sees(spec, known),
        }
        for spec, look in looks(specs, plainest, known).items()
    ]


def _shaded(colour: str, share: float, towards: int) -> str:
    """A colour moved towards black, 0, or white, 255.

    >>> _shaded("#0072B2", 0.5, 0), _shaded("#0072B2", 0.5, 255)
    ('#003959', '#80B8D8')
    """
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(channel + (towards - channel) * share):02X}" for channel in channels)


def learner_colours(learners: Sequence[Mapping[str, Any]]) -> str:
    """The style sheet with the colours of the learners, as variables that both themes set."""
    themes = ((":root", "colour"), (':root[data-theme="dark"]', "darkColour"))
    return "\n".join(
        f"{theme} {{ " + " ".join(f"--learner-{place}: {one[key]};" for place, one in enumerate(learners)) + " }"
        for theme, key in themes
    )


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
