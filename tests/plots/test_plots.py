"""Plots: what is on the axes is what an obvious computation gives, and files are the same every time."""

import math
import statistics
import sys
import zlib
from dataclasses import dataclass
from typing import ClassVar

import matplotlib
import numpy as np
import pytest
import scipy.stats
from matplotlib.figure import Figure

from coebl import plots
from coebl.core.errors import InputError
from coebl.engine import Match, simulate
from coebl.learners import Learner
from coebl.metrics import Metric
from coebl.plots.looks import FIRST_FREE, PALETTE
from coebl.runs import Runs

GAME = "diagonal:n=2"
UCB, EXP3 = (GAME, "ucb", "coebl"), (GAME, "exp3", "coebl")


class Made:
    """A source of skewed numbers with drift, different for every match and metric; `change` may put others in."""

    def __init__(self, *matches, rounds=40, every=5, seeds=7, change=None):
        self.listed = list(matches)
        self.rounds = np.arange(1, rounds + 1) * every
        self.seeds = np.arange(seeds)
        self.change = change or (lambda values: values)

    def matches(self):
        return self.listed

    def runs(self, *key):
        assert key[:3] in self.listed
        random = np.random.default_rng(zlib.crc32(repr(key).encode()))
        values = random.exponential(2.0, (len(self.rounds), len(self.seeds))).cumsum(axis=0) - 3
        return Runs(self.rounds, self.seeds, self.change(values))


def slow(samples):
    """Mean and both ends of the t interval."""
    samples = [float(sample) for sample in samples]
    mean = sum(samples) / len(samples)
    half = scipy.stats.t.ppf(0.975, len(samples) - 1) * statistics.stdev(samples) / len(samples) ** 0.5
    return mean, mean - half, mean + half


def bands(ax):
    """The filled bands, as (lowest, highest) by round."""
    edges = []
    for collection in ax.collections:
        if not collection.get_paths():
            continue  # the entry of the legend
        by_round = {}
        for x, y in collection.get_paths()[0].vertices:
            by_round.setdefault(x, []).append(y)
        edges.append({x: (min(ys), max(ys)) for x, ys in by_round.items()})
    return edges


def labels(ax):
    return ax.get_legend_handles_labels()[1]


def test_curves_are_means_and_bands_are_student_intervals():
    source = Made(UCB, EXP3)
    ax = plots.plot_curves(source, "regret", {"UCB": UCB, "Exp3": EXP3})
    assert len(ax.lines) == len(bands(ax)) == 2
    for line, band, match in zip(ax.lines, bands(ax), (UCB, EXP3), strict=True):
        values = source.runs(*match, "regret").values
        expected = [slow(row) for row in values]
        np.testing.assert_array_equal(line.get_xdata(), source.rounds)
        np.testing.assert_allclose(line.get_ydata(), [mean for mean, _, _ in expected])
        np.testing.assert_allclose([band[t] for t in source.rounds], [ends for _, *ends in expected])


