import pytest

from coebl.core.errors import InputError
from coebl.learners import Coebl, Exp3, Hedge, Ucb, parse_learner
from coebl.tournament.suite import Part, Suite, field_of, read_learners, read_suite, split_list, study_of, subjects_of
from sources import TINY_SUITE


def part(rounds, *games):
    return Part(rounds=rounds, games=games)


def learners(*values):
    return read_learners(values)


def small(*learners):
    return Suite(name="a", version=1, title="A", description="", learners=learners, parts=[part(1, "rps")])


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY_SUITE)
    return read_suite(str(path))


def test_a_list_is_separated_by_commas_that_are_not_those_of_a_spec():
    assert split_list("--learners", ["ucb,exp3", "coebl:c=2"]) == ["ucb", "exp3", "coebl:c=2"]
    assert split_list("--learners", ["permuted:game=diagonal:n=3,seed=1,rps"]) == [
        "permuted:game=diagonal:n=3,seed=1",
        "rps",
    ]
    assert split_list("--learners", ["mine.py:Mine:rate=0.2,other=3, ucb", "ucb"]) == [
        "mine.py:Mine:rate=0.2,other=3",
        "ucb",
    ]
    assert split_list("--learners", ["coebl:c=[2,8],ucb"]) == ["coebl:c=[2,8]", "ucb"]
    assert split_list("--learners", ["coebl:c=2,selection=none,ucb", "ucb"]) == ["coebl:c=2,selection=none", "ucb"]


def test_new_learners_join_and_known_ones_name_the_field(tiny):
    assert field_of(tiny, []) == [*tiny.learners] == learners("uniform,exp3,hedge")
    assert field_of(tiny, learners("coebl:c=[2,4]")) == [*tiny.learners, Coebl(c=2), Coebl(c=4)]
    assert field_of(tiny, [Ucb(), Exp3()]) == [Ucb(), Exp3()]


def test_learners_of_a_suite_are_objects_and_given_by_objects_or_specs():
    assert small(Exp3(), "coebl:c=[2,8]").learners == (Exp3(), Coebl(c=2), Coebl())
    assert learners("coebl:c=8", "coebl,coebl:c=[2,8]") == [Coebl(), Coebl(c=2)]
    with pytest.raises(ValueError, match="learners has coebl twice"):
        small(Coebl(), "coebl:c=[8]")


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("exp3", "--learners names exp3 alone; accepted: two or more"),
        ("best-response", "best-response answers the policy"),
        ("pdcoea:chi=0.5", "pdcoea:chi=0.5 is a search; accepted: learners. To measure it: coebl runtime pdcoea."),
    ],
)
def test_fields_that_cannot_play(tiny, named, reason):
    with pytest.raises(InputError, match=reason):
        field_of(tiny, [parse_learner(named)])


def test_the_study_is_every_pair_in_both_seats_and_the_yardstick_in_both(tiny):
    study = study_of(tiny, learners("uniform,exp3"), 4)
    assert (study.name, study.title) == ("tiny-1", "Tiny")
    pairs = {(row, column) for game, row, column in study.matches() if game == "rps"}
    both = {(row, column) for row in ("uniform", "exp3") for column in ("uniform", "exp3")}
    assert pairs == both | {
        pair for learner in ("uniform", "exp3") for pair in ((learner, "best-response"), ("best-response", learner))
    }
    assert {(cell.rounds, cell.seeds, cell.metrics, cell.record) for cell in study.cells} == {
        (rounds, (0, 1, 2, 3), ("pseudo_regret", "exploitability"), "log") for rounds in (20, 10)
    }


def test_chosen_games_keep_the_rounds_of_the_suite_by_default(tiny):
    assert tiny.played_on(["rps", "trap"], None).parts == (part(20, "rps"), part(1000, "trap"))
    assert tiny.played_on([], 7).parts == (part(7, "rps", "matching-pennies", "diagonal:n=2"),)
    assert tiny.played_on([], 7).id != tiny.id  # it is not the suite any more


def test_mistakes_in_games_and_seeds(tiny):
    with pytest.raises(InputError, match=r"^--games: unknown game 'rsp'"):
        study_of(tiny.played_on(["rsp"], None), [Exp3(), Hedge()], 2)
    with pytest.raises(InputError, match="seeds is 1; accepted: an integer, >= 2"):
        study_of(tiny, [Exp3(), Hedge()], 1)


