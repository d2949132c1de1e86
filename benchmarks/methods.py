"""A comparison of methods on data whose factors are known: `python benchmarks/methods.py --out comparison`.

Every method of `compared` is trained with every seed, all on the same number of images a step, and scored; with
`--others` those of `others`, with `--only` some of them. The command goes on where it stopped: a run that is there
already is neither trained nor scored again. Means ± standard deviations over the seeds go to the screen; with
`--write-docs` every run goes to docs/results/methods.csv, and from there into the pages (`methods_docs.py`).
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import methods_docs
import polars

from unweave.data import Labels
from unweave.methods import (
    AE,
    DIPVAE,
    HFS,
    QLAE,
    TAE,
    VAE,
    AdaGVAE,
    AdaMLVAE,
    AdaTAE,
    AdaTVAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaTVAE,
    BetaVAE,
    FactorVAE,
    InfoVAE,
    Method,
    Schedule,
    SlowVAE,
    Tripod,
    UnsupervisedAdaTVAE,
)

DATA = ("rooms3d", "xysquares")
METRICS = ("mig", "dci", "factor-vae-score", "linearity", "axis-alignment")
IMAGES = 96  # a step: 96 single ones, 48 pairs or 32 triplets
MSE = "mse"


@dataclass(frozen=True)
class Case:
    """A method, and the data sets it is tried on."""

    label: str
    method: Method
    data: tuple[str, ...] = DATA
    labels: Labels | None = None


def compared(steps: int) -> list[Case]:
    """Return the methods that the table compares, with the strengths that docs/results/methods.md gives reasons for."""
    falling = Schedule(1, 0.5, steps)
    return [
        Case("β-VAE", BetaVAE(beta=4, loss=MSE)),
        Case("AnnealedVAE", AnnealedVAE(capacity=Schedule(0, 25, steps), loss=MSE)),
        Case("FactorVAE", FactorVAE(gamma=35, adversary_units=300, loss=MSE)),
        Case("DIP-VAE-I", DIPVAE(kind="I", lambda_od=10, lambda_d=100, loss=MSE)),
        Case("DIP-VAE-II", DIPVAE(kind="II", lambda_od=10, lambda_d=10, loss=MSE)),
        Case("β-TCVAE", BetaTCVAE(beta=6, loss=MSE)),
        Case("Ada-GVAE", AdaGVAE(beta=4, loss=MSE)),
        Case("β-TVAE", BetaTVAE(beta=4, loss=MSE)),
        Case("Ada-TVAE", AdaTVAE(beta=4, omega=falling, loss=MSE)),
        Case("QLAE", QLAE(loss=MSE)),
        Case("β-VAE, β = 1", BetaVAE(beta=1, loss=MSE), data=("xysquares",)),
        Case("Ada-GVAE, β = 1", AdaGVAE(beta=1, loss=MSE), data=("xysquares",)),
        Case("β-VAE, box blur", BetaVAE(beta=16, loss="mse-box:radius=15"), data=("xysquares",)),
    ]


def others(steps: int) -> list[Case]:
    """Return every other method, for one result each."""
    falling = Schedule(1, 0.5, steps)
    methods = {
        "VAE": VAE(loss=MSE),
        "InfoVAE": InfoVAE(loss=MSE),
        "AE": AE(loss=MSE),
        "Ada-ML-VAE": AdaMLVAE(beta=4, loss=MSE),
        "SlowVAE": SlowVAE(loss=MSE),
        "unsupervised Ada-TVAE": UnsupervisedAdaTVAE(beta=4, omega=falling, loss=MSE),
        "TAE": TAE(loss=MSE),
        "Ada-TAE": AdaTAE(omega=falling, loss=MSE),
        "HFS": HFS(loss=MSE),
        "Tripod": Tripod(loss=MSE),
    }
    few = Case("β-VAE, 1000 labels", BetaVAE(beta=4, loss=MSE), ("rooms3d",), Labels(count=1000))
    return [*(Case(label, method, ("rooms3d",)) for label, method in methods.items()), few]


@dataclass(frozen=True)
class Job:
    """One run of the comparison, the table it is for, and where it goes."""

    table: str
    case: Case
    data: str
    steps: int
    seed: int
    folder: Path


def score(job: Job) -> dict[str, Any]:
    """Train and evaluate a run, and return its scores as one row."""
    import torch

    import unweave

    torch.set_num_threads(1)
    run = unweave.train(
        job.case.method,
        data=f"{job.data}:size=32",
        steps=job.steps,
        batch=IMAGES // job.case.method.group_size,
        seed=job.seed,
        width=0.5,
        standardise=job.data == "xysquares",  # nearly all of its pixels are black
        labels=job.case.labels,
        threads=1,
        out=job.folder,
    )
    scores = run.scores()
    scores = None if scores is None else scores.filter("current")  # those of the weights there are
    if scores is None or scores.is_empty():
        scores = run.evaluate(METRICS, preset="fast", samples=10_000, test_samples=5_000, intervals=False)
    values = dict(scores.drop_nulls("value").select("metric", "value").iter_rows())
    spent = {"training seconds": run.status["seconds"]}
    return {"table": job.table, "data": job.data, "method": job.case.label, "seed": job.seed, **values, **spent}


def jobs(options: argparse.Namespace) -> list[Job]:
    """Return all runs: seed after seed, so that those there are when time runs out cover all methods."""
    found = []
    table = "others" if options.others else "compared"
    cases = (others if options.others else compared)(options.steps)
    cases = [case for case in cases if not options.only or case.label in options.only]
    for seed in range(options.seeds):
        for data in DATA:
            for case in cases:
                if data in case.data:
                    name = case.label.replace(", ", "-").replace(" = ", "=").replace(" ", "-")
                    found.append(Job(table, case, data, options.steps, seed, options.out / f"{name}-{data}-{seed}"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("comparison"))
    parser.add_argument("--others", action="store_true", help="the methods that the comparison leaves out")
    parser.add_argument("--only", nargs="+", metavar="LABEL", help="only these, by their names in the table")
    parser.add_argument("--write-docs", action="store_true", help="store all runs, and write the docs' tables")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # one thread a worker
    work = jobs(options)
    rows: dict[Job, dict[str, Any]] = {}
    with ProcessPoolExecutor(options.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(score, job): job for job in work}
        for future in as_completed(futures):
            rows[futures[future]] = row = future.result()
            print(f"{len(rows)} of {len(work)}: {row}", flush=True)
    ordered = polars.DataFrame([rows[job] for job in work])
    for (data,), runs in ordered.group_by("data", maintain_order=True):
        print(f"### {data}", methods_docs.table(runs, seconds=True), sep="\n\n")
    if options.write_docs:
        methods_docs.store(ordered.to_dicts())
        methods_docs.write()


if __name__ == "__main__":
    main()
