"""The documentation is complete, its example and its notebook run, and the site works without a network."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import coebl.games
from coebl import Game, parse_game
from coebl.learners import LEARNERS, _template, parse_learner
from coebl.metrics import metric_class
from coebl.study.schema import KEYS, MATCH_UPS
from learner_rules import check_pseudo_code, check_summary_title_and_citation

ROOT = Path(__file__).parents[2]


@pytest.fixture
def generators(monkeypatch):
    """Make the modules that generate the site's pages importable."""
    for needed in ("griffe", "nbformat"):
        pytest.importorskip(needed)
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "generate"))


def test_every_public_name_and_parameter_is_documented(generators):
    from public import missing, public

    assert len(public()) > 60
    assert not (gaps := "\n".join(missing())), gaps


def test_a_gap_is_found(generators):
    """Gaps are reported."""
    from public import missing_in_function

    def play(rounds, seeds):
        """Wait some rounds."""

    assert list(missing_in_function("play", play, play.__doc__)) == ["play does not explain its parameter 'seeds'"]
    assert next(missing_in_function("play", play, "")) == "play has no docstring"


def test_an_example_that_is_missing_is_found(generators, monkeypatch):
    from public import missing

    monkeypatch.setattr(coebl.games.Bits, "__doc__", "Strings of bits.")
    monkeypatch.setattr(coebl.games, "__doc__", ">>> from coebl.games import GAMES, NOISES")
    lines = [line for line in missing() if line.endswith("has no example")]
    assert lines == ["coebl.games.SUFFIXES has no example", "coebl.games.Bits has no example"]


def test_every_public_name_is_on_a_page(generators):
    from public import PACKAGES, names
    from reference import python_pages

    pages = {page.uri: page.content for page in python_pages()}
    shown = set(re.findall(r"^::: \S+\.(\w+)$", "\n".join(pages.values()), re.MULTILINE))
    for package in PACKAGES:
        assert f"reference/python/{package}.md" in pages
        assert set(names(package)) <= shown, package


@pytest.mark.parametrize("name", LEARNERS.names)
def test_learners_have_pseudo_code(name):
    check_pseudo_code(name)


@pytest.fixture
def from_the_template(monkeypatch, tmp_path):
    """A learner made as in CONTRIBUTING.md: the template under another name, and one line in the registry."""
    text = Path(_template.__file__).read_text("utf-8")
    for old, new in (("EpsilonGreedy", "Yours"), ("Epsilon-greedy", "Yours"), ("epsilon-greedy", "yours")):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "a_learner_of_yours.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(LEARNERS.homes, "yours", "a_learner_of_yours:Yours")
    for known in ("_entries", "_by_factory"):
        monkeypatch.setattr(LEARNERS, known, getattr(LEARNERS, known).copy())
    return "yours"


def test_a_learner_made_from_the_template_keeps_the_rules(generators, from_the_template):
    from public import missing

    assert from_the_template in LEARNERS.names
    check_summary_title_and_citation(from_the_template)
    check_pseudo_code(from_the_template)
    assert not (gaps := "\n".join(missing())), gaps


def test_every_key_of_a_study_file_is_explained():
    text = (ROOT / "docs" / "reference" / "study-file.md").read_text("utf-8")
    assert re.findall(r"^## `(\S+)`", text, re.MULTILINE) == list(KEYS)
    assert re.findall(r"^### `(\S+)`", text, re.MULTILINE) == list(MATCH_UPS)


def faults_of_snippets(text: str) -> list[str]:
    """Return the lines of a page that should include a file and do not."""
    faults = []
    for fence, line in re.findall(r"^(.*)\n(.*-\s*-\s*8\s*<.*)$", text, re.MULTILINE):
        snippet = re.fullmatch(r'--8<-- "([^"]+)"', line)
        if not snippet or not (ROOT / snippet[1]).is_file() or re.match(r"```\s*(python|py)", fence):
            faults.append(line)
    return faults


