"""The comparison of all methods: what it holds, its parts, how scores are merged, and the page that shows them."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

import comparison
import comparison_docs
import comparison_figure
import comparison_findings
import comparison_times
import numpy as np
import polars
import polars.selectors as cs
import pytest
from comparison_cells import (
    ABOUT,
    ASKS,
    HFS_TC,
    JACOBIAN,
    LABELLED,
    UNTRAINED,
    cells_of,
    methods_with,
    scores_of_cell,
    usual,
)
from comparison_docs import DOCS, TITLES, shown
from scipy import stats

from unweave.methods import METHODS
from unweave.study.folder import StudyFolder
from unweave.study.plan import Plan

from .test_table import write_run, write_scored

ONCE = {UNTRAINED, "vae", "ae", "fsq", "pcl"}
"""Methods without a strength."""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return comparison.plan_of()


def scores(run: str, value: float, seconds: float = 10.0) -> polars.DataFrame:
    rows = [{"run": run, "metric": metric, "value": value, "seconds": seconds} for metric in sorted(TITLES)]
    return polars.DataFrame(rows).with_columns(machine=polars.lit("{}"), versions=polars.lit("{}"))


def test_every_method_is_there_on_three_data_sets_at_three_strengths_with_five_seeds(plan):
    """A method that is new: a line in comparison.toml, and one in `comparison_cells.ABOUT`."""
    cells = cells_of(plan)
    assert {cell.method for cell in cells} == set(ABOUT)
    names = {"dip-vae" if name.startswith("dip-vae") else name for name in ABOUT}
    assert names - {UNTRAINED, LABELLED, JACOBIAN, HFS_TC} == set(METHODS)
    for method in ABOUT:
        own = [cell for cell in cells if cell.method == method]
        assert {cell.data for cell in own} == {"rooms3d", "shapes2d", "xyobject"}
        for data in ("rooms3d", "shapes2d", "xyobject"):
            strengths = [cell.strength for cell in own if cell.data == data]
            assert len(strengths) == len(set(strengths)) == (1 if method in ONCE else 3), method
            assert all(strengths) or method in ONCE
    assert {len(cell.runs) for cell in cells} == {5}
    assert {asks for asks, _ in ABOUT.values()} == set(ASKS)


def test_parts_are_all_runs_once_and_leave_out_what_is_stored(plan):
    parts = [comparison.part_of(plan, f"{number}/7") for number in range(1, 8)]
    names = [task.name for part in parts for task in part.tasks]
    assert sorted(names) == sorted(task.name for task in plan.tasks)
    assert all(len({task.config["method"]["name"] for task in part.tasks}) == len(METHODS) for part in parts)
    stored = names[:3]
    assert [task.name for task in comparison.part_of(plan, "1/7", stored).tasks] == names[3 : len(parts[0].tasks)]
    of_four = [comparison.part_of(plan, f"{number}/4") for number in range(1, 5)]  # 4 divides the number of cells
    assert all({task.config["method"]["name"] for task in part.tasks} == set(METHODS) for part in of_four)
    for wrong in ("0/4", "5/4", "half", "1"):
        with pytest.raises(SystemExit, match="a part is written 1/4"):
            comparison.part_of(plan, wrong)


def test_merging_is_the_same_in_any_order_and_keeps_what_is_there():
    a, b, c = scores("a", 0.1), scores("b", 0.2), scores("c", 0.3)
    empty = polars.DataFrame(schema=comparison.COLUMNS)
    one = comparison.merged(empty, a, b, c)
    assert one.equals(comparison.merged(comparison.merged(empty, c), b, a))
    assert one.equals(comparison.merged(one, b, one))
    again = comparison.merged(one, scores("b", 0.9))
    assert again.equals(one)
    assert one.columns == list(comparison.COLUMNS)


def test_finished_runs_of_the_plan_are_read_off_a_study(plan, tmp_path: Path):
    StudyFolder(tmp_path).write_plan(plan)
    whole, unfinished, discrete = plan.tasks[:3]
    every = dict.fromkeys(TITLES, 0.25)
    write_run(tmp_path / "runs" / whole.name, dict(whole.config), {**every, "sap": 0.5})
    write_run(tmp_path / "runs" / unfinished.name, dict(unfinished.config), every)
    write_run(tmp_path / "runs" / discrete.name, dict(discrete.config), {"mig": 0.25})
    write_run(tmp_path / "runs" / "another", dict(whole.config), every)
    for task in (whole, discrete):
        write_scored(tmp_path, task, plan)
    path = tmp_path / "stored.parquet"
    found = comparison.store([tmp_path], path)
    assert set(found["run"]) == {whole.name, discrete.name}
    assert found.filter(run=whole.name)["value"].to_list() == [0.25] * len(TITLES)
    lacking = found.filter(polars.col("value").is_null())
    assert set(lacking["run"]) == {discrete.name}
    assert set(lacking["metric"]) == set(TITLES) - {"mig"}
    assert sorted(found["metric"]) == sorted([*TITLES, *TITLES])
    assert found["seconds"].to_list() == [1.5] * 2 * len(TITLES)
    assert found.equals(comparison.read(path))
    other = tmp_path / "other.parquet"
    far = plan.tasks[5].name
    comparison.write_table(other, comparison.merged(scores(far, 0.5), scores("of another plan", 0.5)))
    assert set(comparison.store([other], path)["run"]) == {whole.name, discrete.name, far}
    with pytest.raises(SystemExit, match="there is no file or folder nowhere"):
        comparison.store([other, Path("nowhere")], path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop("value"), "has no column value"),
        (lambda table: table.with_columns(value=polars.lit("high")), "are not those of stored scores"),
        (lambda table: table.with_columns(value=polars.lit(float("nan"))), "not finite; nothing is stored"),
        (lambda table: table.with_columns(value=polars.lit(float("inf"))), "not finite; nothing is stored"),
    ],
)
def test_a_file_that_holds_no_scores_changes_nothing(plan, tmp_path: Path, change, message: str):
    path, other = tmp_path / "stored.parquet", tmp_path / "other.parquet"
    comparison.write_table(path, scores(plan.tasks[0].name, 0.5))
    before = path.read_bytes()
    comparison.write_table(other, change(scores(plan.tasks[1].name, 0.5)))
    with pytest.raises(SystemExit, match=message):
        comparison.store([other], path)
    assert path.read_bytes() == before


def test_a_run_is_taken_from_a_file_once_and_only_with_all_scores(plan, tmp_path: Path):
    whole, part = (task.name for task in plan.tasks[:2])
    path = tmp_path / "other.parquet"
    other = scores(whole, 0.5)[:1].with_columns(metric=polars.lit("another metric"))
    comparison.write_table(path, polars.concat([scores(whole, 0.5), other, scores(whole, 0.5), scores(part, 0.5)[:3]]))
    assert comparison.read_scores(path).equals(scores(whole, 0.5).select(list(comparison.COLUMNS)))


def test_a_cell_shows_its_mean_and_interval_over_seeds_or_that_it_is_not_run(plan):
    cell = cells_of(plan)[7]
    values = [0.3, 0.32, 0.28, 0.35, 0.31]
    tables = [scores(run, value) for run, value in zip(cell.runs, values, strict=True)]
    assert shown(comparison.merged(tables[0].clear()), cell, "mig") == "not run"
    assert shown(comparison.merged(*tables[:2]), cell, "mig") == "0.31 (2 seeds)"
    text = shown(comparison.merged(*tables), cell, "mig")
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    said = [float(part) for part in text.replace("[", "").replace("]", "").replace(",", "").split()]
    np.testing.assert_allclose(said, [np.mean(values), low, high], atol=0.011)


def test_time_is_the_mean_ratio_to_the_vae_of_the_medians_of_all_rounds(plan):
    """The rounds of rooms3d take 1, 3 and 2 s, twice that on shapes2d; a β-VAE takes three times as long as a VAE."""
    calls, trained = count(), set(ABOUT) - {UNTRAINED}

    def step(config):
        of_round = (1.0, 3.0, 2.0)[next(calls) // (3 * len(trained))]
        slow = config["method"]["name"] == "beta-vae"
        return of_round * (2.0 if config["data"]["name"] == "shapes2d" else 1.0) * (3.0 if slow else 1.0)

    times = comparison_times.measured(plan, cells_of(plan), step)
    assert times.filter(method="vae", data="shapes2d")["milliseconds"].item() == 4000
    assert set(times["method"]) == trained
    assert len(times) == 3 * len(trained)
    assert comparison_times.relative_time(times, "fsq") == pytest.approx(1)
    assert comparison_times.relative_time(times, "beta-vae") == pytest.approx(3)
    assert comparison_times.relative_time(times.filter(polars.col("method") != "vae"), "fsq") is None
    assert set(comparison_times.read()["method"]) in (trained, set())
    table = comparison_docs.assumptions_table(times.filter(polars.col("method") != "pcl")).splitlines()
    told = {line.split("|")[1].partition("]")[0].strip(" ["): line.split("|")[3].strip() for line in table}
    assert [told[name] for name in (UNTRAINED, "vae", "beta-vae", "pcl")] == ["–", "1.0 ×", "3.0 ×", "not measured"]


def test_the_pages_say_what_is_stored(plan, tmp_path: Path):
    """If not: `python benchmarks/comparison.py store` writes it."""
    pages = comparison_docs.Pages()
    texts = [page.read_text(encoding="utf-8") for page in pages]
    copies = comparison_docs.Pages(*(tmp_path / page.name for page in pages))
    for copy, text in zip(copies, texts, strict=True):
        copy.write_text(text, encoding="utf-8")
    comparison_docs.write(comparison.read(), plan, copies, figure=None)
    assert [copy.read_text(encoding="utf-8") for copy in copies] == texts
    cell = next(cell for cell in cells_of(plan) if cell.method == "qlae")
    comparison_docs.write(scores(cell.runs[0], 0.4321), plan, copies, tmp_path / "figure.png")
    told = copies.results.read_text(encoding="utf-8")
    assert f"| qlae | {cell.strength} | 0.43 (1 seed) |" in told
    assert "1 of 1380 runs are stored. Training took 10 s for the median run, and 10 to 10 s for eight in ten" in told
    comparison_docs.write(comparison.read().clear(), plan, copies, figure=None)
    assert "0 of 1380 runs are stored.\n<!--" in copies.results.read_text(encoding="utf-8")


def test_methods_stand_below_what_they_need(plan):
    lines = comparison_docs.short_table(comparison.read().clear(), cells_of(plan)).splitlines()
    first = [line.split("|")[1].strip() for line in lines[2:]]
    groups = [place for place, text in enumerate(first) if text.startswith("**")]
    assert [first[place].strip("*") for place in groups] == list(ASKS.values())
    below = first[groups[1] + 1 : groups[2]]
    assert [text.partition("]")[0].strip("[") for text in below] == [m for m, (a, _) in ABOUT.items() if a == "pairs"]
    assert len(first) == len(ABOUT) + len(ASKS)


def test_the_picture_draws_the_mean_of_every_method_over_its_seeds(plan):
    cells = cells_of(plan)
    values = {"fsq": [0.0, 0.0, 0.0, 0.0, 0.5], UNTRAINED: [0.0, 0.1, 0.2, 0.3, 0.4], "pcl": [1.0, 1.0, 1.0, 1.0, 0.5]}
    stored = [
        scores(run, value)
        for method, each in values.items()
        for run, value in zip(usual(cells, method, "rooms3d").runs, each, strict=True)
    ]
    figure = comparison_figure.comparison_figure(comparison.merged(*stored), cells)
    panel, *others = figure.axes
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert set(names) == set(ABOUT) - {UNTRAINED}
    lines = {
        kind: [np.asarray(line.get_xydata()) for line in panel.get_lines() if line.get_marker() == kind]
        for kind in "|o"
    }
    np.testing.assert_allclose(lines["|"], [[[0.1, names.index("fsq")]], [[0.9, names.index("pcl")]]])
    np.testing.assert_allclose(lines["o"][0][:, 0], values["fsq"])
    low, high = (
        np.asarray(line.get_xdata()) for line in panel.get_lines() if line.get_alpha() == comparison_figure.FAINT
    )
    assert low[0] == 0 < low[1]
    assert high[0] < high[1] == 1
    floors = [np.asarray(line.get_xdata())[0] for line in panel.get_lines() if line.get_linestyle() == "--"]
    assert floors == pytest.approx([0.2])
    assert not any(line.get_marker() == "|" for axes in others for line in axes.get_lines())


def welch_p(values, floor):
    """Welch's test, one-sided, from its formula."""
    a, b = values.var(ddof=1) / 5, floor.var(ddof=1) / 5
    freedom = (a + b) ** 2 / (a**2 / 4 + b**2 / 4)
    return stats.t.sf((values.mean() - floor.mean()) / np.sqrt(a + b), freedom)


