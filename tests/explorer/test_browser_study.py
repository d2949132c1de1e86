"""The page of a study in a real browser: group, sort, filter, charts, links, very long tables."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import unweave.explorer
from unweave.report.style import DARK, LIGHT

from .conftest import WITHOUT_WEBGL, Served

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

PARTS = ("table", "scores", "pairs", "parallel", "seeds")
READY = ".view[data-ready]"


def show(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(READY)


def column(page: Page, heading: str) -> list[str]:
    """Return the texts of a column of the table, from top to bottom."""
    headings = page.locator("table.runs thead th").all_inner_texts()
    place = next(i for i, text in enumerate(headings) if text.split()[:1] == [heading])
    rows = page.locator("table.runs tbody tr:not(.gap)")
    return [row.locator("th, td").nth(place).inner_text() for row in rows.all()]


def test_runs_are_grouped_by_all_but_the_seed(page: Page, server: Served) -> None:
    show(page, server.to("study"))
    assert column(page, "beta") == ["0.25", "2"]
    assert column(page, "Seeds") == ["2", "2"]
    assert "latents" not in page.locator("table.runs thead").inner_text()
    page.get_by_label("All columns").check()
    assert column(page, "latents") == ["4", "4"]
    page.get_by_text("Every run").click()
    assert len(column(page, "Run")) == 4
    assert "group=0" in page.url


def test_a_cell_opens_to_its_runs_and_a_run_to_its_page(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("study", study="study"))
    page.locator("button.open").first.click()
    links = page.locator("tr.member a")
    assert links.count() == 2
    page.reload()
    assert page.locator("tr.member a").count() == 2 or page.wait_for_selector("tr.member a")
    page.locator("tr.member a").first.click()
    page.wait_for_selector(".view.run[data-ready]")
    assert any(run in page.url for run in runs)


def test_sorting_follows_the_scores_and_a_link_restores_it(page: Page, server: Served) -> None:
    show(page, server.to("study", group=0))
    page.locator('button[data-column="mig"]').click()
    falling = [float(text) for text in column(page, "mig")]
    assert falling == sorted(falling, reverse=True)
    page.locator('button[data-column="mig"]').click()
    rising = [float(text) for text in column(page, "mig")]
    assert rising == sorted(rising)
    assert page.locator('th[aria-sort="ascending"]').inner_text().startswith("mig")
    page.reload()
    page.wait_for_selector(READY)
    assert [float(text) for text in column(page, "mig")] == rising


def test_a_filter_compares_columns_and_names(page: Page, server: Served) -> None:
    show(page, server.to("study", group=0))
    field = page.get_by_role("searchbox")
    field.fill("beta>1 seed=0")
    page.wait_for_function("() => document.querySelectorAll('table.runs tbody tr:not(.gap)').length === 1")
    assert column(page, "beta") == ["2"]
    assert page.locator("#shown-runs").inner_text() == "1 of 4 runs"
    field.fill("seed1")
    page.wait_for_function("() => document.querySelectorAll('table.runs tbody tr:not(.gap)').length === 2")
    assert column(page, "seed") == ["1", "1"]
    field.fill("data=shapes2d seed!=1")
    page.wait_for_function("() => document.querySelector('table.runs tbody').innerText.includes('seed0')")
    assert column(page, "seed") == ["0", "0"]
    field.fill("bta>1")
    page.wait_for_selector("#filter-reason:not([hidden])")
    assert page.locator("#filter-reason").inner_text() == "No column is called bta."


def test_a_filter_allows_for_spaces_and_capitals_and_says_why_nothing_is_left(page: Page, server: Served) -> None:
    show(page, server.to("study", study="study", group=0, filter="Beta > 1 SEED = 0"))
    assert page.locator("#shown-runs").inner_text() == "1 of 4 runs"
    reasons = {
        "state=done": "No run has state=done: finished.",
        "beta > 9": "No run has beta>9: 0.25, 2.",
        "nowhere": "No run has “nowhere” in its name or in a setting that is text.",
        "beta>": "beta> needs a value after >.",
    }
    for words, reason in reasons.items():
        page.get_by_role("searchbox").fill(words)
        page.wait_for_function("text => document.querySelector('#filter-reason').innerText === text", arg=reason)
    page.get_by_role("searchbox").fill("")
    page.wait_for_selector("#filter-reason", state="hidden")
    assert len(column(page, "Run")) == 4


def test_all_parts_show_the_seeds_that_the_filter_keeps(page: Page, server: Served) -> None:
    table = invented(10)
    answer(page, "table", table)
    answer(page, "groups", groups_of(table))
    answer(page, "changes", {"stamp": "1", "changed": False, "counts": {"finished": 10}})
    words = "3 of 5 seeds kept by the filter"
    show(page, server.to("study", filter="seed<3"))
    mean = sum(table["rows"]["metric-0"][:3]) / 3
    assert column(page, "metric-0")[0] == f"{mean:.3f}"
    assert words in page.locator(".panel").inner_text()
    page.get_by_role("tab", name="Scores").click()
    page.wait_for_selector(".main-svg")
    assert words in page.locator(".panel .note").inner_text()
    page.get_by_text("The numbers").click()
    first = page.locator("details table tbody tr").first.locator("th, td").all_inner_texts()
    assert first == ["0", f"{mean:.3f}", "–", "–", words]
    assert page.evaluate("document.querySelector('.chart').data[0].y.length") == 6
    page.get_by_role("tab", name="Cells × seeds").click()
    assert page.locator("table.heat tbody tr").first.inner_text().startswith(f"beta=0 {words}")


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_drawn_and_accessible(
    part: str, new_page: Callable[..., Page], server: Served, axe: Callable[[Page], list[str]]
) -> None:
    for options in ({"color_scheme": "light"}, {"color_scheme": "dark", "viewport": {"width": 820, "height": 1180}}):
        page = new_page(**options)
        show(page, server.to("study", show=part))
        page.wait_for_selector({"table": "table.runs", "seeds": "table.heat"}.get(part, ".main-svg"))
        assert page.get_by_role("tab", selected=True).count() == 1
        if part == "parallel":  # plotly says in a picture where it cannot draw
            page.wait_for_selector(".chart .parcoords .y-axis", state="attached")
            assert "WebGL" not in page.inner_text(".chart")
        assert axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_charts_have_their_numbers_as_text(page: Page, server: Served) -> None:
    show(page, server.to("study", show="pairs", x="mig", y="dci-completeness"))
    page.wait_for_selector(".main-svg")
    page.get_by_text("The numbers").click()
    assert page.locator("details table tbody tr").count() == 4
    assert "dci-completeness against mig" in (page.locator(".chart").get_attribute("aria-label") or "")


def test_a_chart_that_is_left_before_it_is_drawn_says_nothing(page: Page, server: Served) -> None:
    held: list[Route] = []
    page.route("**/plotly.js", lambda route: held.append(route))
    show(page, server.to("study", show="scores"))
    page.wait_for_selector("text=Drawing …")
    page.get_by_role("tab", name="Table").click()
    page.wait_for_selector("table.runs")
    held[0].continue_()
    page.wait_for_function("() => window.Plotly !== undefined")
    page.wait_for_timeout(300)
    assert page.locator("#fault").inner_text() == ""


def test_a_folder_of_codes_and_points_leads_to_the_pages_that_show_them(
    page: Page, world: Path, serve: Callable[[Path], Served], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(5, size=(300, 2))
    codes = np.hstack([factors + 0.1 * rng.normal(size=(300, 2)), rng.normal(size=(300, 1))])
    np.savez(tmp_path / "mine.npz", codes=codes, factors=factors)
    shutil.copy(world / "geometry" / "factors.npz", tmp_path / "factors.npz")
    server = serve(tmp_path)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    show(page, server.to("study"))
    links = page.locator(".view a").all_inner_texts()
    assert links == ["Run", "Matrix", "Geometry"]
    page.get_by_role("link", name="Matrix: mine.npz").click()
    page.wait_for_selector(".view.matrix[data-ready]")
    page.wait_for_selector(".detail .main-svg")
    assert page.locator("table.heat tbody tr").count() == 3
    assert "Move the latents" not in page.inner_text(".view")
    show(page, server.to("run"))  # without a run the first file of codes is shown
    page.wait_for_selector(".view.run[data-ready] .main-svg")
    assert page.inner_text("h1") == "mine.npz"
    assert page.locator("h2").all_inner_texts() == ["What each latent carries"]
    assert not [url for url in asked if re.search("run/(traversal|reconstruct|decode|image|curves)", url)]
    assert page.locator("#fault").inner_text() == ""


def test_an_empty_folder_says_what_to_do(page: Page, serve: Callable[[Path], Served], tmp_path: Path) -> None:
    show(page, serve(tmp_path).to("study"))
    assert "unweave train" in page.inner_text(".view")


def test_tabs_follow_the_arrow_keys(page: Page, server: Served) -> None:
    show(page, server.to("study"))
    page.get_by_role("tab", name="Table").focus()
    page.keyboard.press("ArrowLeft")
    assert page.get_by_role("tab", selected=True).inner_text() == "Cells × seeds"
    assert "show=seeds" in page.url


def test_the_switch_changes_the_colours_and_is_kept(page: Page, server: Served) -> None:
    show(page, server.to("study"))
    page.locator("#theme").click()
    page.reload()
    page.wait_for_selector(READY)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 25, 29)"


def test_palette_is_that_of_the_report() -> None:
    style = (Path(unweave.explorer.__file__).parent / "page" / "style.css").read_text()
    blocks = re.findall(r"--paper: [^}]*", style)
    assert len(blocks) == 3
    for block, palette in zip(blocks, (LIGHT, DARK, DARK), strict=True):
        assert {name: colour for name, colour in re.findall(r"--(\w+): (#\w+)", block) if name in palette} == palette


def invented(count: int) -> dict[str, Any]:
    """Return the table of a study that has so many runs."""
    metrics = [f"metric-{i}" for i in range(8)]
    columns = [("beta", "number"), ("seed", "seed"), ("state", "state"), *((name, "score") for name in metrics)]
    rows: dict[str, list[Any]] = {
        "id": [f"runs/run-{i:05d}" for i in range(count)],
        "beta": [i // 5 for i in range(count)],
        "seed": [i % 5 for i in range(count)],
        "state": ["finished"] * count,
        **{name: [(i * 7919 + place) % 1000 / 1000 for i in range(count)] for place, name in enumerate(metrics)},
    }
    listed = [{"name": name, "kind": kind, "differs": True, "higher_is_better": True} for name, kind in columns]
    return {"columns": listed, "rows": rows, "total": count, "stamp": "1"}


def groups_of(table: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of five seeds of such a table."""
    rows, cells = table["rows"], []
    metrics = [each["name"] for each in table["columns"] if each["kind"] == "score"]
    for first in range(0, table["total"], 5):
        places = range(first, first + 5)
        scores = {
            name: {"mean": 0.5, "low": 0.4, "high": 0.6, "n": 5, "values": [rows[name][i] for i in places]}
            for name in metrics
        }
        cell = {"key": {"beta": rows["beta"][first]}, "name": f"beta={rows['beta'][first]}", "scores": scores}
        cells.append({**cell, "runs": [rows["id"][i] for i in places]})
    return {"by": ["beta"], "groups": cells, "interval": "95 % over seeds"}


