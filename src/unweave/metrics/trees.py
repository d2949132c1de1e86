"""The compiled loops of `BoostedTrees`: numba is imported with this file, so only when a tree is fitted.

A residual is a whole number of units with a count of one packed below it. So one addition updates a sum and a count, a
child's table is its parent's minus its sibling's, and no sum depends on the order of the rows. Eight classes (`LANES`)
share the pass over the rows that fills the tables of their roots. Loops are short and plain where this allows
vectorisation, and memory is allocated outside. Everything is in one file, because numba's cache notices changes only in
the file of a function.

Compiling takes seconds, so there is little to compile: each function has one combination of types (passing a literal 0
for a number would add another), and arrays are passed whole, not in tuples and rarely in slices. Indices are unsigned
in hot loops, because numba checks signed ones for negative values.
"""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy import int64, uint8, uint64, uintp

from unweave.compiled import helper, kernel

LANES = uintp(8)
BINS = uintp(256)
CHUNK = uintp(1024)
"""Rows whose lanes are processed together: they stay in the cache."""
GROUP = uintp(32)
"""Rows whose nodes are compared at once; the array of nodes has this many extra entries at its end."""
COPIES = 8
"""Number of separate partial sums, so that an addition need not wait for the previous one."""
LEAST = 1e-280
"""The least probability, far above the denormal numbers that slow a processor down."""
LARGEST_STEP = 20.0
"""The most that a leaf moves a log-probability in one round, so that later rounds can undo a wrong step."""
WORTH = 0.8
"""A part is searched if a cut beside it gains at least this share of the best gain."""
BETTER = 1.0 + 1e-12
"""A cut within a part must gain this much more than the best so far, so that rounding does not move it."""
MAGIC = 1.5 * 2.0**52
"""Adding this to a small number rounds it to a whole one, which is then in the low bits."""
MAGIC_BITS = int(np.float64(MAGIC).view(np.int64))
MIX_1, MIX_2 = uint64(0x9E3779B97F4A7C15), uint64(0xBF58476D1CE4E5B9)
"""Odd numbers with well-mixed digits, to break ties."""
ONE = uintp(1)


def _data(context: Any, builder: Any, signature: Any, arguments: Any, index: int) -> Any:
    """Return the address of the first number of an array argument."""
    return context.make_array(signature.args[index])(context, builder, arguments[index]).data


@intrinsic
def _add_lanes(typing, table, cell, values, place):
    """Add LANES numbers of values, from a position on, to those of table from a cell on, in one vector operation."""

    def build(context, builder, signature, arguments):
        pointers = []
        for array, index in ((0, 1), (2, 3)):
            start = _data(context, builder, signature, arguments, array)
            lanes = ir.VectorType(ir.IntType(64), int(LANES)).as_pointer()
            pointers.append(builder.bitcast(builder.gep(start, [arguments[index]]), lanes))
        one, other = (builder.load(pointer, align=8) for pointer in pointers)
        builder.store(builder.add(one, other), pointers[0], align=8)
        return context.get_dummy_value()

    return types.void(table, types.uintp, values, types.uintp), build


@intrinsic
def _equal(typing, numbers, place, wanted):
    """Return a bit for each of GROUP numbers from a position on: whether it equals the wanted one."""

    def build(context, builder, signature, arguments):
        start = _data(context, builder, signature, arguments, 0)
        several = ir.VectorType(ir.IntType(8), int(GROUP))
        pointer = builder.bitcast(builder.gep(start, [arguments[1]]), several.as_pointer())
        first, index = ir.Constant(several, ir.Undefined), ir.IntType(32)
        first = builder.insert_element(first, arguments[2], index(0))
        zeros = ir.Constant(ir.VectorType(index, int(GROUP)), [0] * int(GROUP))
        everywhere = builder.shuffle_vector(first, first, zeros)
        same = builder.icmp_unsigned("==", builder.load(pointer, align=1), everywhere)
        return builder.zext(builder.bitcast(same, ir.IntType(int(GROUP))), ir.IntType(64))

    return types.uint64(numbers, types.uintp, types.uint8), build


