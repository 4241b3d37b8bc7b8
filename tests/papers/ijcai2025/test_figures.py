"""The figures of the paper: their panels, the data they read, and the files they become."""

import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.naming import learner_style
from coebl.papers.ijcai2025 import BASELINES, PAPER, RATES, ROLES, VARIANTS, coebl
from coebl.papers.reproduce import draw
from made_curves import MadeCurves, MadeRuns

FIGURES = PAPER.figures
TEXT, RELEASED = VARIANTS["text"], VARIANTS["as-released"]
ROUNDS = np.array([1, 1500, 3000])


class Made(MadeCurves):
    """All experiments with few numbers, and a record of the matches and metrics that were read."""

    store = SimpleNamespace(folder=Path("made"))

    def __init__(self, pairings):
        self.pairings = [tuple(pairing) for pairing in pairings]
        self.read = set()

    def matches(self):
        return self.pairings

    def values(self, *key):
        """Rounds by seeds, of a match and a metric."""
        random = np.random.default_rng(zlib.crc32(repr(key).encode()))
        values = random.exponential(1.0, (3, 3)).cumsum(axis=0)
        return 2 - 2 * np.exp(-values) if key[3] in ("tv", "exploitability") else values

    def runs(self, *key):
        assert key[:3] in self.pairings
        self.read.add(key)
        return MadeRuns(ROUNDS, np.arange(3), self.values(*key), 3000)


@pytest.fixture(autouse=True)
def without_layout(monkeypatch):
    """Skip the layout of labels, which takes most of the time; one test keeps it."""
    monkeypatch.setattr("matplotlib.layout_engine.ConstrainedLayoutEngine.execute", lambda *_: None)


@pytest.fixture
def quick():
    return Made(pairing for pairing in PAPER.needed(FIGURES) if pairing.game in PAPER.quick.games)


@pytest.fixture
def full():
    return Made(PAPER.needed(FIGURES))


def drawn(name, source, variant=TEXT, measures="paper"):
    return FIGURES[name](source, variant, measures)


def plain(text):
    """Return a string with ordinary spaces."""
    return text.get_text().replace("\u00a0", " ")


def panels(figure):
    """The titles, row by row, as they appear on the page."""
    rows = {}
    for ax in figure.axes:
        place = ax.get_subplotspec()
        rows.setdefault(place.rowspan.start, {})[place.colspan.start] = plain(ax.title).partition("\n")[0]
    return [[row[column] for column in sorted(row)] for _, row in sorted(rows.items())]