def answer(page: Page, path: str, value: dict[str, Any]) -> None:
    """Answer a request in the server's place."""
    text = json.dumps(value)
    page.route(f"**/api/{path}?*", lambda route: route.fulfill(body=text, content_type="application/json"))


@pytest.mark.parametrize("count", [10_000, 75_000])
def test_a_very_long_table_holds_only_the_rows_in_sight(count: int, page: Page, server: Served) -> None:
    table = invented(count)
    answer(page, "table", table)
    answer(page, "groups", groups_of(table))
    answer(page, "changes", {"stamp": "1", "changed": False, "counts": {"finished": count}})
    show(page, server.to("study", group=0))
    assert page.locator("table.runs").get_attribute("aria-rowcount") == str(count + 1)
    assert page.locator("table.runs tbody tr").count() < 80
    page.locator(".runs-scroll").evaluate("box => { box.scrollTop = box.scrollHeight }")
    page.wait_for_selector(f"text=run-{count - 1:05d}")
    page.locator('button[data-column="metric-0"]').click()
    page.locator(".runs-scroll").evaluate("box => { box.scrollTop = 0 }")
    page.wait_for_function(
        "() => document.querySelector('table.runs tbody tr:not(.gap) td:nth-child(4)').innerText === '0.999'"
    )


