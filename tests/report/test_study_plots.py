"""Plots of a study: what is drawn is what the table holds, and no interval below five seeds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import polars
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from unweave.errors import UsageError
from unweave.report import (
    agreement_map,
    metric_scatter,
    scores_by_cell,
    scores_by_method,
    scores_by_setting,
    scores_by_step,
    state_matrix,
)
from unweave.report.study.cells import COLOURS
from unweave.report.study.limits import score_axis
from unweave.report.study.plots import INTERVALS
from unweave.study.analysis import over_seeds


def table(
    seeds: int = 5, methods: tuple[str, ...] = ("beta-vae",), betas: tuple[float, ...] = (1.0, 4.0), **columns: Any
) -> polars.DataFrame:
    """Return a tidy table of two metrics, as `Study.scores` returns it."""
    rng = np.random.default_rng(0)
    return polars.DataFrame(
        [
            {
                **{"run": f"{method}-{beta}-{seed}", "data": "shapes2d", "method": method, "beta": beta},
                **{"seed": seed, "step": 100, "metric": metric, "value": beta / 20 + rng.normal(0, 0.01), **columns},
            }
            for method in methods
            for beta in betas
            for seed in range(seeds)
            for metric in ("mig", "sap")
        ]
    )


def intervals(axes: Axes) -> list[np.ndarray]:
    """Return the ends of every interval that is drawn."""
    return [path for drawn in axes.collections if drawn.get_label() == INTERVALS for path in drawn.get_segments()]  # pyright: ignore[reportAttributeAccessIssue]


def points(axes: Axes) -> np.ndarray:
    found = [np.asarray(drawn.get_offsets()) for drawn in axes.collections if len(np.asarray(drawn.get_offsets())) > 1]
    return np.concatenate(found)


def ticks(axes: Axes, which: str = "y") -> list[str]:
    return [label.get_text() for label in getattr(axes, f"get_{which}ticklabels")()]


def test_a_cell_has_a_point_for_each_seed_their_mean_and_its_interval():
    scores = table()
    axes = scores_by_cell(scores, "mig")
    assert ticks(axes) == ["beta-vae beta=1", "beta-vae beta=4"]
    values = scores.filter(metric="mig")["value"].to_list()
    assert sorted(points(axes)[:, 0]) == pytest.approx(sorted(values))
    for place, (beta, ends) in enumerate(zip((1.0, 4.0), intervals(axes), strict=True)):
        found = over_seeds(scores.filter(metric="mig", beta=beta)["value"].to_numpy())
        assert ends[:, 0] == pytest.approx([found.low, found.high])
        assert ends[:, 1] == pytest.approx([place, place])
    assert axes.get_xlabel() == "mig, higher is better"


@pytest.mark.parametrize("draw", [scores_by_cell, lambda rows, metric: scores_by_setting(rows, metric, "beta")])
def test_fewer_than_five_seeds_have_points_and_no_interval(draw):
    axes = draw(table(seeds=4), "mig")
    assert not intervals(axes)
    assert len(points(axes)) == 8
    assert len(intervals(draw(table(seeds=5), "mig"))) == 2


def test_axes_that_are_given_are_drawn_on_and_returned():
    figure = Figure()
    given = figure.add_subplot()
    assert scores_by_cell(table(), "mig", given) is given
    assert scores_by_setting(table(), "mig", "beta", given) is given
    assert scores_by_step(table(), "mig", given) is given
    assert metric_scatter(table(), "mig", "sap", given) is given
    assert agreement_map(table(), given) is given


@pytest.mark.parametrize("cells", [1, 40])
def test_names_of_cells_are_whole_and_apart(cells: int):
    scores = table(seeds=1, methods=("a-method-with-a-rather-long-name",), betas=tuple(map(float, range(cells))))
    axes = scores_by_cell(scores, "mig")
    axes.get_figure(root=True).draw_without_rendering()  # pyright: ignore[reportOptionalMemberAccess]
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert len(boxes) == cells
    assert min(box.x0 for box in boxes) >= 0
    assert all(upper.y0 >= lower.y1 - 1 for upper, lower in pairwise(boxes))


def test_the_floor_and_the_ceiling_are_named_and_drawn_where_they_are_near():
    axes = scores_by_cell(table(floor=0.02, ceiling=0.99), "mig")
    assert axes.get_xlabel() == "mig, higher is better\nfloor 0.02 · ceiling 0.99"
    dotted = [line for line in axes.lines if line.get_linestyle() not in ("-", "None")]
    assert [line.get_xdata()[0] for line in dotted] == [0.02]  # pyright: ignore[reportIndexIssue]
    assert axes.get_xlim()[1] < 0.5  # the ceiling would push all points into a corner
    axes = Figure().add_subplot()
    score_axis(axes, table(), "total-correlation", [1.0, 1.0], "y")
    assert axes.get_ylabel() == "total-correlation, lower is better"
    assert axes.get_ylim()[0] < 1 < axes.get_ylim()[1]


def test_a_line_for_each_method_against_a_strength():
    axes = scores_by_setting(table(methods=("beta-vae", "beta-tcvae"), betas=(1.0, 4.0, 16.0)), "mig", "beta")
    assert axes.get_xscale() == "log"
    assert ticks(axes, "x") == ["1", "4", "16"]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["beta-vae", "beta-tcvae"]
    lines = [line for line in axes.lines if len(np.asarray(line.get_xdata())) == 3]
    assert [to_hex(str(line.get_color())) for line in lines] == list(COLOURS[:2])
    means = table(methods=("beta-vae", "beta-tcvae"), betas=(1.0, 4.0, 16.0)).filter(metric="mig", method="beta-vae")
    expected = means.group_by("beta").agg(polars.col("value").mean()).sort("beta")["value"]
    assert list(np.asarray(lines[0].get_ydata())) == pytest.approx(expected.to_list())
    with pytest.raises(UsageError, match="the table has no setting 'gamma'"):
        scores_by_setting(table(), "mig", "gamma")
    with pytest.raises(UsageError, match="no score of 'mig' has a numeric 'kind'"):
        scores_by_setting(table(kind="I").select("kind", polars.exclude("kind")), "mig", "kind")


def test_snapshots_are_a_line_and_cells_show_the_last():
    early = table(betas=(4.0,)).with_columns(step=polars.lit(10), value=polars.col("value") - 0.1)
    both = polars.concat([early.cast(table().schema), table(betas=(4.0,))])
    axes = scores_by_step(both, "mig")
    (line,) = [line for line in axes.lines if len(np.asarray(line.get_xdata())) == 2]
    assert list(np.asarray(line.get_xdata())) == [10, 100]
    shown = points(scores_by_cell(both, "mig"))[:, 0]
    assert sorted(shown) == pytest.approx(sorted(table(betas=(4.0,)).filter(metric="mig")["value"]))


def test_many_cells_are_drawn_by_method_without_intervals():
    axes = scores_by_method(table(methods=("vae", "beta-vae"), betas=tuple(map(float, range(30)))), "mig")
    assert ticks(axes) == ["vae", "beta-vae"]
    assert len(points(axes)) == 300
    assert not intervals(axes)


def test_metrics_against_each_other():
    scores = table(methods=("vae", "beta-vae"))
    axes = metric_scatter(scores, "mig", "sap")
    wide = scores.pivot(on="metric", index="run", values="value")
    expected = {tuple(np.round(row, 9)) for row in wide.select("mig", "sap").iter_rows()}
    assert {tuple(row) for row in points(axes).round(9)} == expected
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("mig, higher is better", "sap, higher is better")


def test_the_map_of_rank_correlations_is_symmetric_signed_and_of_one_data_set():
    scores = table()
    opposite = scores.filter(metric="mig").with_columns(metric=polars.lit("loss"), value=-polars.col("value"))
    constant = opposite.with_columns(metric=polars.lit("flat"), value=polars.lit(1.0))
    axes = agreement_map(polars.concat([scores, opposite, constant]), metrics=["mig", "loss", "flat"])
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    grid = [[texts[(column + 0.5, row + 0.5)] for column in range(3)] for row in range(3)]
    assert grid == [["1.00", "−1.00", "–"], ["−1.00", "1.00", "–"], ["–", "–", "1.00"]]
    assert ticks(axes) == ["mig ↑", "loss", "flat"]
    with pytest.raises(UsageError, match="need one data set"):
        agreement_map(polars.concat([scores, scores.with_columns(data=polars.lit("rooms3d"))]))


def test_the_matrix_of_states_has_a_square_for_each_run():
    states = polars.DataFrame({"cell": ["a", "a", "b"], "seed": [0, 7, 0], "state": ["done", "failed", "todo"]})
    axes = state_matrix(states)
    assert (ticks(axes, "x"), ticks(axes)) == (["0", "7"], ["a", "b"])
    places = {(round(patch.get_x()), round(patch.get_y())) for patch in axes.patches}  # pyright: ignore[reportAttributeAccessIssue]
    assert places == {(0, 0), (1, 0), (0, 1)}
    assert [text.get_text() for text in axes.texts] == ["×"]


def test_a_metric_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="the table has no metric 'dci'"):
        scores_by_cell(table(), "dci")
