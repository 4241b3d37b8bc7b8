"""Registries: names from decorators, tables, entry points of other packages, and files."""

import re
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import EntryPoint
from typing import Annotated, Literal

import numpy as np
import pytest

from coebl.core import registry
from coebl.core.errors import InputError
from coebl.core.modules import load_file
from coebl.core.registry import Registry
from coebl.core.specs import Range
from coebl.games import GAMES, NOISES
from coebl.games.noise import Gaussian
from coebl.learners import LEARNERS, Learner
from coebl.learners.evolution import Mutation, Student
from coebl.naming import spelled_out
from coebl.study import Study

TWO_CLASSES = """
from dataclasses import dataclass

@dataclass(frozen=True)
class One:
    rate: float = 0.5

@dataclass(frozen=True)
class Two(One):
    pass

not_a_class = 3
"""


def test_specs_show_all_parameters_that_any_spec_of_the_same_name_sets():
    named = ["coebl", "coebl:c=2", "ucb", "fixed:strategy=1/0", "mine.py:Mine", "mine.py:Mine:c=2", "gone:c=2"]
    specs = spelled_out(named)
    assert list(specs) == named
    assert specs["coebl"] == "coebl:c=8"
    assert all(specs[spec] == spec for spec in named[1:])
    assert spelled_out(["coebl"]) == {"coebl": "coebl"}
    specs = spelled_out(["coebl:selection=none", "coebl:c=2"])
    assert specs["coebl:c=2"] == "coebl:c=2,selection=elitist"
    assert LEARNERS.canonical(specs["coebl:selection=none"]) == "coebl:selection=none"


@pytest.fixture
def shapes():
    return Registry("shape", "shapes", homes={"ordered": "collections:UserDict", "counter": "collections:Counter"})


@pytest.mark.parametrize("home", ["collections:UserDct", "colections:UserDict"])
def test_a_line_of_homes_that_names_nothing_is_an_error_of_one_line(home):
    shapes = Registry("shape", "shapes", homes={"ordered": home})
    with pytest.raises(InputError, match=rf"^ordered cannot be imported from {home} .* Correct its line among the ho"):
        shapes["ordered"]


def test_packages_add_entry_points_and_replace_nothing(monkeypatch):
    points = [EntryPoint("theirs", "collections:UserList", "g"), EntryPoint("ordered", "collections:UserList", "g")]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == "g" else [])
    shapes = Registry("shape", "shapes", homes={"ordered": "collections:UserDict"}, group="g")
    assert shapes.names == ["ordered", "theirs"]
    assert shapes["theirs"].factory.__name__ == "UserList"
    assert shapes["ordered"].factory.__name__ == "UserDict"


def test_classes_of_one_file_share_a_module_which_is_read_again_if_it_changes(tmp_path, shapes):
    file = tmp_path / "mine.py"
    file.write_text(TWO_CLASSES)
    first, second = shapes.make(f"{file}:One:rate=2"), shapes.make(f"{file}:Two")
    assert (first.rate, second.rate) == (2.0, 0.5)
    assert issubclass(type(second), type(first))  # a second import would have made another One
    assert type(shapes.make(f"{file}:One")) is type(first)
    assert shapes.canonical(f"{file}:One:rate=0.5") == f"{file}:One"
    assert shapes.names == ["ordered", "counter"]  # objects in files are not listed
    file.write_text(TWO_CLASSES.replace("0.5", "0.25"))
    assert shapes.make(f"{file}:One").rate == 0.25


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (TWO_CLASSES, "Tow", r"mine\.py has no shape 'Tow': did you mean 'Two'\? It has: One, Two\.$"),
        (
            TWO_CLASSES.replace("rate: float", "rate"),
            "One:rate=2",
            r"One has no parameter 'rate': the class sets it without a type. Write one, such as rate: float",
        ),
        ("x = 1\ny = x +", "One", r"mine\.py, line 2: SyntaxError: .*; fix the file"),
        ("x = 1\nraise ValueError('no')", "One", r"mine\.py, line 2: ValueError: no; fix the file"),
        (
            "from dataclasses import dataclass\n\nclass Odd:\n    x: list = []\n\ndataclass(Odd)\n",
            "One",
            r"mine\.py, line 6: ValueError: mutable default .*; fix the file",
        ),
        ("x = 1\neval('3 +')", "One", r"mine\.py, line 2: SyntaxError: .*; fix the file"),
        ("import sys\nsys.exit(0)", "One", r"mine\.py, line 2: SystemExit: 0; fix the file"),
        ("import beside", "One", r"line 1: .*'beside': a file cannot import its neighbours; put both in one, or add"),
        (
            f"from __future__ import annotations\n{TWO_CLASSES.replace('float', 'Share')}",
            "One",
            r"mine\.py:One: its annotations cannot be read \(name 'Share' is not defined\); correct them\.$",
        ),
    ],
)
def test_files_that_cannot_be_used(tmp_path, shapes, content, name, message):
    (tmp_path / "mine.py").write_text(content)
    (tmp_path / "beside.py").write_text("")
    with pytest.raises(InputError, match=message):
        shapes.make(f"{tmp_path}/mine.py:{name}")


