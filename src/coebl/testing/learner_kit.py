"""The conformance kits for learners and for searches."""

from __future__ import annotations

import copy
import pickle
import random as python_random
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from coebl.backend import CPU, Backend
from coebl.core.arrays import Floats
from coebl.core.errors import CoeblError, UserCodeError, reason_of, shorten
from coebl.engine import GenomePlayer, Match, Player, PolicyError, Result, simulate
from coebl.engine.table import Table, seat_at
from coebl.games import Bilinear, Diagonal, Game, GeneBilinear, GenomeGame, ZeroSumGame
from coebl.games.catalogue import gene_bilinear, lead
from coebl.games.game import SEATS
from coebl.games.noise import Gaussian
from coebl.learners import LEARNERS, Learner, parse_learner
from coebl.search import Search
from coebl.testing.kits import ContractError, Points, Report, demand, report_on
from coebl.testing.strict import StrictBackend

SHAPES = {"square": (3, 3), "wide": (2, 5), "tall": (5, 2), "one-row": (1, 4), "one-column": (4, 1)}

_GENES = (1, 4, 9)
_QUERIES = 600  # of a search
_SEEDS = [4, 7, 1, 9, 2]

# Row 1 is better than row 0 against every column, and column 2 is the column player's best; no symmetry.
_DOMINANCE = np.array([[0.2, -0.4, -1.0], [1.0, 0.6, 0.1]])
_DOMINANT = (1, 2)
_UNITS = (
    (4096.0, 0.0, "payoffs and noise are 4096 times as large"),  # a power of two: nothing is rounded
    (5000.0, 300.0, "payoffs are 5000 times as large, plus 300, and so is the noise"),
)
_ROUNDING = 1e-6  # of a policy, where the zero differs
_MARGIN = 0.1  # above chance, of a dominant action; the slowest of the built-in learners, exp3-ix, is at 0.2


def check_learner(learner: str | Learner | type[Learner]) -> Report:
    """Check a learner against the contract of `coebl.learners.base`: a spec, an instance, or a class with defaults.

    >>> check_learner("exp3").passed
    True
    """
    if isinstance(learner, type):
        reason = LEARNERS.reason_to_reject(learner)
        if reason:
            return report_on(learner.__name__, iter([("can be registered", partial(demand, False, reason))]))
        learner = learner()
    subject = parse_learner(learner)
    return report_on(str(subject), _points(subject))


def _points(learner: Learner) -> Points:
    if isinstance(learner, Search):
        yield "searches genomes of one, two and nine bits", lambda: _sizes(learner)
        yield "a run does not depend on its batch, to the last bit", lambda: _search_batch(learner)
        yield "goes on with fewer runs", lambda: _dropped(learner)
        yield "its spec reads back", lambda: _spec(learner)
        yield "pickles", lambda: _pickles(learner)
        return
    games = " and ".join(
        {"indices": "square, wide, tall, one-row and one-column games", "bits": "games of 1, 4 and 9 genes"}[kind]
        for kind in sorted(learner.plays, reverse=True)
    )
    yield f"plays {games} in the row seat", lambda: _shapes(learner, 0)
    yield "plays them in the column seat", lambda: _shapes(learner, 1)
    yield "leaves the global random state alone", lambda: _global_state(learner)
    yield "a run does not depend on its batch, to the last bit", lambda: _batch(learner)
    yield "takes its arrays from the seat", lambda: _arrays(learner)
    yield "plays the same in any units of the payoffs", lambda: _units(learner)
    yield "its spec reads back", lambda: _spec(learner)
    if learner.improves and type(learner).__module__.startswith("coebl."):
        cites = partial(demand, learner.cites, "it is part of coebl and has no citation; set cites")
        yield "names its source", cites
    yield "is equal to itself after it has played, and stays as it was", lambda: _equal(learner)
    if learner.improves:
        yield "comes to play a dominant action in both seats", lambda: _dominance(learner)
    yield "pickles", lambda: _pickles(learner)
    if set(learner.sees) <= {"opponent"}:
        if not learner.needs_horizon:
            yield "plays where the number of rounds is not known", lambda: _horizon(learner)
        yield "a saved player continues to the last bit", lambda: _saved(learner)
        if "indices" in learner.plays:
            yield "plays on if outcomes are late, missing or of other moves", lambda: _feedback(learner)


