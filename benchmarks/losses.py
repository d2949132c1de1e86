"""Ways to blur a batch, forwards and backwards, for every size of image and radius: `python benchmarks/losses.py`.

`bands` multiplies by a banded matrix from either side (`separable_blur`), `fourier` is `fourier_blur` (any kernel),
`two passes` convolves along one axis and then the other, `direct` with the whole kernel. They alternate; a cell is the
shortest of the rounds, in milliseconds for the batch. Between 256 × 256 and 512 × 512 `fourier` overtakes `bands`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import conv2d

from unweave.losses.blur import fourier_blur, separable_blur
from unweave.losses.blurred import BoxBlurred
from unweave.text import table

LARGEST_DIRECT = 7  # beyond it, a direct convolution takes seconds


def ways(radius: int) -> dict[str, Callable[[Tensor], Tensor]]:
    weights = BoxBlurred(radius).weights()
    line = torch.tensor(weights)
    kernel = torch.outer(line, line)

    def alone(x: Tensor) -> Tensor:
        return x.reshape(-1, 1, *x.shape[-2:])

    def two_passes(x: Tensor) -> Tensor:
        down = conv2d(alone(x), line.view(1, 1, -1, 1), padding=(radius, 0))
        return conv2d(down, line.view(1, 1, 1, -1), padding=(0, radius)).view_as(x)

    found = {
        "bands": lambda x: separable_blur(x, weights),
        "fourier": lambda x: fourier_blur(x, kernel),
        "two passes": two_passes,
    }
    if radius <= LARGEST_DIRECT:
        found["direct"] = lambda x: conv2d(alone(x), kernel[None, None], padding=radius).view_as(x)
    return found


def milliseconds(blur: Callable[[Tensor], Tensor], x: Tensor) -> float:
    start = time.perf_counter()
    blur(x).square().sum().backward()
    return 1000 * (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--sizes", type=int, nargs="+", default=[32, 64, 128])
    parser.add_argument("--radii", type=int, nargs="+", default=[1, 3, 7, 15, 31])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows = []
    for size in options.sizes:
        x = torch.rand(options.batch, 3, size, size, requires_grad=True)
        for radius in options.radii:
            taken: dict[str, list[float]] = {}
            for _ in range(options.rounds + 1):
                for name, blur in ways(radius).items():
                    taken.setdefault(name, []).append(milliseconds(blur, x))
            cells = {name: f"{min(values[1:]):.1f}" for name, values in taken.items()}
            fastest = min(taken, key=lambda name: min(taken[name][1:]))
            rows.append({"size": str(size), "radius": str(radius), "direct": "–", **cells, "fastest": fastest})
    print(table(rows, numbers=["size", "radius", "bands", "fourier", "two passes", "direct"]))


if __name__ == "__main__":
    main()
