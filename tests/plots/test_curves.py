"""Curves: the axes show the numbers of a direct computation."""

import math

import numpy as np
import polars
import pytest
from matplotlib.figure import Figure

from coebl import naming, plots
from coebl.core.errors import InputError
from coebl.engine import Match, simulate
from plots.made import EXP3, GAME, UCB, Made, bands, frame, labels, slow


def test_curves_are_means_and_bands_are_student_intervals():
    source = Made(UCB, EXP3)
    ax = plots.plot_curves(source, "regret", {"UCB": UCB, "Exp3": EXP3})
    assert len(ax.lines) == len(bands(ax)) == 2
    for line, band, match in zip(ax.lines, bands(ax), (UCB, EXP3), strict=True):
        values = source.values(*match, "regret")
        expected = [slow(row) for row in values]
        np.testing.assert_array_equal(line.get_xdata(), source.rounds)
        np.testing.assert_allclose(line.get_ydata(), [mean for mean, _, _ in expected])
        np.testing.assert_allclose([band[t] for t in source.rounds], [ends for _, *ends in expected])


def test_curves_have_a_legend_and_labels():
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


def test_a_line_that_is_infinite_throughout_is_labelled_as_such():
    ax = plots.plot_curves(Made(UCB, change=lambda values: values + math.inf), "kl", {"UCB": UCB})
    assert labels(ax)[0] == "UCB (infinite)"


def test_long_curves_are_thinned_and_keep_their_ends():
    source = Made(UCB, rounds=1000)
    x = plots.plot_curves(source, "regret", {"UCB": UCB}, points=50).lines[0].get_xdata()
    assert len(x) == 50
    assert (x[0], x[-1]) == (source.rounds[0], source.rounds[-1])
    assert np.ptp(np.diff(x)) <= 5


def test_a_line_has_the_look_of_its_row_learner():
    coebl = (GAME, "coebl:c=2", "coebl:c=2")
    lines = plots.plot_curves(Made(EXP3, coebl), "regret", {"a": EXP3, "b": coebl}).lines
    everywhere = naming.looks(["exp3", "coebl", "coebl:c=2"], plainest=["exp3", "coebl:c=2"])
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
def test_lines_look_different(matches):
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


def test_a_result_lists_its_metrics():
    result = simulate(Match.of("rps", "ucb", "ucb", rounds=3), seeds=[1], metrics=["regret"])
    with pytest.raises(InputError, match="metric 'regrett' was not recorded: did you mean 'regret'"):
        result.plot("regrett")


ROUNDS, VALUES = np.array([1, 2]), np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop("regret"), "metric 'regret' was not recorded"),
        (
            lambda table: table.with_columns(game=polars.lit("rps")),
            "diagonal:n=2, ucb v coebl: no finished run has the metric",
        ),
        (lambda table: table.with_columns(regret=polars.lit(None, polars.Float64)), "ucb v coebl: no finished run"),
        (lambda table: table[:-1], "seeds differ in the recorded rounds"),
        (
            lambda table: polars.concat([table, table.with_columns(noise=polars.lit("other"))]),
            "there are runs of noise none and other; name one as noise=",
        ),
        (
            lambda table: polars.concat([table, table.with_columns(rounds=polars.lit(7, polars.Int64))]),
            "there are runs of rounds 2 and 7; keep them in two folders",
        ),
    ],
)
def test_a_frame_without_these_runs_is_rejected(change, message):
    table = change(frame({UCB: (ROUNDS, VALUES)}, "regret"))
    with pytest.raises(InputError, match=message):
        plots.plot_curves(table, "regret", {"UCB": UCB})


def test_a_noise_is_chosen():
    table = frame({UCB: (ROUNDS, VALUES)}, "regret")
    both = polars.concat([table, table.with_columns(polars.col("regret") + 1, noise=polars.lit("other"))])
    ax = plots.plot_curves(both, "regret", {"UCB": UCB}, noise="other")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), VALUES.mean(axis=1) + 1)
