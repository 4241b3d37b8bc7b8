"""Learners: the contract, the algorithms by family, their shared parts, and a template to copy.

Every registered class can be imported from here: ``from coebl.learners import Ucb``.

>>> from coebl.learners import KINDS, LEARNERS, REFERENCES, SIGHTS, Kind, Sight
>>> kind: Kind = LEARNERS["ucb"].factory.kind()
>>> KINDS[kind], kind in REFERENCES
("sees its own reward and the opponent's action", False)
>>> sight: Sight = "payoffs"
>>> SIGHTS[sight]
'what each of its actions would have earned'
"""

from pkgutil import resolve_name
from typing import Any

from coebl.learners.base import KINDS, REFERENCES, SIGHTS, Kind, Learner, Responder, Seat, Seen, Sight
from coebl.learners.registry import LEARNERS, parse_learner

__all__ = [
    "KINDS",
    "LEARNERS",
    "REFERENCES",
    "SIGHTS",
    "Kind",
    "Learner",
    "Responder",
    "Seat",
    "Seen",
    "Sight",
    "parse_learner",
]


def __getattr__(name: str) -> Any:
    for home in LEARNERS.homes.values():
        if home.endswith(f":{name}"):
            return resolve_name(home)
    raise AttributeError(f"module 'coebl.learners' has no attribute {name!r}")
