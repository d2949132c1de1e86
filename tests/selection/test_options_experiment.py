"""The stored experiment behind the defaults of the training-dynamics score: what the docstrings say of it holds."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
from dynamics_options import known, settings

from unweave.selection import dynamics

TABLE = polars.read_csv(
    Path(__file__).parents[2] / "docs/results/dynamics-options.csv", schema_overrides={"value": polars.String}
)
ORDER = ["jitter", "weights", "samples", "noise"]


def row(option: str, value: str | None) -> dict:
    chosen = TABLE.filter((polars.col("option") == option) & (polars.col("value").fill_null("") == (value or "")))
    assert len(chosen) == 1
    return chosen.row(0, named=True)


def test_every_setting_has_a_row():
    assert [(option, value) for option, value, _ in settings()] == list(
        zip(TABLE["option"], TABLE["value"].fill_null(""), strict=True)
    )


def test_the_defaults_order_known_dynamics_rightly():
    scores = [row("default", "")[name] for name in ORDER]
    assert scores == sorted(scores)
    assert scores[3] > 10 * scores[0]


def test_the_table_is_of_this_code():
    for name, traces in known().items():
        assert dynamics(traces) == pytest.approx(row("default", "")[name], rel=0.05)


OUT = [("alpha", "1.0"), ("steps", "1"), ("steps", "2"), ("steps", "32"), ("dimension", "2")]


@pytest.mark.parametrize(("option", "value"), OUT)
def test_options_that_known_dynamics_rule_out(option, value):
    scores = [row(option, value)[name] for name in ORDER]
    assert scores != sorted(scores)


def test_all_others_order_them_rightly():
    for found in TABLE.iter_rows(named=True):
        if (found["option"], found["value"]) not in OUT:
            scores = [found[name] for name in ORDER]
            assert scores == sorted(scores), found


def test_trained_runs_do_not_choose_between_options():
    """Every correlation is within two standard deviations of chance, 0.45 each, and no interval excludes chance."""
    assert TABLE["spearman"].is_between(-0.72, 0.49).all()
    assert (TABLE["spearman"].abs() < 2 * 0.45).all()
    assert ((TABLE["low"] < 0.05) & (TABLE["high"] > 0)).all()
