"""Opened runs and files of codes: the model in memory, and the codes of random images."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from unweave.collapse import carried
from unweave.explorer.refusals import Refused, Unable

if TYPE_CHECKING:
    from unweave.data import Dataset
    from unweave.report.surveys import Survey
    from unweave.runs import Run

Kind = Literal["images", "vectors", "codes-only", "closed"]
"""What can be shown: decoded images or vectors, codes without a decoder, or only settings and scores."""
Array = NDArray[Any]
T = TypeVar("T")
SAMPLES = 2_000
"""Default number of random images that are encoded."""
KEPT = 6
"""Number of runs that stay open."""


@dataclass
class Opened:
    """A run, a file of codes or your own model, as the pages show it."""

    name: str
    kind: Kind
    latents: int = 0
    shape: tuple[int, ...] = ()
    """Height, width and channels of its images, or the number of features of its vectors."""
    survey: Survey | None = None
    """Codes and factors of random images, and the information in each latent; None if the data set is missing."""
    indices: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The indices of these images."""
    total: int = 0
    """The number of images in the data set."""
    factors: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    """The number of values of each factor."""
    decoder: Callable[[Array], Array] | None = None
    """A function from codes (n, latents) to images (n, H, W, C), uint8, or vectors (n, D)."""
    run: Run | None = None
    data: Dataset | None = None
    warning: str | None = None
    """A warning for users: why it cannot be decoded, that it has collapsed, or that its data set is missing."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Locked while its model computes."""
    _keeping: threading.RLock = field(default_factory=threading.RLock)
    """Locked while a result to keep is computed; sliders do not wait for it."""
    _kept: dict[Hashable, Any] = field(default_factory=dict)

    def decode(self, codes: Array) -> Array:
        """Return the images or vectors of codes (n, latents)."""
        if self.decoder is None:
            what = "it is a file of codes" if self.run is None else "its method learns only codes"
            raise Unable(self.reason(f"'{self.name}' has no decoder: {what}"))
        with self.lock:
            return self.decoder(np.asarray(codes, dtype=np.float32))

    def encode(self, index: int) -> tuple[Array, Array]:
        """Return the code (latents,) and the factors (k,) of one image of its data set."""
        seen = self.seen()
        if not 0 <= index < self.total:
            raise Refused(f"'image' must be from 0 to {self.total - 1}, not {index}")
        places = np.flatnonzero(self.indices == index)
        if len(places):
            return seen.codes[places[0]], seen.factors[places[0]]
        if self.run is None or self.data is None:
            raise Unable(f"the code of image {index} is not in '{self.name}'")
        with self.lock:
            return self.run.encode(self.data.inputs([index]))[0], self.data.values([index])[0]

    def inputs(self, indices: Array) -> Array:
        """Return images or vectors of its data set."""
        if self.data is None:
            raise Unable(self.reason(f"'{self.name}' has no data set"))
        with self.lock:
            return self.data.inputs(indices)

    def seen(self) -> Survey:
        """Return the codes of random images, or raise `Unable`."""
        if self.survey is None:
            raise Unable(self.warning or f"'{self.name}' has no codes")
        return self.survey

    def labelled(self) -> Survey:
        """Return the codes of random images and their factors, or raise `Unable` if these are unknown."""
        seen = self.seen()
        if not self.factors or seen.factors.shape[1] != len(self.factors):
            why = self.warning if self.run is None and self.kind == "codes-only" else None
            raise Unable(why or f"the factors of the data set of '{self.name}' are unknown")
        return seen

    def reason(self, line: str) -> str:
        """Return why something cannot be shown: the run's warning, if any, otherwise this line."""
        return line if self.kind == "codes-only" else self.warning or line

    def start(self) -> Array:
        """Return the code of the first sampled image or, without one, the centre of the prior."""
        return self.survey.codes[0] if self.survey is not None else np.zeros(self.latents)

    def cached(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the cached result of this key, or compute and cache it."""
        with self._keeping:
            if key not in self._kept:
                self._kept[key] = compute()
            return self._kept[key]


def surveyed(codes: Array, logs: Array | None, factors: Array, categories: tuple[int, ...] = ()) -> Survey:
    """Return the survey of codes, with their log-variances, if any, factors, and categorical latents."""
    from unweave.report.surveys import Survey

    codes = codes.astype(np.float64)
    return Survey(codes, factors, carried(codes, logs, categories), logs is None, categories)


class OpenedCache:
    """The runs opened last, by identity and state; a run that has changed since is opened again."""

    def __init__(self, most: int = KEPT) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._opened: OrderedDict[Hashable, tuple[Hashable, Opened]] = OrderedDict()
        self._opening: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, state: Hashable, open_it: Callable[[], Opened]) -> Opened:
        """Return what is open under this key in this state, or open it; simultaneous requests open it once."""
        if (found := self.found(key, state)) is not None:
            return found
        with self._lock:
            opening = self._opening.setdefault(key, threading.Lock())
        with opening:
            if (found := self.found(key, state)) is not None:
                return found
            opened = open_it()
            with self._lock:
                self._opened[key] = (state, opened)
                self._opened.move_to_end(key)
                while len(self._opened) > self._most:
                    self._opened.popitem(last=False)
                self._opening.pop(key, None)
            return opened

    def found(self, key: Hashable, state: Hashable) -> Opened | None:
        """Return what is open under this key in this state, or None."""
        with self._lock:
            known, opened = self._opened.get(key, (None, None))
            if opened is None or known != state:
                return None
            self._opened.move_to_end(key)
            return opened
