"""The compiled loops of `BoostedTrees`: numba is imported with this file, hence only when a tree is fitted.

A residual is a whole number of units with a count of one packed below it: one addition moves a sum and a count, a
child's table is its parent's less its sibling's, and no sum depends on the order of the rows. Eight classes (`LANES`)
share the pass over the rows that fills the tables of their roots. Loops are short and plain where that lets them be
vectorised, and memory is allocated outside. All is in one file since numba's cache notices changes of that alone.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

LANES = 8
BINS = 256
CHUNK = 1024
"""Rows whose lanes are put side by side at a time: they stay in the cache."""
GROUP = 32
"""Rows whose nodes are compared at once; the memory of nodes ends with as many to spare."""
COPIES = 8
"""Sums kept apart, so that an addition need not wait for the one before."""
LEAST = 1e-280
"""Probabilities stop here, far above the numbers that a processor is slow with."""
LARGEST_STEP = 20.0
"""No leaf moves the logarithm of a probability further in one round, so that a wrong step can be taken back."""
WORTH = 0.8
"""A part is looked into where a cut beside it gains this share of the best."""
BETTER = 1.0 + 1e-12
"""A cut within a part must gain this much more than the best before: rounding is no reason to move it."""
NOWHERE = 2**31 - 1
"""The number of a value above all: a split there leaves every row below."""
MAGIC = 1.5 * 2.0**52
"""Added to a small number it rounds it to a whole one, which then stands in the low bits."""
MAGIC_BITS = int(np.float64(MAGIC).view(np.int64))
MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
"""Odd numbers with well-mixed digits, from which lots are drawn."""


@intrinsic
def _add_lanes(typing, table, cell, values, place):
    """Add LANES numbers of values, from a place on, to those of table from a cell on: at once, as no loop here does."""

    def build(context, builder, signature, arguments):
        pointers = []
        for array, index in ((0, 1), (2, 3)):
            start = make_array(signature.args[array])(context, builder, arguments[array]).data
            lanes = ir.VectorType(ir.IntType(64), LANES).as_pointer()
            pointers.append(builder.bitcast(builder.gep(start, [arguments[index]]), lanes))
        one, other = (builder.load(pointer, align=8) for pointer in pointers)
        builder.store(builder.add(one, other), pointers[0], align=8)
        return context.get_dummy_value()

    return types.void(table, types.uintp, values, types.uintp), build


@intrinsic
def _equal(typing, numbers, place, wanted):
    """Return a bit for each of GROUP numbers from a place on: whether it is the one wanted."""

    def build(context, builder, signature, arguments):
        start = make_array(signature.args[0])(context, builder, arguments[0]).data
        several = ir.VectorType(ir.IntType(8), GROUP)
        pointer = builder.bitcast(builder.gep(start, [arguments[1]]), several.as_pointer())
        first, index = ir.Constant(several, ir.Undefined), ir.IntType(32)
        first = builder.insert_element(first, arguments[2], index(0))
        everywhere = builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(index, GROUP), [0] * GROUP))
        same = builder.icmp_unsigned("==", builder.load(pointer, align=1), everywhere)
        return builder.zext(builder.bitcast(same, ir.IntType(GROUP)), ir.IntType(64))

    return types.uint64(numbers, types.uintp, types.uint8), build


@intrinsic
def _lowest(typing, bits):
    """Return the place of the lowest bit that is set."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), build


