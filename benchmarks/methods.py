"""A comparison of methods on data whose factors are known: `python benchmarks/methods.py --out comparison`.

Every method of `compared` is trained on both data sets with every seed, all on the same number of images a step, and
scored. The command goes on where it stopped: a run that is there already is neither trained nor scored again. The
table of all scores goes to OUT/scores.csv, the means and standard deviations over the seeds to the screen and to
OUT/scores.md; docs/results/methods.md shows what they were.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import polars

from unweave.methods import (
    DIPVAE,
    QLAE,
    AdaGVAE,
    AdaTVAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaTVAE,
    BetaVAE,
    FactorVAE,
    Method,
    Schedule,
)

DATA = ("rooms3d", "xysquares")
METRICS = ("mig", "dci", "factor-vae-score", "linearity", "axis-alignment")
IMAGES = 96  # a step: 96 single ones, 48 pairs or 32 triplets


def compared(steps: int) -> dict[str, Method]:
    """Return the methods, each with the strength that docs/results/methods.md gives the reasons for."""
    return {
        "β-VAE": BetaVAE(beta=4, loss="mse"),
        "AnnealedVAE": AnnealedVAE(capacity=Schedule(0, 25, steps), loss="mse"),
        "FactorVAE": FactorVAE(gamma=35, adversary_units=300, loss="mse"),
        "DIP-VAE-I": DIPVAE(kind="I", lambda_od=10, lambda_d=100, loss="mse"),
        "DIP-VAE-II": DIPVAE(kind="II", lambda_od=10, lambda_d=10, loss="mse"),
        "β-TCVAE": BetaTCVAE(beta=6, loss="mse"),
        "Ada-GVAE": AdaGVAE(beta=4, loss="mse"),
        "β-TVAE": BetaTVAE(beta=4, loss="mse"),
        "Ada-TVAE": AdaTVAE(beta=4, omega=Schedule(1, 0.5, steps), loss="mse"),
        "QLAE": QLAE(loss="mse"),
        "β-VAE, box blur": BetaVAE(beta=16, loss="mse-box:radius=15"),
    }


@dataclass(frozen=True)
class Job:
    """One run of the comparison, and where it goes."""

    label: str
    method: Method
    data: str
    steps: int
    seed: int
    folder: Path


def score(job: Job) -> dict[str, object]:
    """Train and evaluate a run, and return its scores as one row."""
    import torch

    import unweave

    torch.set_num_threads(1)
    run = unweave.train(
        job.method,
        data=f"{job.data}:size=32",
        steps=job.steps,
        batch=IMAGES // job.method.groups,
        seed=job.seed,
        width=0.5,
        standardise=job.data == "xysquares",  # nearly all of its pixels are black
        threads=1,
        out=job.folder,
    )
    began = time.perf_counter()
    scores = run.scores()
    if scores is None or scores.is_empty():
        scores = run.evaluate(METRICS, preset="fast", samples=10_000, test_samples=5_000, intervals=False)
    values = dict(zip(scores["metric"], scores["value"], strict=True))
    spent = {"training seconds": run.status["seconds"], "scoring seconds": round(time.perf_counter() - began, 1)}
    return {"data": job.data, "method": job.label, "seed": job.seed, **values, **spent}


def jobs(options: argparse.Namespace) -> list[Job]:
    """Return all runs: seed after seed, so that those there are when time runs out cover all methods."""
    found = []
    for seed in range(options.seeds):
        for data in DATA:
            for label, method in compared(options.steps).items():
                if "blur" in label and data == "rooms3d":
                    continue  # the blur is for images that differ in places, not in colours
                folder = options.out / f"{label.replace(', ', '-').replace(' ', '-')}-{data}-{seed}"
                found.append(Job(label, method, data, options.steps, seed, folder))
    return found


def summary(rows: list[Mapping[str, object]]) -> str:
    """Return means ± standard deviations over the seeds as Markdown, one table a data set."""
    table = polars.DataFrame(rows)
    scores = [name for name in table.columns if name not in ("data", "method", "seed")]
    lines = []
    for data in DATA:
        lines += [f"### {data}", "", "| method | " + " | ".join(scores) + " |", "|---" * (len(scores) + 1) + "|"]
        of_data = table.filter(polars.col("data") == data)
        for (label,), runs in of_data.group_by("method", maintain_order=True):
            spread = [(runs[name].mean(), runs[name].std() or 0.0, 0 if "seconds" in name else 3) for name in scores]
            cells = [f"{mean:.{digits}f} ± {deviation:.{digits}f}" for mean, deviation, digits in spread]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("comparison"))
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # one thread a worker
    rows: list[Mapping[str, object]] = []
    work = jobs(options)
    with ProcessPoolExecutor(options.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(score, job) for job in work]
        for future in as_completed(futures):
            rows.append(future.result())
            print(f"{len(rows)} of {len(work)}: {rows[-1]}", flush=True)
    order = {(job.label, job.data, job.seed): place for place, job in enumerate(work)}
    rows.sort(key=lambda row: order[row["method"], row["data"], row["seed"]])  # type: ignore[index]
    polars.DataFrame(rows).write_csv(options.out / "scores.csv")
    (options.out / "scores.md").write_text(summary(rows), encoding="utf-8")
    print(summary(rows))


if __name__ == "__main__":
    main()
