"""What the explorer's tests share: a few trained runs, a server over them, and a browser."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

import numpy as np
import pytest

import unweave
from unweave.files import exclusive

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 120.0
"""Seconds that Debian's package may take to install."""
SLOWED = float(os.environ.get("UNWEAVE_SLOW_BROWSER", "0"))
"""How many times slower pages run, and whether answers come late; see `open_page`."""
WAIT = 300_000 if SLOWED else 90_000
"""Milliseconds that a page may take for anything: the cores may have much else to do."""
DELAY = 0.3 if SLOWED else 0.0
"""Seconds that an answer then waits."""
WITHOUT_WEBGL = """
const before = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.startsWith("webgl") ? null : before.call(this, kind, ...rest);
};
"""
"""A script for a browser that cannot draw in three dimensions."""
TINY: dict[str, Any] = {"batch": 32, "net": "mlp", "latents": 4, "width": 0.05, "lr": 3e-3}
"""A model that learns a little in a second."""


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that nobody may write to: a study of 2 × 2 runs, a run on other data, factors of a manifold.

    `study` and `other` are trained, `geometry/factors.npz` is what `unweave geomancer` writes. Test workers share it.
    """
    folder = shared(tmp_path_factory) / "world"
    with exclusive(folder.with_suffix(".lock")):
        if not folder.is_dir():
            unfinished = folder.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            write_study(unfinished / "study")
            unweave.train(
                "beta-vae",
                data="xysquares:size=32",
                steps=100,
                seed=0,
                out=unfinished / "other",
                progress=False,
                **TINY,
            )
            write_factors(unfinished / "geometry")
            unfinished.rename(folder)
    return folder


def shared(factory: pytest.TempPathFactory) -> Path:
    """Return the temporary folder that all workers of this run of the tests have in common."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def write_study(folder: Path) -> None:
    """Train two strengths of β-VAE, two seeds each, in this process."""
    from unweave.study import Study
    from unweave.study.work import Job, attempt

    study = Study(
        data="shapes2d:size=32",
        methods=[{"name": "beta-vae", "beta": [0.25, 2]}],
        seeds=2,
        steps=300,
        metrics=["mig", "dci"],
        evaluate={"preset": "fast", "samples": 300, "test_samples": 100, "intervals": False},
        out=folder,
        **TINY,
    )
    folder.mkdir(parents=True)
    study.folder.write_plan(study.plan)
    for task in study.plan.tasks:
        ended = attempt(Job(task, study.folder.run_of(task), study.plan.scoring, device="cpu"))
        assert ended.kind == "done", ended.traceback


def write_factors(folder: Path) -> None:
    """Write points of a product of two spheres, and its factors."""
    from unweave.geometry import geomancer, sample

    drawn = sample("S^2 x S^2", n=600, seed=0)
    folder.mkdir(parents=True)
    geomancer(drawn.points, dim=4, seed=0).save(folder / "factors.npz", drawn.points)
    np.save(folder / "points.npy", drawn.points)


@pytest.fixture(scope="session")
def runs(world: Path) -> list[str]:
    """Return the IDs of the study's runs, in order."""
    return sorted(f"study/runs/{path.name}" for path in (world / "study" / "runs").iterdir())


class Served:
    """An explorer that answers on a port of its own."""

    def __init__(self, app: Any) -> None:
        import uvicorn

        late = Late(app) if DELAY else app
        settings = uvicorn.Config(late, host="127.0.0.1", port=0, log_level="critical", ws="none", lifespan="off")
        self._server = uvicorn.Server(settings)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        until = time.monotonic() + 60
        while not self._server.started:
            assert self._thread.is_alive(), "the server has ended"
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.01)
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def to(self, view: str, **state: object) -> str:
        """Return the address of a view in this state."""
        words = "&".join(f"{key}={quote(str(value), safe='')}" for key, value in state.items())
        return f"{self.url}/#/{view}{'?' if words else ''}{words}"

    def stop(self) -> None:
        """Stop answering."""
        self._server.should_exit = True
        self._thread.join(10)


class Late:
    """An application whose answers from `/api/` wait a moment first, each on its own."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope.get("path", "").startswith("/api/"):
            await asyncio.sleep(DELAY)
        await self._app(scope, receive, send)


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], Served]]:
    """Return a function that serves a folder until the tests end."""
    from unweave.explorer.app import create_app
    from unweave.explorer.state import Explorer

    served: list[Served] = []

    def start(folder: Path) -> Served:
        served.append(Served(create_app(Explorer(folder))))
        return served[-1]

    yield start
    for each in served:
        each.stop()


@pytest.fixture(scope="session")
def server(world: Path, serve: Callable[[Path], Served]) -> Served:
    """Return an explorer of the small study and what is beside it."""
    return serve(world)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where a Chromium is; without one the test is skipped, and fails under CI=true."""
    note = shared(tmp_path_factory) / "chromium.txt"
    with exclusive(note.with_suffix(".lock")):
        if not note.is_file():
            note.write_text(find_chromium() or "")
    return note.read_text() or without_chromium()