def test_methods_above_a_floor_are_those_of_a_test_written_out():
    floor = np.array([0.10, 0.12, 0.11, 0.09, 0.10])
    scores = {"far": floor + 0.3, "near": floor + 0.004, "noisy": np.array([0.0, 0.5, 0.1, 0.4, 0.05])}
    p = {name: welch_p(values, floor) for name, values in scores.items()}
    assert p["far"] * 3 < 0.05 < min(p["near"], p["noisy"])
    assert comparison_findings.not_above(scores, floor) == ["near", "noisy"]
    assert comparison_findings.not_above({"far": scores["far"]}, floor) == []


FLOOR = np.array([0.10, 0.12, 0.11, 0.09, 0.10])
WIDE = np.array([0.02, 0.30, 0.16, 0.24, 0.28])


def test_the_test_is_one_sided():
    values = FLOOR + 0.0145
    assert 0.025 < welch_p(values, FLOOR) < 0.05
    assert comparison_findings.not_above({"method": values}, FLOOR) == []
    assert comparison_findings.not_above({"method": FLOOR - 0.3}, FLOOR) == ["method"]


def test_the_test_does_not_assume_equal_spreads():
    values = WIDE - WIDE.mean() + FLOOR.mean() + 0.1
    student = float(np.asarray(stats.ttest_ind(values, FLOOR, alternative="greater"))[1])
    assert student < 0.05 < welch_p(values, FLOOR)
    assert comparison_findings.not_above({"method": values}, FLOOR) == ["method"]


