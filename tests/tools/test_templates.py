"""Pages generated from results: each is the output of its template, and no number is typed by hand."""

import re
from pathlib import Path

import pytest

from tools import ablation, advice, findings, kin
from tools.templates import template_path

ROOT = Path(__file__).parents[2]
EXP3, LINKS = r"\bExp3\b|\bc = [28]\b", r"\]\([^)]*\)"
PAGES = {  # by template: the page, its module, its results, and the names and settings that the template may contain
    "ablation": ("ablation", ablation, "ablation", rf"{EXP3}|{LINKS}|95 %|5 %|0\.05|\[-1, 1\]|`[^`]*`"),
    "advice": ("which-learner", advice, "tournament", rf"{EXP3}|64 x 64|3 to 64 actions|95 % intervals|deviation 1\b"),
    "kin": ("kin", kin, "kin", r"2 to 128 actions|deviation 1\b|at 5 %|95 % interval"),
    "findings": ("findings", findings, "ijcai2025", rf"\b[CD]\d+\b|\bExp3\b|\bijcai2025\b|\bIJCAI 2025\b|{LINKS}"),
}
OF_THE_PAPER = {"5", "10", "2000", "16.2", "389.8", "8.39", "351.27", "0.1", "0", "1", "2", "3", "4", "6", "7", "8"}
OF_ITS_TESTS = {"95", "50", "3000", "0.05", "100", "0.9", "1000", "0.5"}  # settings; 0.5 is a c of the figure by-c


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_what_its_template_makes_of_the_results(name):
    page, module, results, names = PAGES[name]
    assert (ROOT / "docs" / f"{page}.md").read_text() == module.document(ROOT / "results" / results), "make findings"
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "", template_path(name).read_text(), flags=re.DOTALL)
    typed = set(re.findall(r"\d+(?:\.\d+)?", re.sub(names, "", text)))
    assert typed <= (OF_THE_PAPER | OF_ITS_TESTS if name == "findings" else set())
