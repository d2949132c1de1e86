"""`unweave.explore`: the explorer from Python and from a notebook."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from unweave.errors import UsageError

if TYPE_CHECKING:
    from unweave.explorer.serve import Background
    from unweave.explorer.state import Explorer
    from unweave.runs import Run
    from unweave.study import Study

NEEDED = ("starlette", "uvicorn", "plotly")
NOTEBOOKS = "'self' http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:* vscode-webview:"
"""Sources whose pages may embed ours: notebooks on this machine."""
HEIGHT = 720


class Served:
    """An explorer that runs in the background: open its `url` in a browser, and `close()` it at the end.

    A notebook shows the page.
    """

    def __init__(self, server: Background, url: str) -> None:
        self._server: Background | None = server
        self.url = url
        """The address of the page."""

    def close(self) -> None:
        """Stop the server; it may be called more than once."""
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def __repr__(self) -> str:
        return f"<explorer at {self.url}{'' if self._server else ', closed'}>"

    def _repr_html_(self) -> str:
        address = escape(self.url)
        link = f'<a href="{address}" target="_blank" rel="noopener">{address}</a>'
        if self._server is None:
            return f"<p>explorer, closed: {link}</p>"
        frame = (
            f'<iframe src="{address}" title="unweave explorer" style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
        )
        return f"<p>{link}</p>{frame}"

    def __enter__(self) -> Served:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def explore(
    what: Run | Study | str | Path | Callable[[Any], Any] | None = None,
    *,
    decode: Callable[[Any], Any] | None = None,
    codes: ArrayLike | None = None,
    factors: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    samples: int = 2_000,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = False,
) -> Served:
    """Open the explorer on a run, a study, a folder or your own decoder, in the background.

    Parameters
    ----------
    what
        A `Run`, a `Study`, a folder of runs and studies, or a function `decode`.
    decode
        A function from codes (n, latents), float32, to images (n, H, W, C), uint8 or floats from 0 to 1, or to vectors
        (n, D); for models of other libraries, instead of `what`.
    codes
        With `decode`: codes (n, latents) of your data, which set the range of each slider.
    factors, names
        With `decode`: the factors (n, k) of the same rows, if known, and their names.
    samples
        Number of random images that are encoded.
    host, port
        The address to listen on; port 0 means any free port. With a host other than 127.0.0.1, other machines can see
        everything in the folder.
    browser
        Open the page in a browser.

    Returns
    -------
    Served
        An object with `url` and `close()`. A notebook shows the page.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.random.default_rng(0).normal(size=(100, 2))
    >>> with explore(decode=lambda z: np.tanh(z) / 2 + 0.5, codes=codes) as page:
    ...     page.url.startswith("http://127.0.0.1:")
    True
    """
    require_extra()
    from unweave.explorer.app import create_app
    from unweave.explorer.serve import Background, address_of, listening

    if callable(what) and decode is None:
        what, decode = None, what
    explorer = _explorer(what, decode, codes, factors, names, samples)
    listener = listening(host, port)
    served = Served(
        Background(create_app(explorer, host=host, framed_by=NOTEBOOKS), listener), address_of(listener, host)
    )
    if browser:
        webbrowser.open(served.url)
    return served


def _explorer(
    what: Any,
    decode: Callable[[Any], Any] | None,
    codes: ArrayLike | None,
    factors: ArrayLike | None,
    names: Sequence[str] | None,
    samples: int,
) -> Explorer:
    from unweave.explorer.own import IDENTITY, open_own
    from unweave.explorer.places import HERE
    from unweave.explorer.state import Explorer

    if samples < 2:
        raise UsageError(f"samples must be 2 or more, not {samples}")
    if decode is not None:
        if what is not None:
            raise UsageError("give either a run or a folder, or decode and codes")
        if codes is None:
            raise UsageError("decode needs codes, which set the range of each slider: explore(decode=…, codes=…)")
        opened = open_own(decode, codes, factors=factors, names=names, samples=samples)
        return Explorer(None, samples=samples, given={IDENTITY: opened})
    if what is None:
        raise UsageError("say what to explore: a run, a study, a folder, or decode=… with codes=…")
    if codes is not None or factors is not None or names is not None:
        raise UsageError("codes, factors and names need decode; a run has its own")
    if isinstance(what, str | Path):
        return Explorer(existing(Path(what)), samples=samples)
    from unweave.runs import Run

    return Explorer(Path(what.path), samples=samples, given={HERE: what} if isinstance(what, Run) else None)


def existing(folder: Path) -> Path:
    """Return an existing folder, or raise a `UsageError`."""
    if not folder.exists():
        raise UsageError(f"there is no folder '{folder}'")
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is a file; explore its folder instead")
    return folder


def require_extra() -> None:
    """Raise a `UsageError` if a package that the explorer needs is not installed."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise UsageError(f"the explorer needs {', '.join(missing)}; install the extra: pip install 'unweave[web]'")
