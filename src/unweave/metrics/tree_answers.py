"""The compiled loops with which fitted trees are asked about rows: numba is imported with this file."""

from __future__ import annotations

from numba import njit

ASKED = 512
"""Rows that each tree is asked about at a time."""


@njit(cache=True, nogil=True)
def add_steps(columns, splits, threshold, steps, said, raw):
    """Add to raw, (trees, n), what all trees say of the rows of columns, (d, n) float64; said is memory.

    A tree of three levels, as most are, answers at once; in others each node, from the last to the first, says of
    `ASKED` rows what the child says that they go to.
    """
    rounds, trees, leaves = steps.shape
    n = columns.shape[1]
    for start in range(0, n, ASKED):
        stop = min(start + ASKED, n)
        for k in range(trees):
            for t in range(rounds):
                tree = splits[t, k], threshold[t, k], steps[t, k]
                if leaves == 8:
                    _add_three_levels(columns, start, stop, tree, raw[k, start:stop])
                else:
                    _add_levels(columns, start, stop, tree, said, raw[k, start:stop])


@njit(cache=True, nogil=True)
def _add_three_levels(columns, start, stop, tree, answers):
    """Add what a tree of three levels says.

    Every node chooses, needed or not, in a statement of its own: so there are no jumps, and the loop is vectorised.
    """
    splits, edges, ends = tree
    a, b, c = columns[splits[0, 0], start:stop], columns[splits[1, 0], start:stop], columns[splits[2, 0], start:stop]
    d, e = columns[splits[3, 0], start:stop], columns[splits[4, 0], start:stop]
    f, g = columns[splits[5, 0], start:stop], columns[splits[6, 0], start:stop]
    e0, e1, e2, e3, e4, e5, e6 = edges[0], edges[1], edges[2], edges[3], edges[4], edges[5], edges[6]
    s0, s1, s2, s3, s4, s5, s6, s7 = ends[0], ends[1], ends[2], ends[3], ends[4], ends[5], ends[6], ends[7]
    for i in range(len(answers)):
        first = s1 if d[i] > e3 else s0
        second = s3 if e[i] > e4 else s2
        third = s5 if f[i] > e5 else s4
        fourth = s7 if g[i] > e6 else s6
        left = second if b[i] > e1 else first
        right = fourth if c[i] > e2 else third
        answers[i] += right if a[i] > e0 else left


@njit(cache=True, nogil=True)
def _add_levels(columns, start, stop, tree, said, answers):
    """Add what a tree of any depth says, node by node."""
    splits, edges, ends = tree
    nodes = len(edges)
    for node in range(nodes - 1, -1, -1):
        column, first = columns[splits[node, 0], start:stop], 2 * node + 1
        if first < nodes:
            _choose(column, edges[node], said[first], said[first + 1], said[node])
        else:
            _choose_leaf(column, edges[node], ends[first - nodes], ends[first + 1 - nodes], said[node])
    for i in range(len(answers)):
        answers[i] += said[0, i]


@njit(cache=True, nogil=True)
def _choose_leaf(column, edge, low, high, said):
    for i in range(len(column)):
        said[i] = high if column[i] > edge else low


@njit(cache=True, nogil=True)
def _choose(column, edge, left, right, said):
    for i in range(len(column)):
        low, high = left[i], right[i]
        said[i] = high if column[i] > edge else low
