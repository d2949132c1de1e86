"""Claims about figures of the thesis, put to tables whose answers are planted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import nan
from typing import Any

import numpy as np
import polars
import pytest

from unweave.reproduce import find
from unweave.reproduce.thesis.claims import Case, Claim, claim
from unweave.reproduce.thesis.comparisons import TITLES, by_seed, differences, levels, means, setting_of_best, trends
from unweave.reproduce.thesis.scores import at_best, at_end, has_snapshots, prepared, without_collapsed

Score = Callable[[dict[str, Any], str], float]


def table(
    score: Score, seeds: int = 5, metrics: tuple[str, ...] = tuple(TITLES), noise: float = 0.01, **columns: list[Any]
) -> polars.DataFrame:
    """Return a study's table with every combination of the columns; `score(settings, metric)` plus noise."""
    rng = np.random.default_rng(0)
    columns = {"data": ["xysquares"], "method": ["beta-vae", "ada-gvae"], **columns}
    rows = []
    for number, values in enumerate(product(*columns.values(), range(seeds))):
        settings = dict(zip([*columns, "seed"], values, strict=True))
        for metric in metrics:
            value = score(settings, metric) + noise * rng.normal()
            rows.append({"run": f"run{number}", **settings, "step": 100, "metric": metric, "value": value})
    return polars.DataFrame(rows).with_columns(low=polars.lit(None), high=polars.lit(None))


def verdicts(name: str, found: polars.DataFrame) -> list[str]:
    """Return what a figure says of each of its claims."""
    figure: Any = find(name)()
    return [each.verdict for each in figure.claims(at_end(figure.plotted(prepared(found))[0]))]


def case(value: float, low: float | None = None, high: float | None = None, **where: Any) -> Case:
    return Case("a number", value, low, high, **where)


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [
        ([case(0.2, 0.1, 0.3)], "holds"),
        ([case(0.2, 0.1, 0.3), case(0.1, -0.1, 0.3)], "holds on average"),
        ([case(0.2), case(0.1)], "holds on average"),
        ([case(0.2, 0.1, 0.3), case(-0.1, -0.2, 0.1)], "holds in part"),
        ([case(0.2, -0.1, 0.3), case(-0.1, -0.2, 0.1)], "is undecided"),
        ([case(0.2, -0.1, 0.3), case(-0.3, -0.4, -0.2)], "does not hold"),
        ([case(-0.1)], "does not hold"),
        ([case(-0.1, -0.3, 0.1)], "is undecided"),
        ([case(-0.2, -0.3, -0.1)], "does not hold"),
        ([case(0.95, 0.92, 0.99, above=0.9)], "holds"),
        ([case(0.02, -0.05, 0.09, above=-0.1, below=0.1)], "holds"),
    ],
)
def test_a_verdict_weighs_all_cases(cases: list[Case], verdict: str):
    (found,) = claim("things are so", cases)
    assert found.verdict == verdict
    assert found.note().startswith(f"Thesis: things are so. Here this {verdict}: ")


def test_without_numbers_there_is_no_claim():
    assert claim("nothing", []) == claim("nothing", [case(nan)]) == []
    few = Claim("so", (case(0.2), case(0.1))).note()
    assert few.endswith("holds on average: 2 of 2 numbers agree, with fewer than 5 seeds there are no intervals.")


def test_differences_are_over_seeds_and_not_over_runs():
    def score(settings: dict[str, Any], metric: str) -> float:
        return 0.5 * (settings["loss"] == "mse-box") + settings["beta"] + 0.1 * settings["seed"]

    planted = table(score, noise=0, metrics=("mig",), loss=["mse", "mse-box"], beta=[0.1, 0.3])
    found = differences(planted, ("mig", "sap"), "loss", "mse-box", "mse")
    assert [each.what for each in found] == ["MIG of Ada-GVAE: mse-box less mse", "MIG of β-VAE: mse-box less mse"]
    assert all(each.value == pytest.approx(0.5) and each.low == pytest.approx(0.5) for each in found)
    assert by_seed(planted, "mig", loss="mse", method="beta-vae") == pytest.approx({s: 0.2 + 0.1 * s for s in range(5)})
    best = by_seed(planted, "mig", np.max, loss="mse", method="beta-vae")
    assert best == pytest.approx({s: 0.3 + 0.1 * s for s in range(5)})
    assert setting_of_best(planted, "mig", "beta") == dict.fromkeys(range(5), 0.3)
    row, chance = found[0].rows()
    assert (row.ours, row.published, chance.ours) == (pytest.approx(0.5), None, 1.0)
    assert differences(planted, ("mig",), "nothing", 1, 2) == []


def test_intervals_need_five_seeds():
    planted = table(lambda settings, metric: 0.1 * settings["seed"], seeds=4, loss=["mse", "mse-box"])
    assert all(
        each.low is None and each.chance is None for each in differences(planted, ("mig",), "loss", "mse", "mse-box")
    )
    assert all(each.low is None for each in means(planted, ("mig",), above=0.0))