def test_curves_say_what_they_are():
    ax = plots.plot_curves(Made(UCB, EXP3), "regret_magnitude", {"UCB": UCB, "Exp3": EXP3})
    assert labels(ax) == ["UCB", "Exp3", "band: 95 % interval of the mean, 7 seeds"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == labels(ax)
    assert "regret magnitude" in ax.get_ylabel()
    assert r"|\Sigma\,(V - r_t)|" in ax.get_ylabel()
    assert ax.get_xlabel() == "round $t$"


def test_a_legend_is_not_wider_than_the_figure():
    lines = {f"{name} with a rather long title": match for name, match in (("one", UCB), ("other", EXP3))}
    ax = plots.plot_curves(Made(UCB, EXP3), "regret", lines)
    ax.figure.draw_without_rendering()
    extent = ax.get_legend().get_window_extent()
    assert 0 <= extent.x0 < extent.x1 <= ax.figure.bbox.width
    assert 0 <= extent.y0 < extent.y1 <= ax.figure.bbox.height


def test_an_unknown_metric_has_its_name_as_label():
    assert plots.plot_curves(Made(UCB), "my_own", {"UCB": UCB}).get_ylabel() == "my own"


def test_a_curve_is_drawn_on_the_axes_that_are_given():
    figure = Figure()
    ax = figure.subplots()
    assert plots.plot_curves(Made(UCB), "regret", {"UCB": UCB}, ax, legend=False) is ax
    assert len(ax.lines) == 1
    assert ax.get_legend() is None
    assert plots.plot_curves(Made(EXP3), "regret", {"Exp3": EXP3}, ax, legend=False) is ax
    assert len(ax.lines) == 2
    assert sum(label.startswith("band") for label in labels(ax)) == 1


def test_one_seed_has_no_band():
    ax = plots.plot_curves(Made(UCB, seeds=1), "regret", {"UCB": UCB})
    assert len(ax.lines) == 1
    assert np.isfinite(ax.lines[0].get_ydata()).all()
    assert not bands(ax)
    assert labels(ax) == ["UCB"]


def test_infinite_values_leave_a_gap():
    def change(values):
        values[[3, 4], 2] = math.inf
        return values

    source = Made(UCB, change=change)
    ax = plots.plot_curves(source, "kl", {"UCB": UCB})
    assert np.flatnonzero(np.isnan(ax.lines[0].get_ydata())).tolist() == [3, 4]
    drawn = {x for path in ax.collections[0].get_paths() for x in path.vertices[:, 0]}
    assert drawn == set(source.rounds) - set(source.rounds[[3, 4]])
    ax.figure.draw_without_rendering()


def test_a_line_that_is_infinite_throughout_says_so():
    ax = plots.plot_curves(Made(UCB, change=lambda values: values + math.inf), "kl", {"UCB": UCB})
    assert labels(ax)[0] == "UCB (infinite)"


def test_long_curves_are_thinned_and_keep_their_ends():
    source = Made(UCB, rounds=1000)
    x = plots.plot_curves(source, "regret", {"UCB": UCB}, points=50).lines[0].get_xdata()
    assert len(x) == 50
    assert (x[0], x[-1]) == (source.rounds[0], source.rounds[-1])
    assert np.ptp(np.diff(x)) <= 5


def test_a_line_looks_as_its_row_learner_does_everywhere():
    coebl = (GAME, "coebl:c=2", "coebl:c=2")
    lines = plots.plot_curves(Made(EXP3, coebl), "regret", {"a": EXP3, "b": coebl}).lines
    everywhere = plots.looks(["exp3", "coebl", "coebl:c=2"], plainest=["exp3", "coebl:c=2"])
    assert [line.get_color() for line in lines] == [everywhere[spec].style["color"] for spec in ("exp3", "coebl:c=2")]
    assert lines[0].get_color() != lines[1].get_color()


def appearance(line):
    return line.get_color(), str(line._dash_pattern), line.get_marker()


@pytest.mark.parametrize(
    "matches",
    [
        [(GAME, f"coebl:c={c}", "ucb") for c in range(5)],
        [(GAME, row, "ucb") for row in ("exp3", "exp3-as-released")],
        [(GAME, "ucb", column) for column in ("ucb", "exp3", "nash")],
        [(f"diagonal:n={n}", "ucb", "ucb") for n in range(1, 10)],
    ],
    ids=["settings of one learner", "variants", "opponents", "more games than colours"],
)
def test_lines_are_told_apart(matches):
    lines = plots.plot_curves(
        Made(*matches), "regret", {str(place): match for place, match in enumerate(matches)}
    ).lines
    assert len({appearance(line) for line in lines}) == len(matches)


def test_given_styles_are_used():
    line = plots.plot_curves(Made(UCB), "regret", {"UCB": UCB}, styles={"UCB": {"color": "red"}}).lines[0]
    assert line.get_color() == "red"


def test_the_reference_line():
    ax = Figure().subplots()
    reference = plots.Reference("the line", lambda actions, rounds: 0.1 * actions * np.sqrt(rounds))
    assert plots.plot_reference(ax, reference, 4, [0, 100, 3000]) is ax
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_ydata(), [0, 0.1 * math.sqrt(16 * 100), 21.908902300206645])
    assert labels(ax) == ["the line"]
    assert line.get_color() == "black"
    assert line.is_dashed()
    plots.plot_reference(ax, reference, 3, range(0, 200, 100), label="another")
    assert ax.lines[1].get_ydata() == pytest.approx([0, 3])
    assert labels(ax)[1] == "another"


