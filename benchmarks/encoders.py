"""What `encode` adds to its encoder: `python benchmarks/encoders.py [ENCODER ...] [--images N] [--rounds N]`.

The same batches of images go through `unweave.encoders.encode`, with a cache that is empty, and through a bare loop
over `data.images` and the network, alternating. The ratio of CPU times is printed for each round, then its median. It
should be at most 1.05.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from unweave.data import Dataset, load
from unweave.encoders import encode, open_encoder

BATCH = 64
DEFAULT = ("alexnet-shift", "efficientnet-lite0")


def bare(encoder: Any, data: Dataset, indices: np.ndarray) -> np.ndarray:
    """Encode with a bare loop."""
    parts = []
    with torch.inference_mode():
        for start in range(0, len(indices), BATCH):
            images = data.images(indices[start : start + BATCH])
            parts.append(encoder.module(encoder._preprocessing(images)).numpy())
    return np.concatenate(parts)


def through_encode(encoder: Any, data: Dataset, indices: np.ndarray) -> np.ndarray:
    with TemporaryDirectory() as folder:
        return encode(encoder, data, indices=indices, batch=BATCH, cache=folder, progress=False).codes


def seconds(work: Callable[..., np.ndarray], *given: Any) -> tuple[float, np.ndarray]:
    start = time.process_time()
    found = work(*given)
    return time.process_time() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", nargs="*", default=DEFAULT)
    parser.add_argument("--data", default="shapes2d")
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    data = load(given.data)
    indices = np.sort(np.random.default_rng(0).permutation(len(data))[: given.images])
    for name in given.encoders:
        encoder: Any = open_encoder(name, random_weights=True)
        encoder.module.eval()
        bare(encoder, data, indices[:BATCH])  # warm
        ratios = []
        for number in range(given.rounds):
            order = [bare, through_encode] if number % 2 else [through_encode, bare]
            found = {work.__name__: seconds(work, encoder, data, indices) for work in order}
            assert np.allclose(found["bare"][1], found["through_encode"][1], rtol=1e-3, atol=1e-4)
            ratios.append(found["through_encode"][0] / found["bare"][0])
            each = found["bare"][0] / len(indices) * 1e3
            print(f"{name}: {each:.1f} ms per image in a bare loop; encode: {ratios[-1]:.3f} times that", flush=True)
        print(f"{name}: median {median(ratios):.3f}")


if __name__ == "__main__":
    main()
