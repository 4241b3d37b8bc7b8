"""Checks of the documentation of every built-in learner, and its slow twins."""

import inspect
import re

from coebl.backend.streams import BatchRandom, learner_key
from coebl.learners import LEARNERS, parse_learner

INDEXED = [name for name in LEARNERS.names if "indices" in LEARNERS[name].factory.plays]  # the others: test_genes.py
OF_GENES = [
    LEARNERS[name].factory.example or name
    for name in LEARNERS.names
    if "bits" in LEARNERS[name].factory.plays and LEARNERS[name].factory.kind() not in ("oracle", "search")
]


def mismatch_message(t, seat):
    """Return the message for a round in which a learner and its twin differ."""
    drawn = not {"_uniform", "_normal"}.isdisjoint(vars(seat.random))  # made when numbers are first drawn
    return f"round {t}" + ": first check that learner and twin draw the same numbers in the same order" * drawn


def check_summary_title_and_citation(spec):
    learner = parse_learner(spec)
    name = LEARNERS.parse(spec)[0].name
    assert learner.name == name, f"name is {learner.name!r} in the class, and {name!r} in its line in homes"
    assert type(learner).__doc__.splitlines()[0].endswith("."), "begin the docstring with a sentence on one line"
    assert learner.cites or type(learner).__module__.endswith("opponents"), 'name its paper: cites = "..."'
    assert LEARNERS[learner.name].title == learner.title, 'name it for people: title = "..."'
    assert learner.cost(20, 30) > learner.cost(10, 15) > 0


def check_pseudo_code(name):
    assert re.search(r"\n\n    \S", inspect.getdoc(LEARNERS[name].factory) or ""), (
        "write its pseudo-code in the docstring, as an indented block"
    )


def check_every_hyper_parameter(twins):
    """Every hyper-parameter of a learner has a twin for a value that is not its default."""
    tried = set()
    for spec in twins:
        entry, arguments = LEARNERS.parse(spec)
        tried |= {(entry.name, name) for name, value in arguments.items() if value != entry.defaults.get(name)}
    names = sorted({LEARNERS.parse(spec)[0].name for spec in twins})
    every = [(name, parameter.name) for name in names for parameter in LEARNERS[name].parameters]
    without = ", ".join(":".join(pair) for pair in every if pair not in tried)
    assert not without, f"{without}: enter a spec with another value in SAME"


def arguments_of(spec):
    """Return the hyper-parameters that a spec sets; operators are given by their specs."""
    _, arguments = LEARNERS.parse(spec)
    return {name: value if isinstance(value, (int, float)) else str(value) for name, value in arguments.items()}


def made_twins(make, arguments, seat, seeds, number=0):
    """Return a twin for each run of a learner in a seat, with the random numbers of that run."""
    twins = []
    for seed in seeds:
        stream = BatchRandom([seed], learner_key(number))
        draws = [lambda *shape, draw=draw: draw(*shape)[0].tolist() for draw in (stream.normal, stream.uniform)]
        sizes = seat.actions, seat.opponent_actions, seat.horizon, seat.payoff_range
        twins.append(make(*sizes, *draws, **arguments))
    return twins
