"""Signals that ask a process to stop, handled for a while."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def handled(handle: Callable[[int, FrameType | None], None], *names: str) -> Iterator[None]:
    """Call `handle` on signals of these names while active: in the main thread, where alone handlers can be set.

    A signal that the system does not have is left out. So is one that is ignored, as SIGHUP is under nohup and SIGINT
    in the background of a script, and one with a handler that is not Python's.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
            if signal.getsignal(number) in (signal.SIG_IGN, None):
                continue
            before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
