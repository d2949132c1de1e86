"""Compiled functions where their code cannot be kept on disk, and the time that compiling takes."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
from typing import Any

import numba
import pytest
from numba import types
from numba.core.registry import cpu_target

from unweave import compiled
from unweave.light_compiler import Signatures


@pytest.fixture
def no_cache(monkeypatch) -> list[dict[str, object]]:
    """numba as it is where it finds no folder that it may write to; returns the options it was called with."""
    asked: list[dict[str, object]] = []
    real = numba.njit

    def njit(*function, **options):
        if function:  # numba's own
            return real(*function, **options)
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(numba, "njit", njit)
    return asked


@pytest.mark.parametrize("compile_", [compiled.kernel, compiled.cached])
def test_without_a_folder_for_the_cache_functions_are_compiled_all_the_same(compile_, no_cache):
    @compile_
    def double(x):
        return 2 * x

    assert double(21) == 42
    assert [options.get("cache", False) for options in no_cache] == [True, False]


@pytest.mark.usefixtures("no_cache")
def test_the_time_of_compiling_is_noted_and_told():
    told = []

    @compiled.kernel
    def triple(x):
        return 3 * x

    before = compiled.seconds()
    compiled.on_compile.append(lambda: told.append(1))
    try:
        assert triple(2) == 6
    finally:
        compiled.on_compile.pop()
    after = compiled.seconds()
    assert after > before
    assert told == [1]
    assert triple(3) == 9
    assert compiled.seconds() == after


def test_a_cache_that_cannot_be_written_does_not_stop_dci(tmp_path):
    """Where the folder of the cache is a file, not even root can write to it."""
    (tmp_path / "file").write_text("")
    code = "from unweave.metrics import dci; print(dci([[0.0], [1.0]] * 30, [[0], [1]] * 30).informativeness)"
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "file" / "cache"), "PATH": "", "HOME": str(tmp_path / "file")}
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "1.0\n"), found.stderr


def test_a_signature_is_looked_up_once_in_each_function_and_numba_is_left_as_it_was(monkeypatch):
    asked = []
    real = types.BaseFunction.get_call_type

    def get_call_type(self, context, operands, named):
        asked.append(operands)
        return real(self, context, operands, named)

    monkeypatch.setattr(types.BaseFunction, "get_call_type", get_call_type)
    target: Any = cpu_target
    target.target_context.refresh()  # numba knows its operators from then on

    def returned(*operands):
        return target.typing_context.resolve_function_type(operator.add, operands, {}).return_type

    signatures = Signatures()
    signatures.begin()
    assert [returned(types.int64, types.int64) for _ in range(3)] == [types.int64] * 3
    assert returned(types.int64, types.float64) == types.float64
    assert len(asked) == 2
    signatures.begin()  # a function that the first one calls: its options may be others
    returned(types.int64, types.int64)
    signatures.end()
    assert len(asked) == 3
    returned(types.int64, types.int64)
    assert len(asked) == 3
    signatures.end()
    assert types.BaseFunction.get_call_type is get_call_type


def test_kernels_are_compiled_by_the_light_compiler_and_other_functions_are_not():
    @compiled.helper
    def half(x):
        return x / 2

    @numba.njit
    def whole(x):
        return half(x) + half(x)

    assert whole(3.0) == 3.0
    (passes,) = half.overloads[half.signatures[0]].metadata["pipeline_times"].values()
    (more,) = whole.overloads[whole.signatures[0]].metadata["pipeline_times"].values()
    assert 2 * len(passes) < len(more)


COUNT = """
import sys
from unweave.metrics import BoostedTrees
steps = 0
def count(frame, event, argument):
    global steps
    steps += event in ("call", "c_call")
sys.setprofile(count)
BoostedTrees(rounds=1).fit([[0.0], [1.0]] * 9, [0, 1] * 9).predict([[0.0]])
sys.setprofile(None)
print(steps)
"""


@pytest.mark.slow
def test_compiling_the_trees_takes_few_steps(tmp_path):
    """A count, for the clock of a busy machine says little: 5.3 million calls of Python functions; once it was 9.9."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COUNT]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert 1e6 < int(found.stdout) < 6.5e6
