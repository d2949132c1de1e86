"""Vector registers as Python numbers, in LLVM instructions.

A numba intrinsic is Python that runs once, when a kernel is compiled, and writes its instructions. With these two
classes it can be written as formulas: `total[0] = total[0] + x[1] * weight` loads, multiplies, adds and stores eight
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

LANES = 8
"""Numbers that are processed together: as many as fit into a register of the processor."""
FAST = ("contract", "nsz")
"""A product and a sum may become one instruction."""

whole = ir.IntType(64)
_lanes = ir.VectorType(ir.FloatType(), LANES)


@dataclass(frozen=True)
class Vector:
    """A number in every lane, which the kernel will hold in a register; arithmetic with it writes instructions."""

    builder: Any
    value: ir.Value

    @classmethod
    def filled(cls, builder: Any, number: ir.Value) -> Vector:
        """Put one number into all lanes."""
        empty = ir.Constant(_lanes, ir.Undefined)
        first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return cls(builder, builder.shuffle_vector(builder.insert_element(empty, number, whole(0)), empty, first))

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.builder, self.builder.fadd(self.value, other.value, flags=FAST))

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.builder, self.builder.fsub(self.value, other.value, flags=FAST))

    def __mul__(self, other: Vector | float) -> Vector:
        value = other.value if isinstance(other, Vector) else ir.Constant(_lanes, [float(np.float32(other))] * LANES)
        return Vector(self.builder, self.builder.fmul(self.value, value, flags=FAST))


@dataclass(frozen=True)
class Memory:
    """Numbers of an array from a first one on, at a fixed step: read one by one, or one for each lane."""

    builder: Any
    data: ir.Value
    first: ir.Value
    step: ir.Value

    def __getitem__(self, at: int | ir.Value) -> Vector:
        return Vector(self.builder, self.builder.load(self._at(at), align=4))

    def __setitem__(self, at: int | ir.Value, vector: Vector) -> None:
        self.builder.store(vector.value, self._at(at), align=4)

    def number(self, at: int | ir.Value) -> Vector:
        """Read one number into all lanes."""
        return Vector.filled(self.builder, self.builder.load(self._pointer(at)))

    def _at(self, at: int | ir.Value) -> Any:
        return self.builder.bitcast(self._pointer(at), _lanes.as_pointer())

    def _pointer(self, at: int | ir.Value) -> Any:
        place = self.builder.mul(self.step, whole(at) if isinstance(at, int) else at)
        return self.builder.gep(self.data, [self.builder.add(self.first, place)])


def opened(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> list[Any]:
    """Return the arguments, with arrays replaced by the addresses of their first numbers."""
    return [
        context.make_array(kind)(context, builder, each).data if isinstance(kind, types.Array) else each
        for kind, each in zip(signature.args, args, strict=True)
    ]
