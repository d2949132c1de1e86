"""The page of a study: whole, odd and half-done ones, and numbers that another computation gives too."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from scipy.stats import bootstrap

from unweave.report import Page, Section, render_study, write_study_page
from unweave.report.study.seen import look
from unweave.report.study.tables import score_tables, summarise, verdicts
from unweave.study import Study
from unweave.study.sessions import record_session

from .synthetic import task, write_study
from .test_page import Outline, text_of

STRENGTHS = (1.0, 4.0, 16.0)
FIELDS: list[tuple[str, dict[str, Any]]] = [("beta-vae", {"beta": 1.0}), ("beta-vae", {"beta": 4.0}), ("vae", {})]


def mig(config: Mapping[str, Any], seed: int, step: int) -> dict[str, float | None]:
    """Return scores that rise with the strength, by far more than seeds differ, and one that does not."""
    noise = np.random.default_rng([seed, step, int(config["method"].get("beta", 0))]).normal(0, 0.01, 2)
    strength = np.log2(config["method"].get("beta", 1.0))
    return {"mig": float(0.1 + strength / 20 + noise[0] + step / 1e5), "modularity": float(0.8 + noise[1])}


def sweep(folder: Path, seeds: int = 6, **options: Any) -> Study:
    tasks = [task(seed=seed, beta=beta) for seed in range(seeds) for beta in STRENGTHS]
    return write_study(folder, tasks, mig, **{"metrics": ["mig", "modularity"], **options})


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return sweep(tmp_path_factory.mktemp("studies") / "sweep", floors=(0.01, 0.95))


@pytest.fixture(scope="module")
def page(study: Study) -> str:
    return render_study(study)


def rows_of(page: str) -> dict[str, list[str]]:
    """Return the cells of each row of the table of scores, as text, by the name of the study's cell."""
    (table,) = re.findall(r'<table class="cells">.*?</table>', page, flags=re.DOTALL)
    found = {}
    for row in re.findall(r"<tr><th scope=\"row\">.*?</tr>", table):
        name, *values = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
        found[re.sub("<.*?>", "", name)] = [re.sub("<.*?>", "|", value).rstrip("|") for value in values]
    return found


def test_the_page_has_every_section_cell_and_fact(study: Study, page: str):
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    assert titles == ["Plots", "Scores", "Agreement of metrics", "Runs", "How it was made"]
    text = text_of(page)
    assert "18 runs of 3 cells on shapes2d: beta-vae with beta 1, 4 and 16. Every cell has 6 seeds (0–5)" in text
    for fact in ("unweave 0.1.0, torch 2.0.0, numpy 2.0.0", "Test CPU @ 3.00GHz, 2 cores, 16.0 GB, 1 thread per run"):
        assert fact in text
    assert "training 9 min, summed over runs" in text
    assert list(rows_of(page)) == ["beta-vae beta=16", "beta-vae beta=4", "beta-vae beta=1"]  # sorted by mig
    assert len(re.findall(r"<svg", page)) == 2 * 2 + 2
    assert 'class="alert"' not in page


def test_the_page_needs_no_network_and_its_links_lead_somewhere(study: Study, page: str):
    outline = Outline(page)
    for _, attributes in outline.elements:
        for name in ("src", "href", "xlink:href"):
            target = attributes.get(name) or ""
            assert "://" not in target, target
            assert not target.startswith("//")
    links = [attributes["href"] or "" for attributes in outline.all("a")]
    files = [link for link in links if not link.startswith("#")]
    assert len(files) == 18 + 1
    assert all((study.path / link).exists() for link in files)
    anchors = {attributes.get("id") for _, attributes in outline.elements}
    assert {link.removeprefix("#") for link in links if link.startswith("#")} <= anchors
    assert not re.search(r"@import|url\((?!#)", page)


def test_the_numbers_are_those_of_the_table(study: Study, page: str):
    scores, shown = study.scores(), rows_of(page)
    for beta in STRENGTHS:
        seeds, *cells = shown[f"beta-vae beta={beta:g}"]
        assert seeds == "6"
        for metric, cell in zip(("mig", "modularity"), cells, strict=True):
            values = scores.filter(beta=beta, metric=metric)["value"].to_numpy()
            mean, low, high = re.fullmatch(r"([\d.]+)\|([\d.]+) – ([\d.]+)", cell).groups()  # pyright: ignore[reportOptionalMemberAccess]
            assert float(mean) == pytest.approx(values.mean(), abs=5e-4)
            plain = bootstrap((values,), np.mean, method="percentile", rng=0).confidence_interval
            stretch = np.sqrt(6 / 5) * 2.5706 / 1.96  # n seeds for a resampled mean, and Student's t for z
            for ours, theirs in ((low, plain.low), (high, plain.high)):
                expected = values.mean() + stretch * (theirs - values.mean())
                assert float(ours) == pytest.approx(expected, abs=0.2 * (plain.high - plain.low))


