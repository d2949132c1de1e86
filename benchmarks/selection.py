"""The cost of label-free scores, and their precision: `python benchmarks/selection.py [PART ...]`.

dynamics   25 realisations x 50 moments x 500 samples x 256 units: at most 120 s and 4 GB on two cores
udr        25 models of 10 latents on 10,000 rows: at most 60 s
features   random features compared with the exact MMD, and the effect of the seed on the score
centrality number of encoded images, and seconds besides those of the models

Both elapsed time and CPU time are printed: the first means little on a busy machine.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from unweave.selection import Coder, centrality_pairs, dynamics_embedding, dynamics_pairs, udr
from unweave.selection.mmd import mmd2_pairs

FULL = (25, 50, 500, 256)
"""Realisations, moments, samples and units."""
MIDDLE = (4, 10, 150, 64)
"""Small enough for the exact MMD."""


def learning(shape: tuple[int, int, int, int], factors: int = 10) -> np.ndarray:
    """Return traces of layers that learn the same factors of the same samples, each from its own first weights."""
    moments, samples, units = shape[1:]
    rng = np.random.default_rng(0)
    z = rng.normal(size=(samples, factors)).astype(np.float32)
    traces = np.empty(shape, np.float32)
    for trace in traces:
        start, end = rng.normal(size=(2, factors, units)).astype(np.float32)
        for moment, share in zip(trace, np.linspace(0, 1, moments, dtype=np.float32), strict=True):
            moment[:] = np.tanh(z @ ((1 - share) * 0.3 * start + share * end))
    return traces


@contextmanager
def measured(what: str) -> Iterator[None]:
    start, processor = time.perf_counter(), time.process_time()
    yield
    seconds, busy = time.perf_counter() - start, time.process_time() - processor
    print(f"{what}: {seconds:.1f} s (processor {busy:.1f} s)", flush=True)


def memory() -> float:
    """Return the peak of this process in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def dynamics_cost() -> None:
    traces = learning(FULL)
    print(f"traces: {traces.nbytes / 1e9:.2f} GB, peak {memory():.2f} GB")
    with measured("training dynamics, " + " x ".join(map(str, FULL))):
        pairs = dynamics_pairs(traces)
    print(f"  peak {memory():.2f} GB, score {np.nanmean(pairs):.3g}")


def udr_cost() -> None:
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(10_000, 10))
    codes = [np.tanh(factors @ rng.normal(size=(10, 10))) for _ in range(25)]
    for kind in ("lasso", "spearman"):
        with measured(f"UDR ({kind}), 25 models on 10,000 rows"):
            udr(codes, kind)


def features_error() -> None:
    points = dynamics_embedding(learning(MIDDLE))
    clouds = list(points.reshape(len(points), -1, points.shape[-1]))
    exact = np.nanmean(mmd2_pairs(clouds, features=0))
    for count in (256, 1_024, 4_096):
        found = [np.nanmean(mmd2_pairs(clouds, features=count, seed=seed)) for seed in range(20)]
        bias, spread = np.mean(found) / exact - 1, np.std(found, ddof=1) / exact
        print(f"  {count:,} features: mean {bias:+.2%} of the exact {exact:.3g}, standard deviation {spread:.2%}")
    for count in (0, 1_024):
        scores = [np.nanmean(dynamics_pairs(learning(MIDDLE), seed=seed, features=count)) for seed in range(6)]
        mean, spread = np.mean(scores), np.std(scores, ddof=1)
        print(f"  whole score over seeds, {f'{count:,} features' if count else 'exact'}: {mean:.4g} ± {spread:.2g}")


def centrality_cost() -> None:
    rng = np.random.default_rng(0)
    encoded = 0

    def encode(images: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        nonlocal encoded
        encoded += len(images)
        return images @ matrix.T

    models = []
    for _ in range(10):
        matrix = np.linalg.qr(rng.normal(size=(10, 10)))[0].astype(np.float32)
        models.append(
            Coder(partial(encode, matrix=matrix), lambda z, matrix=matrix: z @ matrix, rng.normal(size=(500, 10)))
        )
    with measured("ModelCentrality of 10 models whose nets cost nothing"):
        centrality_pairs(models)
    print(f"  {encoded:,} images encoded")


PARTS = {"dynamics": dynamics_cost, "udr": udr_cost, "features": features_error, "centrality": centrality_cost}


def main(names: list[str]) -> None:
    for name in names or PARTS:
        print(f"{name}:", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
