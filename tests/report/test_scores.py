"""The table of scores on the page, and which of the saved ones are in it."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars
import pytest

from unweave.metrics import METRICS
from unweave.report.directions import KNOWN, higher_is_better
from unweave.report.saved import saved_scores
from unweave.report.scores import ORIGINS, QUESTIONS, score_table


def score(metric: str, value: float | None = 0.5, **columns: Any) -> dict[str, Any]:
    return {"metric": metric, "value": value, "low": None, "high": None, "floor": None, "options": "{}", **columns}


def heads(table: str) -> list[str]:
    return re.findall(r'<th scope="row"[^>]*>(.*?)</th>', table)


def groups(table: str) -> dict[str, list[str]]:
    """Return the names of the rows in each group."""
    parts = re.split(r'<th scope="rowgroup"[^>]*><strong>(.*?)</strong>', table)[1:]
    return {group: heads(rows) for group, rows in zip(parts[::2], parts[1::2], strict=True)}


def test_every_metric_belongs_to_a_group_with_a_question():
    assert {origin.group for origin in ORIGINS.values()} <= set(QUESTIONS) - {"other"}
    assert len(ORIGINS) == sum(len(metric.names(name)) for name, metric in METRICS.items())


def test_scores_are_grouped_by_what_they_measure_parts_too():
    rows = ["dci-disentanglement", "mig", "dci-completeness", "dci-informativeness", "info-mec-compactness", "new"]
    assert groups(score_table([score(row) for row in rows])) == {
        "Modularity": ["dci-disentanglement"],
        "Compactness": ["mig", "dci-completeness", "info-mec-compactness"],
        "Explicitness": ["dci-informativeness"],
        "Other": ["new"],
    }


def test_scores_of_one_name_are_told_apart():
    options = ['{"bins": 20, "seed": 0}', '{"seed": 0}', '{"bins": 20, "label_noise": 3, "seed": 0}']
    rows = [score(name, options=given) for name, given in zip(("mig", "jemmig", "mig"), options, strict=True)]
    table = score_table(rows)
    assert heads(table) == ["mig", "mig <small>label_noise=3</small>", "jemmig"]
    assert 'title="bins=20, label_noise=3, seed=0"' in table


@pytest.mark.parametrize(("higher", "told"), [(True, "↑ higher"), (False, "↓ lower"), (None, "")])
def test_the_direction_is_that_of_the_metric(higher: bool | None, told: str, monkeypatch: pytest.MonkeyPatch):
    metric = SimpleNamespace(range=(0.0, 1.0), higher_is_better=higher)
    monkeypatch.setitem(ORIGINS, "mig", replace(ORIGINS["mig"], metric=metric))
    assert f'<td class="better">{told}</td>' in score_table([score("mig")])


def test_scores_without_an_interval_or_outside_the_scale():
    table = score_table([score("a", 0.25), score("b", -3.0, low=-4.0, high=-2.0), score("c", None)])
    values = re.findall(r'<td class="value">(.*?)</td><td>(.*?)</td>', table)
    assert values == [("0.250", "–"), ("−3.000", "−4.000 – −2.000"), ("–", "–")]
    assert table.count('class="scale"') == 1
    assert '<b style="left:25.00%">' in table
    assert "adjusted" not in table  # nothing has a floor


def test_floor_and_ceiling_are_drawn_into_the_scale():
    rows = [
        score("mig", 0.5, floor=0.1, ceiling=0.9, adjusted=0.5, low=0.4, high=0.6),
        score("jemmig", 0.5),
        score("im", 1.0, floor=0.5, ceiling=4.0, adjusted=0.1),  # no largest value: a scale of its own
    ]
    table = score_table(rows)
    ticks = re.findall(r'<u class="(\w+)" style="left:(.*?)%">', table)
    assert ticks == [("floor", "10.00"), ("ceiling", "90.00"), ("floor", "12.50"), ("ceiling", "100.00")]
    assert 'aria-label="floor 0.100, ceiling 0.900"' in table
    assert '<i style="left:40.00%;width:20.00%">' in table
    assert '<b style="left:25.00%">' in table
    assert table.count('<span class="ends own"><span>0</span><span>4</span></span>') == table.count("ends own") == 1
    adjusted = [row.rsplit("<td>", 1)[1] for row in re.findall(r"<tr><th.*?</td></tr>", table)]
    assert adjusted == ["0.500</td></tr>", "–</td></tr>", "0.100</td></tr>"]


@pytest.mark.parametrize(
    "name", ["downstream-gbt-accuracy-100", "downstream-logistic-accuracy-10", "dci-es-explicitness"]
)
def test_parts_between_0_and_1_are_drawn_there_whatever_the_range_of_their_metric(name: str):
    table = score_table([score(name, 0.25, floor=0.1, ceiling=0.5)])
    assert re.findall(r'<[ub].*? style="left:(.*?)%">', table) == ["10.00", "50.00", "25.00"]
    assert "ends own" not in table


def test_a_scale_of_its_own_holds_all_that_is_drawn():
    table = score_table([score("r2", -1.0, low=-3.0, high=0.5, floor=-0.5, ceiling=1.0)])
    assert '<i style="left:0.00%;width:87.50%">' in table
    assert re.findall(r'<[ub].*? style="left:(.*?)%">', table) == ["62.50", "100.00", "50.00"]
    assert "<span>−3</span><span>1</span>" in table
    assert "ends own" not in score_table([score("r2", 0.5, floor=-0.005, ceiling=1.0)])  # noise around 0
    assert 'class="scale"' not in score_table(
        [score("im", 0.5, floor=0.1), score("dci-es-size", 0, floor=0, ceiling=0)]
    )


@pytest.mark.parametrize(
    ("name", "floor", "told"), [("mig", 0.9, 1), ("mig", 0.8, 1), ("mig", 0.1, 0), ("new", 0.9, 0)]
)
def test_a_ceiling_that_is_not_better_than_the_floor_is_told(name: str, floor: float, told: int):
    table = score_table([score(name, floor=floor, ceiling=0.8)])
    assert table.count(f'title="floor {floor:.3f}, ceiling 0.800: the ceiling is not better than the floor') == told
    lower = score_table([score("unfairness-mean", floor=floor, ceiling=0.8)])
    assert ("not better" in lower) == (floor <= 0.8)


def test_only_scores_of_the_weights_at_hand_are_shown(run):
    rows = [
        score("mig", 0.1, step=200, current=False),
        score("sap", 0.2, step=200, current=False),
        score("dci-completeness", 0.3, step=None, current=False),
        score("encoding", None, step=200, current=False),
        score("mig", 0.4, step=3000, current=True),
        score("encoding", None, step=3000, current=True),
    ]
    saved = saved_scores(replace(run, table=polars.DataFrame(rows)))
    assert [row["value"] for row in saved.scores] == [0.4]
    assert saved.news.startswith("3 older scores, of step 200 and a step that was not recorded, are left out.")
    assert f"unweave evaluate {run.path} --metrics sap dci computes" in re.sub(r"<.*?>", "", saved.news)


def test_older_scores_that_are_there_again_need_no_command(run):
    rows = [score("mig", step=200, current=False), score("mig", step=3000, current=True)]
    news = saved_scores(replace(run, table=polars.DataFrame(rows))).news
    assert news == "1 older score, of step 200, is left out."


def test_a_run_with_older_scores_alone_has_none_yet(run):
    table = polars.DataFrame([score("mig", step=200, current=False)])
    saved = saved_scores(replace(run, table=table, state="unfinished", step=300))
    assert saved.scores == []
    assert saved.reading == ""
    assert "unfinished, at step 300 of 3,000" in saved.news
    assert f"unweave evaluate {run.path}</code> computes them" in saved.news
    assert "This run has failed, at step" in saved_scores(replace(run, state="failed")).news


def test_the_reader_is_told_what_intervals_floors_and_ceilings_are(run):
    bare = polars.DataFrame([score("mig")])
    assert saved_scores(replace(run, table=bare)).reading == ""
    rows = [score("mig", low=0.4, high=0.6, floor=0.1)]
    reading = saved_scores(replace(run, table=polars.DataFrame(rows))).reading
    assert "over images" in reading
    assert "training seeds" in reading
    assert "factors shuffled" in reading
    for mark, place in (("floor", "from below is the floor"), ("ceiling", "from above the ceiling")):
        assert f'<u class="{mark}"></u></span> {place}' in reading


def test_directions_by_name_are_those_of_the_metrics():
    assert {name: higher_is_better(name) for name in ORIGINS} == {
        name: origin.metric.higher_is_better for name, origin in ORIGINS.items()
    }
    assert set(KNOWN) <= set(ORIGINS)  # none that has another name by now
    assert higher_is_better("nobody's score") is None
