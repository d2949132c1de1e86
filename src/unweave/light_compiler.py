"""numba's compiler without what plain loops do not need, and with a memory: two thirds of its time is left.

This file imports numba.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    AnnotateTypes,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, IRProcessing, ReconstructSSA, TranslateByteCode

PASSES = (
    TranslateByteCode, FixupArgs, IRProcessing, ReconstructSSA, NopythonTypeInference, PreLowerStripPhis, AnnotateTypes,
    NativeLowering, NoPythonBackend,
)  # fmt: skip
"""What turns loops, sums and elements of arrays into machine code.

Left out is what numba does for closures, comprehensions, `with`, `inline=`, literal types, powers by constants, whole
arrays in one expression, errors with messages made of values, and legible complaints about what it cannot compile.
"""


class LightCompiler(CompilerBase):
    """numba's compiler with these passes alone."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the one list of passes."""
        passes = PassManager("light")
        for each in PASSES:
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


class Signatures:
    """What an operation returns for operands of given types, looked up once in each function that is compiled.

    numba looks it up two or three times for each place in the code, among all that an operator could mean.
    """

    def __init__(self) -> None:
        self._operations: Any = types.BaseFunction
        self._look_up = self._operations.get_call_type
        self._found: list[dict[Any, Any]] = []

    def begin(self) -> None:
        """Begin with a function, which the one before may call."""
        self._found.append({})
        if len(self._found) == 1:
            self._operations.get_call_type = lambda *asked: self._answer(*asked)

    def end(self) -> None:
        """Go back to the function before; with none left, numba is as it was."""
        self._found.pop()
        if not self._found:
            self._operations.get_call_type = self._look_up

    def _answer(self, operation: Any, context: Any, operands: Any, named: Any) -> Any:
        key, found = (operation, tuple(operands), tuple(named.items())), self._found[-1]
        if key not in found:
            found[key] = self._look_up(operation, context, operands, named)
        return found[key]
