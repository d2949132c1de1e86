"""numba's compiler without the passes that plain loops do not need, and with a cache: it takes two thirds of the time.

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
"""The passes that compile loops, sums and elements of arrays.

Passes are left out for closures, comprehensions, `with`, `inline=`, literal types, powers by constants, expressions of
whole arrays, errors with values in their messages, and readable messages about code that cannot be compiled.
"""


class LightCompiler(CompilerBase):
    """numba's compiler with only these passes."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the list of passes."""
        passes = PassManager("light")
        for each in PASSES:
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


class Signatures:
    """A cache of the result types of operations, for each function that is compiled.

    numba looks them up two or three times for each operation in the code, among all meanings of an operator.
    """

    def __init__(self) -> None:
        self._operations: Any = types.BaseFunction
        self._look_up = self._operations.get_call_type
        self._found: list[dict[Any, Any]] = []

    def begin(self) -> None:
        """Start a function, which the previous one may call."""
        self._found.append({})
        if len(self._found) == 1:
            self._operations.get_call_type = lambda *asked: self._answer(*asked)

    def end(self) -> None:
        """Return to the previous function; if there is none, restore numba."""
        self._found.pop()
        if not self._found:
            self._operations.get_call_type = self._look_up

    def _answer(self, operation: Any, context: Any, operands: Any, named: Any) -> Any:
        key, found = (operation, tuple(operands), tuple(named.items())), self._found[-1]
        if key not in found:
            found[key] = self._look_up(operation, context, operands, named)
        return found[key]
