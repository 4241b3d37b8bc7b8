"""Custom learners and metrics have the titles and colours of their classes."""

from dataclasses import dataclass
from types import SimpleNamespace

from matplotlib.figure import Figure

from coebl import naming, plots
from coebl.engine import Match, simulate
from coebl.learners import Learner
from coebl.metrics import Metric
from coebl.naming import FIRST_FREE, PALETTE, spelled_out
from plots.made import GAME, Made, labels


@dataclass
class Mine(Learner):
    title = "My learner"
    colour = 7

    def start(self, seat):
        self.seat = seat

    def policy(self, t):
        return self.seat.full(1 / self.seat.actions, self.seat.actions)


class Surprise(Metric):
    name = "surprise"
    title = "Surprise"
    formula = r"$|r_t - A|$"

    def __call__(self, block):
        return abs(block.reward - block.outcomes.earned)


def test_custom_learners_and_metrics_have_the_titles_and_colours_of_their_classes():
    result = simulate(Match.of(GAME, Mine(), "uniform", rounds=5), seeds=[1], metrics=[Surprise])
    ax = result.plot()
    assert labels(ax) == ["My learner v uniform"]
    assert ax.lines[0].get_color() == PALETTE[7][0]
    assert ax.get_ylabel() == "surprise\n$|r_t - A|$"


def record(learners, metrics):
    """A record with descriptions of learners and metrics."""
    infos = {
        spec: naming.LearnerWords(colour=colour, title=title, kind="bandit", parameters=parameters)
        for spec, (title, colour, parameters) in learners.items()
    }
    return SimpleNamespace(game="rps", learners=infos, metric_info=metrics, payoff_range=None)


class Stored(Made):
    """Results that describe their learners and metrics."""

    def records(self):
        learners = dict.fromkeys(["mine.py:Mine", "mine.py:Mine:c=2"], ("My learner", 6, {}))
        words = {"title": "Surprise", "formula": "$s$", "meaning": "", "definition": ""}
        surprise = naming.MetricWords(**words, cumulative=True, better="lower")
        return [record({}, {}), record(learners, {"surprise": surprise}), record({}, {})]


def test_learners_and_metrics_have_the_titles_that_cells_store():
    known = naming.known_to(Stored())
    titles = naming.learner_titles(["mine.py:Mine", "mine.py:Mine:c=2", "yours.py:Yours", "ucb"], known)
    assert [title.replace("\u00a0", " ") for title in titles.values()] == [
        "My learner",
        "My learner, c = 2",
        "yours.py:Yours",
        "UCB",
    ]
    by_spec = naming.looks(titles, known=known)
    assert by_spec["mine.py:Mine"].colour == by_spec["mine.py:Mine:c=2"].colour == PALETTE[6][0]
    assert by_spec["yours.py:Yours"].colour == PALETTE[FIRST_FREE][0]
    words = naming.metric_words("surprise", known)
    assert (words.title, words.formula, words.cumulative) == ("Surprise", "$s$", True)


def test_plots_use_the_titles_and_colours_that_cells_store():
    match = (GAME, "mine.py:Mine", "ucb")
    source = Stored(match)
    ax = plots.plot_curves(source, "surprise", {"mine": match})
    assert (ax.get_ylabel(), ax.lines[0].get_color()) == ("surprise\n$s$", PALETTE[6][0])
    assert plots.plot_heat_map(source, "surprise", {("a", "b"): match}).get_title().startswith("surprise\n$s$")
    ax = Figure().subplots()
    plots.plot_sweep(source, "surprise", {"1": match}, ax)
    assert (ax.get_ylabel(), ax.lines[0].get_color()) == ("surprise\n$s$", PALETTE[6][0])


class Swept(Made):
    """Results with a sweep of a custom learner, whose default only the results store."""

    def records(self):
        rates = {"mine.py:Mine": "0.1", "mine.py:Mine:rate=2": "2"}
        return [record({spec: ("Mine", None, {"rate": rate, "deep": "false"}) for spec, rate in rates.items()}, {})]


def test_a_sweep_of_a_custom_learner_shows_the_default_that_its_cells_store():
    known = naming.known_to(Swept())
    specs = ["mine.py:Mine", "mine.py:Mine:rate=2", "ucb"]
    [sweep] = naming.find_sweeps(specs, known)
    assert (sweep.parameter, sweep.values) == ("rate", {"mine.py:Mine": 0.1, "mine.py:Mine:rate=2": 2.0})
    titles = naming.learner_titles(specs, known).values()
    assert [title.replace("\u00a0", " ") for title in titles] == ["Mine, rate = 0.1", "Mine, rate = 2", "UCB"]
    assert list(spelled_out(specs, known).values()) == ["mine.py:Mine:rate=0.1", "mine.py:Mine:rate=2", "ucb"]
    assert list(spelled_out(specs).values()) == specs  # older cells store no defaults
    assert list(spelled_out(["mine.py:Mine", "ucb"], known).values()) == ["mine.py:Mine", "ucb"]
    matches = [("rps", spec, "ucb") for spec in specs[:2]]
    [ax] = plots.plot_sweeps(Swept(*matches), "tv", matches).axes
    assert ax.get_title().startswith("Rock-paper-scissors, Mine")
    assert ax.get_xlabel() == "rate of Mine"
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.1\ndefault", "2"]