def test_the_interval_over_images_is_not_on_the_page(tmp_path: Path):
    """It is the only one that a run has, and says nothing about other seeds."""
    study = write_study(tmp_path / "one", [task(seed=seed) for seed in range(5)], lambda *_: {"mig": 0.5})
    assert set(study.scores()["low"]) == {0.499}
    assert "0.499" not in render_study(study)


def test_the_best_cell_is_marked_only_where_it_is_better_than_all_others(page: str):
    assert len(re.findall(r'<td class="score best">', page)) == 1
    text = text_of(page)
    assert "mig : beta-vae beta=16 is better than each of the other 2 cells." in text
    assert "has the highest mean, but does not differ significantly from any of the other 2 cells." in text
    assert "score tied" not in page  # where all are tied, a mark would say nothing


def test_cells_that_cannot_be_told_apart_from_the_best_are_marked_and_named(tmp_path: Path):
    def close(config: Mapping[str, Any], seed: int, step: int) -> dict[str, float | None]:
        return {"mig": {1.0: 0.1, 4.0: 0.5, 16.0: 0.501}[config["method"]["beta"]] + 0.01 * seed}

    tasks = [task(seed=seed, beta=beta) for seed in range(5) for beta in STRENGTHS]
    seen = look(write_study(tmp_path / "close", tasks, close))
    summary = summarise(seen.final, seen.runs, ["mig"])
    assert [summary.rank("mig", cell) for cell in summary.planned] == ["", "tied", "tied"]
    text = text_of(verdicts(summary, ["mig"]))
    ties = "does not differ significantly from 1 of the other 2 cells: beta-vae beta=4."
    assert text == f"mig : beta-vae beta=16 has the highest mean, but {ties}"
    assert score_tables(summary, ["mig"]).count('<td class="score tied">') == 2


def test_below_five_seeds_there_is_no_interval_and_no_verdict(tmp_path: Path):
    page = render_study(sweep(tmp_path / "few", seeds=4))
    assert all(re.fullmatch(r"[\d.]+", cell) for row in rows_of(page).values() for cell in row)
    assert "score best" not in page
    assert "score tied" not in page
    assert "No cell is called best" in text_of(page)
    assert "Cells have fewer than 5 seeds: there are points and means, but no intervals" in text_of(page)


def test_a_half_done_study_shows_what_is_there(tmp_path: Path):
    tasks = [task(seed=seed, beta=beta) for seed in range(2) for beta in STRENGTHS]
    names = [each.name for each in tasks]
    study = write_study(
        tmp_path / "half", tasks, mig, todo=[names[2], *names[4:]], failed={names[3]: "UsageError: <no> luck"}
    )
    page = render_study(study)
    shown = {name: (seeds, score != "–") for name, (seeds, score, _) in rows_of(page).items()}
    assert shown == {
        "beta-vae beta=4": ("1 of 2", True),
        "beta-vae beta=1": ("1 of 2", True),
        "beta-vae beta=16": ("0 of 2", False),
    }
    text = text_of(page)
    assert "2 of 6 runs are done; 3 are to do and 1 failed." in text
    assert "UsageError: <no> luck" in text
    assert f'href="failures/{names[3]}.txt"' in page
    assert [len(re.findall(f'class="run {state}" title', page)) for state in ("done", "todo", "failed")] == [2, 3, 1]


def test_failures_alone_and_their_reasons_counted(tmp_path: Path):
    tasks = [task(seed=seed) for seed in range(5)]
    study = write_study(tmp_path / "broken", tasks, mig, failed={each.name: "no luck" for each in tasks})
    page = render_study(study)
    assert "No run has been scored yet." in page
    assert '<td class="number">5</td><td class="reason">no luck</td>' in page
    assert "<svg" not in page
    assert "hardware not recorded" in text_of(page)


def test_a_study_without_metrics_and_one_of_a_single_run(tmp_path: Path):
    bare = render_study(write_study(tmp_path / "bare", [task()], lambda *_: {}, metrics=()))
    assert "This study trains only" in bare
    assert "<svg" not in bare
    single = render_study(write_study(tmp_path / "single", [task()], mig))
    assert list(rows_of(single)) == ["beta-vae"]
    assert "1 run of 1 cell on shapes2d: beta-vae. Every cell has 1 seed (0)" in text_of(single)
    assert "No cell is called best" not in single
    assert "Agreement of metrics" not in single


def test_values_that_are_no_numbers_are_left_out(tmp_path: Path):
    def odd(config: Mapping[str, Any], seed: int, step: int) -> dict[str, float | None]:
        value = {0: None, 1: float("nan"), 2: float("inf")}.get(seed, 0.5)
        return {"mig": value, "modularity": None, "encoding": None}

    study = write_study(tmp_path / "odd", [task(seed=seed) for seed in range(4)], odd, metrics=["mig", "modularity"])
    assert look(study).metrics == ["mig"]
    assert rows_of(render_study(study)) == {"beta-vae": ["1 of 4", "0.500"]}


