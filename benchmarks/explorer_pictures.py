"""Screenshots of every page of the explorer, light and dark, for docs/explorer.md.

    python benchmarks/explorer_pictures.py STUDY [--out docs/images] [--only run data]

STUDY is the folder of a study, which is only read; the run that DCI finds most disentangled is shown. Points of a
product of two spheres are drawn for the page of geometry. Each picture is a PNG of 1280 × 800 with few colours.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZE = (1280, 800)
COLOURS = 128
LARGEST = 150_000
"""Largest size of a picture, in bytes."""
SCHEMES = ("light", "dark")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
NAMES = ("chromium", "chromium-browser", "google-chrome")
READY = {
    "study": "table.runs tbody tr:not(.gap)",
    "run": ".stage canvas[data-code]",
    "matrix": ".detail .js-plotly-plot",
    "compare": ".pairs img",
    "data": "#perceived strong",
    "geometry": "#cloud .js-plotly-plot",
}
"""A selector for what a page has when it is complete."""
PATIENCE = 300_000


def best_runs(table: dict[str, Any]) -> list[str]:
    """Return the runs by their disentanglement, the best first, all on the data set of the best."""
    rows = table["rows"]
    order = sorted(range(table["total"]), key=lambda place: -(rows["dci-disentanglement"][place] or 0.0))
    return [rows["id"][place] for place in order if rows["data"][place] == rows["data"][order[0]]]


def browser_path() -> str | None:
    """Return the path of a Chromium, if there is one; otherwise Playwright uses its own."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    from unweave.explorer.served import explore

    with explore(folder) as page:
        yield page.url


def draw_points(folder: Path) -> None:
    """Write a file as `unweave geomancer` does."""
    from unweave.geometry import geomancer, sample

    points = sample("S^2 x S^2", n=2000, seed=0).points
    geomancer(points, dim=4, seed=0).save(folder / "factors.npz", points)


def states(study: Path) -> dict[str, dict[str, str]]:
    """Return what each page shows."""
    from unweave.explorer.state import Explorer

    table, _ = Explorer(study).table(".")
    runs = best_runs(table)
    return {
        "study": {},
        "run": {"run": runs[0]},
        "matrix": {"run": runs[0]},
        "compare": {"left": runs[0], "right": runs[1]},
        "data": {"run": runs[0]},
    }


def photograph(browser: Browser, url: str, view: str, state: dict[str, str], out: Path) -> None:
    """Write the pictures of one page."""
    for scheme in SCHEMES:
        context = browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme=scheme)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{url}#/{view}?{urlencode(state)}")
        page.wait_for_selector(f".view.{view}[data-ready]")
        page.wait_for_selector(READY[view])
        settle(page)
        file = out / f"explorer-{view}-{scheme}.png"
        file.write_bytes(small(page.screenshot()))
        print(f"{file} {file.stat().st_size:,} bytes", flush=True)
        context.close()


def settle(page: Page) -> None:
    """Wait until everything is loaded, and charts and images are drawn."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)


def small(content: bytes) -> bytes:
    """Return a screenshot with few colours, and fewer if it is large."""
    picture = Image.open(BytesIO(content)).convert("RGB")
    for colours in (COLOURS, COLOURS // 2, COLOURS // 4):
        buffer = BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
        if buffer.tell() < LARGEST:
            break
    return buffer.getvalue()


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--only", nargs="+", choices=list(READY), default=list(READY))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
        if pages := [(view, state) for view, state in states(options.study).items() if view in options.only]:
            with served(options.study) as url:
                for view, state in pages:
                    photograph(browser, url, view, state, options.out)
        if "geometry" in options.only:
            points = Path(folder) / "spheres"
            points.mkdir()
            draw_points(points)
            with served(points) as url:
                photograph(browser, url, "geometry", {}, options.out)
        browser.close()


if __name__ == "__main__":
    main()
