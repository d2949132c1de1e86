"""The explorer: a page in the browser that shows a folder of runs, studies and codes, or over any decoder.

Notes
-----
- Server: `app` (routes), `guard` (which requests are allowed; every failure becomes one line), `places` (what is in the
  folder), `state` with `opened` and `opening` (open runs), `answers_*` (pure functions of these), `perceiving` (in the
  background), `pictures`, `own` (any decoder), `serve`, `served` (from Python).
- Export: `export` with `asking` (requests without a socket) and `export_files` (what a page on disk can read).
- `page/`: ES modules without a build step, with types in JSDoc: `main.js`, `lib/`, one file for each of `views/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.late import public_name

if TYPE_CHECKING:
    from unweave.explorer.app import create_app as create_app
    from unweave.explorer.served import Served as Served
    from unweave.explorer.served import explore as explore
    from unweave.explorer.state import Explorer as Explorer

_HOME = {"Explorer": "state", "Served": "served", "create_app": "app", "explore": "served"}

__all__ = ["Explorer", "Served", "create_app", "explore"]


def __getattr__(name: str) -> object:
    """Import a name on first use: the server needs an extra."""
    return public_name(__name__, _HOME, name)