def _play(
    learner: Learner, game: ZeroSumGame, seat: int, rounds: int, seeds: list[int], backend: Backend = CPU
) -> Floats:
    """Return the policies of the learner against the uniform opponent: (rounds, runs, actions)."""
    uniform = parse_learner("uniform")
    pair = (uniform, learner) if seat else (learner, uniform)
    policies = Table(Match(game, pair, rounds), seeds, backend).play(1, rounds).policies
    return backend.to_host(policies[seat])


def _games(learner: Learner, seat: int, rounds: int) -> dict[str, ZeroSumGame]:
    """Return a random game of each shape and number of genes at which the learner can play in this seat."""
    games: dict[str, ZeroSumGame] = {
        title: Game(np.random.default_rng(shape).uniform(-1, 1, size=shape), payoff_range=(-1.0, 1.0))
        for title, shape in SHAPES.items()
    }
    games |= {f"{n}-gene": gene_bilinear(n) for n in _GENES}
    return {
        title: game
        for title, game in games.items()
        if ("indices" if isinstance(game, Game) else "bits") in learner.plays
        and learner.reason_not_to_play(seat_at(game, seat, learner, [0], rounds)) is None
    }


def _seatings(learner: Learner, rounds: int) -> Iterator[tuple[int, str, ZeroSumGame]]:
    """Yield each seat in which the learner can play, its description, and a game."""
    for seat, name in enumerate(SEATS):
        for title, game in _games(learner, seat, rounds).items():
            yield seat, f"{title} game, {name} seat", game


def _in_units(game: ZeroSumGame, unit: float, zero: float) -> ZeroSumGame:
    """Return a game of `_games` with payoffs and noise in another unit, counted from another zero."""
    noise = Gaussian(unit)
    if isinstance(game, GeneBilinear):
        constant = unit * game.constant + zero
        return GeneBilinear(constant, unit * game.own, unit * game.other, unit * game.pairs, noise=noise)
    assert isinstance(game, Game)
    return Game(unit * game.payoff + zero, payoff_range=(zero - unit, zero + unit), noise=noise)


def _matrices(learner: Learner) -> list[Floats]:
    """Return the payoffs of the random games in whose row seat the learner can play."""
    return [game.payoff for game in _games(learner, 0, 60).values() if isinstance(game, Game)]


def _shapes(learner: Learner, seat: int) -> None:
    games = _games(learner, seat, 12)
    for game in games.values():
        _play(learner, game, seat, 12, [0, 1])  # the engine rejects invalid policies
    shapes = ", ".join(f"{m} x {n}" for m, n in SHAPES.values())
    if "bits" in learner.plays:
        shapes = " and ".join(map(str, _GENES)) + " genes"
    demand(games, f"it rejects every game, even those of {shapes}")


def _batch(learner: Learner) -> None:
    _global_state(learner)
    for seat, place, game in _seatings(learner, 60):
        together, backwards, alone = (_play(learner, game, seat, 60, seeds) for seeds in (_SEEDS, _SEEDS[::-1], [7]))
        same = (together == backwards[:, ::-1]).all(axis=(1, 2)) & (together[:, 1] == alone[:, 0]).all(axis=1)
        if not same.all():
            raise ContractError(
                f"{place}: a seed alone, in a batch of five and in a batch of another order differs from round "
                f"{same.argmin() + 1} on; sum over the last axis, never over runs, and with seat.einsum, not @"
            )


def _arrays(learner: Learner) -> None:
    _global_state(learner)
    for seat, place, game in _seatings(learner, 30):
        expected = _play(learner, game, seat, 30, [3, 5])
        same = np.array_equal(_play(learner, game, seat, 30, [3, 5], StrictBackend()), expected)
        demand(same, f"{place}: it plays differently on arrays of another library")


