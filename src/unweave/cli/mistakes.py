"""Mistakes on the command line: one clear line on stderr, and an exit code."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import NoReturn, TextIO

from unweave.errors import UsageError
from unweave.files import TEMPORARY
from unweave.plugins import mistake_in_plugin
from unweave.progress import print_above
from unweave.signals import handled

MISTAKE = 2
INTERRUPTED = 130  # what a shell expects from a program stopped by Ctrl-C
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_MEMORY = re.compile("allocate memory|out of memory|size calculation overflowed")


@contextmanager
def polite() -> Iterator[None]:
    """Turn a user's mistake, an interrupt and a full disk into one line on stderr and an exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, as by `>&-`: output is discarded
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without × shows ? instead
    with warnings.catch_warnings(), handled(_stop, "SIGTERM", "SIGHUP"):
        warnings.showwarning = _one_line_warning
        try:
            try:
                yield
            finally:  # help ends the program from within
                sys.stdout.flush()  # here, where a full disk or a closed pipe can still be reported
        except UsageError as error:
            _fail(str(error), MISTAKE)
        except KeyboardInterrupt as error:
            _fail(str(error) or "interrupted", INTERRUPTED)
        except BrokenPipeError:
            _mute_output()  # the reader has seen enough: `unweave data list | head -1`
        except OSError as error:
            if error.filename is None:
                _mute_output()
            _fail(_refusal(error), MISTAKE)
        except Exception as error:
            if _out_of_memory(error):
                _fail("there is not enough memory for this; try a smaller batch, net or data set", MISTAKE)
            if (said := mistake_in_plugin(error)) is not None:
                _fail(said, MISTAKE)
            raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Add the path to errors that the system reports without one, such as a full disk."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """Stop as Ctrl-C does, so that unfinished work is cleaned up."""
    raise KeyboardInterrupt(f"stopped by {signal.Signals(number).name}")


def _fail(message: str, code: int) -> NoReturn:
    with suppress(OSError):  # of a terminal that has been closed
        print("unweave:", " ".join(message.split()), file=sys.stderr)
    sys.exit(code)


def _refusal(error: OSError) -> str:
    """Return a line that says what the system could not do."""
    verb = "write" if error.errno in NO_ROOM else "use"
    if error.filename is None:
        return f"cannot {verb} the output: {error.strerror or error}"
    wanted = TEMPORARY.sub(r"\1", str(error.filename))
    return f"cannot {verb} '{wanted}': {error.strerror or error}"


def _out_of_memory(error: Exception) -> bool:
    """Return whether numpy or torch ran out of memory; torch reports it in several ways."""
    if isinstance(error, RuntimeError):
        return bool(NO_MEMORY.search(str(error)))
    return isinstance(error, MemoryError)


def _one_line_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print_above(f"unweave: warning: {' '.join(str(message).split())}", sys.stderr)


def _mute_output() -> None:
    """Discard unwritten output, since Python would otherwise try again, and complain, when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
