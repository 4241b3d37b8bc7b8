import runpy

import pytest

from coebl.core.errors import InputError, look_up, nearest, shorten, where


def test_the_reported_line_is_in_the_users_file_and_not_in_a_compiled_library(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import numpy as np\n\nnp.random.default_rng(0).choice(-1)\n")
    with pytest.raises(ValueError, match="a must be") as raised:
        runpy.run_path(str(file))
    assert where(raised.value) == f"{file}, line 3"


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages"])
def test_installed_packages_are_not_the_users_code(tmp_path, folder):
    """Debian uses another name for the folder of installed packages."""
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "theirs.py").write_text("1 / 0\n")
    (tmp_path / "mine.py").write_text(f"import runpy\nrunpy.run_path({str(tmp_path / folder / 'theirs.py')!r})\n")
    with pytest.raises(ZeroDivisionError) as raised:
        runpy.run_path(str(tmp_path / "mine.py"))
    assert where(raised.value) == f"{tmp_path / 'mine.py'}, line 2"


@pytest.mark.parametrize(
    ("word", "known"), [("g.csv", ".ci"), ("latex", "game"), ("tv", "kl"), ("nothing", "switching")]
)
def test_distant_words_are_not_suggested(word, known):
    assert nearest(word, [known]) == "."


@pytest.mark.parametrize(("word", "known"), [("RPS", "rps"), ("C", "c"), ("ir", "IR"), ("Payof", "payoff")])
def test_words_are_suggested_in_any_case(word, known):
    assert nearest(word, ["other", known]) == f": did you mean {known!r}?"


def test_objects_and_functions_are_shown_by_name_and_not_by_address():
    class Bare:
        pass

    assert shorten(Bare()) == "an object of the class Bare"
    assert (shorten(Bare), shorten(nearest), shorten(len)) == (
        "the class Bare",
        "the function nearest",
        "the function len",
    )


def test_a_name_that_is_not_a_string_is_unknown():
    with pytest.raises(InputError, match=r"^unknown letter 3\. Accepted: a, B\.$"):
        look_up("letter", [3], {"a": 1, "B": 2})