def entries(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def curves(ax):
    """The lines with data, without the reference and the axis through 0."""
    return [line for line in ax.lines if len(line.get_xdata()) == len(ROUNDS)]


N234, N567 = ["n = 2", "n = 3", "n = 4"], ["n = 5", "n = 6", "n = 7"]
HEAD_TO_HEAD = ["UCB v COEBL", "Exp3 v COEBL", "Exp3-IX v COEBL"]
RPS = ["regret", "distance to equilibrium", "the same, zoomed: log scale"]
FAMILIES = ("diagonal", "bigger-number")
FIRST = ["Rock-paper-scissors", "Diagonal, n = 2", "Diagonal, n = 3", "Diagonal, n = 4"]
SECOND = ["BiggerNumber, n = 2", "BiggerNumber, n = 3", "BiggerNumber, n = 4"]
LAYOUTS = {  # with quick sizes, with all
    "rps-self-play": ([RPS], [RPS]),
    "rps-head-to-head": ([HEAD_TO_HEAD], [HEAD_TO_HEAD]),
    **{f"{family}-self-play": ([N234, N234], [N234, N234]) for family in FAMILIES},
    **{f"{family}-head-to-head": ([N234], [N234]) for family in FAMILIES},
    **{f"{family}-self-play-all": ([N234, N234], [N234, N567, N234, N567]) for family in FAMILIES},
    **{f"{family}-head-to-head-all": ([N234, N234], [N234, N567, N234, N567]) for family in FAMILIES},
    "by-c": ([FIRST, FIRST, SECOND, SECOND],) * 2,
}


assert LAYOUTS.keys() | {"heat-map"} == FIGURES.keys()


@pytest.mark.parametrize("name", LAYOUTS)
def test_panels_are_where_the_paper_has_them(name, quick, full):
    assert panels(drawn(name, quick)) == LAYOUTS[name][0]
    assert panels(drawn(name, full)) == LAYOUTS[name][1]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_reads_exactly_what_it_needs(name, variant, full):
    figure, variant = FIGURES[name], VARIANTS[variant]
    needed = figure.needs(variant)
    scaled = [match for other in VARIANTS.values() for match in figure.needs(other)] if name == "heat-map" else []
    only = Made(dict.fromkeys([*needed, *scaled]))  # heat maps of all variants have one scale
    assert panels(figure(only, variant, "paper")) == panels(figure(full, variant, "paper"))
    assert {key[:3] for key in only.read} == set(only.pairings)
    assert len(needed) == len(set(needed)) > 0
    assert ("n=6" in str(needed)) == (name.endswith("-all") or name == "heat-map")


@pytest.mark.parametrize(
    ("name", "measures", "metrics"),
    [
        ("rps-self-play", "paper", {"regret_magnitude", "kl"}),
        ("rps-self-play", "noise-free", {"absolute_pseudo_regret", "exploitability"}),
        ("diagonal-self-play", "paper", {"regret_magnitude", "tv"}),
        ("diagonal-head-to-head", "paper", {"regret"}),
        ("diagonal-head-to-head-all", "paper", {"regret", "tv"}),
        ("bigger-number-head-to-head-all", "noise-free", {"pseudo_regret", "exploitability"}),
        ("heat-map", "paper", {"pseudo_regret"}),
        ("by-c", "paper", {"exploitability", "pseudo_regret"}),
    ],
)
def test_measures_choose_the_metrics(name, measures, metrics, quick):
    drawn(name, quick, measures=measures)
    assert {metric for *_, metric in quick.read} == metrics


@pytest.mark.parametrize(
    ("name", "place", "title", "variant", "others", "metric"),
    [
        ("diagonal-self-play", 5, "n = 4", RELEASED, [], "tv"),
        ("diagonal-head-to-head", 2, "n = 4", RELEASED, ["coebl"], "regret"),
    ],
)
def test_a_panel_has_its_own_data_in_the_colours_of_its_learners(name, place, title, variant, others, metric, quick):
    panel = drawn(name, quick, variant).axes[place]
    assert panel.get_title() == title
    by_colour = {line.get_color(): line.get_ydata() for line in curves(panel)}
    roles = BASELINES if others else ROLES  # against COEBL, the baselines have the row seat
    assert len(by_colour) == len(roles)
    for role in roles:
        values = quick.values(*variant.match("diagonal:n=4", role, *others), metric)
        np.testing.assert_allclose(by_colour[learner_style(role)["color"]], values.mean(axis=1))


def test_the_reference_line_is_beside_self_play_regret_alone(quick):
    def references(ax):
        return [line for line in ax.lines if line.get_color() == "black"]

    figure = drawn("bigger-number-self-play", quick)
    for ax, actions in zip(figure.axes[:3], (4, 8, 16), strict=True):
        (line,) = references(ax)
        assert (line.get_xdata()[-1], line.get_ydata()[-1]) == (3000, pytest.approx(0.1 * (actions**2 * 3000) ** 0.5))
    assert not any(references(ax) for ax in figure.axes[3:])
    assert not any(references(ax) for ax in drawn("bigger-number-head-to-head", quick).axes)
    assert references(drawn("rps-self-play", quick).axes[0])[0].get_ydata()[-1] == pytest.approx(0.3 * 3000**0.5)


def test_one_legend_names_lines_reference_and_band(quick):
    assert entries(drawn("diagonal-self-play", quick)) == [
        "COEBL",
        "UCB",
        "Exp3",
        "Exp3-IX",
        r"$0.1\sqrt{K^2 t}$, $K = 2^n$",
        "band: 95 % interval of the mean, 3 seeds",
    ]
    figure = drawn("diagonal-head-to-head", quick)
    assert entries(figure)[:3] == HEAD_TO_HEAD
    assert len({ax.get_ylim() for ax in figure.axes}) == 1, "sizes can be compared"
    assert r"$0.1\sqrt{K^2 t}$, K = 3" in entries(drawn("rps-self-play", quick))


@pytest.mark.parametrize(
    ("name", "variant", "ending"),
    [
        ("rps-self-play", "text", "(the text, c = 2)"),
        ("diagonal-self-play", "text", "(the text, c = 8)"),
        ("diagonal-self-play", "c=2", "(c = 2 everywhere)"),
        ("diagonal-head-to-head", "as-released", "(as released, c = 2)"),
        ("heat-map", "text", "(the text, c = 2 or 8)"),
    ],
)
def test_the_heading_names_the_variant(name, variant, ending, quick):
    heading = drawn(name, quick, VARIANTS[variant]).legends[0].get_title().get_text()
    assert heading.startswith(FIGURES[name].title)
    assert heading.endswith(ending)


@pytest.mark.parametrize(
    ("name", "labelled_y", "labelled_x"),
    [
        ("rps-self-play", [True, True, False], [True] * 3),
        ("diagonal-self-play", [True, False, False] * 2, [False] * 3 + [True] * 3),
        ("diagonal-head-to-head", [True, False, False], [True] * 3),
    ],
)
def test_lines_are_within_the_axes_and_labels_are_not_repeated(name, labelled_y, labelled_x, quick):
    axes = drawn(name, quick).axes
    for ax in axes:
        low, high = ax.get_ylim()
        assert all(low <= min(line.get_ydata()) <= max(line.get_ydata()) <= high for line in ax.lines)
    assert [bool(ax.get_ylabel()) for ax in axes] == labelled_y
    assert [bool(ax.get_xlabel()) for ax in axes] == labelled_x


def test_text_fits_on_the_page_and_is_large_enough(full, monkeypatch):
    monkeypatch.undo()
    for name in FIGURES:
        figure = drawn(name, full, measures=[*FIGURES[name].suffixes][-1])
        figure.draw_without_rendering()
        page = figure.bbox
        labels = [
            figure.legends[0],
            *(text for ax in figure.axes for text in (ax.title, ax.xaxis.label, ax.yaxis.label)),
        ]
        for text in labels:
            box = text.get_window_extent()
            assert box.width == 0 or (box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1), (name, text)
        assert figure.get_figwidth() <= 7
        small = [
            label for ax in figure.axes for label in (*ax.get_xticklabels(), *ax.texts) if label.get_fontsize() < 7
        ]
        assert not small


def test_the_heat_map_is_games_by_baselines(full):
    (ax,) = drawn("heat-map", full).axes
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["UCB", "Exp3", "Exp3-IX"]
    rows = [plain(tick) for tick in ax.get_yticklabels()]
    assert len(rows) == 13
    assert rows[:3] == ["Rock-paper-scissors", "Diagonal, n = 2", "Diagonal, n = 3"]
    assert len(ax.texts) == 39


def test_the_figure_by_c_has_c_across(quick):
    figure = drawn("by-c", quick)
    for ax, column, metric in (
        (figure.axes[0], "best-response", "pseudo_regret"),
        (figure.axes[4], "", "exploitability"),
    ):
        named = [ax.xaxis.get_major_formatter()(tick) for tick in ax.get_xticks()]
        assert named == [f"{rate:g}" for rate in RATES]
        runs = [quick.values("rps", coebl(rate), column or coebl(rate), metric)[-1] for rate in RATES]
        np.testing.assert_allclose(ax.lines[0].get_ydata(), [np.mean(run) for run in runs])


def test_missing_data_are_left_out(quick):
    without = Made(pairing for pairing in quick.pairings if pairing != ("diagonal:n=3", "exp3", "exp3"))
    assert panels(drawn("diagonal-self-play", without)) == [["n = 2", "n = 4"]] * 2
    assert panels(drawn("diagonal-head-to-head", without)) == [N234]
    without = Made(pairing for pairing in quick.pairings if pairing != ("rps", "coebl:c=4", "best-response"))
    labels = [tick.get_text() for tick in drawn("by-c", without).axes[0].get_xticklabels()]
    assert labels == ["0", "0.05", "0.1", "0.25", "0.5", "1", "2", "8"]
    without = Made(pairing for pairing in quick.pairings if pairing != ("diagonal:n=3", "ucb", "coebl"))
    (ax,) = drawn("heat-map", without).axes
    assert "Diagonal, n = 3" not in [plain(tick) for tick in ax.get_yticklabels()]


def test_mistakes_are_one_line(quick):
    message = r"^there is no data for figure by-c \(the text\); .*run: coebl reproduce --figure by-c$"
    with pytest.raises(InputError, match=message):
        drawn("by-c", Made([]))
    with pytest.raises(InputError, match=r"measures is 'papper'; accepted: paper, noise-free\."):
        drawn("rps-self-play", quick, measures="papper")


def test_draw_writes_a_folder_per_variant_with_noise_free_copies(quick, tmp_path):
    names = ["rps-self-play", "by-c", "heat-map"]
    paths = draw(PAPER, quick, tmp_path, names, ["text", "as-released"], ["svg", "png"])
    stems = ["text/rps-self-play", "text/rps-self-play-noise-free", "text/by-c", "text/heat-map"]
    stems += [f"as-released/{name}" for name in ("rps-self-play", "rps-self-play-noise-free", "heat-map")]
    assert paths == [tmp_path / f"{stem}.{format}" for stem in stems for format in ("svg", "png")]
    assert sorted(path for path in tmp_path.rglob("*.*") if path.is_file()) == sorted(paths)


def test_draw_takes_all_for_which_there_is_data(tmp_path):
    source = Made(FIGURES["rps-head-to-head"].needs(TEXT))
    paths = draw(PAPER, source, tmp_path, formats=["png"])
    expected = ["heat-map.png", "rps-head-to-head-noise-free.png", "rps-head-to-head.png"]
    # on rock-paper-scissors c is 2 in the text, so that the second variant is the same, and the third has the same UCB
    assert sorted(str(path.relative_to(tmp_path)) for path in paths) == [
        *(f"as-released/{name}" for name in expected[1:]),
        *(f"c=2/{name}" for name in expected),
        *(f"text/{name}" for name in expected),
    ]


def test_workers_write_the_same_files(quick, tmp_path):
    first, second = (
        draw(PAPER, quick, tmp_path / str(workers), ["rps-head-to-head"], ["text"], workers=workers)
        for workers in (1, 2)
    )
    assert [path.name for path in first] == [path.name for path in second]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ["rps-selfplay"]}, r"unknown figure 'rps-selfplay': did you mean 'rps-self-play'\? Accepted: .*"),
        ({"variants": ["released"]}, r"unknown variant 'released': did you mean 'as-released'\? Accepted: text, .*"),
        ({"names": ["by-c"]}, "there is no data for figure by-c .* run: coebl reproduce --out made --figure by-c"),
    ],
)
def test_draw_explains_what_is_missing(arguments, message, tmp_path):
    with pytest.raises(InputError, match=f"^{message}$"):
        draw(PAPER, Made(FIGURES["rps-head-to-head"].needs(TEXT)), tmp_path, **arguments)
    with pytest.raises(InputError, match="no data for figure rps-self-play"):
        draw(PAPER, Made([]), tmp_path)
    assert not list(tmp_path.iterdir())
