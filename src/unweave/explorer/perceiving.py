"""Results of `perceive`, computed in the background, one data set at a time, and cached in memory."""

from __future__ import annotations

import atexit
import json
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from unweave.errors import UsageError
from unweave.explorer.refusals import Refused

if TYPE_CHECKING:
    from unweave.data import Dataset
    from unweave.perception import Perception

MOST = 32
"""Largest number of results that are cached or being computed."""
PATIENCE = 20.0
"""Seconds to wait for a computation when the process ends: it stops at its next step."""


class _Stopped(Exception):
    """Raised in a computation when the process ends."""


@dataclass
class Answer:
    """The state of a result."""

    data: Dataset
    loss: str
    standardise: bool
    said: dict[str, Any] = field(default_factory=lambda: {"state": "computing", "step": "waiting", "share": 0.0})


class Perceiving:
    """Results by data set and loss: runs that agree in both share a result."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._waiting: SimpleQueue[Answer | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def ask(self, data: Dataset, loss: str, standardise: bool) -> dict[str, Any]:
        """Return the result for a data set and a loss, or its progress; the first request starts the computation."""
        key = json.dumps([data.description, loss, standardise], sort_keys=True, default=str)
        with self._lock:
            if key not in self._answers:
                self._make_room()
                answer = self._answers[key] = Answer(data, loss, standardise)
                self._waiting.put(answer)
                self._start()
            self._answers.move_to_end(key)
            return {**self._answers[key].said, "loss": loss, "standardise": standardise}

    def _make_room(self) -> None:
        """Forget the result that was requested least recently; raise `Refused` if all are still being computed."""
        if len(self._answers) < MOST:
            return
        done = next((key for key, answer in self._answers.items() if answer.said["state"] != "computing"), None)
        if done is None:
            raise Refused("too many data sets are already being measured; try again later")
        del self._answers[done]

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="perceive", daemon=True)
            self._thread.start()
            atexit.register(self.stop)

    def stop(self) -> None:
        """Stop computing: the interpreter must not exit while a thread runs compiled code."""
        self._stopping.set()
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def _work(self) -> None:
        with suppress(_Stopped):
            while (answer := self._waiting.get()) is not None:
                answer.said = _answered(answer, self._stopping)


def _answered(answer: Answer, stopping: threading.Event) -> dict[str, Any]:
    """Compute a result; any error becomes one line."""
    from unweave.perception import perceive

    def told(what: str, done: float, total: float | None) -> None:
        if stopping.is_set():
            raise _Stopped
        answer.said = {"state": "computing", "step": what, "share": done / total if total else 0.0}

    try:
        found = perceive(answer.data, answer.loss, standardise=answer.standardise, progress=False, on_progress=told)
        return {"state": "done", "error": None, **_words(found)}
    except _Stopped:
        raise
    except UsageError as error:
        return {"state": "failed", "error": str(error)}
    except Exception as error:  # the page must not wait for ever, whatever a user's data set raises
        return {"state": "failed", "error": f"it could not be measured ({type(error).__name__})"}


def _words(found: Perception) -> dict[str, Any]:
    return {
        "sentence": found.sentence,
        "table": found.table().to_dicts(),
        "losses": found.losses,
        "notes": list(found.notes),
    }
