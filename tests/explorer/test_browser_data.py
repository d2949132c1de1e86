"""The pages of data and of geometry in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .conftest import WITHOUT_WEBGL, Served

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_data_show_factors_distances_and_the_answer_of_perceive(
    page: Page, server: Served, runs: list[str], axe: Callable[[Page], list[str]]
):
    page.goto(server.to("data", run=runs[0]))
    page.wait_for_selector(".view.data[data-ready]")
    assert page.inner_text("h1") == "shapes2d"
    assert "737,280 images of 32 × 32" in page.inner_text(".view .note")
    strips = page.locator(".strips img")
    assert strips.count() == 5
    strips.first.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('.strips img').naturalWidth > 0")
    assert page.evaluate("document.querySelector('.strips img').naturalWidth") == 3 * 33 - 1
    page.wait_for_selector("#perceived strong", timeout=180_000)
    assert "shapes2d" in page.inner_text("#perceived strong")
    rows = page.locator("#perceived tbody th").all_inner_texts()
    assert sorted(rows) == ["orientation", "random", "scale", "shape", "x", "y"]
    page.wait_for_function("() => document.querySelectorAll('.strips canvas').length === 25")  # 5 factors at 5 levels
    drawn = (
        "[...document.querySelectorAll('.strips canvas')].map((c) => c.getContext('2d').getImageData(0, 0, 2, 1).data)"
    )
    near, far = (page.evaluate(f"{drawn}[0][{place}]") for place in (3, 7))
    assert (near, far) == (0, 128)  # shape 0 and itself; 0 and 1 of the farthest, 2
    assert axe(page) == []


def test_another_image_is_in_the_address_and_a_link_restores_it(
    new_page: Callable[..., Page], server: Served, runs: list[str]
):
    page = new_page()
    page.goto(server.to("data", run=runs[0]))
    page.wait_for_selector(".view.data[data-ready]")
    before = page.get_attribute(".strips img", "src")
    page.get_by_role("button", name="Another image").click()
    after = page.get_attribute(".strips img", "src")
    assert before != after
    assert "seed=1" in page.url
    again = new_page(color_scheme="dark", viewport={"width": 820, "height": 1180})
    again.goto(page.url)
    again.wait_for_selector(".view.data[data-ready]")
    assert again.get_attribute(".strips img", "src") == after
    assert again.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_another_data_set_is_chosen(page: Page, server: Served, runs: list[str]):
    page.goto(server.to("data", run=runs[0]))
    page.wait_for_selector(".view.data[data-ready]")
    page.get_by_label("Data set").select_option("other")
    page.wait_for_function("() => document.querySelector('h1')?.textContent === 'xysquares'")
    assert "run=other" in page.url


def test_a_run_that_is_not_there_is_said_in_a_line(browser, server: Served):  # its own page: the 404 is logged
    page = browser.new_page()
    page.goto(server.to("data", run="nothing"))
    page.wait_for_selector("#fault:not([hidden])", timeout=90_000)
    assert "nothing" in page.inner_text("#fault")
    page.close()


def test_points_are_turned_and_coloured(
    page: Page, server: Served, new_page: Callable[..., Page], axe: Callable[[Page], list[str]]
):
    page.goto(server.to("geometry"))
    page.wait_for_selector(".view.geometry[data-ready]")
    page.wait_for_selector("#cloud .chart.js-plotly-plot", timeout=180_000)
    assert "600 of 600 points in 6 dimensions" in page.inner_text(".view")
    shown = "document.querySelector('#cloud .chart').data[0]"
    assert page.evaluate(f"{shown}.x.length") == 600
    before = page.evaluate(f"[{shown}.x[0], {shown}.marker.color[0]]")
    page.get_by_role("group", name="Seen along").get_by_text("factor 2").click()
    page.wait_for_function(f"() => {shown}.x[0] !== {before[0]}", timeout=180_000)
    assert page.evaluate(f"{shown}.marker.color[0]") == before[1]
    page.get_by_role("group", name="Coloured by").get_by_text("confidence").click()
    page.wait_for_function(f"() => {shown}.marker.color[0] !== {before[1]}", timeout=180_000)
    assert "view=factor+2" in page.url
    assert "colour=confidence" in page.url
    assert "coloured by confidence" in (page.get_attribute("#cloud .chart", "aria-label") or "")
    assert axe(page) == []


def test_without_webgl_points_are_drawn_in_two_dimensions(page: Page, server: Served, axe: Callable[[Page], list[str]]):
    page.add_init_script(WITHOUT_WEBGL)
    page.goto(server.to("geometry"))
    page.wait_for_selector("#cloud .chart .scatterlayer .point", state="attached", timeout=180_000)
    shown = "document.querySelector('#cloud .chart').data[0]"
    assert page.evaluate(f"[{shown}.type, {shown}.x.length, {shown}.z ?? null]") == ["scatter", 600, None]
    assert "no WebGL" in page.inner_text(".view")
    assert (page.get_attribute("#cloud .chart", "aria-label") or "").startswith("A scatter of 600 points")
    first = page.evaluate(f"{shown}.x[0]")
    page.get_by_role("group", name="Seen along").get_by_text("factor 2").click()
    page.wait_for_function(f"() => {shown}.x[0] !== {first}", timeout=180_000)
    page.go_back()
    page.wait_for_function(f"() => document.querySelector('#cloud .chart')?.data && {shown}.x[0] === {first}")
    assert axe(page) == []
