"""Handle signals that ask a process to stop, within a context."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def handled(handle: Callable[[int, FrameType | None], None], *names: str) -> Iterator[None]:
    """Call `handle` on signals with these names while active; only in the main thread, where handlers can be set.

    Signals that the system lacks are left out. So are ignored signals, such as SIGHUP under nohup and SIGINT in the
    background of a script, and signals with a handler that is not Python's.
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