@pytest.mark.parametrize(
    ("registry", "spec"),
    [
        (LEARNERS, f"coebl:mutation={'sparse:of=' * 3000}gaussian"),
        (GAMES, f"{'permuted:game=' * 3000}rps"),
        (GAMES, f"{'permuted:game=' * 40}random-gaussian:m=2,n=3"),  # its shortest form would have 2^40 characters
    ],
    ids=["learner", "game", "pluses"],
)
def test_specs_that_are_nested_too_deep_are_rejected_in_one_line(registry, spec):
    for read in (registry.make, registry.parse):
        with pytest.raises(InputError, match=r"nests specs too deeply; accepted: at most 16 colons\. Nest less\.$"):
            read(spec)
    assert registry.shortest(spec) == spec  # as it is in stored data


def test_a_broken_entry_point_of_another_package_is_left_out_with_the_reason(monkeypatch, coebl):
    points = [EntryPoint(name, home, "g") for name, home in (("gone", "nowhere_at_all:X"), ("other", "math:floor"))]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    with pytest.raises(ValueError, match="two registries have the base Learner"):  # its objects would lose their names
        Registry("learner", "learners", base=LEARNERS.base)
    monkeypatch.delattr(LEARNERS.base, "registry")
    learners = Registry("learner", "learners", base=LEARNERS.base, homes={"ucb": "coebl.learners.ucb:Ucb"}, group="g")
    assert [entry.name for entry in learners] == ["ucb"]
    assert set(learners.broken) == {"gone", "other"}
    with pytest.raises(InputError, match=r"^gone, a learner of an installed package, cannot be imported .*Module"):
        learners.make("gone")
    assert learners.known("gone") is None
    monkeypatch.setattr("coebl.cli.catalogue_commands._registries", lambda: {"learners": learners})
    done = coebl("list", "learners")
    assert (done.returncode, done.stderr.count("\n")) == (0, 2)
    assert "coebl: gone, a learner of an installed package, cannot be imported from nowhere_at_all:X" in done.stderr


@dataclass
class Fielded(Learner):
    rate: float = 1.0
    count: Annotated[int, Range(1)] = 1
    word: str = "a"
    numbers: tuple[float, ...] = (1.0,)
    inner: Mutation = Student(freedom=4)  # noqa: RUF009 - it is frozen
    words: str = "x,y"  # no spec writes a default
    none: tuple[float, ...] = ()
    bare: tuple = (1.0,)
    flag: bool = False
    rule: Literal["first", 7] = "first"


