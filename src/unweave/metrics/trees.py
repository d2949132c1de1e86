"""The compiled loops of `BoostedTrees`: numba is imported with this file, hence only when a tree is fitted.

A residual is a whole number of units with a count of one packed below it: one addition moves a sum and a count, a
child's table is its parent's less its sibling's, and no sum depends on the order of the rows. Eight classes (`LANES`)
share the pass over the rows that fills the tables of their roots. Loops are short and plain where that lets them be
vectorised, and memory is allocated outside. All is in one file since numba's cache notices changes of that alone.

Compiling takes seconds, so there is little to compile: each function serves one combination of types (a literal 0 for
a number would make another), and arrays are handed on whole, not in tuples and rarely in slices. Indices are unsigned
where a loop is hot, since numba asks signed ones whether they are negative.
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
"""Rows whose lanes are put side by side at a time: they stay in the cache."""
GROUP = uintp(32)
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
MAGIC = 1.5 * 2.0**52
"""Added to a small number it rounds it to a whole one, which then stands in the low bits."""
MAGIC_BITS = int(np.float64(MAGIC).view(np.int64))
MIX_1, MIX_2 = uint64(0x9E3779B97F4A7C15), uint64(0xBF58476D1CE4E5B9)
"""Odd numbers with well-mixed digits, from which lots are drawn."""
ONE = uintp(1)


def _data(context: Any, builder: Any, signature: Any, arguments: Any, index: int) -> Any:
    """Return where the numbers of an argument that is an array begin."""
    return context.make_array(signature.args[index])(context, builder, arguments[index]).data


@intrinsic
def _add_lanes(typing, table, cell, values, place):
    """Add LANES numbers of values, from a place on, to those of table from a cell on: at once, as no loop here does."""

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
    """Return a bit for each of GROUP numbers from a place on: whether it is the one wanted."""

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
    """Return the place of the lowest bit that is set."""

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
    """Fit all trees; the results go into the last three arguments, those from share on are memory to work in."""
    rounds, trees, leaves = steps.shape
    for t in range(rounds):
        for i in range(len(part)):
            part[i], total[i] = 1.0 / total[i], 0.0
        for k in range(len(share)):
            lane = k & 7
            if lane == 0:
                _root_tables(columns, share, k, part, labels, unit, bits, packed, together, root, tables)
            nodes = 1 if k < trees else leaves  # of two classes the second has no tree, and no class no rows
            while nodes < leaves:
                for node in range(nodes - 1, -1, -1):  # from the last: children take numbers that are free by then
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
    """Make probabilities of the shares of eight classes, and sum what they leave to explain in every code's bins."""
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
    """Note a node's best split between parts, and return what it gains; -1 if the node's rows are all alike.

    Of equal codes one is taken by lot, of equal bins the first. The memory gets the packed sums up to each cut, what it
    would gain, and the most that each code would.
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
    """Draw the lot of a code, of which equal ones need different: by tree and node so that all have their turns."""
    mixed = (key ^ ((uint64(tree) * uint64(256) + uint64(at + 1)) * MIX_1)) * MIX_2
    return (mixed ^ (mixed >> uint64(32))) * MIX_1


@helper(fastmath={"nnan", "ninf", "nsz"})
def _gains(upto, cuts, whole, bits, gain):
    """Note what each cut would gain, given the packed sums up to it, and return the most; -1 where a side is empty.

    A gain is the sum of squared sums over counts of both sides. Whole numbers become floats by the bits of MAGIC, for
    which processors have vectors where they have none for conversions.
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
    for b in range(cuts):  # apart from the loop above, so that both vectorise
        top = gain[b] if gain[b] > top else top
    return top


@helper
def _within_parts(
    whole, most, columns, sizes, order, rising, starts, upto, gain, tops, below, spots, value,
    chosen, packed, bits, leaf, node, thorough, split,
):  # fmt: skip
    """Look for a better split within parts: the outermost that the node has rows in, and those beside good cuts.

    Unbinned trees choose among as many cuts of a code as a node has rows. Between parts alone, a code whose range a
    node has narrowed would have fewer to choose from than codes of noise, and lose importance to them. Unless thorough,
    only the parts beside the best cut are looked into. Returns the packed sum below the best split, noted in `split`.
    """
    code = split[0]
    best = upto[code, columns[code, order[code, split[1]]]]
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
        good_before, count = thorough, uintp(0)
        for part in range(first, last + 1, 1 if tops[j] >= enough or last == first else last - first):
            good = gain[j, part] >= enough or (thorough and part == last)
            if good or good_before:
                running, start, stop = upto[j, part - 1] if part > first else 0, starts[j, part], starts[j, part + 1]
                if running != upto[j, part] and rising[j, start] != rising[j, stop - 1]:
                    for spot in range(uintp(start), uintp(stop)):
                        i = uintp(order[j, spot])
                        mine = chosen[leaf[i]]  # looked up: a comparison would become a jump, which is often a miss
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
        old = leaf[i]  # read in any case, so that this vectorises
        child = uint8(left + uint8(columns[j, i] > part))
        leaf[i] = child if old == here else old
    for spot in range(split[2], starts[j, part + 1]):  # the rows of the cut's own part that lie above it
        i = order[j, spot]
        if leaf[i] == left:
            leaf[i] = left + uint8(1)


@helper
def _node_tables(rows, packed, leaf, sums, bits, tables, lane, nodes):
    """Sum packed residuals in the bins of every code, for all nodes of a level.

    Of two children the smaller's rows are added up, in their own order: by the order of a code, most of them would be
    misses of the cache. The other's table is what their parent's leaves.
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
    """Take a Newton step in every leaf: note what it adds, multiply the probabilities, send all rows to the root."""
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
