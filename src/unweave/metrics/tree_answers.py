"""The compiled loops with which fitted trees are asked about rows: numba is imported with this file."""

from __future__ import annotations

from numba import njit

ASKED = 256
"""Rows that each tree is asked about at a time."""


@njit(cache=True, nogil=True)
def add_steps(columns, splits, threshold, steps, said, raw):
    """Add to raw, (trees, n), what all trees say of the rows of columns, (d, n) float64; said is memory.

    From its last node to its first, each says of `ASKED` rows what the child says that they go to.
    """
    rounds, trees, leaves = steps.shape
    n = columns.shape[1]
    for start in range(0, n, ASKED):
        stop = min(start + ASKED, n)
        for k in range(trees):
            for t in range(rounds):
                for node in range(leaves - 2, -1, -1):
                    column, edge = columns[splits[t, k, node, 0], start:stop], threshold[t, k, node]
                    if 2 * node + 2 < leaves:
                        _choose(column, edge, said[2 * node + 1], said[2 * node + 2], said[node])
                    else:
                        end = 2 * node + 2 - leaves
                        _choose_leaf(column, edge, steps[t, k, end], steps[t, k, end + 1], said[node])
                for i in range(stop - start):
                    raw[k, start + i] += said[0, i]


@njit(cache=True, nogil=True)
def _choose_leaf(column, edge, low, high, said):
    for i in range(len(column)):
        said[i] = high if column[i] > edge else low


@njit(cache=True, nogil=True)
def _choose(column, edge, left, right, said):
    for i in range(len(column)):
        low, high = left[i], right[i]
        said[i] = high if column[i] > edge else low
