"""All ways to split a handful of things into groups."""

from __future__ import annotations

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=4)
def set_partitions(s: int, most: int) -> np.ndarray:
    """Return every partition of {0 .. s-1} into at most `most` groups: (partitions, most) sets, as masks of bits.

    Element i is bit i. A partition's groups come in the order of their least elements, then empty ones (0). Partitions
    come in lexicographic order of the groups that elements 0, 1, ... are in: all in one group first, each in its
    own last.

    >>> set_partitions(3, 2).tolist()
    [[7, 0], [3, 4], [5, 2], [1, 6]]
    """
    masks = np.zeros((1, most), dtype=np.uint16)
    used = np.zeros(1, dtype=np.intp)  # groups that are not empty
    for element in range(s):
        choices = np.minimum(used + 1, most)  # join a group, or open one
        parents = np.repeat(np.arange(len(masks)), choices)
        group = np.arange(len(parents)) - np.repeat(np.cumsum(choices) - choices, choices)
        masks = masks[parents]
        masks[np.arange(len(parents)), group] |= np.uint16(1 << element)
        used = np.maximum(used[parents], group + 1)
    masks.flags.writeable = False
    return masks