def test_a_table_follows_a_study_that_runs(page: Page, server: Served) -> None:
    tables = [invented(5), invented(10)]
    asked = {"table": 0}

    def give(route: Route) -> None:
        table = tables[min(asked["table"], 1)]
        asked["table"] += 1
        route.fulfill(body=json.dumps(table), content_type="application/json")

    page.route("**/api/table?*", give)
    answer(page, "groups", groups_of(tables[1]))
    answer(page, "changes", {"stamp": "2", "changed": True, "counts": {"running": 2, "finished": 8}})
    show(page, server.to("study", group=0))
    page.wait_for_selector("text=run-00009")
    page.wait_for_selector("text=live: 2 running, 8 finished")


def test_a_study_under_way_counts_what_is_there(page: Page, server: Served) -> None:
    def give(route: Route) -> None:
        found = route.fetch().json()
        studies = [{**each, "planned": 40} if each["id"] == "study" else each for each in found["studies"]]
        route.fulfill(json={**found, "studies": studies})

    page.route("**/api/index", give)
    show(page, server.to("study", study="study"))
    options = page.locator(".head select option").all_inner_texts()
    assert "study (4 of 40 runs)" in options
    assert "study (40 runs)" not in options
    assert page.inner_text("#shown-runs") == "4 runs"