def test_the_test_is_corrected_for_all_methods():
    values = FLOOR + 0.02
    many = {f"method {number}": values + number * 1e-6 for number in range(20)}
    assert max(welch_p(each, FLOOR) for each in many.values()) < 0.05 < 20 * welch_p(values, FLOOR)
    assert comparison_findings.not_above({"method": values}, FLOOR) == []
    assert comparison_findings.not_above(many, FLOOR) == list(many)


def test_an_interval_ends_where_the_score_does(plan):
    cell = cells_of(plan)[7]
    tables = [scores(run, value) for run, value in zip(cell.runs, [1.0, 1.0, 0.6, 1.0, 0.9], strict=True)]
    assert shown(comparison.merged(*tables), cell, "factor-vae-score").endswith(", 1.00]")
    assert comparison_docs.limits_of("dci-disentanglement") == (0, 1)
    assert comparison_docs.limits_of("info-mec-modularity") == (0, 1)
    assert comparison_docs.limits_of("r2")[1] == 1


def test_runs_that_were_made_both_ways_are_compared():
    ours = comparison.merged(scores("a", 0.5), scores("b", 0.3), scores("c", 0.1))
    other = comparison.merged(scores("a", 0.4), scores("b", 0.6), scores("d", 0.9))
    said = comparison_docs.arithmetic(ours, other).replace("\n", " ")
    assert said.startswith("2 runs were made both ways. They differ in D by up to 0.30 (0.200 in the median) and in")
    assert comparison_docs.arithmetic(ours, other.filter(run="d")) == "No run was made twice."


