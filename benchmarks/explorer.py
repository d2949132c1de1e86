"""How long the explorer takes: from a slider to its image, and to the table of many runs.

The server is a process of its own, as `unweave explore` starts it; requests come from this one, over one connection,
one after the other, as from a page. Reported is the wall time of a request, and that of the server's processor time,
which other programs on the machine do not change.

    python benchmarks/explorer.py                       # sliders (conv and mlp), and a table of 10,000 runs
    python benchmarks/explorer.py --runs 75000          # a larger table
    python benchmarks/explorer.py --folder studies/mine # sliders of the first run below a folder
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np

MOVES = 300
METRICS = ("mig", "sap", "dci-disentanglement", "dci-completeness", "factor-vae-score", "elbo-rate")


class Server:
    """An explorer, and one connection to it."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc)
        self._stat = Path(f"/proc/{process.pid}/stat")

    def get(self, path: str) -> tuple[bytes, float, float]:
        """Return the body of an answer, the seconds it took, and the server's processor time."""
        before, start = self.processor(), time.perf_counter()
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        body, seconds = answer.read(), time.perf_counter() - start
        if answer.status != 200:
            raise SystemExit(f"{path}: {body.decode()}")
        return body, seconds, self.processor() - before

    def processor(self) -> float:
        """Return the processor time that the server has taken so far."""
        if not self._stat.exists():  # not on Linux
            return float("nan")
        fields = self._stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(folder: Path) -> Iterator[tuple[Server, float]]:
    """Start the command over a folder; give the server, and the seconds until it answered with the page."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "unweave", "explore", str(folder), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = json.loads("".join(process.stdout.readline() for _ in range(4)))
        server = Server(process, said["url"])
        server.get("/")
        try:
            yield server, time.perf_counter() - start
        finally:
            process.terminate()


def sliders(folder: Path) -> None:
    with serving(folder) as (server, until):
        table = json.loads(server.get("/api/table")[0])
        for identity in table["rows"]["id"][:2]:
            name = f"run={quote(identity, safe='')}"
            body, opening, _ = server.get(f"/api/run?{name}")
            latents = json.loads(body)["latents"]
            rng = np.random.default_rng(0)
            codes = [",".join(f"{value:.3f}" for value in rng.normal(size=len(latents))) for _ in range(MOVES)]
            spent = [server.get(f"/api/run/decode?{name}&z={code}")[1] for code in codes]
            low, middle, high = 1e3 * np.quantile(spent, [0.05, 0.5, 0.95])
            start = server.get(f"/api/run/traversals?{name}")[1]
            print(
                f"{identity}: page {until:.1f} s after the command, run opened in {opening:.1f} s, slider to image "
                f"{middle:.1f} ms (5 % {low:.1f}, 95 % {high:.1f}), all traversals {1e3 * start:.0f} ms"
            )


def table(folder: Path, runs: int) -> None:
    write_study(folder, runs)
    with serving(folder) as (server, until):
        print(f"{runs:,} runs: page {until:.1f} s after the command")
        for what in ("first time", "again"):
            for path in ("/api/index", "/api/table", "/api/groups", "/api/changes"):
                body, seconds, processor = server.get(path)
                print(f"  {path}, {what}: {seconds:.2f} s, {processor:.2f} s of processor, {len(body) / 1e6:.1f} MB")


def write_study(folder: Path, runs: int) -> None:
    """Write this many finished runs with scores; a table needs no weights."""
    import polars

    from unweave.tables import merge_scores

    kept = folder.parent / "scores"
    kept.mkdir(parents=True)
    for place in range(20):  # 20 different ones: each is the file of many runs
        values = np.random.default_rng(place).random(len(METRICS))
        rows = polars.DataFrame({"metric": METRICS, "value": values, "options": ["{}"] * len(METRICS)})
        merge_scores(kept / f"{place}.parquet", rows, step=1000, weights="0")
    for place in range(runs):
        seed, beta, method = place % 10, 2.0 ** (place // 10 % 12), ("beta-vae", "beta-tcvae")[place // 120 % 2]
        lr = 1e-4 * (1 + place // 240)
        path = folder / f"{method}-{place:06d}"
        path.mkdir(parents=True)
        config = {
            "method": {"name": method, "loss": "mse", "beta": beta},
            "data": {"name": "shapes2d", "size": 64},
            "net": {"name": "conv", "latents": 10},
            "training": {"steps": 1000, "batch": 64, "lr": lr, "seed": seed, "standardise": False},
        }
        (path / "config.json").write_text(json.dumps(config))
        (path / "status.json").write_text(json.dumps({"state": "finished", "step": 1000, "seconds": 60.0}))
        os.link(kept / f"{place % 20}.parquet", path / "scores.parquet")


def train_two(folder: Path) -> None:
    import unweave

    for net in ("conv", "mlp"):
        unweave.train("beta-vae", data="shapes2d", net=net, steps=50, out=folder / net, progress=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if options.folder is not None:
        return sliders(options.folder)
    with tempfile.TemporaryDirectory() as temporary:
        train_two(Path(temporary, "runs"))
        sliders(Path(temporary, "runs"))
        table(Path(temporary, "study", "runs"), options.runs)
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
