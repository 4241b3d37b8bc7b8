"""docs/which-learner.md: its figure and its text agree with the committed tournament."""

import re
from pathlib import Path

import pytest

from coebl.tournament.figures import plot_standings
from coebl.tournament.suite import read_suite
from tools.advice import CONTENDERS, TournamentFiles, read_standings

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "tournament"


@pytest.fixture(scope="module")
def files():
    return TournamentFiles(RESULTS)


def test_the_figure_has_every_learner_with_its_intervals(files):
    earned, lost = plot_standings(read_standings(RESULTS)).axes
    names = [label.get_text().replace("\u00a0", " ") for label in earned.get_yticklabels()]
    assert len(names) == len(files.standings)
    assert names.index("Tsallis-INF") < names.index("OTS-RM") < names.index("Hedge"), "grouped by what they see"
    for ax, key in ((earned, "advantage"), (lost, "regret")):
        drawn = {tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2}
        wanted = {(100 * row[key]["low"], 100 * row[key]["high"]) for row in files.standings.values()}
        assert wanted <= drawn


def test_the_results_are_those_of_the_whole_standard_suite(files):
    suite, summary = read_suite("standard"), files.summary
    assert (summary["suite"], summary["seeds"], summary["missing"]) == (suite.id, 50, [])
    assert set(files.standings) == set(map(str, suite.learners))
    pairs = len(suite.learners) ** 2 + 2 * len(suite.learners)
    assert summary["cells"] == pairs * len(summary["games"])


def test_the_text_agrees_with_the_numbers(files):
    informed, settled = files.ahead("informed bandit"), files.least("exploitability", CONTENDERS)
    assert (informed, settled) == ("strain", "kin")
    assert files.least("regret", ["informed bandit"]) == informed
    assert files.standings[settled]["kind_rank"] == 2
    assert files.published() not in (informed, settled)
    assert len(files.beaten_by("k-learning")) > len(files.beaten_by(files.published()))
    assert files.ahead("bandit") == files.least("regret", ["bandit"])
    assert files.ahead("full information") == "regret-matching-plus"
    assert files.least("regret", ["full information"]) == "regret-matching"
    for game in files.summary["games"]:
        assert next(iter(files.ranking(game))) not in ("coebl", "coebl:c=2"), game
    for other in ("ucb", "coebl", "coebl:c=2"):
        assert files.standings["thompson"]["regret"]["value"] > files.standings[other]["regret"]["value"]
    assert next(iter(files.ranking("rps"))) == "maximin-ucb"
    assert files.share_of("rps", "maximin-ucb", "explore-then-commit") > files.ranking("rps")["maximin-ucb"]
    assert files.beaten_by("regret-matching-plus") == files.of_kinds(CONTENDERS)


def test_the_how_to_recommends_what_the_page_does(files):
    text = (ROOT / "docs" / "how-to" / "play-a-real-contest.md").read_text()
    assert re.findall(r'Player\("([^"]+)"', text)[0] == files.ahead("informed bandit")
    sentences = re.search(r"\*\*The learner\*\*: (.*?)\n- \*\*", text, re.DOTALL)[1]
    assert re.findall(r"`([^`]+)`", sentences) == [files.ahead("informed bandit"), files.ahead("bandit")]
    assert "(../which-learner.md)" in sentences
    assert "(../which-learner.md)" in (ROOT / "docs" / "how-to" / "deploy-a-player.md").read_text()
    service = (ROOT / "examples" / "service" / "app.py").read_text()
    assert re.findall(r'learner: Literal.* = "([^"]+)"', service) == [files.ahead("informed bandit")]
    readme = (ROOT / "README.md").read_text()
    assert re.findall(r'Player\("([^"]+)"', readme) == [files.ahead("informed bandit")]
