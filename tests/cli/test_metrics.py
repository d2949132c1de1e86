"""`unweave metrics list`: every metric, what it needs, and which end is better."""

from __future__ import annotations

import json

from unweave.metrics import GROUPS, METRICS

from .conftest import Cli


def test_every_metric_has_a_line(cli: Cli):
    code, out, err = cli("metrics", "list")
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()
    assert head.split() == ["name", "measures", "range", "better", "needs", "reference"]
    assert [line.split()[0] for line in lines[: len(METRICS)]] == list(METRICS)
    assert "\ngroups\n" in out
    assert all(name in out for name in GROUPS if name != "all")
    assert "\nbetter: the better end of the range; – if neither is\n" in out
    assert out.endswith("next: unweave evaluate runs/first\n")


def test_the_line_of_a_metric_says_which_end_is_better(cli: Cli):
    lines = {line.split()[0]: line for line in cli("metrics", "list").out.splitlines() if line}
    assert "  higher  codes, factors  " in lines["mig"]
    assert "  lower   codebook  " in lines["unfairness"]
    assert "  –       codes  " in lines["active-units"]
    assert "  codes, factors  " in lines["factor-vae-score"]


def test_metrics_for_machines(cli: Cli):
    listed = json.loads(cli("metrics", "list", "--json").out)["metrics"]
    assert [entry["name"] for entry in listed if entry["name"] in METRICS] == list(METRICS)  # others: of plugins
    entries = {entry["name"]: entry for entry in listed}
    assert entries["mig"]["options"] == {"bins": 20}
    assert entries["dci-lasso"]["options"] == {"learner": "lasso"}
    assert entries["mig"]["about"].startswith("Mutual information gap")
    assert [entries[name]["better"] for name in ("mig", "unfairness", "elbo")] == ["higher", "lower", "–"]
    assert entries["dci"]["parts"] == ["disentanglement", "completeness", "informativeness"]
    assert entries["mcc"]["range"] == [0.0, 1.0]
