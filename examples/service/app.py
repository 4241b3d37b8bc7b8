"""A web service with several players: each is saved after every change, and continues after a restart.

    pip install "coebl[service]"
    uvicorn --app-dir examples/service --factory app:from_environment

The files are in the folder $PLAYERS, by default ./players. Start one process: a player belongs to one. The design is
explained in docs/how-to/deploy-a-player.md.
"""

from __future__ import annotations

import os
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, StringConstraints

from coebl import InputError, Player

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,40}$")]  # the name of a player, and of its file


class Contest(BaseModel):
    """The settings of a new player. Learners come from a list: a spec from the network might name a file to run."""

    learner: Literal["kin", "strain", "ots-rm", "k-learning", "tsallis-inf"] = "strain"
    actions: int | list[str]
    opponent_actions: int | list[str] | None = None
    horizon: int | None = None
    payoff_range: tuple[float, float] | None = None
    noise: float | None = None


class Outcome(BaseModel):
    """The outcome of a ticket, or, without one, of a move that was made without asking."""

    ticket: int | None = None
    reward: float
    opponent: int | str | None = None
    action: int | str | None = None  # if another action was played than the ticket advised


class Players:
    """Players by name, each in a file of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = Lock()
        self._players = {path.stem: Player.load(path) for path in sorted(folder.glob("*.npz"))}

    def names(self) -> list[str]:
        """Return the names of all players."""
        return sorted(self._players)

    def create(self, name: str, contest: Contest) -> Player:
        """Add a player; its draws are secret."""
        with self._lock:
            if name in self._players:
                raise HTTPException(409, f"there is a player {name!r} already; choose another name.")
            self._players[name] = Player(**contest.model_dump(), seed=None)
        self.save(name)
        return self._players[name]

    def __getitem__(self, name: str) -> Player:
        if name not in self._players:
            raise HTTPException(404, f"no player {name!r}; there are {', '.join(self.names()) or 'none yet'}.")
        return self._players[name]

    def save(self, name: str) -> None:
        """Write the file of a player, whole or not at all."""
        self._players[name].save(self._folder / f"{name}.npz")


def summary(player: Player) -> dict[str, Any]:
    """Return the policy, the estimates, and warnings."""
    labels = player.labels.own or [str(action) for action in range(player.actions)]
    report: dict[str, Any] = {
        "learner": str(player.learner),
        "round": player.round,
        "open_tickets": list(player.tickets),
        "policy": dict(zip(labels, player.policy.tolist(), strict=True)),
        "warnings": list(player.warnings),
        "payoff_range": player.units.payoff_range,
        "noise": player.units.noise,
    }
    if player.opponent_actions is not None:
        numbers = {"value": player.value(), "exploitability": player.exploitability()}
        report |= {name: _finite(number._asdict()) for name, number in numbers.items()}
    return report


def _finite(numbers: dict[str, float]) -> dict[str, float | None]:
    """Return the numbers for JSON, with None for infinity, which JSON lacks."""
    return {name: number if isfinite(number) else None for name, number in numbers.items()}


def service(folder: Path) -> FastAPI:
    """Return the service for the players of a folder."""
    app, players = FastAPI(title="Players"), Players(folder)

    @app.exception_handler(InputError)
    def report_mistake(request: Request, error: InputError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status_code=422)

    @app.get("/players")
    def list_players() -> list[str]:
        return players.names()

    @app.put("/players/{name}", status_code=201)
    def create(name: Name, contest: Contest) -> dict[str, Any]:
        return summary(players.create(name, contest))

    @app.get("/players/{name}")
    def watch(name: str) -> dict[str, Any]:
        return summary(players[name])

    @app.get("/players/{name}/page", response_class=HTMLResponse)
    def page(name: str) -> str:
        return players[name]._repr_html_()

    @app.post("/players/{name}/tickets", status_code=201)
    def advise(name: str) -> dict[str, Any]:
        ticket = players[name].ticket()
        players.save(name)  # before the response, so that no issued ticket is ever lost
        return {
            "ticket": ticket.round,
            "action": int(ticket),
            "label": ticket.label,
            "probability": ticket.probability,
        }

    @app.delete("/players/{name}/tickets/{ticket}", status_code=204)
    def forget(name: str, ticket: int) -> None:
        player = players[name]
        player.forget(find(player, ticket))
        players.save(name)

    @app.post("/players/{name}/outcomes")
    def observe(name: str, outcome: Outcome) -> dict[str, Any]:
        player = players[name]
        ticket = None if outcome.ticket is None else find(player, outcome.ticket)
        player.observe(ticket, **outcome.model_dump(exclude={"ticket"}))
        players.save(name)
        return {"round": player.round, "warnings": list(player.warnings)}

    def find(player: Player, number: int) -> Any:
        if number not in player.tickets:
            raise HTTPException(404, f"ticket {number} is not open: it was observed, forgotten, or never given out.")
        return player.tickets[number]

    return app


def from_environment() -> FastAPI:
    """Return the service that uvicorn starts."""
    return service(Path(os.environ.get("PLAYERS", "players")))