def heat_map_of(means, half=1.04):
    """A heat map whose cells have these means, and intervals of exactly this half width."""
    spread = half / scipy.stats.t.ppf(0.975, 3) * 2 / statistics.stdev([-1, 1, -1, 1])
    cells = {
        (f"row {i}", f"column {j}"): (GAME, str(i), str(j)) for i, row in enumerate(means) for j in range(len(row))
    }

    class Source:
        def runs(self, _, row, column, metric):
            assert metric == "pseudo_regret"
            final = means[int(row)][int(column)] + spread * np.array([-1, 1, -1, 1])
            return Runs(np.array([1, 2]), np.arange(4), np.array([np.zeros(4), final]))

    return plots.plot_heat_map(Source(), "pseudo_regret", cells)


def test_the_heat_map_says_mean_and_half_width_in_each_cell():
    ax = heat_map_of([[5.0, -20.0, 0.0], [300.0, -0.25, 1.5]])
    texts = {tuple(text.get_position()): text.get_text() for text in ax.texts}
    assert texts == {
        (0.5, 0.5): "5.0 ± 1.0",
        (1.5, 0.5): "−20.0 ± 1.0",
        (2.5, 0.5): "0.0 ± 1.0",
        (0.5, 1.5): "300.0 ± 1.0",
        (1.5, 1.5): "−0.2 ± 1.0",
        (2.5, 1.5): "1.5 ± 1.0",
    }
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["row 0", "row 1"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["column 0", "column 1", "column 2"]
    assert ax.get_ylim() == (2, 0)  # the first row is on top


def test_the_heat_map_marks_what_is_not_told_apart_from_zero():
    ax = heat_map_of([[5.0, -20.0, 0.0], [300.0, -0.25, 1.5]])
    hatched = {patch.get_xy() for patch in ax.patches if patch.get_hatch()}
    assert hatched == {(2, 0), (1, 1)}
    italic = {tuple(text.get_position()) for text in ax.texts if text.get_fontstyle() == "italic"}
    assert italic == {(2.5, 0.5), (1.5, 1.5)}
    assert "hatched: the interval contains 0" in ax.get_xlabel()
    assert "4 seeds" in ax.get_xlabel()


def test_the_colours_of_the_heat_map_diverge_at_zero():
    ax = heat_map_of([[5.0, -5.0, 0.0]], half=0.1)
    above, below, middle = ax.collections[0].to_rgba(ax.collections[0].get_array()).reshape(3, 4)
    assert above[2] > above[0]  # blue
    assert below[0] > below[2]  # red
    assert middle[:3] == pytest.approx([0.97] * 3, abs=0.01)


def test_the_heat_map_leaves_blank_what_is_not_there_and_names_what_has_no_mean():
    class Source(Made):
        def runs(self, game, row, column, metric):
            runs = super().runs(game, row, column, metric)
            return Runs(runs.rounds, runs.seeds, runs.values + (math.inf if row == column else 0))

    source = Source((GAME, "a", "b"), (GAME, "b", "a"), ("rps", "a", "b"), (GAME, "b", "b"))
    cells = {(row, column): (game, row, column) for game, row, column in source.listed if game == GAME}
    assert cells == {("a", "b"): (GAME, "a", "b"), ("b", "a"): (GAME, "b", "a"), ("b", "b"): (GAME, "b", "b")}
    ax = plots.plot_heat_map(source, "regret", cells)
    texts = {tuple(text.get_position()): text.get_text() for text in ax.texts}
    assert texts.keys() == {(0.5, 0.5), (0.5, 1.5), (1.5, 1.5)}  # columns are b and a
    assert texts[(0.5, 1.5)] == "infinite"
    assert np.ma.getmaskarray(ax.collections[0].get_array()).tolist() == [[False, True], [True, False]]


def test_one_seed_in_the_heat_map_has_no_interval():
    ax = plots.plot_heat_map(Made(UCB, seeds=1), "regret", {("a", "b"): UCB})
    assert "±" not in ax.texts[0].get_text()
    assert ax.patches[0].get_hatch()


def test_the_frontier_has_its_points_in_order_with_intervals_both_ways():
    points = {c: ((GAME, f"coebl:c={c}", f"coebl:c={c}"), (GAME, f"coebl:c={c}", "best-response")) for c in "0248"}
    source = Made(*(match for pair in points.values() for match in pair))
    ax = Figure().subplots()
    assert plots.plot_frontier(source, points, "exploitability", "pseudo_regret", "a best response", ax) is ax
    expected = []
    for self_play, other in points.values():
        per_run = [statistics.mean(run[-20:]) for run in source.runs(*self_play, "exploitability").values.T]
        expected.append((slow(per_run), slow(source.runs(*other, "pseudo_regret").values[-1])))
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [(x[0], y[0]) for x, y in expected])
    across, along = (bars.get_segments() for bars in ax.containers[0].lines[2])
    np.testing.assert_allclose(across, [[(x[1], y[0]), (x[2], y[0])] for x, y in expected])
    np.testing.assert_allclose(along, [[(x[0], y[1]), (x[0], y[2])] for x, y in expected])
    assert {text.get_text(): text.xy for text in ax.texts} == {
        c: pytest.approx((x[0], y[0])) for c, (x, y) in zip(points, expected, strict=True)
    }
    assert "exploitability\nin the last 100 rounds" in ax.get_xlabel()


