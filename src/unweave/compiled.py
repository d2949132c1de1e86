"""Functions compiled by numba: lightly optimised, cached if a folder is writable, with a record of the time.

The first compiled function imports numba, so a module with such functions is imported only when they are called.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pickle import UnpicklingError
from time import perf_counter
from typing import Any

LEVEL = 1
"""LLVM's optimisation level: loops are vectorised from this level on; higher levels only take longer to compile."""

on_compile: list[Callable[[], object]] = []
"""Called whenever a kernel starts to compile, which takes seconds; not if it is found in the cache."""

_seconds = 0.0
_functions: set[Callable[..., Any]] = set()


def seconds() -> float:
    """Return the compile time of this process so far: 0 if every kernel came from the cache."""
    return _seconds


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that Python calls, at its first call.

    Its code is cached on disk, together with the helpers that it calls; if the cache cannot be used, it is compiled for
    this process only. numba notices changes only in a kernel's own file, so its helpers belong there. A kernel and its
    helpers loop over arrays that they are given; `light_compiler` says what is not supported.
    """
    if function is None:
        return partial(kernel, **options)
    options = {"no_cfunc_wrapper": True} | options  # Python calls it, not C
    compiled = _cached(function, options)

    def call(*arguments: Any) -> Any:
        nonlocal compiled
        try:
            return compiled(*arguments)
        except (OSError, EOFError, UnpicklingError):  # from the cache: a kernel opens no file
            compiled = _compiled(function, options)
            return compiled(*arguments)

    return call


def helper(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that kernels and other helpers call, as part of them."""
    if function is None:
        return partial(helper, **options)
    return _compiled(function, {"no_cpython_wrapper": True, "no_cfunc_wrapper": True} | options)


def cached(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function with numba's full compiler, cached on disk if a folder is writable."""
    if function is None:
        return partial(cached, **options)
    from numba import njit

    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder that it may write to
        return njit(**options)(function)


def _cached(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        return _compiled(function, options | {"cache": True})
    except RuntimeError:  # numba finds no folder that it may write to
        return _compiled(function, options)


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    from numba import njit

    from unweave.light_compiler import LightCompiler

    _listen()
    _functions.add(function)
    light = {"nogil": True, "error_model": "numpy", "pipeline_class": LightCompiler, "_nrt": False}
    return njit(**(light | options))(function)  # without _nrt: code that creates no arrays need not count references


@cache
def _listen() -> None:
    """Listen to numba's compilations, to set the optimisation level and to measure their time."""
    from numba.core import event

    from unweave.light_compiler import Signatures

    config: Any = import_module("numba.core.config")  # its settings are made at run time
    signatures = Signatures()

    class Listener(event.Listener):
        depth = 0  # of helpers within helpers within a kernel; numba compiles in one thread at a time
        start, before, collects = 0.0, config.OPT, True

        def on_start(self, event: Any) -> None:
            if not self.depth and event.data["dispatcher"].py_func not in _functions:
                return  # another package's
            self.depth += 1
            signatures.begin()
            if self.depth > 1:
                return
            for told in on_compile:
                told()
            self.start, self.before, self.collects = perf_counter(), config.OPT, gc.isenabled()
            config.OPT = type(config.OPT)(min(config.OPT, LEVEL))
            gc.disable()  # the compiler makes many objects, and little garbage

        def on_end(self, event: Any) -> None:
            global _seconds
            if not self.depth:
                return
            self.depth -= 1
            signatures.end()
            if self.depth:
                return
            config.OPT = self.before
            if self.collects:
                gc.enable()
            _seconds += perf_counter() - self.start

    event.register("numba:compile", Listener())
