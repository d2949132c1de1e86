from __future__ import annotations

import pytest

from unweave import UsageError
from unweave.metrics import METRICS, describe


@pytest.mark.parametrize("name", METRICS)
def test_every_option_of_a_metric_is_explained(name):
    found = describe(name)
    assert set(found.meanings) == set(found.options)
    assert all(found.meanings.values())
    assert found.about.endswith((".", "?", ":"))
    assert found.needs


def test_a_description_reads_as_text_and_as_html():
    text, html = str(describe("dci")), describe("dci")._repr_html_()
    assert "scores     dci-disentanglement, dci-completeness, dci-informativeness" in text
    assert "learner  gbt    The predictor of each factor" in text
    assert repr(describe("dci")) == text
    assert html.count("<table>") == 2
    assert '<td style="text-align:left">Eastwood &amp; Williams 2018</td>' in html


def test_a_metric_without_options_has_no_table_of_them():
    without = [name for name, metric in METRICS.items() if not metric.options]
    assert without
    assert describe(without[0])._repr_html_().count("<table>") == 1


def test_a_misspelt_metric_has_its_nearest_match():
    with pytest.raises(UsageError, match="no metric is called 'dcii'; did you mean 'dci'"):
        describe("dcii")