@njit(cache=True, nogil=True)
def boost(
    parts, keys, labels, bits, unit, rates, thorough, share, packed, together, root, tables,
    totals, by_row, by_leaf, search, splits, steps, importance,
):  # fmt: skip
    """Fit all trees; the results go into the last three arguments, those from packed on are memory to work in."""
    rounds, trees, _ = steps.shape
    for t in range(rounds):
        part, total = totals[t % 2], totals[(t + 1) % 2]
        for i in range(len(part)):
            part[i], total[i] = 1.0 / part[i], 0.0
        for block in range((trees + LANES - 1) // LANES):
            first = block * LANES
            _residuals(share[block], part, labels, first, unit, bits, packed)
            _root_tables(parts[1], packed, together, root)
            for lane in range(min(LANES, trees - first)):
                tree = first + lane
                for cell in range(tables.shape[2]):
                    tables[0, 0, cell] = root[cell * LANES + lane]
                _tree(
                    parts, keys, t * trees + tree, packed[lane], bits, unit, thorough,
                    tables, by_row, by_leaf, search, splits[t, tree], importance,
                )  # fmt: skip
                _step(share[block, lane], by_row, by_leaf, unit, rates, steps[t, tree])
            _add_up(share[block], total)


@njit(cache=True, nogil=True)
def _add_up(share, totals):
    for c in range(LANES):
        for i in range(len(totals)):
            totals[i] += share[c, i]


@njit(cache=True, nogil=True)
def _residuals(share, part, labels, first, unit, bits, packed):
    """Make probabilities of the shares, and pack what they leave to explain."""
    for c in range(LANES):
        own = first + c
        for i in range(len(part)):
            p = max(share[c, i] * part[i], LEAST)
            share[c, i] = p
            residual = np.float64((1.0 - p if labels[i] == own else -p) * unit + MAGIC)
            packed[c, i] = ((residual.view(np.int64) - MAGIC_BITS) << bits) + 1


@njit(cache=True, nogil=True)
def _root_tables(columns, packed, together, table):
    """Sum the packed residuals of all lanes and rows in the bins of every code."""
    d, n = columns.shape
    for cell in range(len(table)):
        table[cell] = 0
    for start in range(0, n, CHUNK):
        count = min(CHUNK, n - start)
        for i in range(count):
            for c in range(LANES):
                together[i * LANES + c] = packed[c, start + i]
        for j in range(d):
            for i in range(count):
                cell = np.uintp(j * BINS) + np.uintp(columns[j, np.uintp(start + i)])
                _add_lanes(table, cell * np.uintp(LANES), together, np.uintp(i * LANES))  # pyright: ignore[reportCallIssue]


@njit(cache=True, nogil=True)
def _wins(keys, j, other, tree, node):
    """Draw whether code j beats an equal one: fixed by the data, and by tree and node so that all have their turns."""
    salt = (np.uint64(tree) * np.uint64(256) + np.uint64(node)) * MIX[0]
    a, b = (keys[j] ^ salt) * MIX[1], (keys[other] ^ salt) * MIX[1]
    return (a ^ (a >> np.uint64(32))) * MIX[0] < (b ^ (b >> np.uint64(32))) * MIX[0]


@njit(cache=True, nogil=True)
def _tree(parts, keys, tree, packed, bits, unit, thorough, tables, by_row, by_leaf, search, splits, importance):
    """Grow one class's tree level by level; by_row gets each row's leaf, by_leaf each leaf's sum of residuals."""
    rows, columns, sizes, order, ranks, starts, ends = parts
    leaf, (sums, _) = by_row, by_leaf
    mask = (1 << bits) - 1
    for i in range(len(leaf)):
        leaf[i] = 0
    sums[0] = 0
    for b in range(sizes[0]):
        sums[0] += tables[0, 0, b]
    nodes, level = 1, 0
    while nodes < len(sums):
        old, new = tables[level % 2], tables[(level + 1) % 2]
        for node in range(nodes - 1, -1, -1):  # from the last: children take numbers that are free by then
            split, whole = splits[nodes - 1 + node], sums[node]
            j, b, most = _best_split(old[node], whole, sizes, keys, tree, nodes + node, bits, search)
            left = _between_parts(old[node], whole, j, b, ends, split)
            if j >= 0:
                left = _within_parts(whole, most, left, parts, search, packed, bits, leaf, node, thorough, split)
                importance[split[0]] += _gain(left, whole - left, bits) / unit / unit
            j, cut = split[0], split[1]
            _descend(columns[j], order[j], ranks[j], starts[j], ends[1, j], sizes[j], cut, node, leaf)
            sums[2 * node], sums[2 * node + 1] = left, whole - left
        nodes, level = 2 * nodes, level + 1
        if nodes == len(sums):
            break
        for node in range(0, nodes, 2):  # sum over the smaller child's rows; the other's are the rest
            small = node if sums[node] & mask <= sums[node + 1] & mask else node + 1
            _node_table(rows, packed, leaf, small, new[small])
            for cell in range(new.shape[1]):
                new[small ^ 1, cell] = old[node // 2, cell] - new[small, cell]
    for e in range(len(sums)):
        sums[e] >>= bits


@njit(cache=True, nogil=True)
def _within_parts(whole, most, best, parts, search, packed, bits, leaf, node, thorough, split):
    """Look for a better split within parts: the outermost that the node has rows in, and those beside good cuts.

    Unbinned trees choose among as many cuts of a code as a node has rows. Between parts alone, a code whose range a
    node has narrowed would have fewer to choose from than codes of noise, and lose importance to them. Unless thorough,
    only the parts beside the best cut are looked into. Returns the packed sum below the best split, noted in `split`.
    """
    _, _, sizes, order, ranks, starts, ends = parts
    upto, gain, tops, below, spots, value, chosen = search
    total = float(whole >> bits)
    base = total * total / float(whole & ((1 << bits) - 1))
    if not thorough and most <= base * BETTER:
        return best  # all rows of the node leave as much: all cuts are as good
    enough = base + WORTH * (most - base) if thorough else most
    chosen[node] = 1
    for j in range(len(sizes)):
        if not thorough and tops[j] < enough:
            continue
        first, last = 0, sizes[j] - 1
        while upto[j, first] == 0:
            first += 1
        while last > first and upto[j, last - 1] == whole:
            last -= 1
        good_before, count = thorough, np.uintp(0)
        for part in range(first, last + 1, 1 if tops[j] >= enough else max(last - first, 1)):
            good = gain[j, np.uintp(part)] >= enough or (thorough and part == last)
            if not (good or good_before):
                continue
            good_before = good
            running = upto[j, part - 1] if part > first else np.int64(0)
            if running == upto[j, part] or ends[0, j, part] == ends[1, j, part]:
                continue
            for spot in range(np.uintp(starts[j, part]), np.uintp(starts[j, part + 1])):
                i = np.uintp(order[j, spot])
                mine = chosen[leaf[i]]  # looked up: of a comparison the compiler makes a jump, which is often a miss
                below[count], spots[count] = running, spot
                running += packed[i] * mine
                count += np.uintp(mine)
        if _gains(below, count, whole, bits, value) > most * BETTER:
            at = -1
            for k in range(1, count):
                if value[k] > most * BETTER and ranks[j, spots[k]] != ranks[j, spots[k - 1]]:
                    most, at = value[k], k
            if at > 0:
                best = below[at]
                split[0], split[1], split[2] = j, ranks[j, spots[at - 1]], ranks[j, spots[at]]
    chosen[node] = 0
    return best


@njit(cache=True, nogil=True)
def _node_table(rows, packed, leaf, node, table):
    """Sum one lane's packed residuals of a node's rows in the bins of every code.

    In the rows' own order: by the order of a code, most of them would be misses of the cache.
    """
    for cell in range(len(table)):
        table[cell] = 0
    here = np.uint8(node)
    for start in range(np.uintp(0), np.uintp(len(leaf)), np.uintp(GROUP)):
        found = _equal(leaf, start, here)  # pyright: ignore[reportCallIssue]
        while found:
            i = np.uintp(start + _lowest(found))  # pyright: ignore[reportCallIssue]
            found &= found - np.uint64(1)  # without its lowest bit
            value = packed[i]
            for j in range(rows.shape[1]):
                table[np.uintp(j * BINS) + np.uintp(rows[i, np.uintp(j)])] += value


@njit(cache=True, nogil=True)
def _best_split(table, whole, sizes, keys, tree, node, bits, search):
    """Find a node's best code and bin; of equal codes one by lot, of equal bins the first; -1 if rows are all alike.

    The first three of search get the packed sums up to each cut, what it would gain, and the most that each code would.
    """
    upto, gain, tops = search[0], search[1], search[2]
    most, best_code, best_bin = -1.0, -1, -1
    for j in range(len(sizes)):
        running = 0
        for b in range(sizes[j]):
            running += table[j * BINS + b]
            upto[j, b] = running
        top = tops[j] = _gains(upto[j], sizes[j], whole, bits, gain[j])
        if top > most or (top == most and top >= 0.0 and _wins(keys, j, best_code, tree, node)):
            b = 0
            while gain[j, b] != top:
                b += 1
            most, best_code, best_bin = top, j, b
    return best_code, best_bin, most


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "ninf", "nsz"})
def _gains(upto, cuts, whole, bits, gain):
    """Note what each cut would gain, given the packed sums up to it, and return the most; -1 where a side is empty.

    A gain is the sum of squared sums over counts of both sides. Whole numbers become floats by the bits of MAGIC, for
    which processors have vectors where they have none for conversions.
    """
    mask, sign, shift = (1 << bits) - 1, 1 << (63 - bits), np.uint64(bits)
    total, count = float(whole >> bits), float(whole & mask)
    for b in range(cuts):
        unsigned = np.int64(np.uint64(upto[b]) >> shift)
        below = np.int64((unsigned ^ sign) + (MAGIC_BITS - sign)).view(np.float64) - MAGIC
        rows = np.int64((upto[b] & mask) + MAGIC_BITS).view(np.float64) - MAGIC
        above, others = total - below, count - rows
        both = rows * others
        value = (below * below * others + above * above * rows) / max(both, 1.0)
        gain[b] = value if both > 0.0 else -1.0
    top = -1.0
    for b in range(cuts):  # apart from the loop above, so that both vectorise
        top = max(top, gain[b])
    return top


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
def _descend(column, order, ranks, starts, ends, size, cut, node, leaf):
    """Send a node's rows to its children, 2 node up to the cut and 2 node + 1 above."""
    part = 0
    while part < size - 1 and ends[part] < cut:
        part += 1
    here, left, within = np.uint8(node), np.uint8(2 * node), np.uint8(part)
    for i in range(len(leaf)):
        old = leaf[i]  # read in any case, so that this vectorises
        child = np.uint8(left + np.uint8(column[i] > within))
        leaf[i] = child if old == here else old
    edge = starts[part + 1]
    while edge > 0 and ranks[edge - 1] > cut:  # the rows of the cut's own part that lie above it
        edge -= 1
        i = order[edge]
        if leaf[i] == left:
            leaf[i] = left + np.uint8(1)


@njit(cache=True, nogil=True)
def _step(share, leaf, by_leaf, unit, rates, steps):
    """Take a Newton step in every leaf: note what it adds, and multiply the probabilities accordingly."""
    sums, memory = by_leaf
    curvature, factor = memory[:COPIES], memory[COPIES]
    for c in range(COPIES):
        for e in range(len(sums)):
            curvature[c, e] = 0.0
    rounding = MAGIC / (4.0 * unit)  # sums of numbers rounded to quarter units are exact
    for i in range(len(share)):
        p = share[i]
        curvature[i % COPIES, np.uintp(leaf[i])] += (p * (1.0 - p) + rounding) - rounding
    for e in range(len(sums)):
        bend = 0.0
        for c in range(COPIES):
            bend += curvature[c, e]
        step = rates[0] * sums[e] / unit / bend if bend > 0.0 else 0.0
        steps[e] = min(max(rates[1] * step, -LARGEST_STEP), LARGEST_STEP)
        factor[e] = np.exp(steps[e])
    for i in range(len(share)):
        share[i] *= factor[np.uintp(leaf[i])]