def _units(learner: Learner) -> None:
    _global_state(learner)
    for seat, place, game in _seatings(learner, 30):
        expected = _play(learner, game, seat, 30, [3, 5])
        for unit, zero, change in _UNITS:
            policies = _play(learner, _in_units(game, unit, zero), seat, 30, [3, 5])
            same = (np.abs(policies - expected) <= (_ROUNDING if zero else 0)).all(axis=(0, 2))  # by run
            # With another zero rewards are rounded, and in single runs that decides between equals.
            equal = same.any() if zero else same.all()
            demand(equal, f"{place}: it plays differently if {change}; learn from seen and from the seat alone")


def _spec(learner: Learner) -> None:
    LEARNERS.known_everywhere(learner)  # rejects a class that has the name of another
    own = vars(type(learner)).get("name", "")
    same = own not in LEARNERS or LEARNERS[own].factory is type(learner)  # in a file, it would only look the same
    demand(same, f"it is called {own!r}, as a registered learner is; give it another name")
    entry = LEARNERS.entry_of(type(learner))
    again = entry.factory(**entry.read(str(learner).removeprefix(entry.name).removeprefix(":")))
    demand(again == learner and str(again) == str(learner), f"{str(learner)!r} reads back as {again!r}")


def _equal(learner: Learner) -> None:
    before = vars(learner).copy()
    for game in _games(learner, 0, 5).values():
        _play(learner, game, 0, 5, [0, 1])
        seated = learner.seated(seat_at(game, 0, learner, [0, 1], 5))
        demand(seated == learner, "seated, it is not equal to itself; compare fields alone, as a dataclass does")
    demand(vars(learner).keys() == before.keys(), "seating it changed the learner itself")


def _dominance(learner: Learner) -> None:
    genes = "indices" not in learner.plays
    game = lead(2, mask=False) if genes else Game(_DOMINANCE, payoff_range=(-1.0, 1.0))
    for seat, best in enumerate(_DOMINANT):
        policies = _play(learner, game, seat, 1500, [0, 1, 2, 3])
        share = float((policies[750:] if genes else policies[750:, :, best]).mean())  # all genes should be 1
        chance = 0.5 if genes else 1 / policies.shape[2]
        learns = type(learner).observe is not Learner.observe
        repair = "look at the sign of the reward" if learns else "write observe(self, t, seen)"
        demand(
            share >= chance + _MARGIN,
            f"{SEATS[seat]} seat: the dominant action has a mean probability of {share:.2f}, and chance is "
            f"{chance:.2f}; {repair}, or set improves = False",
        )


def _global_state(learner: Learner) -> None:
    """Require that a learner draws from its seat alone. Points that compare runs start with this."""
    outcomes = []
    for game in list(_games(learner, 0, 20).values())[:1]:
        for seed in (1, 2):
            np.random.seed(seed)  # noqa: NPY002 - it is the global state that is being watched
            python_random.seed(seed)
            before = repr(np.random.get_state()), python_random.getstate()  # noqa: NPY002
            outcomes.append(_play(learner, game, 0, 20, [0, 1]))
            same = before == (repr(np.random.get_state()), python_random.getstate())  # noqa: NPY002
            demand(same, "it draws from a global random state; draw from seat.random")
    same = all(np.array_equal(outcomes[0], outcome) for outcome in outcomes)
    demand(same, "it depends on a global random state; draw from seat.random")


def _pickles(learner: Learner) -> None:
    again = pickle.loads(pickle.dumps(learner))
    demand(again == learner, f"it comes back from pickle as {shorten(again)}")


def _contests(learner: Learner, horizon: int | None) -> Iterator[tuple[Any, Floats | None]]:
    """Yield a new player for each kind of actions, with its payoffs if they are numbered."""
    if "bits" in learner.plays:
        yield GenomePlayer(learner, _GENES[1], horizon=horizon), None
    for own in _matrices(learner)[:1]:
        yield Player(learner, len(own), own.shape[1], horizon=horizon), own


