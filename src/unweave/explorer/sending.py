"""Answers: JSON without NaN, pictures, downloads."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

import numpy as np
from starlette.responses import Response


def plain(value: Any) -> Any:
    """Return a value in the types of JSON: arrays as lists, NaN and infinities as None.

    >>> plain({"a": np.array([1.0, np.nan]), 3: (np.int64(2), float("inf"))})
    {'a': [1.0, None], '3': [2, None]}
    """
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value if value is None or isinstance(value, str | int) else str(value)


def send_json(value: Any, status: int = 200) -> Response:
    """Return an answer as JSON."""
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return send_bytes(text.encode(errors="replace"), "application/json", status=status)


def send_bytes(content: bytes, kind: str, *, name: str = "", status: int = 200) -> Response:
    """Return bytes as an answer; with a name, as a download."""
    file = re.sub(r"[^A-Za-z0-9._-]", "-", name)  # so that no folder's name can break the header
    headers = {"Content-Disposition": f'attachment; filename="{file}"'} if name else {}
    return Response(content, status, {"Cache-Control": "no-store", **headers}, kind)
