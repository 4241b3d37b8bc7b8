"""The state of a learner as a value: saving, restoring, and attributes that cannot be saved."""

import copy
import io
import pickle
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.engine import GenomePlayer, Player
from coebl.engine.state import State, StateError, unpack
from coebl.learners import LEARNERS, Learner, parse_learner
from coebl.learners.evolution import MUTATIONS, POPULATIONS, RECOMBINATIONS, SELECTIONS
from learner_rules import INDEXED, OF_GENES
from player_files import altered, play

ROUNDS = 30


def reloaded(player, tmp_path, learner=None):
    player.save(tmp_path / "player.npz")
    return type(player).load(tmp_path / "player.npz", learner)


def check_continues(player, tmp_path, learner=None, size=3):
    """Check that reloading and copying at any moment of a round changes no later action."""
    for moment in ("before", "policy", "act"):
        play(player, ROUNDS, size)
        if moment == "policy":
            assert (player.policy >= 0).all()
        if moment == "act":
            player.act()
        copies = copy.deepcopy(player), copy.copy(player), pickle.loads(pickle.dumps(player))
        others = [reloaded(player, tmp_path, learner), *copies]
        assert {other.round for other in others} == {player.round}
        expected = play(player, ROUNDS, size)
        for other in others:
            assert play(other, ROUNDS, size) == expected
            assert other.policy.tobytes() == player.policy.tobytes()


def playable():
    for entry in (LEARNERS[name] for name in INDEXED):
        learner = parse_learner(entry.factory.example or entry.name)
        if "indices" in learner.plays and {"payoffs", "game", "policy"}.isdisjoint(learner.sees):
            yield str(learner).replace("0.5/0.5", "0.5/0.2/0.3").replace("1/0", "1/0/0")
    for field, operators in {
        "mutation": MUTATIONS,
        "selection": SELECTIONS,
        "recombination": RECOMBINATIONS,
        "population": POPULATIONS,
    }.items():
        for entry in operators:
            yield f"coebl:{field}={entry.name}"


@pytest.mark.filterwarnings("ignore:reward is")
@pytest.mark.parametrize("spec", [*playable(), "ucb:ties=random", "kin:optimism=proven"])
def test_every_learner_continues_to_the_last_bit(spec, tmp_path):
    check_continues(Player(spec, 3, 3, horizon=500, seed=5), tmp_path)


@pytest.mark.parametrize("spec", OF_GENES)
def test_every_learner_of_genomes_continues_to_the_last_bit(spec, tmp_path):
    check_continues(GenomePlayer(spec, 4, horizon=500, seed=5), tmp_path)


@pytest.mark.filterwarnings("ignore:reward is")
@pytest.mark.parametrize("size", [24, 60])
@pytest.mark.parametrize("spec", ["ucb", "ucb:ties=random", "explore-then-commit:visits=1"])
def test_the_memory_of_the_solver_is_saved(spec, size, tmp_path):
    """The kernel for large games keeps a tableau from round to round, in single precision in the larger one."""
    check_continues(Player(spec, size, size, horizon=500, seed=5), tmp_path, size=size)


class Pair(NamedTuple):
    left: np.ndarray
    right: "Memory"