def test_the_best_methods_are_said_with_those_that_equal_them():
    rng = np.random.default_rng(0)
    base = rng.normal(0, 0.01, 5)
    scores = {"one": 0.5 + base, "two": 0.5 + base[::-1] - 0.001, "low": 0.2 + base}
    assert comparison_findings.leaders(scores) == "one has the highest D, 0.50; two does not differ clearly from it"
    assert comparison_findings.leaders({"one": scores["one"], "low": scores["low"]}).endswith("above the others")
    assert comparison_findings.leaders(scores | {"low": scores["two"]}).endswith("no other differs clearly from it")
    scores["three"] = scores["two"] - 0.001
    assert comparison_findings.leaders(scores) == "one has the highest D, 0.50; only low differs clearly from it"


def test_the_shorter_list_is_said():
    def said(*levels: float) -> str:
        scores = {name: FLOOR + level for name, level in zip("abcd", levels, strict=True)}
        return comparison_findings.beside_floor(scores, FLOOR)

    assert said(0.3, 0.3, 0.3, 0.3) == "every method is clearly above it"
    assert said(0, 0.3, 0, 0.3) == "a and c are not clearly above it"
    assert said(0, 0.3, 0, 0) == "only b is clearly above it"
    assert said(0, 0, 0, 0) == "no method is clearly above it"


