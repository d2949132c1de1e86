"""Stopping between two steps: Ctrl-C and a polite kill wait until the step is whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """Training was asked to stop, and did so after a whole step, with a checkpoint."""

    def __init__(self, step: int, folder: Path) -> None:
        super().__init__(f"interrupted at step {step:,}, kept in '{folder}'; the same command goes on from there")


class StopRequest:
    """Whether a signal has asked training to stop."""

    received = False


@contextmanager
def deferred_interrupts() -> Iterator[StopRequest]:
    """While active, SIGINT and SIGTERM only mark the request; a second one interrupts at once."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():  # only there can handlers be set
        yield request
        return

    def note(signum: int, frame: FrameType | None) -> None:
        if request.received:
            raise KeyboardInterrupt
        request.received = True

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