def test_labels_of_near_points_are_not_on_top_of_each_other():
    class Source:
        def runs(self, game, row, column, metric):
            value = {"0": 5, "1": 5.001, "2": 5.002, "3": 5.003, "4": 9}[row]
            return Runs(np.array([1]), np.arange(2), np.full((1, 2), value))

    points = {str(c): (("game", str(c), "a"), ("game", str(c), "b")) for c in range(5)}
    ax = plots.plot_frontier(Source(), points, "exploitability", "pseudo_regret", "a best response")
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for index, one in enumerate(boxes) for other in boxes[:index])


@pytest.mark.parametrize(
    "call",
    [
        lambda source: plots.plot_curves(source, "regret", {}),
        lambda source: plots.plot_heat_map(source, "regret", {}),
        lambda source: plots.plot_frontier(source, {}, "exploitability", "pseudo_regret", "a best response"),
    ],
)
def test_nothing_to_draw_is_an_error_in_one_line(call):
    with pytest.raises(InputError, match=r"^\w+ is empty; accepted: .*$"):
        call(Made(UCB))


def settings():
    return {name: value for name, value in matplotlib.rcParams.items() if name != "backend"}  # which is resolved lazily


def test_the_users_settings_stay_and_rule_on_their_own_axes():
    with matplotlib.rc_context({"axes.labelsize": 19, "axes.grid": False}):
        before = settings()
        ax = plots.plot_curves(Made(UCB), "regret", {"UCB": UCB})
        assert ax.xaxis.label.get_fontsize() < 10
        theirs = plots.plot_curves(Made(UCB), "regret", {"UCB": UCB}, Figure().subplots())
        assert theirs.xaxis.label.get_fontsize() == 19
        assert settings() == before


def test_pyplot_knows_nothing_of_the_figures():
    from matplotlib import pyplot

    plots.plot_curves(Made(UCB), "regret", {"UCB": UCB})
    assert pyplot.get_fignums() == []


def test_saving_twice_gives_the_same_bytes_and_no_other_files(tmp_path):
    for folder in ("first", "second"):
        ax = plots.plot_curves(Made(UCB), "regret", {"UCB": UCB})
        with matplotlib.rc_context({"savefig.bbox": "tight", "savefig.dpi": 30, "svg.hashsalt": folder}):
            paths = plots.save(ax.figure, tmp_path / folder / "deep", "curve")
        assert paths == [tmp_path / folder / "deep" / f"curve.{format}" for format in ("pdf", "svg", "png")]
        assert sorted(paths) == sorted((tmp_path / folder / "deep").iterdir())
    first, second = (
        [path.read_bytes() for path in sorted((tmp_path / name).rglob("*.*"))] for name in ("first", "second")
    )
    assert first == second
    assert [content[:4] for content in first] == [b"%PDF", b"\x89PNG", b"<?xm"]
    width, height = ax.figure.get_size_inches()
    assert first[1][16:24] == (round(200 * width)).to_bytes(4, "big") + (round(200 * height)).to_bytes(4, "big")


def test_a_failed_save_leaves_the_old_file_and_no_temporary_one(tmp_path, monkeypatch):
    (tmp_path / "curve.svg").write_text("old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(InputError, match=r"curve\.svg cannot be written \(No space left on device\)"):
        plots.save(Figure(), tmp_path, "curve", ["svg"])
    assert [path.name for path in tmp_path.iterdir()] == ["curve.svg"]
    assert (tmp_path / "curve.svg").read_text() == "old"


def test_a_folder_that_cannot_be_made_is_an_error_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"^.*inside cannot be made \(.*\); name another folder\.$"):
        plots.save(Figure(), tmp_path / "file" / "inside", "curve", ["svg"])


