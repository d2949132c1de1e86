"""The page of a run in a real browser: sliders move the image, links restore it, pictures can be saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest
from playwright.sync_api import expect

from .conftest import Served, eventually, fits

if TYPE_CHECKING:
    from playwright.sync_api import Page

PIXELS = "document.querySelector('canvas.big').toDataURL()"
STARTED = "() => document.querySelector('canvas.big')?.dataset.code !== undefined"


def show(page: Page, address: str) -> str:
    """Open a run and return its image."""
    page.goto(address)
    page.wait_for_selector(".view.run[data-ready]")
    page.wait_for_function(STARTED)
    return str(page.evaluate(PIXELS))


def changed(page: Page, before: str) -> str:
    """Return the image after it has changed."""
    return str(page.wait_for_function(f"old => {PIXELS} !== old && {PIXELS}", arg=before).json_value())


def settled(page: Page, wanted: str) -> None:
    page.wait_for_function(f"wanted => {PIXELS} === wanted", arg=wanted)


def largest(page: Page) -> None:
    """Move the first slider to its end, as a person does with the keyboard."""
    page.locator("input[type=range]").first.focus()
    page.keyboard.press("End")


def test_a_slider_moves_the_image_and_reset_brings_it_back(page: Page, server: Served, runs: list[str]) -> None:
    first = show(page, server.to("run", run=runs[0]))
    largest(page)
    changed(page, first)
    page.get_by_role("button", name="Reset").click()
    settled(page, first)
    page.wait_for_function("() => !location.hash.includes('z=')")


def test_every_used_latent_changes_the_image(page: Page, server: Served, runs: list[str]) -> None:
    before = show(page, server.to("run", run=runs[0]))
    rows = page.locator(".latent:not(.idle) input[type=range]")
    expect(rows.first).to_be_visible()
    for place in range(rows.count()):
        rows.nth(place).focus()
        page.keyboard.press("Home")
        before = changed(page, before)


def test_a_number_field_and_its_slider_agree(page: Page, server: Served, runs: list[str]) -> None:
    first = show(page, server.to("run", run=runs[0]))
    field, slider = page.locator(".latent input[type=number]").first, page.locator("input[type=range]").first
    field.fill("0.5")
    changed(page, first)
    eventually(lambda: abs(float(slider.input_value()) - 0.5) < 0.05, True)
    largest(page)
    eventually(lambda: float(field.input_value()) > 0.5, True)


def test_a_link_restores_the_code(page: Page, new_page: Callable[..., Page], server: Served, runs: list[str]) -> None:
    first = show(page, server.to("run", run=runs[0]))
    largest(page)
    moved = changed(page, first)
    page.wait_for_function("() => location.hash.includes('z=')")
    other = new_page()
    assert show(other, page.url) == moved


def test_another_image_gives_another_code(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("run", run=runs[0], image=7))
    field = page.get_by_label("Code of image")
    expect(field).to_have_value("7")
    first = page.locator(".latent input[type=number]").first.input_value()
    field.fill("9000")
    field.press("Enter")
    page.wait_for_function("() => location.hash.includes('image=9000')")
    expect(page.locator('img[alt^="Image 9000 "]')).to_be_visible()  # the page of the other image is shown
    page.wait_for_function(STARTED)
    expect(page.locator(".latent input[type=number]").first).not_to_have_value(first)


def test_pictures_are_drawn_and_can_be_saved(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("run", run=runs[0]))
    for alternative in ("Traversals", "Random images", "Image "):
        image = page.locator(f'img[alt^="{alternative}"]')
        page.wait_for_function("image => image.complete && image.naturalWidth > 0", arg=image.element_handle())
    for name, kind in (("Save as PNG", "image/png"), ("Save as GIF", "image/gif")):
        link = page.get_by_role("link", name=name).get_attribute("href")
        assert link
        saved = page.request.get(urljoin(server.url + "/", link))
        assert saved.headers["content-type"] == kind
        assert "attachment" in saved.headers["content-disposition"]
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save PNG").click()
    assert saving.value.suggested_filename.endswith(".png")


def test_latents_are_ordered_by_what_they_carry(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("run", run=runs[0]))
    rows = page.locator('table:has(caption:text-is("Latents")) tbody tr')
    expect(rows).to_have_count(4)
    carried = [float(row.locator("td").nth(1).inner_text()) for row in rows.all()]
    assert carried == sorted(carried, reverse=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (820, 1180)])
def test_the_page_is_accessible_and_fits(
    scheme: str,
    size: tuple[int, int],
    new_page: Callable[..., Page],
    server: Served,
    runs: list[str],
    axe: Callable[[Page], list[str]],
) -> None:
    page = new_page(color_scheme=scheme, viewport={"width": size[0], "height": size[1]})
    show(page, server.to("run", run=runs[0]))
    page.wait_for_selector(".charts figure .main-svg")  # the curves, which come last
    assert axe(page) == []
    fits(page)


def test_a_run_that_is_not_there_is_said_so(failing_page: Page, server: Served) -> None:
    failing_page.goto(server.to("run", run="no/such/run"))
    failing_page.wait_for_selector("#fault:not([hidden])")
    expect(failing_page.locator("#fault")).to_contain_text("no/such/run")
    expect(failing_page.locator(".view .failed")).to_contain_text("no/such/run")
    failing_page.locator(".view .failed a").click()
    failing_page.wait_for_selector(".view.study[data-ready]")


def test_what_fails_no_longer_waits(failing_page: Page, server: Served, runs: list[str]) -> None:
    failing_page.goto(server.to("compare", left=runs[0], right="no/such/run"))
    failing_page.wait_for_selector(".view .failed a")
    expect(failing_page.locator(".view")).not_to_contain_text("…")


def test_wrong_numbers_in_a_link_are_said_so(page: Page, server: Served, runs: list[str]) -> None:
    show(page, server.to("run", run=runs[0], image=10**7, z="1,2"))
    wrong = ["no image 10000000", "a code of 2 numbers, but this run has 4 latents"]
    expect(page.locator(".warning")).to_contain_text(wrong)
    field = page.get_by_label("Code of image")
    before = field.input_value()
    field.fill("-3")
    field.press("Enter")
    expect(page.locator(".truth .wrong")).to_contain_text("no image -3")
    expect(field).to_have_value(before)
