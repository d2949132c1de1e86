"""The pages of data and of geometry in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from .conftest import WITHOUT_WEBGL, Served, eventually, fits

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_data_show_factors_distances_and_the_answer_of_perceive(
    page: Page, server: Served, runs: list[str], axe: Callable[[Page], list[str]]
):
    page.goto(server.to("data", run=runs[0]))
    page.wait_for_selector(".view.data[data-ready]")
    expect(page.locator("h1")).to_have_text("shapes2d")
    expect(page.locator(".view .note").first).to_contain_text("737,280 images of 32 × 32")
    strips = page.locator(".strips img")
    expect(strips).to_have_count(5)
    strips.first.scroll_into_view_if_needed()
    eventually(lambda: page.evaluate("document.querySelector('.strips img').naturalWidth"), 3 * 33 - 1)
    page.wait_for_selector("#perceived strong", timeout=180_000)
    expect(page.locator("#perceived strong")).to_contain_text("shapes2d")
    rows = page.locator("#perceived tbody th")
    eventually(lambda: sorted(rows.all_inner_texts()), ["orientation", "random", "scale", "shape", "x", "y"])
    page.wait_for_function("() => document.querySelectorAll('.strips canvas').length === 25")  # 5 factors at 5 levels
    drawn = (
        "[...document.querySelectorAll('.strips canvas')].map((c) => c.getContext('2d').getImageData(0, 0, 2, 1).data)"
    )
    # shape 0 and itself; 0 and 1 of the farthest, 2
    eventually(lambda: [page.evaluate(f"{drawn}[0][{place}]") for place in (3, 7)], [0, 128])
    assert axe(page) == []


def test_another_image_is_in_the_address_and_a_link_restores_it(
    new_page: Callable[..., Page], server: Served, runs: list[str]
):
    page = new_page()
    page.goto(server.to("data", run=runs[0]))
    page.wait_for_selector(".view.data[data-ready]")
    strip = page.locator(".strips img").first
    before = strip.get_attribute("src") or ""
    page.get_by_role("button", name="Another image").click()
    expect(strip).not_to_have_attribute("src", before)
    after = strip.get_attribute("src") or ""
    expect(page).to_have_url(re.compile("seed=1"))
    again = new_page(color_scheme="dark", viewport={"width": 820, "height": 1180})
    again.goto(page.url)
    again.wait_for_selector(".view.data[data-ready]")
    expect(again.locator(".strips img").first).to_have_attribute("src", after)
    fits(again)


def test_another_data_set_is_chosen(page: Page, server: Served, runs: list[str]):
    page.goto(server.to("data", run=runs[0]))
    page.wait_for_selector(".view.data[data-ready]")
    page.get_by_label("Data set").select_option("other")
    expect(page.locator("h1")).to_have_text("xysquares")
    expect(page).to_have_url(re.compile("run=other"))


def test_a_run_that_is_not_there_is_said_in_a_line(failing_page: Page, server: Served):
    failing_page.goto(server.to("data", run="nothing"))
    failing_page.wait_for_selector("#fault:not([hidden])")
    expect(failing_page.locator("#fault")).to_contain_text("nothing")


def test_points_are_turned_and_coloured(
    page: Page, server: Served, new_page: Callable[..., Page], axe: Callable[[Page], list[str]]
):
    page.goto(server.to("geometry"))
    page.wait_for_selector(".view.geometry[data-ready]")
    page.wait_for_selector("#cloud .chart.js-plotly-plot", timeout=180_000)
    expect(page.locator(".view")).to_contain_text("600 of 600 points in 6 dimensions")
    shown = "document.querySelector('#cloud .chart')?.data?.[0]"
    eventually(lambda: page.evaluate(f"{shown}.x.length"), 600)
    before = page.evaluate(f"[{shown}.x[0], {shown}.marker.color[0]]")
    page.get_by_role("group", name="Seen along").get_by_text("factor 2").click()
    page.wait_for_function(f"() => {shown}.x[0] !== {before[0]}", timeout=180_000)
    eventually(lambda: page.evaluate(f"{shown}.marker.color[0]"), before[1])
    page.get_by_role("group", name="Coloured by").get_by_text("confidence").click()
    page.wait_for_function(f"() => {shown}.marker.color[0] !== {before[1]}", timeout=180_000)
    expect(page).to_have_url(re.compile(r"view=factor\+2"))
    expect(page).to_have_url(re.compile("colour=confidence"))
    expect(page.locator("#cloud .chart")).to_have_attribute("aria-label", re.compile("coloured by confidence"))
    assert axe(page) == []


def test_without_webgl_points_are_drawn_in_two_dimensions(page: Page, server: Served, axe: Callable[[Page], list[str]]):
    page.add_init_script(WITHOUT_WEBGL)
    page.goto(server.to("geometry"))
    page.wait_for_selector("#cloud .chart .scatterlayer .point", state="attached", timeout=180_000)
    shown = "document.querySelector('#cloud .chart')?.data?.[0]"
    eventually(lambda: page.evaluate(f"[{shown}.type, {shown}.x.length, {shown}.z ?? null]"), ["scatter", 600, None])
    expect(page.locator(".view")).to_contain_text("no WebGL")
    expect(page.locator("#cloud .chart")).to_have_attribute("aria-label", re.compile("^A scatter plot of 600 points"))
    first = page.evaluate(f"{shown}.x[0]")
    page.get_by_role("group", name="Seen along").get_by_text("factor 2").click()
    page.wait_for_function(f"() => {shown}.x[0] !== {first}", timeout=180_000)
    page.go_back()
    page.wait_for_function(f"() => {shown} && {shown}.x[0] === {first}")
    assert axe(page) == []
