"""The page of a study in a real browser: group, sort, filter, charts, links, very long tables."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from playwright.sync_api import expect

import unweave.explorer
from unweave.report.style import DARK, LIGHT

from .conftest import DELAY, WITHOUT_WEBGL, Served, drawn, eventually, fits

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

PARTS = ("table", "scores", "pairs", "parallel", "seeds")
READY = ".view[data-ready]"
ROWS = "table.runs tbody tr:not(.gap)"
NUMBERS = "details table tbody tr"
"""The rows of a chart's table, which the page makes some time after it is opened."""
COLUMN = """heading => {
  const headings = [...document.querySelectorAll("table.runs thead th")].map((each) => each.innerText.trim());
  const place = headings.findIndex((text) => text.split(/\\s+/)[0] === heading);
  const rows = [...document.querySelectorAll("table.runs tbody tr:not(.gap)")];
  return place < 0 ? [] : rows.map((row) => row.children[place].innerText.trim());
}"""


def show(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(READY)


def column(page: Page, heading: str) -> list[str]:
    """Return the texts of a column of the table, from top to bottom, as they are at one moment."""
    return page.evaluate(COLUMN, heading)


def numbers(page: Page, heading: str) -> list[float]:
    """Return the numbers of a column at one moment."""
    return [float(text) for text in column(page, heading)]


def shows(page: Page, heading: str, texts: list[str]) -> None:
    """Wait until a column of the table shows these texts."""
    eventually(lambda: column(page, heading), texts)


def test_runs_are_grouped_by_all_but_the_seed(page: Page, server: Served) -> None:
    show(page, server.to("study"))
    shows(page, "beta", ["0.25", "2"])
    shows(page, "Seeds", ["2", "2"])
    expect(page.locator("table.runs thead")).not_to_contain_text("latents")
    page.get_by_label("All columns").check()
    shows(page, "latents", ["4", "4"])
    page.get_by_text("Every run").click()
    eventually(lambda: len(column(page, "Run")), 4)
    expect(page).to_have_url(re.compile("group=0"))


def test_a_cell_opens_to_its_runs_and_a_run_to_its_page(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("study", study="study"))
    page.locator("button.open").first.click()
    links = page.locator("tr.member a")
    expect(links).to_have_count(2)
    page.reload()
    expect(links).to_have_count(2)
    links.first.click()
    page.wait_for_selector(".view.run[data-ready]")
    eventually(lambda: any(run in page.url for run in runs), True)


def test_sorting_follows_the_scores_and_a_link_restores_it(page: Page, server: Served) -> None:
    show(page, server.to("study", group=0))
    expect(page.locator(ROWS)).to_have_count(4)
    rising = sorted(numbers(page, "mig"))
    assert len(rising) == 4
    page.locator('button[data-column="mig"]').click()
    expect(page.locator('th[aria-sort="descending"]')).to_have_text(re.compile("^mig"))
    eventually(lambda: numbers(page, "mig"), rising[::-1])
    page.locator('button[data-column="mig"]').click()
    expect(page.locator('th[aria-sort="ascending"]')).to_have_text(re.compile("^mig"))
    eventually(lambda: numbers(page, "mig"), rising)
    page.reload()
    page.wait_for_selector(READY)
    expect(page.locator('th[aria-sort="ascending"]')).to_have_text(re.compile("^mig"))
    eventually(lambda: numbers(page, "mig"), rising)


def test_a_filter_compares_columns_and_names(page: Page, server: Served) -> None:
    show(page, server.to("study", group=0))
    field = page.get_by_role("searchbox")
    field.fill("beta>1 seed=0")
    shows(page, "beta", ["2"])
    expect(page.locator("#shown-runs")).to_have_text("1 of 4 runs")
    field.fill("seed1")
    shows(page, "seed", ["1", "1"])
    field.fill("data=shapes2d seed!=1")
    shows(page, "seed", ["0", "0"])
    field.fill("bta>1")
    page.wait_for_selector("#filter-reason:not([hidden])")
    expect(page.locator("#filter-reason")).to_contain_text("There is no column bta.")


def test_a_filter_allows_for_spaces_and_capitals_and_says_why_nothing_is_left(page: Page, server: Served) -> None:
    show(page, server.to("study", study="study", group=0, filter="Beta > 1 SEED = 0"))
    expect(page.locator("#shown-runs")).to_have_text("1 of 4 runs")
    reasons = {
        "state=done": "No run has state=done. Values of state: finished.",
        "beta > 9": "No run has beta>9. Values of beta: 0.25, 2.",
        "nowhere": "No run has “nowhere” in its name or in a text column.",
        "beta>": "beta> needs a value after >.",
    }
    for words, reason in reasons.items():
        page.get_by_role("searchbox").fill(words)
        expect(page.locator("#filter-reason")).to_have_text(reason)
    page.get_by_role("searchbox").fill("")
    page.wait_for_selector("#filter-reason", state="hidden")
    eventually(lambda: len(column(page, "Run")), 4)


def test_all_parts_show_the_seeds_that_the_filter_keeps(page: Page, server: Served) -> None:
    table = invented(10)
    answer(page, "table", table)
    answer(page, "groups", groups_of(table))
    answer(page, "changes", {"stamp": "1", "changed": False, "counts": {"finished": 10}})
    words = "3 of 5 seeds pass the filter"
    show(page, server.to("study", filter="seed<3"))
    mean = sum(table["rows"]["metric-0"][:3]) / 3
    eventually(lambda: column(page, "metric-0")[:1], [f"{mean:.3f}"])
    expect(page.locator(".panel")).to_contain_text(words)
    page.get_by_role("tab", name="Scores").click()
    page.wait_for_selector(".main-svg")
    expect(page.locator(".panel .note")).to_contain_text(words)
    page.get_by_text("The numbers").click()
    first = page.locator(NUMBERS).first.locator("th, td")
    expect(first).to_have_text(["0", f"{mean:.3f}", "–", "–", words])
    eventually(lambda: page.evaluate("document.querySelector('.chart').data[0].y.length"), 6)
    page.get_by_role("tab", name="Cells × seeds").click()
    expect(page.locator("table.heat tbody tr").first).to_have_text(re.compile(f"^beta=0 {words}"))


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_drawn_and_accessible(
    part: str, new_page: Callable[..., Page], server: Served, axe: Callable[[Page], list[str]]
) -> None:
    for options in ({"color_scheme": "light"}, {"color_scheme": "dark", "viewport": {"width": 820, "height": 1180}}):
        page = new_page(**options)
        show(page, server.to("study", show=part))
        page.wait_for_selector({"table": "table.runs", "seeds": "table.heat"}.get(part, ".main-svg"))
        expect(page.get_by_role("tab", selected=True)).to_have_count(1)
        if part == "parallel":  # plotly says in a picture where it cannot draw
            page.wait_for_selector(".chart .parcoords .y-axis", state="attached")
            drawn(page)
            expect(page.locator(".chart")).not_to_contain_text("WebGL")
        assert axe(page) == []
        fits(page)


def test_charts_have_their_numbers_as_text(page: Page, server: Served) -> None:
    show(page, server.to("study", show="pairs", x="mig", y="dci-completeness"))
    page.wait_for_selector(".main-svg")
    page.get_by_text("The numbers").click()
    expect(page.locator(NUMBERS)).to_have_count(4)
    expect(page.locator(".chart")).to_have_attribute("aria-label", re.compile("dci-completeness against mig"))


def test_a_chart_that_is_left_before_it_is_drawn_says_nothing(page: Page, server: Served) -> None:
    held: list[Route] = []
    page.route("**/plotly.js", lambda route: held.append(route))
    show(page, server.to("study", show="scores"))
    page.wait_for_selector("text=Drawing …")
    page.get_by_role("tab", name="Table").click()
    page.wait_for_selector("table.runs")
    held[0].continue_()
    page.wait_for_function("() => window.Plotly !== undefined")
    drawn(page)
    assert page.locator("#fault").inner_text() == ""
    page.get_by_role("tab", name="Scores").click()
    page.wait_for_selector(".main-svg")
    expect(page.locator("#fault")).to_have_text("")


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
    expect(page.locator(".view a")).to_have_text(["Run", "Matrix", "Geometry"])
    page.get_by_role("link", name="Matrix: mine.npz").click()
    page.wait_for_selector(".view.matrix[data-ready]")
    page.wait_for_selector(".detail .main-svg")
    expect(page.locator("table.heat tbody tr")).to_have_count(3)
    expect(page.locator(".view")).not_to_contain_text("Move the latents")
    show(page, server.to("run"))  # without a run the first file of codes is shown
    page.wait_for_selector(".view.run[data-ready] .main-svg")
    expect(page.locator("h1")).to_have_text("mine.npz")
    expect(page.locator("h2")).to_have_text(["What each latent carries"])
    drawn(page)
    assert not [url for url in asked if re.search("run/(traversal|reconstruct|decode|image|curves)", url)]
    assert page.locator("#fault").inner_text() == ""


def test_an_empty_folder_says_what_to_do(page: Page, serve: Callable[[Path], Served], tmp_path: Path) -> None:
    show(page, serve(tmp_path).to("study"))
    expect(page.locator(".view")).to_contain_text("unweave train")


def test_tabs_follow_the_arrow_keys(page: Page, server: Served) -> None:
    show(page, server.to("study"))
    page.get_by_role("tab", name="Table").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", selected=True)).to_have_text("Cells × seeds")
    expect(page).to_have_url(re.compile("show=seeds"))


def test_the_switch_changes_the_colours_and_is_kept(page: Page, server: Served) -> None:
    show(page, server.to("study"))
    page.locator("#theme").click()
    expect(page.locator("body")).to_have_css("background-color", "rgb(23, 25, 29)")
    page.reload()
    page.wait_for_selector(READY)
    expect(page.locator("body")).to_have_css("background-color", "rgb(23, 25, 29)")


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
        scores = {name: {"mean": 0.5, "low": 0.4, "high": 0.6, "n": 5} for name in metrics}
        cell = {"key": {"beta": rows["beta"][first]}, "name": f"beta={rows['beta'][first]}", "scores": scores}
        cells.append({**cell, "runs": [rows["id"][i] for i in places]})
    return {"by": ["beta"], "groups": cells, "interval": "95 % over seeds"}


def answer(page: Page, path: str, value: dict[str, Any]) -> None:
    """Answer a request in the server's place."""
    text = json.dumps(value)
    page.route(f"**/api/{path}?*", lambda route: give(route, text))


def give(route: Route, text: str) -> None:
    """Answer one request with this text as JSON."""
    time.sleep(DELAY)
    route.fulfill(body=text, content_type="application/json")


@pytest.mark.parametrize("count", [10_000, 75_000])
def test_a_very_long_table_holds_only_the_rows_in_sight(count: int, page: Page, server: Served) -> None:
    table = invented(count)
    answer(page, "table", table)
    answer(page, "groups", groups_of(table))
    answer(page, "changes", {"stamp": "1", "changed": False, "counts": {"finished": count}})
    show(page, server.to("study", group=0))
    expect(page.locator("table.runs")).to_have_attribute("aria-rowcount", str(count + 1))
    page.wait_for_selector("text=run-00000")
    assert 1 < page.locator(ROWS).count() < 80
    page.locator(".runs-scroll").evaluate("box => { box.scrollTop = box.scrollHeight }")
    page.wait_for_selector(f"text=run-{count - 1:05d}")
    assert 1 < page.locator(ROWS).count() < 80
    page.locator('button[data-column="metric-0"]').click()
    page.locator(".runs-scroll").evaluate("box => { box.scrollTop = 0 }")
    eventually(lambda: column(page, "metric-0")[:1], ["0.999"])


def test_a_table_follows_a_study_that_runs(page: Page, server: Served) -> None:
    tables = [invented(5), invented(10)]
    asked = {"table": 0}

    def next_table(route: Route) -> None:
        table = tables[min(asked["table"], 1)]
        asked["table"] += 1
        give(route, json.dumps(table))

    page.route("**/api/table?*", next_table)
    answer(page, "groups", groups_of(tables[1]))
    answer(page, "changes", {"stamp": "2", "changed": True, "counts": {"running": 2, "finished": 8}})
    show(page, server.to("study", group=0))
    page.wait_for_selector("text=run-00009")
    page.wait_for_selector("text=live: 2 running, 8 finished")


def test_a_study_under_way_counts_what_is_there(page: Page, server: Served) -> None:
    def with_plan(route: Route) -> None:
        found = route.fetch().json()
        studies = [{**each, "planned": 40} if each["id"] == "study" else each for each in found["studies"]]
        route.fulfill(json={**found, "studies": studies})

    page.route("**/api/index", with_plan)
    show(page, server.to("study", study="study"))
    options = page.locator(".head select option")
    expect(options.filter(has_text="study (4 of 40 runs)")).to_have_count(1)
    expect(options.filter(has_text="study (40 runs)")).to_have_count(0)
    expect(page.locator("#shown-runs")).to_have_text("4 runs")


def test_back_undoes_what_was_chosen(page: Page, server: Served) -> None:
    rows = page.locator(ROWS)
    show(page, server.to("study", study="study"))
    page.get_by_text("Every run").click()
    expect(rows).to_have_count(4)
    page.get_by_role("tab", name="Cells × seeds").click()
    page.locator(".panel select").select_option("state")
    page.wait_for_selector("table.heat .dot.finished")
    page.get_by_label("Filter").fill("seed=0")  # what is typed is no step
    page.wait_for_url("**filter=*")
    page.go_back()
    expect(page.locator(f"{READY} table.heat:not(:has(.dot))")).to_have_count(1)
    page.go_back()
    expect(rows).to_have_count(4)
    page.go_back()
    expect(rows).to_have_count(2)
    page.go_forward()
    expect(rows).to_have_count(4)


def test_the_page_says_how_far_reading_is(page: Page, server: Served) -> None:
    waiting: list[Route] = []
    page.route("**/api/table?*", lambda route: waiting.append(route))
    page.route("**/api/progress", lambda route: route.fulfill(json={"found": 9000, "read": 4096, "of": 9000}))
    page.goto(server.to("study"))
    page.wait_for_selector("text=Reading runs: 4,096 of 9,000")
    bar = page.get_by_role("progressbar", name="Runs read")
    eventually(lambda: bar.evaluate("bar => [bar.value, bar.max]"), [4096, 9000])
    for route in waiting:
        route.continue_()
    page.wait_for_selector(ROWS)
    expect(page.locator("progress")).to_have_count(0)


def test_without_webgl_parallel_coordinates_are_a_table(page: Page, server: Served) -> None:
    page.add_init_script(WITHOUT_WEBGL)
    show(page, server.to("study", study="study", show="parallel"))
    expect(page.locator(".panel")).to_contain_text("this browser has no WebGL")
    page.get_by_text("The numbers").click()
    expect(page.locator(NUMBERS)).to_have_count(4)
    expect(page.locator(".chart")).to_have_count(0)
