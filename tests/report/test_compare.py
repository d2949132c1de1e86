from __future__ import annotations

import re
from typing import Any

import polars
import pytest

from unweave.report import render_comparison, write_comparison

from .test_page import Outline, text_of
from .test_scores import groups


def row(metric: str, difference: float | None = 0.1, reach: float = 0.05, **columns: Any) -> dict[str, Any]:
    ends = (
        {"low": None, "high": None} if difference is None else {"low": difference - reach, "high": difference + reach}
    )
    differs = None if difference is None else abs(difference) > reach
    values = {"value_a": 0.5, "value_b": None if difference is None else 0.5 + difference}
    verdict = {"differs": differs, "better": "second" if differs else None}
    known = {"metric": metric, "a": "first", "b": "second", "difference": difference, **values, **ends, **verdict}
    return {**known, "seconds": 1.0, "options": '{"bins": 20}', **columns}


def page_of(*rows: dict[str, Any], **given: Any) -> str:
    return render_comparison(polars.DataFrame(list(rows), infer_schema_length=None), **given)


def dots(page: str) -> list[float]:
    return [float(place) for place in re.findall(r'<b style="left:([\d.]+)%"', page)]


def test_the_page_says_what_differs_and_how_to_read_it():
    text = text_of(page_of(row("mig"), row("sap", 0.01), row("dci-disentanglement", -0.2, better="first")))
    assert "second against first" in text
    assert "first is better in 1 score, second in 1; 1 does not differ" in text
    assert "Differences are second less first." in text
    assert "exclude training seeds" in text
    assert "+0.100 +0.050 … +0.150" in text
    assert "−0.200 −0.250 … −0.150" in text


def test_scores_are_grouped_by_what_they_measure():
    page = page_of(row("mig"), row("dci-disentanglement"), row("new"))
    names = {group: [name.split()[0] for name in rows] for group, rows in groups(page).items()}
    assert names == {"Modularity": ["dci-disentanglement"], "Compactness": ["mig"], "Other": ["new"]}


def test_differences_are_drawn_around_0_on_one_scale():
    page = page_of(row("mig", 0.1), row("sap", -0.05), row("mcc", 0.0, 0.2))
    assert "<span>−0.2</span><span>0</span><span>+0.2</span>" in page
    assert dots(page) == [75.0, 37.5, 50.0]
    assert re.findall(r'<tr class="(\w+)"><th scope="row"', page) == ["differs", "same", "same"]


def test_a_score_without_limits_has_a_scale_of_its_own():
    page = page_of(row("mig", 0.1), row("elbo-rate", -30.0, 5.0, better=None))
    assert dots(page) == [83.33, 20.0]
    assert '<td class="extent">±50</td><td class="verdict">differs</td>' in page


def test_what_has_no_interval_has_no_verdict():
    page = page_of(row("mig", None), row("sap", 0.1, low=None, high=None, differs=None, better=None))
    assert page.count('<td class="verdict">–</td>') == 2
    assert len(dots(page)) == 1


def test_several_are_sections_and_facts_are_shared_or_apart():
    facts = {
        "first": {"data": "cars3d", "beta": 1.0},
        "second": {"data": "cars3d", "beta": 4.0},
        "third": {"data": "cars3d"},
    }
    page = page_of(row("mig"), row("mig", b="third", better="third"), facts=facts)
    assert page.count("<h2>") == 2
    assert "<dt>data</dt><dd>cars3d</dd>" in page
    assert '<th scope="row">beta</th><td>1.0</td><td>4.0</td><td>–</td>' in page


def test_the_page_is_whole_needs_nothing_and_escapes_names(tmp_path):
    named: dict[str, Any] = {"a": "<b>&", "b": "runs/'x'"}
    table = polars.DataFrame([row("mig", **named, better="<b>&")])
    path = write_comparison(table, tmp_path / "deep" / "compare.html", {"<b>&": {"<i>": "</td>"}})
    page = path.read_text()
    Outline(page)
    assert "<b>&" not in page
    assert not re.search(r"https?:|@import|src=|<script", page)
    assert "prefers-color-scheme: dark" in page
    assert write_comparison(table, tmp_path / "again.html", {"<b>&": {"<i>": "</td>"}}).read_text() == page


def test_what_must_not_be_overlooked_is_said():
    assert '<p class="alert">first: it has &lt;collapsed&gt;</p>' in page_of(
        row("mig"), notes=["first: it has <collapsed>"]
    )


@pytest.mark.parametrize("rows", [0, 1])
def test_an_empty_comparison_is_a_page_too(rows):
    table = polars.DataFrame([row("mig")]).head(rows)
    page = render_comparison(table)
    Outline(page)  # which raises for tags that do not match
    assert ("mig" in page) == (rows == 1)