def _horizon(learner: Learner) -> None:
    seats = (seat_at(game, 0, learner, [0], None) for game in _games(learner, 0, 20).values())
    if any(map(learner.reason_not_to_play, seats)):  # with these parameters it needs the number
        return
    for player, payoff in _contests(learner, 20):
        _contest(player, payoff)  # a fault that another point reports
    try:
        for player, payoff in _contests(learner, None):
            _contest(player, payoff)
    except Exception as error:
        if isinstance(error, CoeblError) and not isinstance(error, UserCodeError):
            raise
        needed = "write needs_horizon = True in the class, or do without the number if it is None"
        raise ContractError(f"seat.horizon is None: {reason_of(error)}; {needed}.") from error


def _saved(learner: Learner) -> None:
    _global_state(learner)
    for player, payoff in _contests(learner, 20):
        _contest(player, payoff)
        copied = copy.deepcopy(player)
        same = _contest(player, payoff) == _contest(copied, payoff)
        demand(same, "it plays differently if the player was saved before; keep all its state in attributes")


def _feedback(learner: Learner) -> None:
    for payoff in _matrices(learner):
        player = Player(learner, payoff.shape[0], payoff.shape[1], horizon=60)
        _ = player.policy  # if it is invalid before any outcome, the cause is another
        try:
            with np.errstate(divide="ignore", invalid="ignore"):  # invalid policies that result are reported
                _play_with_late_outcomes(player, payoff)
        except PolicyError as error:
            raise ContractError(
                f"{error} If it divides by the probability of an action, write importance_weighted = True in the class "
                "and take seen.probability."
            ) from error


def _play_with_late_outcomes(player: Player, payoff: Floats) -> None:
    for opponent in np.arange(10) % payoff.shape[1]:
        never, *tickets = (player.ticket() for _ in range(6))
        player.forget(never)
        for ticket in reversed(tickets):
            player.observe(ticket, reward=payoff[ticket, opponent], opponent=opponent)
        least = int(player.policy.argmin())  # a move that the learner would hardly make, or never
        player.observe(action=least, reward=1.0, opponent=opponent)
    _ = player.policy


def _contest(player: Any, payoff: Floats | None) -> list[bytes]:
    """Play ten rounds, by default with genomes; return the policies."""
    policies = []
    for t in range(10):
        policies.append(player.policy.tobytes())
        action = player.act()
        if payoff is None:
            player.observe(reward=float(action.mean()), opponent=1 - action)
        else:
            opponent = t % payoff.shape[1]
            player.observe(reward=payoff[action, opponent], opponent=opponent)
    return policies


# Searches


def _run(search: Search, game: GenomeGame, seeds: list[int], until: str | None = None) -> Result:
    match = Match(game, (search, search), _QUERIES)
    return simulate(match, seeds, metrics=["exploitability"], until=until)


def _sizes(search: Search) -> None:
    for n in (1, 2, 9):
        for policy in _run(search, Bilinear(n, 0.3, 0.6), [0, 1]).policies:
            valid = ((policy >= 0) & (policy <= 1)).all()
            demand(valid, f"with {n} bits it recommends {policy[0].tolist()}; accepted: probabilities, one per bit")


def _search_batch(search: Search) -> None:
    together, alone = (_run(search, Diagonal(9), seeds) for seeds in (_SEEDS, [7]))
    same = all(np.array_equal(a[1], b[0]) for a, b in zip(together.policies, alone.policies, strict=True))
    demand(same, "seed 7 alone and in a batch of five differ; draw from seat.random, and never sum over runs")


def _dropped(search: Search) -> None:
    """Require that a run is the same if others end before it."""
    until = "exploitability < 0.5"
    together = _run(search, Diagonal(3), _SEEDS, until).hitting_times
    alone = [_run(search, Diagonal(3), [seed], until).hitting_times[0] for seed in _SEEDS]
    demand(
        together == alone,
        f"runs hit at {together}, and alone at {alone}; keep runs on axis 0 of every array of its state",
    )