@pytest.mark.parametrize(
    ("fields", "spec"),
    [
        ({"rate": Fraction(1, 3)}, "rate=0.3333333333333333"),
        ({"rate": 10**30}, "rate=1e+30"),
        ({"rate": np.float32(0.1)}, "rate=0.10000000149011612"),
        ({"count": np.int64(10**18)}, "count=1000000000000000000"),
        ({"numbers": [Fraction(1, 4), np.float32(2)]}, "numbers=0.25/2"),
        ({"word": "a b"}, "word=a b"),
        ({"inner": "student:freedom=4"}, ""),
        ({"words": "x,y", "none": ()}, ""),
        ({"inner": "laplace"}, "inner=laplace"),
        ({"bare": [2, 3]}, "bare=2/3"),
    ],
)
def test_hyper_parameters_are_plain_values_which_their_spec_makes_again(fields, spec):
    learner = Fielded(**fields)
    assert str(learner) == f"Fielded:{spec}".rstrip(":")
    assert {type(value) for value in (learner.rate, *learner.numbers)} == {float}
    assert type(learner.count) is int
    assert Fielded(**LEARNERS.entry_of(Fielded).read(spec)) == learner


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("rate", 10**400, "a number"),
        ("rate", Fraction(10**400), "a number"),
        *(("rate", value, "a number") for value in ("fast", True, np.inf, np.nan)),
        *(("flag", value, "true or false") for value in (1, "true", None)),
        *(("rule", value, "one of first, 7") for value in ("last", "7", 7.0)),
        *(("count", value, "an integer, >= 1") for value in (0, 2.5, True, "2")),
        ("numbers", (np.nan,), "numbers separated by /"),
        ("word", 3, "a string without commas"),
        ("numbers", (1, 10**400), "numbers separated by /"),
        ("count", (1,), "an integer, >= 1"),
        ("numbers", (), "numbers separated by /"),
        ("word", "a,b", "a string without commas"),
        ("word", "a ", "a string without commas"),
    ],
)
def test_values_that_no_spec_can_have_are_rejected(name, value, accepted):
    with pytest.raises(InputError, match=rf"^Fielded: {name} is .*; accepted: {accepted}\.$"):
        Fielded(**{name: value})


UNSETTABLE = """
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from coebl.learners import Learner

@dataclass
class Listing(Learner):
    rate: float = 1.0
    rates: list | None = None

@dataclass
class Misspelt(Learner):
    state: ClassVar[Arrays]
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Listing", "its parameter rates: 'list | None' = None cannot be set by a spec; accepted: an annotation such"),
        ("Misspelt", "its annotations cannot be read (name 'Arrays' is not defined); correct them."),
    ],
)
def test_a_learner_whose_fields_no_spec_can_set_is_rejected(tmp_path, name, message):
    file = tmp_path / "mine.py"
    file.write_text(UNSETTABLE)
    for spec, use in [(f"{file}:{name}", LEARNERS.make), (name, lambda _: getattr(load_file(str(file)), name)())]:
        with pytest.raises(InputError, match=f"^{re.escape(f'{spec}: {message}')}"):
            use(spec)
    with pytest.raises(InputError, match=re.escape(f"{name} cannot be used: {message}")):
        LEARNERS.make(f"{file}:Mine")


def test_a_component_with_its_own_init_is_checked_too():
    @dataclass(frozen=True)
    class Own(Gaussian):
        sigma: Annotated[float, Range(0, 1)] = 1.0

        def __init__(self, sigma: Annotated[float, Range(0, 1)] = 1.0):
            object.__setattr__(self, "sigma", sigma)

    registry = Registry("noise", "noises")
    registry.add("own")(Own)
    assert registry.make("own:sigma=0.5").sigma == 0.5
    with pytest.raises(InputError, match=r"^own: sigma is 7\.0; accepted: a number, 0 \.\. 1\.$"):
        registry.make("own:sigma=7")


@dataclass
class Odd(Learner):
    rate: Annotated[float, Range(0)] = 1.0

    def __post_init__(self):
        pass  # without super().__post_init__(), which checks the fields


def test_a_hyper_parameter_is_checked_once(monkeypatch):
    checked = []
    check = registry.Parameter.check
    monkeypatch.setattr(
        registry.Parameter, "check", lambda self, *arguments: checked.append(self.name) or check(self, *arguments)
    )
    LEARNERS.make("coebl:c=2")
    assert checked.count("c") == 1
    Study(games=["rps"], learners=["coebl:c=2"], self_play=True, seeds=1)
    assert checked.count("c") == 2
    learners = Registry("odd", "odds")
    learners.add("odd")(Odd)
    with pytest.raises(InputError, match=r"^odd: rate is -1"):
        learners.make("odd:rate=-1")


def test_a_method_with_other_arguments_is_rejected(tmp_path):
    code = "class Odd(Noise):\n    def reward(self, payoff, draw):\n        return payoff\n"
    (tmp_path / "odd.py").write_text(f"from coebl.games import Noise\n\n{code}")
    with pytest.raises(
        InputError, match=r"reward\(self, payoff, draw\); accepted: reward\(self, payoff, draw, payoff_range\)"
    ):
        NOISES.make(f"{tmp_path / 'odd.py'}:Odd")