def test_strengths_that_are_clearly_better_are_listed():
    """By a test written out, with Holm's correction, on the stored scores."""
    cells, table = cells_of(comparison.plan_of()), comparison.read()
    (said,) = (each for each in comparison_findings.findings(table, cells) if each.startswith("rooms3d. D is clearly"))
    p = {}
    for method in ABOUT:
        own = [cell for cell in cells if cell.method == method and cell.data == "rooms3d"]
        scored = [scores_of_cell(table, cell, "dci-disentanglement").to_numpy() for cell in own]
        if len(own) == 3:
            p[method, "weak"], p[method, "strong"] = welch_p(scored[0], scored[1]), welch_p(scored[2], scored[1])
    found: dict[str, list[str]] = {"weak": [], "strong": []}
    for rank, (method, name) in enumerate(sorted(p, key=lambda key: p[key])):
        if p[method, name] * (len(p) - rank) > 0.05:
            break
        found[name].append(method)
    for name in ("weak", "strong"):
        (listed,) = re.findall(rf"with the {name} setting for (.*?)(?:, and with|\.$)", said)
        assert set(re.split(", | and ", listed)) == set(found[name])


def test_a_larger_net_and_longer_training_separate_more_as_the_page_says():
    cells, table = cells_of(comparison.plan_of()), comparison.read()
    longer = (
        polars.read_csv(DOCS / "results" / "methods.csv")
        .filter(data="rooms3d")
        .group_by("method")
        .agg(cs.numeric().mean())
    )

    def there(method: str, metric: str) -> float:
        return longer.filter(method=method)[metric].item()

    def here(method: str, metric: str) -> list[float]:
        ours = [cell for cell in cells if cell.data == "rooms3d" and cell.method == method]
        return [scores_of_cell(table, cell, metric).to_numpy().mean() for cell in ours]

    for method in ("β-VAE", "FactorVAE", "β-TCVAE", "Ada-GVAE"):
        assert there(method, "mig") > 0.3
        assert max(here(method.lower().replace("β", "beta").replace("rvae", "r-vae"), "mig")) < 0.13
    for method in ("β-TVAE", "Ada-TVAE"):
        assert there(method, "dci-disentanglement") > 0.3
        assert max(here(method.lower().replace("β", "beta"), "dci-disentanglement")) < 0.25


def test_pairs_alone_do_not_give_a_higher_score_as_the_page_says():
    scores = comparison_findings.scores_at(
        comparison.read(), cells_of(comparison.plan_of()), "rooms3d", comparison_findings.SCORES["D"]
    )
    pairs = [*methods_with("pairs"), *methods_with("pairs, known")]
    assert [name for name in pairs if scores[name].mean() > scores["beta-vae"].mean()] == ["slow-vae"]


def test_without_supervision_two_data_sets_have_low_scores():
    cells, table = cells_of(comparison.plan_of()), comparison.read()
    for data in ("shapes2d", "xyobject"):
        scores = comparison_findings.scores_at(table, cells, data, comparison_findings.SCORES["D"])
        assert round(max(scores[method].mean() for method in methods_with("nothing")), 1) == 0.1
    assert "D of the best one is 0.1 there" in " ".join((DOCS / "choose-a-method.md").read_text().split())


def test_sentences_come_for_every_data_set_once_all_seeds_are_stored(plan):
    cells = cells_of(plan)
    rng = np.random.default_rng(0)
    level = {UNTRAINED: 0.05, "lejepa": 0.05, "hfs": 0.6}
    tables = [
        scores(run, level.get(cell.method, 0.4) + rng.normal(0, 0.001))
        for cell in cells
        if cell == usual(cells, cell.method, cell.data) and cell.data == "shapes2d"
        for run in cell.runs
    ]
    said = comparison_findings.findings(comparison.merged(*tables), cells)
    assert all(sentence.startswith("shapes2d. ") for sentence in said)
    assert "shapes2d. Images alone: hfs has the highest D, 0.60, clearly above the others." in said
    assert "shapes2d. D of the untrained network is 0.05; lejepa is not clearly above it." in said
    assert len(said) == 4 + 2
    lacking = [table for table in tables if table["run"][0] != usual(cells, "ivae", "shapes2d").runs[4]]
    assert len(lacking) == len(tables) - 1
    assert comparison_findings.findings(comparison.merged(*lacking), cells) == []