def test_back_undoes_what_was_chosen(page: Page, server: Served) -> None:
    rows = "document.querySelectorAll('table.runs tbody tr:not(.gap)').length"
    show(page, server.to("study", study="study"))
    page.get_by_text("Every run").click()
    page.wait_for_function(f"() => {rows} === 4")
    page.get_by_role("tab", name="Cells × seeds").click()
    page.locator(".panel select").select_option("state")
    page.wait_for_selector("table.heat .dot.finished")
    page.get_by_label("Filter").fill("seed=0")  # what is typed is no step
    page.wait_for_url("**filter=*")
    page.go_back()
    page.wait_for_selector("table.heat")
    assert page.locator("table.heat .dot").count() == 0
    page.go_back()
    page.wait_for_function(f"() => {rows} === 4")
    page.go_back()
    page.wait_for_function(f"() => {rows} === 2")
    page.go_forward()
    page.wait_for_function(f"() => {rows} === 4")


def test_the_page_says_how_far_reading_is(page: Page, server: Served) -> None:
    waiting: list[Route] = []
    page.route("**/api/table?*", lambda route: waiting.append(route))
    page.route("**/api/progress", lambda route: route.fulfill(json={"found": 9000, "read": 4096, "of": 9000}))
    page.goto(server.to("study"))
    page.wait_for_selector("text=Reading runs: 4,096 of 9,000")
    bar = page.get_by_role("progressbar", name="Runs read")
    assert bar.evaluate("bar => [bar.value, bar.max]") == [4096, 9000]
    for route in waiting:
        route.continue_()
    page.wait_for_selector("table.runs tbody tr:not(.gap)")
    assert page.locator("progress").count() == 0


def test_without_webgl_parallel_coordinates_are_a_table(page: Page, server: Served) -> None:
    page.add_init_script(WITHOUT_WEBGL)
    show(page, server.to("study", study="study", show="parallel"))
    assert "this browser has no WebGL" in page.inner_text(".panel")
    page.get_by_text("The numbers").click()
    assert page.locator("details table tbody tr").count() == 4
    assert page.locator(".chart").count() == 0
