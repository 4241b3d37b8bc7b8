"""Figures: settings, reproducible files, and rejected formats."""

import sys

import matplotlib
import pytest
from matplotlib.figure import Figure

from coebl import plots
from coebl.core.errors import InputError
from plots.made import UCB, Made


@pytest.mark.parametrize(
    "call",
    [
        lambda source: plots.plot_curves(source, "regret", {}),
        lambda source: plots.plot_heat_map(source, "regret", {}),
        lambda source: plots.plot_sweep(source, "exploitability", {}),
    ],
)
def test_nothing_to_draw_is_an_error_in_one_line(call):
    with pytest.raises(InputError, match=r"^\w+ is empty; accepted: .*$"):
        call(Made(UCB))


def settings():
    return {name: value for name, value in matplotlib.rcParams.items() if name != "backend"}  # which is resolved lazily


def test_custom_settings_of_matplotlib_are_kept():
    with matplotlib.rc_context({"axes.labelsize": 19, "axes.grid": False}):
        before = settings()
        ax = plots.plot_curves(Made(UCB), "regret", {"UCB": UCB})
        assert ax.xaxis.label.get_fontsize() < 10
        theirs = plots.plot_curves(Made(UCB), "regret", {"UCB": UCB}, Figure().subplots())
        assert theirs.xaxis.label.get_fontsize() == 19
        assert settings() == before


def test_figures_are_not_registered_with_pyplot():
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


def test_a_folder_that_cannot_be_made_is_an_error_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"^.*inside cannot be created \(.*\); choose another folder\.$"):
        plots.save(Figure(), tmp_path / "file" / "inside", "curve", ["svg"])


def test_an_unknown_format_is_an_error_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match=r"format is 'jpeg'; accepted: pdf, svg, png\."):
        plots.save(Figure(), tmp_path / "new", "curve", ["png", "jpeg"])
    assert not (tmp_path / "new").exists()


def test_without_matplotlib_one_line_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"^this needs matplotlib; run: pip install 'coebl\[report\]'$"):
        plots.plot_curves(Made(UCB), "regret", {"UCB": UCB})