def test_trends_see_the_direction():
    planted = table(lambda settings, metric: -settings["spacing"], spacing=[1.0, 4.0, 8.0])
    assert all(each.value < -0.9 and each.is_clear for each in trends(planted, ("mig",), "spacing", falls=True))
    assert all(each.contradicts for each in trends(planted, ("mig",), "spacing", falls=False))


def test_names_become_short_and_options_columns_once():
    raw = table(lambda settings, metric: 0.5, data=["xysquares:spacing=8,size=16", "xysquares:spacing=1,size=16"])
    raw = raw.with_columns(loss=polars.lit("learnt:path=/home/ada/my.loss,weight=1,sha256=0123"))
    found = prepared(raw)
    assert levels(found, "data") == ["xysquares"]
    assert levels(found, "spacing") == [1.0, 8.0]
    assert levels(found, "loss") == ["learnt"]
    assert prepared(found).equals(found)
    constant = prepared(table(lambda settings, metric: 0.5, data=["xysquares:spacing=8,size=16"]))
    assert "spacing" not in constant.columns


def test_schedules_have_the_names_of_the_thesis():
    routes = [("1", "0:0.5@2500"), ("1:0.5@2500", "0.5"), ("1:0@2500", "0.5")]
    raw = polars.concat(
        [
            table(lambda settings, metric: 0.5, method=["ada-tvae"]).with_columns(
                omega=polars.lit(omega), eta=polars.lit(eta)
            )
            for omega, eta in routes
        ]
    )
    assert levels(prepared(raw), "schedule") == ["threshold", "weight (strong)", "weight (weak)"]
    only_omega = raw.filter(polars.col("eta") == "0.5").drop("eta")
    assert levels(prepared(only_omega), "schedule") == ["weight (strong)", "weight (weak)"]


def test_the_end_and_the_largest_score_of_a_run():
    ends = table(lambda settings, metric: 0.2, noise=0, seeds=1)
    early = ends.with_columns(step=polars.lit(50), value=polars.lit(0.7))
    both = prepared(polars.concat([ends, early], how="vertical_relaxed"))
    assert has_snapshots(both)
    assert not has_snapshots(at_end(both))
    assert set(at_end(both)["value"]) == {0.2}
    assert set(at_best(both)["value"]) == {0.7}
    assert len(at_best(both)) == len(at_end(both))


def test_snapshots_give_every_claim_twice():
    def score(settings: dict[str, Any], metric: str) -> float:
        return 0.5 if settings["loss"] == "mse-box" else 0.1

    ends = table(score, loss=["mse", "mse-box"])
    early = ends.with_columns(step=polars.lit(50), value=1 - polars.col("value"))
    figure: Any = find("thesis-3.12")()
    found = figure.read(polars.concat([ends, early], how="vertical_relaxed"))
    assert "Here this holds:" in found.notes[0]
    assert found.notes[1].startswith("By the largest score during training. Thesis:")
    assert "does not hold" in found.notes[1]
    assert sum(row.what.startswith("largest score during training: ") for row in found.rows) == len(found.rows) / 2
    assert list(found.figures) == ["scores"]


def test_runs_whose_codes_do_not_move_are_left_out():
    def score(settings: dict[str, Any], metric: str) -> float:
        return 0.0 if settings["beta"] == 1 else 0.5

    planted = table(score, noise=0, beta=[0.01, 1.0])
    kept, gone = without_collapsed(planted)
    assert gone == 10
    assert levels(kept, "beta") == [0.01]


