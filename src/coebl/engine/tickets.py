"""Tickets: actions that a player has advised, and whose outcomes are to be reported."""

from __future__ import annotations

from typing import Any

from coebl.core.arrays import Floats


class Ticket(int):
    """An advised action: its number, with the round, the policy and the label. Outcomes are reported with it.

    >>> from coebl import Player
    >>> ticket = Player("exp3", actions=["left", "right"], seed=1).ticket()
    >>> ticket, ticket.label, ticket.round, ticket.probability
    (<Ticket of round 1: action 1>, 'right', 1, 0.5)
    >>> ticket + 10
    11
    """

    def __new__(cls, action: int, round: int, policy: Floats, label: str | None = None) -> Ticket:
        ticket = super().__new__(cls, action)
        ticket.round, ticket.policy, ticket.label = round, policy, label
        policy.flags.writeable = False
        return ticket

    round: int
    """The round, from 1. It identifies the ticket among those of its player: `player.tickets[round]`."""
    policy: Floats
    """The mixed strategy that the action was drawn from: (actions,)."""
    label: str | None
    """The label of the action, if actions have labels."""

    @property
    def probability(self) -> float:
        """The probability with which the action was drawn."""
        return float(self.policy[self])

    def __getnewargs__(self) -> tuple[Any, ...]:
        return int(self), self.round, self.policy, self.label

    def __repr__(self) -> str:
        return f"<Ticket of round {self.round}: action {int(self)}>"

    __str__ = int.__repr__
