"""The compiled loop of the predictions of fitted trees: importing this file imports numba."""

from __future__ import annotations

from numpy import uintp

from unweave.compiled import kernel

CHUNK = uintp(512)
"""Rows that each tree predicts at a time."""


@kernel
def add_steps(columns, codes, edges, steps, values, raw):
    """Add to raw, (classes, n), the predictions of all trees for the rows of columns, (d, n) float32.

    codes and edges, (trees, nodes), and steps, (trees, leaves), hold as many trees for each class, one class after the
    other. Each node, from the last to the first, takes for `CHUNK` rows the value of the child that they go to; values,
    (nodes, CHUNK), is working memory.
    """
    trees, nodes = codes.shape
    classes, rows = raw.shape
    rounds, n = trees // classes, uintp(rows)
    for start in range(uintp(0), n, CHUNK):
        count = n - start if n - start < CHUNK else CHUNK
        for tree in range(trees):
            for node in range(nodes - 1, -1, -1):
                j, edge, child = codes[tree, node], edges[tree, node], 2 * node + 1
                if child < nodes:
                    for i in range(count):
                        low, high = values[child, i], values[child + 1, i]
                        values[node, i] = high if columns[j, start + i] > edge else low
                else:
                    low, high = steps[tree, child - nodes], steps[tree, child - nodes + 1]
                    for i in range(count):
                        values[node, i] = high if columns[j, start + i] > edge else low
            for i in range(count):
                raw[tree // rounds, start + i] += values[0, i]