class Memory:
    """A custom object."""

    def __init__(self, size):
        self.total = np.zeros(size)
        self.half = self.total[: size // 2]  # the same memory
        self.back = self.total[::-1]

    @cached_property
    def table(self):
        return np.arange(6.0).reshape(2, 3).T.copy("K")


@dataclass(slots=True)
class Slotted:
    count: int
    owner: object


@dataclass(frozen=True, slots=True)
class Frozen:
    count: int


class Mode(Enum):
    SLOW = 1
    FAST = 2


def halve(array, by=2):
    return array / by


@dataclass
class Custom(Learner):
    """A learner that uses every type that can be stored."""

    scale: float = 1.0

    def start(self, seat):
        self.memory = Memory(seat.actions)
        self.again = self.memory  # shared
        self.memory.owner = self  # a cycle
        self.items = [1, 2.5, "three", None, True, (4, 5), {"six": 6, 7: [8]}, np.float32(9.5), np.int64(10)]
        self.items.append(self.items)
        self.rule = partial(halve, by=3)
        self.step = self.explore
        self.mode = Mode.SLOW
        self.slotted = Slotted(0, self)
        self.frozen = Frozen(1)
        self.generator = np.random.default_rng(3)
        self.words = np.array(["a", "bc"])
        self.transposed = np.zeros((2, 3, 4)).transpose(2, 0, 1).copy("K")
        self.empty = np.empty((0, 3))
        self.infinite = [np.inf, -np.inf]
        self.gone = 1

    def explore(self, t):
        if t == 5:
            self.step = self.exploit
            self.pair = Pair(np.ones(2), self.memory)
            del self.gone
        return self.seat.full(1 / self.seat.actions, self.seat.actions)

    def exploit(self, t):
        score = self.rule(self.memory.total) + self.seat.random.normal(self.seat.actions)[0] * self.scale
        self.memory.table[:] += self.generator.normal()
        shares = np.exp(score - score.max())
        return (shares / shares.sum())[None] + 0 * self.transposed.sum()

    def policy(self, t):
        return self.step(t)

    def observe(self, t, seen):
        self.memory.total[seen.action] += seen.reward
        self.again.half += 0.1
        self.memory.back[0] += self.memory.table.sum()
        self.slotted.count += 1
        self.transposed += seen.reward


@pytest.mark.filterwarnings("ignore:reward is")
def test_a_custom_learner_continues_to_the_last_bit(tmp_path):
    player = Player(Custom(), 3, seed=5)
    check_continues(player, tmp_path, Custom())
    for other in (reloaded(player, tmp_path, Custom()), pickle.loads(pickle.dumps(player))):
        learner, original = other._seated.learner, player._seated.learner
        assert learner.again is learner.memory is learner.pair.right
        assert learner.memory.owner is learner is learner.slotted.owner
        assert learner.items[-1] is learner.items
        assert str(learner.items[:-1]) == str(original.items[:-1])
        assert [type(item) for item in learner.items] == [type(item) for item in original.items]
        assert np.shares_memory(learner.memory.half, learner.memory.total)
        assert not np.shares_memory(learner.memory.total, original.memory.total)
        assert learner.transposed.strides == original.transposed.strides
        assert learner.memory.table.strides == original.memory.table.strides
        assert learner.memory.back.strides == (-8,)
        assert learner.mode is Mode.SLOW
        assert learner.frozen == Frozen(1)
        assert learner.seat is other._seated.seat
        assert learner.words.tolist() == ["a", "bc"]
        assert learner.empty.shape == (0, 3)
        assert learner.infinite == original.infinite
        assert not hasattr(learner, "gone")


@pytest.mark.parametrize(
    "make_value",
    [
        lambda: lambda t: t,
        threading.Lock,
        lambda: sys.__stderr__,
        lambda: deque([1]),
        lambda: {1, 2},
        lambda: np.array([object()]),
        lambda: np.ma.array([1.0]),
        lambda: (t for t in [1]),
        lambda: time.localtime(),
        lambda: Mode.FAST,
    ],
)
@pytest.mark.parametrize("where", ["attribute", "inside"])
def test_attributes_that_cannot_be_stored_are_named(make_value, where, tmp_path):
    class Keeper(Learner):
        def start(self, seat):
            self.seat, self.kept = seat, {"deep": [0]}

        def policy(self, t):
            value = make_value()
            if where == "attribute":
                self.kept = value
            else:
                self.kept["deep"][0] = value
            return self.seat.full(1 / self.seat.actions, self.seat.actions)

    player = Player(Keeper(), 2)
    player.act()
    name = "Keeper.kept" if where == "attribute" else r"Keeper.kept\['deep'\]\[0\]"
    for store in (
        lambda: player.save(tmp_path / "player.npz"),
        lambda: copy.copy(player),
        lambda: pickle.dumps(player),
    ):
        with pytest.raises(InputError, match=rf"^{name} is .*, which cannot be stored; accepted: arrays, [^\n]*$"):
            store()
    assert not (tmp_path / "player.npz").exists()
    player.observe(reward=1.0)  # and it plays on


class Buffer(io.BytesIO):
    """A class in the module of the learner, whose content is in no attribute."""

    def __getstate__(self):
        return {}


@pytest.mark.parametrize("kind", [io.BytesIO, io.StringIO, Buffer])
def test_content_outside_of_attributes_cannot_be_stored(kind, tmp_path):
    """Such an object was stored without its content."""

    class Keeper(Custom):
        def start(self, seat):
            super().start(seat)
            self.kept = kind()

    with pytest.raises(InputError, match=r"^Keeper.kept is .*, which cannot be stored; accepted: arrays, "):
        Player(Keeper(), 2).save(tmp_path / "player.npz")


class Cached:
    """A class with methods for pickle, whose content is in attributes."""

    def __init__(self):
        self.total, self.cache = 1, {"one": 1}

    def __getstate__(self):
        return {"total": self.total}


def test_attributes_are_stored_that_pickle_leaves_out(tmp_path):
    class Keeper(Custom):
        def start(self, seat):
            super().start(seat)
            self.kept = Cached()

    player = Player(Keeper(), 2)
    player._seated.learner.kept.cache["two"] = 2
    assert reloaded(player, tmp_path, Keeper())._seated.learner.kept.cache == {"one": 1, "two": 2}


def cycle():
    kept = ([],)
    kept[0].append(kept)
    return kept


def nested():
    kept = []
    for _ in range(100_000):
        kept = [kept]
    return kept


@pytest.mark.parametrize(
    ("make", "message"),
    [(cycle, r"Keeper.kept\[0\]\[0\] is .* cannot be stored"), (nested, "Keeper has attributes nested too deeply")],
)
def test_cycles_through_a_tuple_and_deep_nesting_are_named(make, message, tmp_path):
    class Keeper(Custom):
        def start(self, seat):
            super().start(seat)
            self.kept = make()

    with pytest.raises(InputError, match=f"^{message}"):
        Player(Keeper(), 2).save(tmp_path / "player.npz")


@pytest.mark.parametrize("spec", ["exp3", "coebl", "kin", "gp-mw"])
def test_the_file_does_not_grow_with_the_rounds(spec, tmp_path, monkeypatch):
    monkeypatch.setattr("coebl.engine.records.KEPT", 256)  # outcomes that are kept one by one
    player = Player(spec, 3, 3, horizon=2000, seed=1, payoff_range=(-9, 9))
    play(player, 300)
    player.save(tmp_path / "early.npz")
    play(player, 1000)
    player.save(tmp_path / "late.npz")
    early, late = ((tmp_path / name).stat().st_size for name in ("early.npz", "late.npz"))
    assert late < 1.1 * early + 500
    assert len(pickle.dumps(player)) < 2 * early + 100_000


def attributes(content):
    return next(iter(content["state"].values()))[3]


def hostile(*node):
    """Add an attribute to the learner."""
    return lambda content: attributes(content).update(hostile=list(node))


def score(*node):
    return lambda content: attributes(content).update(score=list(node))


def draws(**changes):
    return lambda content: content["state"]["draws"][3].update(changes)


def settings(**changes):
    return lambda content: content.update(changes)


@pytest.mark.parametrize(
    "change",
    [
        hostile("object", "os:_Environ", [], {}),
        hostile("object", "coebl.core.files:Path", [], {}),
        hostile("object", "coebl.learners.nowhere:Thing", [], {}),
        hostile("object", "coebl.learners.base:np.ndarray", [[2]], {}),
        hostile("method", "__reduce__", ["again", 0]),
        hostile("method", "backend", ["again", 0]),
        hostile("partial", ["function", "os:system"], ["tuple", "true"], ["dict", [], []]),
        hostile("function", "os:system"),
        hostile("same"),
        hostile("again", 10_000),
        hostile("array", "O", [1], [8], 0, 0, 0),
        hostile("array", "<f8", [10_000], [8], 0, 0, 0),
        hostile("array", "<f8", [2], [8], 99, 0, 0),
        hostile("array", "<f8", [1], [8], 0, 0, -8),
        hostile("generator", "BitGenerator", {}),
        hostile("generator", "SFC64", 3),
        hostile("tuple", ["again", 3]),  # itself
        hostile("unheard"),
        hostile(),
        hostile([]),
        lambda content: content.pop("state"),
        settings(state=3),
        settings(state={}),
        settings(issued=-1),
        settings(issued="x"),
        lambda content: content.pop("issued"),
        settings(learned=0.5),
        settings(restarts=None),
        settings(tickets=[[1, 2]]),
        settings(tickets=[[1, 0], [2, 0]]),
        settings(tickets=3),
        settings(current=7),
        settings(asked=True),
        settings(warned=3),
        lambda content: attributes(content).pop("score"),
        lambda content: content["state"].update(Exp3=["list"]),
        # these would fail in the next round
        score("array", "<f8", [0], [8], 0, 0, 0),
        score("scalar", "<f8", [], [], 0, 0, 0),
        score("tuple", 1, 2),
        lambda content: attributes(content).update(seat=7),
        lambda content: attributes(content).update(seat=["list"]),
        draws(_used=-1_000_000),
        draws(_used="x"),
        draws(_there=7),
        draws(_buffer=["array", "<i8", [2], [8], 0, 0, 0]),
        lambda content: content["tickets"][0].__setitem__(0, 10**30),
    ],
)
def test_a_damaged_or_hostile_file_is_rejected_in_one_line(change, tmp_path):
    """Nothing that the file names is imported or called."""
    player = Player("exp3", 2)
    play(player, 3)
    player.ticket()
    Player.load(altered(tmp_path, player))  # imports the modules that loading needs
    before = set(sys.modules)
    with pytest.raises(InputError, match=r"^[^\n]*is damaged, or was saved by another version[^\n]*\.$"):
        Player.load(altered(tmp_path, player, change))
    assert set(sys.modules) == before


def test_the_tables_of_the_solver_are_checked(tmp_path):
    """The kernels use them as indices without a check."""
    player = Player("ucb", 24, 30, horizon=100)
    play(player, 3, 30)
    for array, part, value in ((0, 1, "<i8"), (1, 2, [8]), (2, 3, [0])):  # dtype, shape, strides

        def change(content):
            attributes(content)["solve"][3]["_workspace"][2][array][part] = value  # noqa: B023 - called at once

        with pytest.raises(InputError, match=r"is damaged.*a tableau has "):
            Player.load(altered(tmp_path, player, change))


def test_the_states_of_normal_numbers_are_checked(tmp_path):
    player = Player("coebl", 3, 3, horizon=100)
    play(player, 3)

    def change(content):
        content["state"]["seat.random"][3]["_normal"][3]["states"][2:4] = [[1, 1], [8, 8]]

    with pytest.raises(InputError, match=r"is damaged.*cannot reshape"):
        Player.load(altered(tmp_path, player, change))


def test_a_later_format_is_rejected(tmp_path):
    with pytest.raises(InputError, match="has a format other than 1 or 3; load it with the coebl that wrote it"):
        Player.load(altered(tmp_path, Player("exp3", 2), lambda content: content.update(format=4)))


def test_a_few_bytes_are_not_expanded_to_an_array_of_any_size():
    """Strides of 0 repeat the bytes."""
    node = {"learner": ["array", "<f8", [10**6, 10**6], [0, 0], 0, 0, 0]}
    with pytest.raises(StateError, match=r"^shape \[1000000, 1000000\]$"):
        unpack(State(node, [np.zeros(8, np.uint8)]), {"learner": None}, None, Learner)


def test_a_file_without_the_seat_of_the_learner_is_read(tmp_path):
    """In earlier versions, learners stored their seat themselves, and not all of them did."""
    player = Player("exp3", 2, seed=1)
    play(player, 3)
    loaded = Player.load(altered(tmp_path, player, lambda content: attributes(content).pop("seat")))
    assert play(loaded, 5) == play(player, 5)
