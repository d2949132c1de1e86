"""The machine: what a run records about the hardware."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path

CPU_INFO = Path("/proc/cpuinfo")


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def machine() -> dict[str, str | int]:
    """Return the name of the processor, the number of usable cores, and the memory in bytes if it is known."""
    found: dict[str, str | int] = {"cpu": _cpu(), "cores": cores()}
    if memory := _memory():
        found["memory"] = memory
    return found


def _cpu() -> str:
    """Return the name of the processor, or else its architecture."""
    with suppress(OSError):
        lines = CPU_INFO.read_text(errors="replace").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.lower().startswith("model name")]
        if any(names):
            return next(filter(None, names))
    return platform.processor() or platform.machine() or "unknown"


def _memory() -> int | None:
    with suppress(AttributeError, ValueError, OSError):  # Windows has no sysconf
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None
