"""Learners: the contract, one file per algorithm, the parts that they are made of, a template to copy.

Every registered class can be imported from here: ``from coebl.learners import Ucb``.
"""

from importlib import import_module
from typing import Any

from coebl.learners.base import KINDS, SIGHTS, Kind, Learner, Responder, Seat, Seen, Sight
from coebl.learners.registry import LEARNERS, parse_learner

__all__ = [
    "KINDS",
    "LEARNERS",
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
    for home in LEARNERS.homes().values():
        module, _, attribute = home.partition(":")
        if attribute == name:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'coebl.learners' has no attribute {name!r}")
