"""The static export: opened from disk in a browser, with no server anywhere."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from unweave.errors import UsageError
from unweave.explorer.export import Exported, write_export
from unweave.explorer.export_files import MARK

from .conftest import drawn, eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGES = ("study", "run", "matrix", "compare", "geometry", "data")
CANVAS = "document.querySelector('.stage canvas').toDataURL()"
STARTED = "() => document.querySelector('.view.run[data-ready] .stage canvas')?.dataset.code !== undefined"
"""The image of a code is drawn; which code is noted beside it."""


@pytest.fixture(scope="module")
def exported(world: Path, runs: list[str], tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return write_export(world, tmp_path_factory.mktemp("export") / "page", runs=runs[:2], samples=200)


def test_the_export_is_small_and_says_what_it_holds(exported: Exported):
    folder = exported.page.parent
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert exported.bytes == sum(path.stat().st_size for path in files)
    assert exported.bytes - (folder / "plotly.js").stat().st_size < 2_000_000
    assert (exported.runs, exported.of) == (2, 5)
    assert not any("://" in path.read_text() for path in folder.glob("*.html"))  # nothing of a network
    assert list(folder.parent.iterdir()) == [folder]


def test_every_page_works_from_disk(page: Page, exported: Exported, axe: Callable[[Page], list[str]]):
    for view in PAGES:
        page.goto(f"{exported.page.as_uri()}#/{view}")
        page.wait_for_selector(f".view.{view}[data-ready]")
        page.wait_for_function(
            "() => [...document.images].every((each) => each.loading === 'lazy' || each.naturalWidth)"
        )
        drawn(page)
        assert page.inner_text("#fault") == "", view
    page.wait_for_selector("#perceived strong")
    sources = "[...document.querySelectorAll('.strips img')].map((image) => image.src.slice(0, 14))"
    eventually(lambda: set(page.evaluate(sources)), {"data:image/png"})
    assert axe(page) == []


def test_a_slider_moves_the_image_to_the_nearest_that_was_computed(page: Page, exported: Exported, runs: list[str]):
    page.goto(f"{exported.page.as_uri()}#/run?run={runs[1]}")
    page.wait_for_function(STARTED)
    eventually(lambda: page.evaluate("document.querySelector('.stage canvas').width"), 32)
    expect(page.locator(".view")).to_contain_text("computed in advance")
    slider = page.locator(".sliders input[type=range]").first
    seen = []
    for end in ("min", "max"):
        at = slider.evaluate(
            "(range, end) => (range.value = range[end], range.dispatchEvent(new Event('input')), range.value)",
            end,
        )
        page.wait_for_function(
            "(at) => document.querySelector('.stage canvas').dataset.code.split(',').map(Number).includes(Number(at))",
            arg=at,
        )
        seen.append(page.evaluate(CANVAS))
    assert seen[0] != seen[1]
    page.wait_for_function("(at) => location.hash.includes(String(Number(Number(at).toFixed(4))))", arg=at)
    page.reload()  # a link shows the image too, though it rounds the code
    page.wait_for_function(STARTED)
    eventually(lambda: page.evaluate(CANVAS), seen[1])


def test_points_of_a_manifold_are_turned_from_disk(page: Page, exported: Exported):
    page.goto(f"{exported.page.as_uri()}#/geometry")
    page.wait_for_selector("#cloud .chart.js-plotly-plot", timeout=180_000)
    shown = "document.querySelector('#cloud .chart')?.data?.[0]"
    eventually(lambda: page.evaluate(f"[{shown}.type, {shown}.x.length]"), ["scatter3d", 600])
    expect(page.locator(".view")).to_contain_text("600 of 600 points in 6 dimensions")
    before = page.evaluate(f"{shown}.x[0]")
    page.get_by_role("group", name="Seen along").get_by_text("factor 2").click()
    page.wait_for_function(f"() => {shown}.x[0] !== {before}", timeout=180_000)
    page.reload()
    page.wait_for_function(f"() => {shown} && {shown}.x[0] !== {before}", timeout=180_000)


def test_traversals_are_saved_with_names(page: Page, exported: Exported, runs: list[str]):
    page.goto(f"{exported.page.as_uri()}#/run?run={runs[0]}")
    page.wait_for_selector(".view.run[data-ready]")
    shown = Image.open(BytesIO(saved(page, 'img[alt^="Traversals"]', "src")))
    for name, kind in (("Save as PNG", "PNG"), ("Save as GIF", "GIF")):
        kept = Image.open(BytesIO(saved(page, f'a:text-is("{name}")', "href")))
        assert kept.format == kind
        assert np.asarray(kept.convert("L"))[:4, :4].min() > 245  # names are on white, or nearly in a GIF
        assert kind == "GIF" or kept.width > 2 * shown.width  # of twice the size, with names before the rows


def saved(page: Page, element: str, attribute: str) -> bytes:
    """Return the picture that an element of a page from disk has in its address."""
    address = page.get_attribute(element, attribute) or ""
    return b64decode(address.partition("base64,")[2])


def test_the_sliders_start_from_other_images_too(page: Page, exported: Exported, runs: list[str]):
    page.goto(f"{exported.page.as_uri()}#/run?run={runs[0]}")
    page.wait_for_function(STARTED)
    eventually(lambda: page.evaluate("document.querySelector('.stage canvas').width"), 32)
    before = page.evaluate(CANVAS)
    page.get_by_role("button", name="Another image").click()
    page.wait_for_function("() => location.hash.includes('image=')")
    page.wait_for_function(f"(before) => ({STARTED})() && {CANVAS} !== before", arg=before)
    drawn(page)
    assert page.inner_text("#fault") == ""


def test_a_run_without_images_says_so(page: Page, exported: Exported, runs: list[str]):
    page.goto(f"{exported.page.as_uri()}#/run?run={runs[3]}")
    page.wait_for_selector("#fault:not([hidden])")
    expect(page.locator("#fault")).to_contain_text("not in the export")


def test_what_is_no_export_is_not_replaced(world: Path, tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="is not an export"):
        write_export(world, tmp_path / "mine", runs=0)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="not a folder"):
        write_export(world, tmp_path / "file", runs=0)
    with pytest.raises(UsageError, match="there is no folder"):
        write_export(world, tmp_path / "missing" / "page", runs=0)
    with pytest.raises(UsageError, match="no run 'nothing'"):
        write_export(world, tmp_path / "page", runs=["nothing"])
    with pytest.raises(UsageError, match="there is no folder"):
        write_export(world / "missing", tmp_path / "page")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "mine", "thesis.tex"]


def test_an_export_is_replaced_whole_or_not_at_all(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    out = tmp_path / "page"
    write_export(world, out, runs=0)
    (out / "of the first").write_text("")
    with monkeypatch.context() as patch:
        patch.setattr("unweave.explorer.export.Writer.finish", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_export(world, out, runs=0)
    assert (out / "of the first").is_file()
    write_export(world, out, runs=0)
    assert not (out / "of the first").exists()
    assert (out / MARK).is_file()
    assert list(tmp_path.iterdir()) == [out]