@intrinsic
def _lowest(typing, bits):
    """Return the position of the lowest set bit."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), build


@intrinsic
def _to_bits(typing, number):
    """Return the whole number whose bits are those of a float."""

    def build(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), build


@intrinsic
def _from_bits(typing, bits):
    """Return the float whose bits are those of a whole number."""

    def build(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), build


@kernel
def boost(
    rows, columns, sizes, order, rising, starts, keys, labels, bits, unit, rate, thorough, share, part, total,
    packed, together, root, tables, leaf, sums, curvature, upto, gain, tops, below, spots, value, chosen,
    splits, steps, importance,
):  # fmt: skip
    """Fit all trees; the results go into the last three arguments. Those from `share` on are working memory."""
    rounds, trees, leaves = steps.shape
    for t in range(rounds):
        for i in range(len(part)):
            part[i], total[i] = 1.0 / total[i], 0.0
        for k in range(len(share)):
            lane = k & 7
            if lane == 0:
                _root_tables(columns, share, k, part, labels, unit, bits, packed, together, root, tables)
            nodes = 1 if k < trees else leaves  # with two classes the second has no tree; every class has rows
            while nodes < leaves:
                for node in range(nodes - 1, -1, -1):  # from the last: children then take numbers that are free
                    at = nodes - 1 + node
                    split, table = splits[t, k, at], tables[at + 7 if at > 0 else lane]
                    most = _best_split(table, sizes, starts, keys, t * trees + k, at, bits, upto, gain, tops, split)
                    left = whole = upto[0, sizes[0] - 1]
                    if most >= 0.0:
                        left = _within_parts(
                            whole, most, columns, sizes, order, rising, starts, upto, gain, tops, below, spots, value,
                            chosen, packed[lane], bits, leaf, node, thorough, split,
                        )  # fmt: skip
                        importance[split[0]] += _gain(left, whole - left, bits) / unit / unit
                    _descend(columns, order, starts, split, node, leaf)
                    sums[2 * node], sums[2 * node + 1] = left, whole - left
                nodes = 2 * nodes
                if nodes < leaves:
                    _node_tables(rows, packed[lane], leaf, sums, bits, tables, lane, nodes)
                else:
                    _step(share[k], leaf, sums, bits, unit, rate, curvature, steps[t, k])
            for i in range(len(total)):
                total[i] += share[k, i]


@helper
def _root_tables(columns, share, first, part, labels, unit, bits, packed, together, root, tables):
    """Turn the shares of eight classes into probabilities, and sum the residuals in every latent's bins."""
    for c in range(8):
        own = first + c
        for i in range(len(part)):
            p = share[own, i] * part[i]
            p = p if p > LEAST else LEAST
            share[own, i] = p
            residual = (1.0 - p if labels[i] == own else -p) * unit + MAGIC
            packed[c, i] = ((_to_bits(residual) - MAGIC_BITS) << bits) + 1  # pyright: ignore[reportCallIssue]
    n = uintp(len(part))
    for start in range(uintp(0), n, CHUNK):
        count = n - start if n - start < CHUNK else CHUNK
        for i in range(count):
            for c in range(8):
                together[i, c] = packed[c, start + i]
        for j in range(uintp(len(columns))):
            for i in range(count):
                cell = j * BINS + columns[j, start + i]
                _add_lanes(root, cell * LANES, together, i * LANES)  # pyright: ignore[reportCallIssue]
    for cell in range(len(root)):
        for c in range(8):
            tables[c, cell], root[cell, c] = root[cell, c], 0


