"""Stop between two steps: Ctrl-C, SIGTERM and SIGHUP wait until the current step is complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from unweave.signals import handled


class Interrupted(KeyboardInterrupt):
    """Training has stopped on request, after a complete step, with a checkpoint."""

    def __init__(self, step: int, folder: Path) -> None:
        super().__init__(f"interrupted at step {step:,}, saved in '{folder}'; the same command resumes it")


class StopRequest:
    """Whether a signal requests that training stops."""

    received = False


@contextmanager
def deferred_interrupts() -> Iterator[StopRequest]:
    """While active, SIGINT, SIGTERM and SIGHUP only mark the request; a second one interrupts at once."""
    request = StopRequest()

    def note(signum: int, frame: FrameType | None) -> None:
        if request.received:
            raise KeyboardInterrupt
        request.received = True

    with handled(note, "SIGINT", "SIGTERM", "SIGHUP"):
        yield request
