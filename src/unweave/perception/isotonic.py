"""The projection of a sorted vector onto the permutahedron, by pooling neighbours; compiled, O(n)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.compiled import kernel

Vector = NDArray[np.float64]
Starts = NDArray[np.int64]
"""Where blocks begin, and as the last the length of all."""


def project(ascending: Vector) -> tuple[Vector, Starts]:
    """Return the point of the permutahedron of 1, …, n that is nearest to a sorted vector, and its blocks."""
    ranks = np.empty_like(ascending)
    starts = np.empty(len(ascending) + 1, np.int64)
    count = _project(np.ascontiguousarray(ascending), ranks, starts)
    return ranks, starts[: count + 1].copy()


def without_block_means(values: Vector, starts: Starts) -> Vector:
    """Return values less the mean of their block: the product with the projection's Jacobian, which is symmetric."""
    rest = np.empty_like(values)
    _without_block_means(np.ascontiguousarray(values), starts, rest)
    return rest


@kernel
def _project(ascending: Any, ranks: Any, starts: Any) -> Any:
    """Pool adjacent violators of s_1 - 1 <= s_2 - 2 <= …: a block of them moves to the mean of its ranks."""
    total = np.empty(len(ascending))
    last = -1  # block
    for place in range(len(ascending)):
        last += 1
        starts[last], starts[last + 1] = place, place + 1
        total[last] = ascending[place]
        # Block means of s - (1, …, n) must rise: where they do not, two blocks become one.
        while last > 0:
            left, right = starts[last] - starts[last - 1], starts[last + 1] - starts[last]
            gap = total[last] / right - total[last - 1] / left
            if gap > (left + right) / 2:
                break
            total[last - 1] += total[last]
            starts[last] = starts[last + 1]
            last -= 1
    for block in range(last + 1):
        begin, end = starts[block], starts[block + 1]
        mean = total[block] / (end - begin)
        for place in range(begin, end):  # the difference first: large values lose no digit of their ranks
            ranks[place] = (ascending[place] - mean) + (begin + 1 + end) / 2
    return last + 1


@kernel
def _without_block_means(values: Any, starts: Any, rest: Any) -> None:
    for block in range(len(starts) - 1):
        begin, end = starts[block], starts[block + 1]
        mean = values[begin:end].sum() / (end - begin)
        for place in range(begin, end):
            rest[place] = values[place] - mean
