"""The allocator setting: on with glibc, silent elsewhere, and it does what it is for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from unweave import memory

FAULTS = """
import ctypes, resource, sys
from unweave.memory import keep_freed_memory
if sys.argv[1] == "on":
    assert keep_freed_memory()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
size = 64 << 20
def touch():
    block = libc.malloc(size)
    ctypes.memset(block, 1, size)
    libc.free(block)
touch()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    touch()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(setting: str) -> int:
    return int(subprocess.run([sys.executable, "-c", FAULTS, setting], capture_output=True, check=True).stdout)


def test_freed_memory_is_not_faulted_in_again():
    if "glibc" not in memory._libc_version():
        assert not memory.keep_freed_memory()
        return
    assert faults("off") > 20 * max(faults("on"), 1)


@pytest.mark.parametrize("version", ["", "musl 1.2"])
def test_other_c_libraries_are_left_alone(monkeypatch, version):
    monkeypatch.setattr(memory, "_libc_version", lambda: version)
    assert not memory.keep_freed_memory()
