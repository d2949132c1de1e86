"""The compiled loops of `BoostedTrees`: numba is imported with this file, hence only when a tree is fitted.

Eight classes (`LANES`) share each pass over the rows. A residual is a whole number of units with a count of one packed
below it: one addition moves a sum and a count, a child's table is its parent's less its sibling's, and no sum
depends on the order of the rows. Loops are written out and memory is allocated outside, which halves compilation.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LANES = 8
BINS = 256
LEAST = 1e-280
"""Probabilities stop here, far above the numbers that a processor is slow with."""
LARGEST_STEP = 20.0
"""No leaf moves the logarithm of a probability further in one round, so that a wrong step can be taken back."""
WORTH = 0.8
"""A part is looked into where a cut beside it gains this share of the best."""
NOWHERE = 2**31 - 1
"""The number of a value above all: a split there leaves every row below."""
MAGIC = 1.5 * 2.0**52
"""Added to a small number it rounds it to a whole one, which then stands in the low bits."""
MAGIC_BITS = int(np.float64(MAGIC).view(np.int64))
MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
"""Odd numbers with well-mixed digits, from which lots are drawn."""


@njit(cache=True, nogil=True)
def boost(
    rows, columns, sizes, exact, keys, labels, bits, unit, rates, share, packed, as_float, root, tables,
    by_row, sums, by_leaf, by_bin, splits, steps, importance,
):  # fmt: skip
    """Fit all trees; the results go into the last three arguments, the seven before are memory to work in."""
    rounds, trees, _ = steps.shape
    totals, leaf, before, listed = by_row
    for t in range(rounds):
        _add_up(share, totals)
        for block in range((trees + LANES - 1) // LANES):
            first = block * LANES
            lanes = min(LANES, trees - first)
            _residuals(share[block], totals, labels, first, unit, bits, packed, as_float)
            _root_tables(columns, packed, root)
            for lane in range(lanes):
                for cell in range(tables.shape[2]):
                    tables[0, 0, cell] = root[cell * LANES + lane]
                _tree(
                    rows, sizes, exact, keys, t * trees + first + lane, packed, lane, bits, unit, tables,
                    before, listed, by_bin, leaf[lane], sums[lane], splits[t, first + lane], importance,
                )  # fmt: skip
            _step(share[block], leaf, sums, lanes, unit, rates, by_leaf, steps[t], first)


@njit(cache=True, nogil=True)
def _add_up(share, totals):
    blocks, n, _ = share.shape
    for i in range(n):
        totals[i] = 0.0
    for block in range(blocks):
        for i in range(n):
            total = 0.0
            for c in range(LANES):
                total += share[block, i, c]
            totals[i] += total


@njit(cache=True, nogil=True)
def _residuals(share, totals, labels, first, unit, bits, packed, as_float):
    """Make probabilities of the shares, and pack what they leave to explain; as_float is packed's own memory."""
    for i in range(len(totals)):
        part = 1.0 / totals[i]
        for c in range(LANES):
            share[i, c] = max(share[i, c] * part, LEAST)
            as_float[i, c] = MAGIC - share[i, c] * unit
        own = labels[i] - first
        if 0 <= own < LANES:
            as_float[i, own] = MAGIC + (1.0 - share[i, own]) * unit
        for c in range(LANES):
            packed[i, c] = ((packed[i, c] - MAGIC_BITS) << bits) + 1


@njit(cache=True, nogil=True)
def _root_tables(columns, packed, table):
    """Sum the packed residuals of all lanes and rows in the bins of every code."""
    d, n = columns.shape
    for cell in range(len(table)):
        table[cell] = 0
    for j in range(d):
        for i in range(n):
            cell = (np.uintp(j * BINS) + np.uintp(columns[j, i])) * np.uintp(LANES)
            for c in range(LANES):
                table[cell + np.uintp(c)] += packed[i, c]


@njit(cache=True, nogil=True)
def _wins(keys, j, other, tree, node):
    """Draw whether code j beats an equal one: fixed by the data, and by tree and node so that all have their turns."""
    salt = (np.uint64(tree) * np.uint64(256) + np.uint64(node)) * MIX[0]
    a, b = (keys[j] ^ salt) * MIX[1], (keys[other] ^ salt) * MIX[1]
    return (a ^ (a >> np.uint64(32))) * MIX[0] < (b ^ (b >> np.uint64(32))) * MIX[0]