def without_chromium() -> NoReturn:
    """Skip the test with a line that says why, or fail where all tests must run."""
    missing = "no Chromium was found: install it (apt-get install chromium, or: playwright install chromium)"
    if os.environ.get("CI") == "true":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


def find_chromium() -> str | None:
    """Return a browser of the PATH, else Playwright's own, else Debian's package, which is installed if it may be."""
    return _on_path() or _of_playwright() or _of_debian()


def _on_path() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def _of_debian() -> str | None:
    """Install the package `chromium`: as root, where there is apt-get, and if it takes no longer than two minutes."""
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    until = time.monotonic() + PATIENCE
    for words in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        try:
            subprocess.run(
                ["apt-get", "-qq", *words],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=max(1.0, until - time.monotonic()),
                check=True,
            )
        except (subprocess.SubprocessError, OSError):
            return None
    return _on_path()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Return a Chromium. One for each module: while Playwright runs, no other code of this thread can use asyncio."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        started = launch(playwright, chromium)
        yield started
        started.close()


def launch(playwright: Playwright, chromium: str) -> Browser:
    """Start the browser, without anything that it does of its own accord on a network."""
    return playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)


def open_page(browser: Browser, **options: Any) -> Page:
    """Open an empty page of 1280 × 800 in a context of its own.

    A test that reads a page before it is done may still pass on a fast machine. To find such tests, set
    `UNWEAVE_SLOW_BROWSER=8`: scripts then run 8 times slower (by the browser's own throttling), and each answer of the
    server, or of a test in its place, comes 0.3 s late.

        UNWEAVE_SLOW_BROWSER=8 python -m pytest tests/explorer -k browser
    """
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    page = context.new_page()
    page.set_default_timeout(WAIT)
    if SLOWED:
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    return page


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Return a function that opens an empty page; at the end no page may have logged an error or lacked a file."""
    troubles: list[str] = []
    pages: list[Page] = []

    def opened(**options: Any) -> Page:
        pages.append(open_page(browser, **options))
        watch(pages[-1], troubles)
        return pages[-1]

    yield opened
    for page in pages:
        page.context.close()
    assert troubles == []


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """Return an empty page of 1280 × 800."""
    return new_page()


@pytest.fixture
def failing_page(browser: Browser) -> Iterator[Page]:
    """Return a page that may log errors: the browser itself logs an answer of status 404."""
    page = open_page(browser)
    yield page
    page.context.close()


def eventually(read: Callable[[], object], expected: object) -> None:
    """Wait until what is read of a page is what is expected; what is read must not wait itself."""
    until = time.monotonic() + WAIT / 1000
    while (found := read()) != expected and time.monotonic() < until:
        time.sleep(0.05)
    assert found == expected


def drawn(page: Page) -> None:
    """Wait until all charts of a page are drawn, and what followed from the last event has been done."""
    page.wait_for_function(
        "() => [...document.querySelectorAll('.chart')].every((each) => each.querySelector('.main-svg'))"
    )
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def fits(page: Page) -> None:
    """Check that a page is no wider than its window, once its charts are drawn."""
    drawn(page)
    eventually(lambda: page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), True)


def watch(page: Page, troubles: list[str]) -> None:
    """Add to `troubles` what the page logs as an error, what it throws, and what it asks for and does not get."""
    page.on("console", lambda said: troubles.append(f"console: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(f"thrown: {error}"))
    page.on("requestfailed", lambda asked: _lost(asked, troubles))


def _lost(asked: Any, troubles: list[str]) -> None:
    """Note a request that failed, unless the page gave it up: a slider has moved on, or another view is shown."""
    if "ERR_ABORTED" not in (asked.failure or ""):
        troubles.append(f"request: {asked.url} ({asked.failure})")


@pytest.fixture
def axe() -> Callable[[Page], list[str]]:
    """Return a function that lists the serious and critical violations of accessibility on a page."""
    from axe_playwright_python.sync_playwright import Axe

    def violations(page: Page) -> list[str]:
        drawn(page)
        found = Axe().run(page).response["violations"]
        grave = [each for each in found if each["impact"] in ("serious", "critical")]
        return [f"{each['id']}: {node['target']} {node['failureSummary']}" for each in grave for node in each["nodes"]]

    return violations
