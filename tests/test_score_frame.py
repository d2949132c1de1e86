from __future__ import annotations

import pickle

import numpy as np
import polars
import pytest

from unweave import compare, evaluate
from unweave.score_frame import Scores

NUMBERS = ("value", "low", "high", "floor", "ceiling")


@pytest.fixture(scope="module")
def sample() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(300, 2))
    return factors + 0.1 * rng.normal(size=(300, 2)), factors


def test_scores_show_four_columns_and_no_json(sample):
    scores = evaluate(*sample, metrics=["mig", "total-correlation"])
    head, first, second = str(scores).splitlines()
    assert head.split("  ")[0] == "metric"
    assert head.split() == ["metric", "value", "95", "%", "interval", "floor", "…", "ceiling"]
    value, low, high, floor, ceiling = (f"{scores[name][0]:.3f}" for name in NUMBERS)
    assert first.split() == ["mig", value, low, "…", high, floor, "…", ceiling]
    assert second.endswith("–")  # without factors there is neither floor nor ceiling
    assert repr(scores) == str(scores)
    assert "{" not in str(scores) + scores._repr_html_()


def test_a_notebook_shows_the_same_cells(sample):
    scores = evaluate(*sample, metrics="mig", intervals=False)
    html = scores._repr_html_()
    assert "95 %" not in str(scores) + html
    assert [cell.partition("</th>")[0].partition(">")[2] for cell in html.split("<th ")[1:]] == [
        "metric",
        "value",
        "floor … ceiling",
    ]
    assert f'<td style="text-align:right">{scores["value"].item():.3f}</td>' in html


def test_scores_remain_a_frame_of_polars(sample):
    scores = evaluate(*sample, metrics="mig")
    assert isinstance(scores, polars.DataFrame)
    assert "options" in scores.columns
    assert scores.filter(polars.col("value") > 0).equals(polars.DataFrame(scores))
    assert pickle.loads(pickle.dumps(scores)).equals(scores)


@pytest.mark.parametrize("columns", [["metric", "value"], ["value", "options"], ["metric", "options"]])
def test_a_part_of_the_table_is_shown_as_polars_does(sample, columns):
    part = evaluate(*sample, metrics="mig")[columns]
    assert isinstance(part, Scores)
    assert str(part) == str(polars.DataFrame(part))
    assert part._repr_html_() == polars.DataFrame(part)._repr_html_()


def test_an_empty_table_is_shown_as_polars_does(sample):
    empty = evaluate(*sample, metrics="mig").head(0)
    assert str(empty) == str(polars.DataFrame(empty))


def test_rows_of_seconds_alone_are_not_shown(sample):
    scores = evaluate(*sample, metrics="mig")
    times = {"metric": ["encoding"], "seconds": [1.0], "options": ["{}"]}
    longer = Scores(polars.concat([scores, polars.DataFrame(times)], how="diagonal"))
    assert str(longer) == str(scores)


def test_a_comparison_names_the_two(sample):
    codes, factors = sample
    table = compare({"ours": codes, "theirs": codes[:, :1]}, factors=factors, metrics="mig")
    head, line = str(table).splitlines()
    assert head.split() == ["metric", "ours", "theirs", "difference", "95", "%", "interval", "better"]
    assert line.split()[1:3] == [f"{table[name].item():.3f}" for name in ("value_a", "value_b")]
    assert line.endswith("ours")


def test_a_comparison_of_several_names_each_pair(sample):
    codes, factors = sample
    table = compare({"x": codes, "y": codes[:, :1], "z": codes + 1}, factors=factors, metrics="mig")
    head, *lines = str(table).splitlines()
    assert head.split()[:6] == ["metric", "first", "second", "value_a", "value_b", "difference"]
    assert [line.split()[1:3] for line in lines] == [["x", "y"], ["x", "z"]]


def test_names_of_encoders_are_escaped(sample):
    codes, factors = sample
    assert "<b>" not in compare({"<b>": codes, "y": codes}, factors=factors, metrics="mig")._repr_html_()
