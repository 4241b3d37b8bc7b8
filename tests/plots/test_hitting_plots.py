"""Plots of hitting times show the measured times."""

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.evidence.runtimes import Runtimes
from coebl.plots import plot_ecdf, plot_scaling

BY_SIZE = {20: Runtimes((398, 402), 999), 10: Runtimes((98, 102), 999), 40: Runtimes((None, None), 50)}


def test_expected_times_by_size_with_their_slope():
    ax = plot_scaling({"mine": BY_SIZE})
    [line] = [line for line in ax.lines if len(line.get_xdata()) == 2]
    np.testing.assert_array_equal(line.get_xdata(), [10, 20])  # without 40, where no run hit
    np.testing.assert_array_equal(line.get_ydata(), [100, 400])
    [label] = [text.get_text() for text in ax.get_legend().get_texts()]
    assert label.startswith("mine: slope 2")
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel()) == ("log", "log", "n")


def test_a_line_without_a_hit_is_rejected():
    with pytest.raises(InputError, match="no run of mine has hit"):
        plot_scaling({"mine": {40: BY_SIZE[40]}})


def test_the_share_of_hits_ends_at_the_budget():
    ax = plot_ecdf({"mine": Runtimes((120, 80, None, 100), budget=1000)})
    [line] = ax.lines
    np.testing.assert_array_equal(line.get_xdata()[1:], [80, 100, 120, 1000])
    np.testing.assert_array_equal(line.get_ydata(), [0, 0.25, 0.5, 0.75, 0.75])