def test_the_quick_version(tiny):
    quick = tiny.shortened()
    assert (quick.id, quick.title, quick.seeds) == ("tiny-quick-1", "Tiny, quick", 3)
    assert quick.parts == (part(5, "rps", "matching-pennies"),)
    with pytest.raises(InputError, match="has no quick version"):
        small("ucb").shortened()
    standard = read_suite()
    assert set(standard.quick.games) < set(standard.games)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('name = "tiny"', 'nmae = "tiny"', "unknown key 'nmae': did you mean 'name'?"),
        ("version = 1", "version = 0", "version is 0; accepted: an integer, >= 1"),
        ('title = "Tiny"', "", "there is no key 'title'"),
        ('games = ["diagonal:n=2"]', "games = []", "games is \\[\\]; accepted: a list of specs"),
        ("seeds = 3", "seeds = 1", "quick: seeds is 1"),
        ("rounds = 20", "", r"parts\[0\]: there is no key 'rounds'"),
        ("version = 1", "version = ", "this is not TOML"),
        ("version = 1", "version = ", r"suite.toml, line 3, column 11: this is not TOML: Invalid value"),
        pytest.param("[[parts]]", f"{'a.' * 50_000}a = 1\n[[parts]]", "nested too deep", id="dots"),  # else 30 s
        ("rounds = 20", "rounds = 20\nseeds = 9", r"parts\[0\]: unknown key 'seeds'\. Accepted: rounds, games\."),
        (
            "rounds = 5",
            "round = 5",
            r"quick: unknown key 'round': did you mean 'rounds'\? Accepted: ",
        ),
        ('"hedge"]', '"hedge", "exp3"]', r"learners has exp3 twice; accepted: each once\. Take one out\."),
        ('"hedge"]', '"coebl", "coebl:c=8"]', r"learners has coebl twice"),
        ('"hedge"]', '"hegde"]', r"learners\[2\]: unknown learner 'hegde': did you mean 'hedge'\?"),
        ('"hedge"]', '"coebl:c=[2,4]", "hegde"]', r"learners\[3\]: unknown learner 'hegde'"),
        ("[quick]", '[[parts]]\nrounds = 9\ngames = ["rps"]\n[quick]', "games has rps twice"),
        (
            "version = 1",
            'version = 1\nsubject = "kin"\nstatements = []',
            r"statements is \[\]; accepted: .*registered",
        ),
        (TINY_SUITE[TINY_SUITE.index("[[parts]]") :], "parts = []", r"parts is \[\]; accepted"),
        (TINY_SUITE[TINY_SUITE.index("[[parts]]") :], "", r"suite\.toml: there is no key 'parts'\. Add it\.$"),
        ("version = 1", 'version = 1\nsubject = ""\nstatements = [{}]', "subject: unknown learner ''"),
    ],
)
def test_mistakes_in_a_suite(tmp_path, old, new, reason):
    path = tmp_path / "suite.toml"
    path.write_text(TINY_SUITE.replace(old, new))
    with pytest.raises(InputError, match=reason):
        read_suite(str(path))


def test_a_subject_needs_an_opponent():
    suite = small("kin").model_copy(update={"subject": parse_learner("kin")})
    with pytest.raises(InputError, match=r"^the suite a has kin as its subject and its only opponent; .* Add one to "):
        subjects_of(suite, [])
    assert subjects_of(suite, [Ucb()]) == [Ucb()]


def test_suites_that_are_not_there():
    with pytest.raises(InputError, match="unknown suite 'standrad': did you mean 'standard'"):
        read_suite("standrad")
    with pytest.raises(InputError, match=r"nowhere.toml cannot be read \(No such file"):
        read_suite("nowhere.toml")


def test_games_of_the_suite_keep_its_rounds_by_any_equivalent_spec():
    suite = read_suite("standard")
    chosen = suite.played_on(["permuted:seed=1,game=biased-rps", "rps", "matching-pennies"], None)
    rounds = {game: part.rounds for part in chosen.parts for game in part.games}
    assert rounds == {"permuted:seed=1,game=biased-rps": 1500, "rps": 1500, "matching-pennies": 1000}