HARD: dict[Any, float] = {"xysquares": 0.1, "shapes2d": 0.4, "rooms3d": 0.5}
CORRELATED = {"perceived-correlation": 0.97, "factor-distance-correlation": 0.6}
SETS = {"data": ["xysquares", "shapes2d"]}
PLANTED: list[tuple[str, Score, dict[str, Any], list[str]]] = [
    (
        "thesis-3.7",
        lambda s, m: HARD[s["data"]] - 0.01 * abs(np.log10(s["beta"]) + (3 if s["data"] == "xysquares" else 2)),
        {"data": list(HARD), "beta": [0.001, 0.01], "noise": 1e-4},
        ["holds", "holds"],
    ),
    ("thesis-3.7", lambda s, m: 0.6 - HARD[s["data"]], {"data": list(HARD)}, ["does not hold"]),
    ("thesis-3.10", lambda s, m: 0.5 - 0.05 * s["spacing"], {"spacing": [1.0, 2.0, 4.0, 8.0]}, ["holds", "holds"]),
    (
        "thesis-3.10",
        lambda s, m: 0.05 * s["spacing"],
        {"spacing": [1.0, 2.0, 4.0, 8.0]},
        ["does not hold", "does not hold"],
    ),
    ("thesis-3.12", lambda s, m: 0.3 * (s["loss"] == "mse-box"), {"loss": ["mse", "mse-box"]}, ["holds"]),
    (
        "thesis-4.4",
        lambda s, m: CORRELATED[m] if m in CORRELATED else 0.3 + 0.2 * (s["method"] == "ada-gvae"),
        SETS,
        ["holds", "holds", "holds", "holds"],
    ),
    (
        "thesis-4.4",
        lambda s, m: 0.5 + 0.3 * (s["method"] == "ada-gvae"),
        SETS,
        ["does not hold", "is undecided", "does not hold", "holds"],
    ),
    (
        "thesis-5.1",
        lambda s, m: 0.3 if s["method"] != "beta-tvae" else 0.6 + 0.2 * (s["norm"] == "l1"),
        {**SETS, "method": ["beta-vae", "ada-gvae", "beta-tvae"], "norm": ["l1", "l2"]},
        ["holds", "holds", "holds"],
    ),
    (
        "thesis-5.4",
        lambda s, m: (
            0.3
            if s["method"] == "beta-tvae"
            else 0.95 + 0.02 * (s["by"] == "distance-scaled") - 0.03 * ("strong" in s["schedule"])
        ),
        {
            "method": ["ada-tvae", "beta-tvae"],
            "by": ["distance", "distance-scaled"],
            "schedule": ["weight (weak)", "weight (strong)", "both (weak)", "both (strong)"],
            "noise": 1e-4,
        },
        ["holds", "holds", "holds", "holds"],
    ),
    (
        "thesis-5.5",
        lambda s, m: (
            0.3
            if s["method"] != "ada-tvae"
            else 0.6 + 0.33 * (s["difference"] == "absolute") + 0.03 * (s["schedule"] == "weight (weak)")
        ),
        {
            "method": ["ada-tvae", "beta-vae", "ada-gvae"],
            "difference": ["absolute", "symmetric-kl"],
            "schedule": ["weight (weak)", "both (weak)", "threshold"],
            "noise": 1e-4,
        },
        ["holds", "holds", "holds", "holds"],
    ),
    (
        "thesis-5.7",
        lambda s, m: HARD[s["data"]] * s["correlation_of_data"] + 0.2 * (s["method"] != "ada-tvae-unsupervised"),
        {
            "data": ["rooms3d"],
            "method": ["ada-tvae-unsupervised", "beta-vae", "ada-gvae"],
            "correlation_of_data": [0.3, 0.6],
        },
        ["holds", "holds"],
    ),
    (
        "thesis-6.4",
        lambda s, m: {"mse": 0.1, "mse-gauss": 0.2, "mse-box": 0.4, "learnt": 0.5}[s["loss"]],
        {"loss": ["mse", "mse-gauss", "mse-box", "learnt"]},
        ["holds", "holds"],
    ),
    (
        "thesis-6.4",
        lambda s, m: {"mse": 0.1, "mse-gauss": 0.2, "mse-box": 0.5, "learnt": 0.4}[s["loss"]],
        {"loss": ["mse", "mse-gauss", "mse-box", "learnt"]},
        ["holds in part", "holds"],
    ),
    (
        "thesis-7.3",
        lambda s, m: 0.3 + 0.1 * (s["data"] == "xyobject-shaded"),
        {"data": ["xyobject", "xyobject-shaded"]},
        ["holds"],
    ),
    (
        "thesis-7.6",
        lambda s, m: 0.6 - 0.3 * s["visibility"],
        {"data": ["shapes2d-images-bg", "shapes2d-images-fg"], "visibility": [0.0, 0.5, 1.0]},
        ["holds", "holds"],
    ),
]


@pytest.mark.parametrize(("name", "score", "columns", "expected"), PLANTED, ids=[each[0] for each in PLANTED])
def test_planted_answers_are_found(name: str, score: Score, columns: dict[str, Any], expected: list[str]):
    assert verdicts(name, table(score, **columns)) == expected


def test_of_many_strengths_the_runs_are_those_that_the_thesis_plots():
    chosen = table(
        lambda s, m: 0.9 if (s["method"] == "beta-vae" and s["spacing"] < 3) == (s["beta"] == 0.00316) else 0.0,
        noise=0, spacing=[1.0, 8.0], beta=[0.001, 0.00316],
    )  # fmt: skip
    figure: Any = find("thesis-3.10")()
    kept, notes = figure.plotted(prepared(chosen))
    assert set(kept["value"]) == {0.9}
    assert len(notes) == 1
    betas = [0.0001, 0.000316, 0.001, 0.00316, 0.01, 0.0316]
    losses = {"mse": betas[:2], "mse-gauss": betas[2:4], "mse-box": betas[4:], "learnt": betas[4:]}
    planted = table(lambda s, m: float(s["beta"] in losses[s["loss"]]), noise=0, loss=list(losses), beta=betas)
    kept, notes = find("thesis-6.4")().plotted(prepared(planted))  # pyright: ignore[reportAttributeAccessIssue]
    assert set(kept["value"]) == {1.0}
    assert len(notes) == 1