def test_an_unknown_format_is_an_error_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match=r"format is 'jpeg'; accepted: pdf, svg, png\."):
        plots.save(Figure(), tmp_path / "new", "curve", ["png", "jpeg"])
    assert not (tmp_path / "new").exists()


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"^this needs matplotlib; run: pip install 'coebl\[report\]'$"):
        plots.plot_curves(Made(UCB), "regret", {"UCB": UCB})


def test_a_result_plots_itself():
    result = simulate(Match.of(GAME, "ucb", "exp3", rounds=30), seeds=range(4), metrics=["tv", "regret"])
    ax = result.plot()
    np.testing.assert_allclose(ax.lines[0].get_ydata(), result.metrics["tv"].mean(axis=1))
    assert labels(ax) == ["UCB v Exp3", "band: 95 % interval of the mean, 4 seeds"]
    assert "TV" in ax.get_ylabel()
    mine = Figure().subplots()
    assert result.plot("regret", ax=mine) is mine
    expected = [slow(row)[1:] for row in result.metrics["regret"]]
    np.testing.assert_allclose([bands(mine)[0][t] for t in result.rounds], expected)


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


def test_learners_and_metrics_of_ones_own_have_the_titles_and_colours_of_their_classes():
    result = simulate(Match.of(GAME, Mine(), "uniform", rounds=5), seeds=[1], metrics=[Surprise])
    ax = result.plot()
    assert labels(ax) == ["My learner v uniform"]
    assert ax.lines[0].get_color() == PALETTE[7][0]
    assert ax.get_ylabel() == "surprise\n$|r_t - A|$"


class Stored(Made):
    """A source whose cells say what their learners and metrics are, the older ones nothing."""

    things: ClassVar = {
        "learners": {
            "mine.py:Mine": {"title": "My learner", "colour": 6, "kind": "bandit"},
            "mine.py:Mine:c=2": {"title": "My learner", "colour": 6, "kind": "bandit"},
            "yours.py:Yours": {"title": 3, "colour": True},
        },
        "metrics": {"surprise": {"title": "Surprise", "formula": "$s$", "cumulative": True, "better": "lower"}},
    }

    def metadata(self):
        return [{}, {"things": self.things}, {"things": {"learners": {}}}]


def test_learners_and_metrics_of_results_are_called_as_their_cells_say():
    known = plots.known_to(Stored())
    titles = plots.learner_titles(["mine.py:Mine", "mine.py:Mine:c=2", "yours.py:Yours", "ucb"], known)
    assert [title.replace("\u00a0", " ") for title in titles.values()] == [
        "My learner",
        "My learner, c = 2",
        "yours.py:Yours",
        "UCB",
    ]
    found = plots.looks(titles, known=known)
    assert found["mine.py:Mine"].colour == found["mine.py:Mine:c=2"].colour == PALETTE[6][0]
    assert found["yours.py:Yours"].colour == PALETTE[FIRST_FREE][0]
    words = plots.metric_words("surprise", known)
    assert (words.title, words.formula, words.cumulative, words.known) == ("Surprise", "$s$", True, True)


def test_plots_of_results_use_what_their_cells_say():
    match = (GAME, "mine.py:Mine", "ucb")
    source = Stored(match)
    ax = plots.plot_curves(source, "surprise", {"mine": match})
    assert (ax.get_ylabel(), ax.lines[0].get_color()) == ("surprise\n$s$", PALETTE[6][0])
    assert plots.plot_heat_map(source, "surprise", {("a", "b"): match}).get_title().startswith("surprise $s$")
    frontier = plots.plot_frontier(source, {"1": (match, match)}, "surprise", "surprise", "somebody")
    assert frontier.lines[0].get_color() == PALETTE[6][0]
    assert frontier.get_xlabel().startswith("self-play surprise")


def test_a_result_says_which_metrics_it_has():
    result = simulate(Match.of("rps", "ucb", "ucb", rounds=3), seeds=[1], metrics=["regret"])
    with pytest.raises(InputError, match="metric 'regrett' was not recorded: did you mean 'regret'"):
        result.plot("regrett")
