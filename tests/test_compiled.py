"""Compiled functions where their code cannot be kept on disk, and the time that compiling takes."""

from __future__ import annotations

import subprocess
import sys

import numba
import pytest

from unweave import compiled


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