def test_snapshots_are_drawn_against_steps_and_the_table_is_of_the_end(tmp_path: Path):
    tasks = [task(seed=seed, beta=beta, steps=1000) for seed in range(2) for beta in (1.0, 4.0)]
    study = write_study(tmp_path / "kept", tasks, mig, snapshots=[10, 100])
    page = render_study(study)
    assert "mig against training steps" in page
    last = study.scores().filter(metric="mig", beta=4.0, step=1000)["value"].mean()
    assert float(rows_of(page)["beta-vae beta=4"][1]) == pytest.approx(last, abs=5e-4)
    assert "after 10 and 100 steps and at the end" in text_of(page)


def test_several_data_sets_have_a_table_and_a_panel_each(tmp_path: Path):
    tasks = [
        task(method, data, seed, **fields)
        for seed in range(2)
        for data in ("shapes2d", "rooms3d")
        for method, fields in FIELDS
        if (method, data) != ("vae", "rooms3d")
    ]
    page = render_study(write_study(tmp_path / "two", tasks, mig, metrics=["mig", "modularity"]))
    assert re.findall(r"<h3>(.*?)</h3>", page) == ["shapes2d", "rooms3d"]
    tables = re.findall(r'<table class="cells">.*?</table>', page, flags=re.DOTALL)
    assert [table.count('<th scope="row">') for table in tables] == [3, 2]
    assert page.count("agree least on") == 2 * 2  # the caption of each figure, and its label
    panels = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)[0]
    assert [re.findall(f">({name})</text>", panels) for name in ("shapes2d", "rooms3d")] == [["shapes2d"], ["rooms3d"]]


def test_hundreds_of_cells_are_folded_and_all_there(tmp_path: Path):
    tasks = [task(beta=float(beta), gamma=float(gamma)) for beta in range(25) for gamma in range(20)]
    page = render_study(write_study(tmp_path / "large", tasks, lambda *_: {"mig": 0.5}))
    assert "460 further cells" in page
    assert page.count('<td class="score">0.500</td>') == 500
    assert page.count('class="run done" title') == 500
    assert "mig by method" in page
    assert len(page) < 2_000_000


def test_extra_sections_come_first_and_are_escaped(tmp_path: Path, study: Study):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 1))
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1])
    table = polars.DataFrame({"method": ["β-VAE <b>"], "paper": [0.25], "ours": [None]})
    out = write_study_page(
        study, tmp_path / "deep" / "page.html", extra=[Section("Paper & ours", "One.\n\nTwo.", table, [axes])]
    )
    page = out.read_text()
    assert re.findall(r"<h2>(.*?)</h2>", page)[0] == "Paper &amp; ours"
    assert "<td>β-VAE &lt;b&gt;</td>" in page
    assert '<td class="number">0.25</td>' in page
    assert "<p>Two.</p>" in page
    assert page.count("<svg") == 2 * 2 + 2 + 1
    hrefs = [found["href"] or "" for found in Outline(page).all("a")]
    assert all((out.parent / href).exists() for href in hrefs if href.startswith(".."))
    assert sum(href.startswith("..") for href in hrefs) == 19


def test_the_same_folder_gives_the_same_bytes_and_a_page_that_shows_itself(study: Study, page: str):
    (study.folder.run_of(study.plan.tasks[0]) / "report.html").write_text("its page")
    shown = study.report()
    assert isinstance(shown, Page)
    assert shown.path == study.path / "report.html"
    again = shown.path.read_text()
    assert f'href="runs/{study.plan.tasks[0].name}/report.html"' in again
    (study.folder.run_of(study.plan.tasks[0]) / "report.html").unlink()
    assert render_study(study) == page


def test_the_command_and_the_wall_time_come_from_the_sessions(tmp_path: Path):
    study = write_study(tmp_path / "kept", [task()], mig)
    driver = {"since": "2026-01-01 10:00:00", "engine": "local", "workers": 2, "started": time.time() - 300}
    record_session(study.path, {**driver, "finished": 0, "file": "other.toml"})  # nothing was done: no session
    record_session(study.path, {**driver, "finished": 1, "file": "sweep.toml", "pid": 1})
    text = text_of(render_study(study))
    assert f"command unweave study run sweep.toml --out {study.path} --workers 2" in text
    assert "wall time 5 min (local, 2 workers)" in text


def test_a_cluster_that_decides_for_itself_how_many_runs_go_at_a_time(tmp_path: Path):
    study = write_study(tmp_path / "kept", [task()], mig)
    driver = {"since": "2026-01-01 10:00:00", "engine": "slurm", "workers": None, "started": time.time() - 300}
    record_session(study.path, {**driver, "finished": 1, "file": "sweep.toml"})
    text = text_of(render_study(study))
    assert f"command unweave study run sweep.toml --out {study.path} training" in text
    assert "wall time 5 min (slurm)" in text