@helper
def _best_split(table, sizes, starts, keys, tree, at, bits, upto, gain, tops, split):
    """Store a node's best split between parts, and return its gain; -1 if the node's rows are all equal.

    Ties between latents are broken pseudo-randomly; of equal bins the first is taken. The working memory receives the
    packed sums up to each cut, its gain, and the largest gain of each latent.
    """
    most, code = -1.0, 0
    for j in range(len(sizes)):
        running = 0
        for b in range(sizes[j]):
            running += table[j * 256 + b]
            upto[j, b] = running
        top = tops[j] = _gains(upto[j], sizes[j], upto[j, sizes[j] - 1], bits, gain[j])
        if top > most or (top == most and top >= 0.0 and _lot(keys[j], tree, at) < _lot(keys[code], tree, at)):
            most, code = top, j
    if most >= 0.0:
        b = 0
        while gain[code, b] < most:
            b += 1
        here, after = upto[code, b], b + 1
        while upto[code, after] == here:
            after += 1
        split[0], split[1], split[2] = code, starts[code, b + 1] - 1, starts[code, after]
    return most


@helper
def _lot(key, tree, at):
    """Return the tie-breaking number of a latent. It differs by tree and node, so that equal latents take turns."""
    mixed = (key ^ ((uint64(tree) * uint64(256) + uint64(at + 1)) * MIX_1)) * MIX_2
    return (mixed ^ (mixed >> uint64(32))) * MIX_1


@helper(fastmath={"nnan", "ninf", "nsz"})
def _gains(upto, cuts, whole, bits, gain):
    """Store the gain of each cut, given the packed sums up to it, and return the largest; -1 where a side is empty.

    A gain is the sum of squared sums over counts of both sides. The bits of MAGIC turn whole numbers into floats,
    because processors have vector instructions for this but not for conversions.
    """
    mask, sign, shift = (1 << bits) - 1, 1 << (63 - bits), uint64(bits)
    total, count = float(whole >> bits), float(whole & mask)
    for b in range(cuts):
        unsigned = int64(uint64(upto[b]) >> shift)
        below = _from_bits((unsigned ^ sign) + (MAGIC_BITS - sign)) - MAGIC  # pyright: ignore[reportCallIssue]
        rows = _from_bits((upto[b] & mask) + MAGIC_BITS) - MAGIC  # pyright: ignore[reportCallIssue]
        above, others = total - below, count - rows
        both = rows * others
        value = (below * below * others + above * above * rows) / (both if both > 1.0 else 1.0)
        gain[b] = value if both > 0.0 else -1.0
    top = -1.0
    for b in range(cuts):  # separate from the loop above, so that both vectorise
        top = gain[b] if gain[b] > top else top
    return top


@helper
def _within_parts(
    whole, most, columns, sizes, order, rising, starts, upto, gain, tops, below, spots, value,
    chosen, packed, bits, leaf, node, thorough, split,
):  # fmt: skip
    """Look for a better split within parts: the outermost parts with rows of the node, and those beside good cuts.

    Trees without bins choose among as many cuts of a latent as a node has rows. Between parts alone, a latent whose
    range a node has narrowed would have fewer to choose from than latents of noise, and lose importance to them. Unless
    thorough, only the parts beside the best cut are searched. Returns the packed sum below the best split, which is
    stored in `split`.
    """
    code = split[0]
    best = upto[code, columns[code, order[code, split[1]]]]
    total = float(whole >> bits)
    base = total * total / float(whole & ((1 << bits) - 1))
    if not thorough and most <= base * BETTER:
        return best  # all residuals of the node are equal: all cuts are equally good
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
        good_before, count = thorough, uintp(0)
        for part in range(first, last + 1, 1 if tops[j] >= enough or last == first else last - first):
            good = gain[j, part] >= enough or (thorough and part == last)
            if good or good_before:
                running, start, stop = upto[j, part - 1] if part > first else 0, starts[j, part], starts[j, part + 1]
                if running != upto[j, part] and rising[j, start] != rising[j, stop - 1]:
                    for spot in range(uintp(start), uintp(stop)):
                        i = uintp(order[j, spot])
                        mine = chosen[leaf[i]]  # a lookup: a comparison would become a branch, often mispredicted
                        below[count], spots[count] = running, spot
                        running += packed[i] * mine
                        count += uintp(mine)
            good_before = good
        if _gains(below, int64(count), whole, bits, value) > most * BETTER:
            for k in range(ONE, count):
                if value[k] > most * BETTER and rising[j, spots[k]] != rising[j, spots[k - ONE]]:
                    most, best = value[k], below[k]
                    split[0], split[1], split[2] = j, spots[k - ONE], spots[k]
    chosen[node] = 0
    return best