@njit(cache=True, nogil=True)
def _tree(
    rows, sizes, exact, keys, tree, packed, lane, bits, unit, tables,
    before, listed, by_bin, leaf, sums, splits, importance,
):  # fmt: skip
    """Grow one class's tree level by level; leaf gets each row's leaf, sums each leaf's sum of residuals."""
    places, order, starts, ends = exact
    mask = (1 << bits) - 1
    for i in range(len(leaf)):
        leaf[i] = 0
    nodes, level = 1, 0
    while nodes < len(sums):
        old, new = tables[level % 2], tables[(level + 1) % 2]
        for i in range(len(leaf)):
            before[i] = leaf[i]
        for node in range(nodes):
            split = splits[nodes - 1 + node]
            whole = np.int64(0)
            for b in range(sizes[0]):
                whole += old[node, b]
            j, b, most = _best_split(old[node], whole, sizes, keys, tree, nodes + node, bits, by_bin)
            left = _between_parts(old[node], whole, j, b, ends, split)
            if j >= 0:
                left = _within_parts(
                    whole, most, left, sizes, by_bin, order, starts, places, packed, lane, bits, before, node, split
                )  # fmt: skip
            if j >= 0:
                importance[split[0]] += _gain(left, whole - left, bits) / unit / unit
            _descend(places[split[0]], split[1], before, node, leaf)
            sums[2 * node], sums[2 * node + 1] = left, whole - left
        nodes, level = 2 * nodes, level + 1
        if nodes == len(sums):
            break
        for node in range(0, nodes, 2):  # count the smaller child's rows; the other's are the rest
            small = node if sums[node] & mask <= sums[node + 1] & mask else node + 1
            _node_table(rows, packed, lane, leaf, small, listed, new[small])
            for cell in range(new.shape[1]):
                new[small ^ 1, cell] = old[node // 2, cell] - new[small, cell]
    for e in range(len(sums)):
        sums[e] >>= bits


@njit(cache=True, nogil=True)
def _within_parts(
    whole, most, best, sizes, by_bin, order, starts, places, packed, lane, bits, before, node, split
):  # fmt: skip
    """Look for a better split within parts: the outermost that the node has rows in, and those beside good cuts.

    Unbinned trees choose among as many cuts of a code as a node has rows. Between parts alone, a code whose range a
    node has narrowed would have fewer to choose from than codes of noise, and lose importance to them. Returns
    the packed sum below the best split, and notes that in `split`.
    """
    gain, upto = by_bin[0], by_bin[1].view(np.int64)
    mask = (1 << bits) - 1
    here, total = np.uint8(node), float(whole >> bits)
    base = total * total / float(whole & mask)
    enough = base + WORTH * (most - base)
    for j in range(len(sizes)):
        before_part, below_gain = np.int64(0), most
        for part in range(sizes[j]):
            inside = upto[j, part] - before_part
            above_gain = gain[j, part] if upto[j, part] != whole else most
            rows = inside & mask
            if rows > 1 and (below_gain >= enough or above_gain >= enough):
                start, stop = starts[j, part], starts[j, part + 1]
                if places[j, order[j, start]] != places[j, order[j, stop - 1]]:
                    running, last = before_part, -1
                    for step in range(start, stop):
                        i = order[j, step]
                        if before[i] != here:
                            continue
                        place = places[j, i]
                        if last >= 0 and place != last:
                            value = _score(running, whole - running, bits)
                            if value > most * (1.0 + 1e-12):
                                most, best = value, running
                                split[0], split[1], split[2] = j, last, place
                        running += packed[i, lane]
                        last = place
            if rows > 0:
                below_gain = above_gain
            before_part = upto[j, part]
    return best


@njit(cache=True, nogil=True)
def _score(one, other, bits):
    """Return the sum of squared sums over counts of two sides, by which splits are compared."""
    mask = (1 << bits) - 1
    a, b = float(one >> bits), float(other >> bits)
    return a * a / float(one & mask) + b * b / float(other & mask)


@njit(cache=True, nogil=True)
def _node_table(rows, packed, lane, leaf, node, listed, table):
    """Sum one lane's packed residuals of a node's rows in the bins of every code."""
    n, d = rows.shape
    for cell in range(len(table)):
        table[cell] = 0
    here, count = np.uint8(node), np.uintp(0)
    for i in range(n):
        listed[count] = i
        count += np.uintp(leaf[i] == here)
    for place in range(count):
        i = listed[place]
        value = packed[i, lane]
        for j in range(d):
            table[np.uintp(j * BINS) + np.uintp(rows[i, j])] += value


@njit(cache=True, nogil=True, fastmath={"nnan", "ninf", "nsz"})
def _best_split(table, whole, sizes, keys, tree, node, bits, by_bin):
    """Find a node's best code and bin; of equal codes one by lot, of equal bins the first; -1 if rows are all alike.

    by_bin gets what each cut would gain, and the packed sums up to it.
    """
    gain, upto = by_bin[0], by_bin[1].view(np.int64)
    mask = (1 << bits) - 1
    total, count = float(whole >> bits), float(whole & mask)
    most, best_code, best_bin = -1.0, -1, -1
    for j in range(len(sizes)):
        running = 0
        for b in range(sizes[j]):
            running += table[j * BINS + b]
            upto[j, b] = running
        for b in range(sizes[j]):  # apart from the loops beside it, so that it vectorises
            below, rows = float(upto[j, b] >> bits), float(upto[j, b] & mask)
            above, others = total - below, count - rows
            both = rows * others
            value = (below * below * others + above * above * rows) / max(both, 1.0)
            gain[j, b] = value if both > 0.0 else -1.0
        top = -1.0
        for b in range(sizes[j] - 1):
            top = gain[j, b] if gain[j, b] > top else top
        if top > most or (top == most and top >= 0.0 and _wins(keys, j, best_code, tree, node)):
            b = 0
            while gain[j, b] != top:
                b += 1
            most, best_code, best_bin = top, j, b
    return best_code, best_bin, most


@njit(cache=True, nogil=True)
def _between_parts(table, whole, j, b, ends, split):
    """Note a split after part b of code j, and return the packed sum below; j = -1: all is below."""
    split[0], split[1], split[2] = 0, NOWHERE, NOWHERE
    if j < 0:
        return whole
    left = 0
    for i in range(b + 1):
        left += table[j * BINS + i]
    after = b + 1
    while table[j * BINS + after] == 0:
        after += 1
    split[0], split[1], split[2] = j, ends[1, j, b], ends[0, j, after]
    return left


@njit(cache=True, nogil=True)
def _gain(left, right, bits):
    """Return how much the sum of squared residuals falls by this split, in squared units."""
    mask = (1 << bits) - 1
    below, above = float(left & mask), float(right & mask)
    apart = float(left >> bits) / below - float(right >> bits) / above
    return below * above / (below + above) * apart * apart


@njit(cache=True, nogil=True)
def _descend(column, cut, before, node, leaf):
    """Send the rows of a node to its children: 2 node up to the cut, 2 node + 1 above."""
    here, first, edge = np.uint8(node), np.uint8(2 * node), np.int32(cut)
    for i in range(len(leaf)):
        old = leaf[i]  # read in any case, so that this vectorises
        child = first + np.uint8(column[i] > edge)
        leaf[i] = np.uint8(child) if before[i] == here else old


@njit(cache=True, nogil=True)
def _step(share, leaf, sums, lanes, unit, rates, by_leaf, steps, first):
    """Take a Newton step in every leaf: note what it adds, and multiply the probabilities accordingly."""
    curvature, factor = by_leaf
    leaves = sums.shape[1]
    for c in range(LANES):
        for e in range(leaves):
            curvature[c, e] = 0.0
    rounding = MAGIC / (4.0 * unit)  # sums of numbers rounded to quarter units are exact
    for i in range(len(share)):
        for c in range(lanes):
            p = share[i, c]
            curvature[c, leaf[c, i]] += (p * (1.0 - p) + rounding) - rounding
    for c in range(lanes):
        for e in range(leaves):
            bend = curvature[c, e]
            step = rates[0] * sums[c, e] / unit / bend if bend > 0.0 else 0.0
            steps[first + c, e] = min(max(rates[1] * step, -LARGEST_STEP), LARGEST_STEP)
            factor[c, e] = np.exp(steps[first + c, e])
    for i in range(len(share)):
        for c in range(lanes):
            share[i, c] *= factor[c, leaf[c, i]]


@njit(cache=True, nogil=True)
def add_steps(columns, splits, threshold, steps, raw):
    """Add to raw, (trees, n), what all trees say of the rows of columns, (d, n) float64."""
    rounds, trees, leaves = steps.shape
    for t in range(rounds):
        for k in range(trees):
            for i in range(columns.shape[1]):
                node = 0
                while node < leaves - 1:
                    node = 2 * node + 1 + int(columns[splits[t, k, node, 0], i] > threshold[t, k, node])
                raw[k, i] += steps[t, k, node - leaves + 1]
