"""Codes against factors, and two runs side by side, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from .conftest import Served, fits

if TYPE_CHECKING:
    from playwright.sync_api import Page

CELLS = "table.heat td button"


def show(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(".view[data-ready]")


def heading_is(page: Page, text: str) -> None:
    expect(page.locator(".detail h2")).to_have_text(text)


def words_of(page: Page, cell: int) -> str:
    """Return the heading of the detail of a cell: `z1 and scale`."""
    return (page.locator(CELLS).nth(cell).get_attribute("aria-label") or "").split(":")[0]


def test_pointing_shows_a_cell_and_pressing_keeps_it(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("matrix", run=runs[0]))
    expect(page.locator("table.heat thead th")).to_have_count(1 + 5)
    expect(page.locator(CELLS)).to_have_count(4 * 5)
    page.locator(CELLS).nth(1).hover()
    heading_is(page, words_of(page, 1))
    page.locator(CELLS).nth(2).click()
    heading_is(page, words_of(page, 2))
    expect(page.locator(CELLS).nth(2)).to_have_attribute("aria-pressed", "true")
    page.locator(CELLS).nth(0).hover()
    heading_is(page, words_of(page, 0))
    page.locator("h1").hover()
    heading_is(page, words_of(page, 2))
    page.wait_for_selector(".detail .main-svg")
    page.wait_for_selector(".detail img.strip:not([hidden])")


def test_a_link_restores_kind_and_cell(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("matrix", run=runs[0], kind="correlation", cell="2,3"))
    expect(page.get_by_label("Correlation")).to_be_checked()
    expect(page.locator('[aria-pressed="true"]')).to_have_attribute("aria-label", re.compile("^z2 and "))
    expect(page.locator(".detail h2")).to_have_text(re.compile("^z2 and "))


def test_kinds_differ(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("matrix", run=runs[0]))
    known = page.locator("table.heat").inner_text()
    page.get_by_text("Correlation").click()
    page.wait_for_function("old => document.querySelector('table.heat').innerText !== old", arg=known)
    expect(page).to_have_url(re.compile("kind=correlation"))


def test_arrow_keys_go_from_cell_to_cell(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("matrix", run=runs[0]))
    page.locator(CELLS).first.focus()
    page.keyboard.press("ArrowRight")
    heading_is(page, words_of(page, 1))
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash.includes('cell=')")


def test_two_runs_side_by_side(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("compare", left=runs[0], right=runs[1]))
    strips = page.locator(".pairs .pixels")
    for place in range(2):
        handle = strips.nth(place).element_handle()
        page.wait_for_function("strip => (strip.naturalWidth ?? strip.width) === 7 * 33 - 1", arg=handle)
    expect(page.locator("table").first).to_contain_text("mig")
    page.get_by_role("button", name="Swap").click()
    expect(page.locator(".picker input").first).to_have_value(runs[1])
    expect(page).to_have_url(re.compile(f"{re.escape(runs[1])}.*{re.escape(runs[0])}"))


@pytest.mark.parametrize("view", ["matrix", "compare"])
def test_pages_are_accessible_and_fit(
    view: str, new_page: Callable[..., Page], server: Served, runs: list[str], axe: Callable[[Page], list[str]]
) -> None:
    state = {"run": runs[0]} if view == "matrix" else {"left": runs[0], "right": runs[2]}
    for options in ({"color_scheme": "light"}, {"color_scheme": "dark", "viewport": {"width": 820, "height": 1180}}):
        page = new_page(**options)
        show(page, server.to(view, **state))
        if view == "matrix":
            page.wait_for_selector(".detail .main-svg")
        assert axe(page) == []
        fits(page)