@helper
def _gain(left, right, bits):
    """Return how much the sum of squared residuals falls by this split, in squared units."""
    mask = (1 << bits) - 1
    below, above = float(left & mask), float(right & mask)
    apart = float(left >> bits) / below - float(right >> bits) / above
    return below * above / (below + above) * apart * apart


@helper
def _descend(columns, order, starts, split, node, leaf):
    """Send a node's rows to its children, 2 node up to the cut and 2 node + 1 above."""
    j, here, left = split[0], uint8(node), uint8(2 * node)
    part = columns[j, order[j, split[1]]]
    for i in range(len(leaf)):
        old = leaf[i]  # read unconditionally, so that this vectorises
        child = uint8(left + uint8(columns[j, i] > part))
        leaf[i] = child if old == here else old
    for spot in range(split[2], starts[j, part + 1]):  # the rows of the cut's own part that lie above it
        i = order[j, spot]
        if leaf[i] == left:
            leaf[i] = left + uint8(1)


@helper
def _node_tables(rows, packed, leaf, sums, bits, tables, lane, nodes):
    """Sum packed residuals in the bins of every latent, for all nodes of a level.

    Only the rows of the smaller child are summed, in their own order: in the order of a latent, most reads would miss
    the cache. The other child's table is the parent's minus this one.
    """
    mask, (_, width) = (1 << bits) - 1, rows.shape
    for node in range(0, nodes, 2):
        small = node if sums[node] & mask <= sums[node + 1] & mask else node + 1
        parent = (nodes + node) // 2 - 1
        table, other = tables[nodes + 6 + small], tables[nodes + 6 + (small ^ 1)]
        both = tables[parent + 7 if parent > 0 else lane]
        for cell in range(len(table)):
            table[cell] = 0
        for start in range(uintp(0), uintp(len(leaf)), GROUP):
            found = _equal(leaf, start, uint8(small))  # pyright: ignore[reportCallIssue]
            while found:
                i = uintp(start + _lowest(found))  # pyright: ignore[reportCallIssue]
                found &= found - ONE  # without its lowest bit
                residual = packed[i]
                for j in range(uintp(width)):
                    table[j * BINS + rows[i, j]] += residual
        for cell in range(len(table)):
            other[cell] = both[cell] - table[cell]


@helper
def _step(share, leaf, sums, bits, unit, rate, curvature, steps):
    """Take a Newton step in every leaf: store what it adds, multiply the probabilities, send all rows to the root."""
    rounding = MAGIC / (4.0 * unit)  # sums of numbers rounded to quarter units are exact
    for i in range(len(share)):
        p = share[i]
        curvature[i & 7, leaf[i]] += (p * (1.0 - p) + rounding) - rounding
    for e in range(len(sums)):
        bend = 0.0
        for c in range(COPIES):
            bend += curvature[c, e]
            curvature[c, e] = 0.0
        step = rate * (sums[e] >> bits) / unit / bend if bend > 0.0 else 0.0
        step = step if step < LARGEST_STEP else LARGEST_STEP
        steps[e] = step if step > -LARGEST_STEP else -LARGEST_STEP
        curvature[COPIES, e] = exp(steps[e])
    for i in range(len(share)):
        share[i] *= curvature[COPIES, leaf[i]]
        leaf[i] = 0
