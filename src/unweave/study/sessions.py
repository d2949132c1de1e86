"""What driving a study took: sessions.json lists the calls of `study run` that ran anything, and how long each took."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from unweave.files import write_json

SESSIONS = "sessions.json"
KEPT = ("since", "engine", "workers", "finished", "file")
"""What a session keeps of its driver."""


def record_session(folder: Path, driver: Mapping[str, Any]) -> None:
    """Add a session that has ended, if any run ended in it; a full disk is ignored."""
    if driver.get("finished"):
        session = {name: driver[name] for name in KEPT if name in driver}
        session["seconds"] = round(time.time() - driver["started"], 1)
        with suppress(OSError):
            write_json(folder / SESSIONS, [*read_sessions(folder), session])


def read_sessions(folder: Path) -> list[dict[str, Any]]:
    """Return the sessions that ended properly, earliest first."""
    try:
        found = json.loads((folder / SESSIONS).read_bytes())
    except (OSError, ValueError):
        return []
    return [session for session in found if isinstance(session, dict)] if isinstance(found, list) else []