def test_every_snippet_of_a_page_includes_a_file():
    """Ruff formats blocks that are fenced as Python, and would read the marker as arithmetic: `--8 < --"file"`."""
    pages = {page: page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md")}
    assert sum('--8<-- "' in text for text in pages.values()) >= 2
    assert {page: faults_of_snippets(text) for page, text in pages.items() if faults_of_snippets(text)} == {}


def test_a_broken_snippet_is_found():
    assert faults_of_snippets('```yaml\n--8<-- "CITATION.cff"\n```\n``` {.python}\n--8<-- "README.md"\n```') == []
    spoilt, missing, formatted = '--8 < --"README.md"', '--8<-- "nowhere.py"', '--8<-- "README.md"'
    text = f"```text\n{spoilt}\n```\n```text\n{missing}\n```\n```python\n{formatted}\n```"
    assert faults_of_snippets(text) == [spoilt, missing, formatted]


def test_a_game_is_shown_as_the_command_shows_it(generators, coebl):
    from reference import _start_of_show

    for spec in ("diagonal:n=3", "biased-rps", "kuhn-poker"):
        assert coebl("show", spec).stdout.startswith(f"{_start_of_show(parse_game(spec))}\n\n")


def test_bounds_are_sentences(generators):
    from reference import _bound

    texts = [text for entry in LEARNERS if (text := _bound(entry.factory))]  # empty if nothing is proven
    assert len(texts) > 5
    for text in texts:
        assert text.endswith(".")
        assert "None elsewhere" not in text


def test_the_example_learns_to_inspect(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    from inspection import OUTCOME, play

    earned, inspector = play(days=600, seed=0)
    equilibrium = Game(OUTCOME).solution.row
    uniform = np.full(4, 0.25)
    assert len(earned) == 600
    assert inspector.round == 601
    assert abs(inspector.policy - equilibrium).sum() < abs(uniform - equilibrium).sum() / 2


def test_the_notebook_runs(generators, monkeypatch, capfd):
    from notebook import executed

    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")  # else it warns
    outputs = [output for cell in executed().cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any("no failures" in output.get("text", "") for output in outputs)
    assert "WARNING" not in capfd.readouterr().err


@pytest.mark.slow
def test_the_site_is_built_strictly_and_loads_nothing_from_elsewhere(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 100
    loaded = re.compile(r"<(?:script|img|iframe|source)[^>]*\bsrc=\"?(?:https?:)?//|<link[^>]*href=\"?(?:https?:)?//")
    for page in pages:
        assert not loaded.search(page.read_text("utf-8")), page
    index = json.loads((tmp_path / "search" / "search_index.json").read_text("utf-8"))
    boosts = {entry["location"].partition("#")[0]: entry.get("boost", 1) for entry in index["docs"]}
    glossary, metric, explanation = (
        boosts[f"{page}.html"] for page in ("glossary", "reference/metrics/regret", "explanation/regret")
    )
    assert glossary > metric == explanation > boosts["reference/learners/ucb.html"] == 1
    assert boosts["reference/python/coebl.learners.html"] < 1
    assert not any(page.startswith("repository/results/") for page in boosts)
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"@import|url\(\"?(?:https?:)?//", style.read_text("utf-8")), style


def test_the_picture_of_a_game_has_its_payoffs_and_its_equilibrium(generators):
    from matrices import plot_matrix

    game = Game([[3, 0, 7], [1, 2, 6]], row_labels=["up", "down"])
    payoffs, row, column = plot_matrix(game).axes
    assert [text.get_text() for text in payoffs.texts] == ["3", "0", "7", "1", "2", "6"]
    assert [label.get_text() for label in payoffs.get_yticklabels()] == ["up", "down"]
    assert [bar.get_width() for bar in row.patches] == pytest.approx([0.25, 0.75])
    assert [bar.get_height() for bar in column.patches] == pytest.approx([0.5, 0.5, 0.0])
    assert not plot_matrix(Game(np.eye(20))).axes[0].texts


def test_every_drawing_is_on_a_page_with_a_description(generators):
    from drawings import DRAWINGS

    picture = re.compile(r"!\[[^\]]{20,}\]\(([^)/]+\.svg)\)")
    shown = {
        (page.parent / name).relative_to(ROOT / "docs").as_posix()
        for page in (ROOT / "docs").rglob("*.md")
        for name in picture.findall(page.read_text("utf-8"))
    }
    assert set(DRAWINGS) <= shown


def test_formulas_are_typeset(generators):
    from reference import _bound, _formula, typeset_formulas

    shown = typeset_formulas("The policy $`x_t`$:\n\n$`\\sum_t V`$\n\n- and\n\n    $`A \\le B`$\n")
    assert shown.count("<math") == 3
    assert shown.count('display="block"') == 2
    assert "`" not in shown
    assert _formula(metric_class("absolute_regret")) == r"\sum_t |V - r_t|"
    assert r"$`2 \sqrt{2 c T m k \log(2 T^2 m k)}`$, the paper's" in _bound(parse_learner("coebl").__class__)
    assert "noise: [the bound of Kin](../../kin-bound.md), for" in _bound(parse_learner("kin").__class__)


def ascii_formulas(text: str) -> list[str]:
    """Return the strings in the prose of a page that look like formulas."""
    prose = re.sub(r"^```.*?^```|\$`[^`]*`\$|`[^`]*`|^ {4}.*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\b[a-zA-Z]_[a-z]\b|\bsqrt\(|\b[A-Za-z\d]\^[\da-zA-Z(]", prose)


def test_no_page_has_a_formula_in_ascii():
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    assert {page.name: formulas for page in pages if (formulas := ascii_formulas(page.read_text("utf-8")))} == {}
    assert ascii_formulas("order T^0.5, x_t, sqrt(n); $`x_t`$ and `x_t`") == ["T^0", "x_t", "sqrt("]
