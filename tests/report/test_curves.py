from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unweave.errors import UsageError
from unweave.report import training_curve, training_figure
from unweave.report.curves import POINTS, terms


def curve(log: polars.DataFrame, term: str = "loss") -> Axes:
    return training_curve(Figure().add_subplot(), log, term)


def table(**columns: Sequence[float | None]) -> polars.DataFrame:
    rows = len(next(iter(columns.values())))
    return polars.DataFrame({"step": range(10, 10 * rows + 1, 10), **columns}, strict=False)


def test_a_short_log_is_drawn_point_by_point():
    axes = curve(table(loss=[9.0, 7.0, 8.0]))
    (line,) = axes.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), [10, 20, 30])
    np.testing.assert_array_equal(line.get_ydata(), [9, 7, 8])
    assert axes.get_title("left") == "loss"
    assert axes.get_title("right") == "8"


def test_a_long_log_is_drawn_as_means_in_the_band_of_extremes():
    values = np.random.default_rng(0).normal(size=20 * POINTS)
    axes = curve(table(loss=values.tolist()))
    (line,), (band,) = axes.get_lines(), axes.collections
    groups = values.reshape(POINTS, 20)
    np.testing.assert_allclose(np.asarray(line.get_ydata()), groups.mean(axis=1))
    np.testing.assert_allclose(np.asarray(line.get_xdata())[0], np.arange(10, 201, 10).mean())
    edges = np.asarray(band.get_paths()[0].vertices)[:, 1]
    np.testing.assert_allclose([edges.min(), edges.max()], [values.min(), values.max()])


def test_every_row_counts_once_when_the_stretches_do_not_divide_the_log():
    values = np.arange(POINTS + 37, dtype=float)
    (line,) = curve(table(loss=values.tolist())).get_lines()
    drawn = np.asarray(line.get_ydata())
    assert len(drawn) == POINTS
    assert (np.diff(drawn) >= 1).all()
    assert drawn[-1] >= values[-2]


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([700.0, 90.0, 30.0], "log"),
        ([30.0, 20.0, 10.0], "linear"),
        ([100.0, -1.0, 1.0], "linear"),  # a logarithm would hide the negative value
        ([0.001, 1.0, 10.0], "linear"),  # growth from nothing, as of a KL, is no straight line in logarithms
    ],
)
def test_the_scale_follows_the_values(values: list[float], scale: str):
    assert curve(table(loss=values)).get_yscale() == scale


def test_what_is_missing_or_not_finite_is_left_out():
    log = table(loss=[3.0, float("nan"), 1.0], late=[None, None, 5.0], never=[None, None, None])
    (line,) = curve(log).get_lines()
    np.testing.assert_array_equal(line.get_xdata(), [10, 30])
    (line,) = curve(log, "late").get_lines()
    np.testing.assert_array_equal(line.get_xdata(), [30])
    assert terms(log) == ["loss", "late"]


def test_the_figure_has_one_panel_a_term(run):
    figure = training_figure(run.log())
    assert [axes.get_title("left") for axes in figure.axes] == ["loss", "reconstruction", "kl"]
    figure.draw_without_rendering()  # the layout holds: a warning would be an error


def test_ticks_are_plain_numbers(run):
    figure = training_figure(run.log())
    figure.draw_without_rendering()
    axes = figure.axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels() if label.get_text()]
    assert len(labels) >= 3
    assert all(label.replace(",", "").isdigit() for label in labels)


def test_an_unknown_term_and_an_empty_log_are_clear_mistakes():
    with pytest.raises(UsageError, match="did you mean 'loss'"):
        curve(table(loss=[1.0]), "los")
    with pytest.raises(UsageError, match="no value of 'kl'"):
        curve(table(kl=[None]), "kl")
    with pytest.raises(UsageError, match="nothing has been logged"):
        training_figure(polars.DataFrame({"step": [], "loss": []}))
