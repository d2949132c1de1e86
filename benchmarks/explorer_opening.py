"""How long the page of many runs takes on a server that has just started, in a real Chromium.

A study of so many finished runs is written, once with the table that a study keeps and once without. Each time a new
`unweave explore` is started, and a page is opened the moment its address is printed. Reported are the seconds from the
command to the address, from there to the first paint, to the first rows of the table, and the server's processor time
until then, which other programs on the machine change less.

    python benchmarks/explorer_opening.py                              # 10,000 runs, three times each
    python benchmarks/explorer_opening.py --runs 75000 --times 1
    python benchmarks/explorer_opening.py --source src --source /an/earlier/checkout/src   # alternating
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from explorer import Server, write_study
from explorer_pictures import ARGUMENTS, browser_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROWS = "table.runs tbody tr:not(.gap)"
FIRST_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
PATIENCE = 300_000
NAMES = ("address", "first paint", "rows", "processor")


def opened(browser: Browser, folder: Path, source: Path) -> list[float]:
    """Return the seconds until the address, then to first paint and to rows, and the server's processor time."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "unweave", "explore", str(folder), "--json"]
    settings = {**os.environ, "PYTHONPATH": str(source)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings) as process:
        try:
            assert process.stdout is not None
            url = json.loads("".join(process.stdout.readline() for _ in range(4)))["url"]
            address = time.perf_counter()
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(PATIENCE)
            page.goto(url, wait_until="commit")
            page.wait_for_selector(ROWS)
            rows = time.perf_counter()
            spent = Server(process, url).processor()
            paint = page.evaluate(FIRST_PAINT)
            page.close()
        finally:
            process.terminate()
    return [address - start, paint / 1000, rows - address, spent]


def main() -> None:
    from playwright.sync_api import sync_playwright

    from unweave.study.table import read_records

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--source", type=Path, action="append")
    options = parser.parse_args()
    sources = [path.resolve() for path in options.source or [Path(__file__).parent.parent / "src"]]
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
        for kept in (False, True):
            folder = Path(temporary, "kept" if kept else "none", "runs")
            write_study(folder, options.runs)
            if kept:
                read_records(folder)
            found: dict[Path, list[list[float]]] = {source: [] for source in sources}
            for _ in range(options.times):
                for source in sources:
                    found[source].append(opened(browser, folder.parent, source))
            for source, times in found.items():
                middle = ", ".join(
                    f"{n} {median(t):.2f} s" for n, t in zip(NAMES, zip(*times, strict=True), strict=True)
                )
                print(f"{options.runs:,} runs, table {'kept' if kept else 'not kept'}, {source}: {middle}", flush=True)
        browser.close()
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
