"""Pictures of what a loss sees."""

from __future__ import annotations

import numpy as np
import polars
import pytest

from unweave import report
from unweave.errors import UsageError
from unweave.perception import distance_matrices, perceive


@pytest.fixture(scope="module")
def found():
    return perceive("xysquares:size=32,spacing=4", pairs=1000, others=False)


def test_matrices_stand_in_columns_of_factors_and_rows_of_levels():
    matrices = distance_matrices("xysquares:size=32", traversals=1)
    axes = report.distance_matrices_figure(matrices).axes
    assert len(axes) == 12
    assert [each.get_title() for each in axes if each.get_title()] == list(matrices)
    shown = next(each for each in axes if each.get_ylabel() == "data").images[0].get_array()
    assert np.allclose(np.asarray(shown), matrices["x_R"]["data"])


def test_a_matrix_is_drawn_where_it_is_told():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert report.distance_matrix(np.eye(3), axes, title="x") is axes
    with pytest.raises(UsageError, match="square"):
        report.distance_matrix(np.zeros((2, 3)))
    with pytest.raises(UsageError, match="no factor to draw"):
        report.distance_matrices_figure({})


def test_cumulative_lines_end_at_one_and_the_most_important_is_first(found):
    axes = report.cumulative_distances(found.distances)
    assert axes.lines[0].get_label() == "random"
    assert len(axes.lines) == 7
    for line in axes.lines:
        x, y = (np.asarray(part) for part in line.get_data())
        assert (x[0], y[0], y[-1]) == (0, 0, 1)
        assert (np.diff(x) >= 0).all()
        name = str(line.get_label())
        middle = x[np.searchsorted(y[1:-1], 0.5) + 1]
        assert middle == pytest.approx(np.median(found.distances[name]), rel=0.05)


def test_every_factor_has_a_point_and_neighbours_share_a_label():
    rows = [("x", 0.95, 0.8), ("y", 0.94, 0.79), ("shape", 0.3, 0.1), ("age", 0.9, None)]
    table = polars.DataFrame(
        [{"factor": name, "order": x, "relative": y, "verdict": "seen"} for name, x, y in rows]
        + [{"factor": "random", "order": None, "relative": 1.0, "verdict": None}]
    )
    axes = report.factors_seen(table)
    (points,) = axes.collections
    assert len(np.asarray(points.get_offsets())) == 4
    assert [text.get_text() for text in axes.texts] == ["x, y", "shape", "age"]


def test_learnt_against_predicted():
    rows = polars.DataFrame({"data": ["a", "a", "b"], "order": [0.5, None, 1.0], "information": [0.1, 0.2, 0.9]})
    axes = report.learnt_scatter(rows, "order", "information")
    points = [np.asarray(each.get_offsets()).tolist() for each in axes.collections]
    assert points == [[[0.5, 0.1]], [[1.0, 0.9]]]
