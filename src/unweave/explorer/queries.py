"""The parameters of a request, read and checked one by one."""

from __future__ import annotations

import re
from math import isfinite

import numpy as np
from numpy.typing import NDArray
from starlette.datastructures import QueryParams
from starlette.requests import Request

from unweave.errors import unknown
from unweave.explorer.refusals import Refused, TooLarge

LONGEST_ID = 2_000
LARGEST_CODE = 1e6
"""Largest number in a code: no latent needs more, and larger squares would overflow."""
MOST_NUMBERS = 4_096
LARGEST_WHOLE = 2**53
MOST_SCALE = 8
WHOLE = re.compile(r"[+-]?[0-9]+")
REAL = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
"""The usual syntax of numbers; Python would also accept 1_0 and digits of other scripts."""


class Query:
    """The parameters of a request."""

    def __init__(self, request: Request) -> None:
        self._given: QueryParams = request.query_params

    def text(self, name: str, default: str | None = None) -> str:
        """Return a parameter, such as an identity; without a default it is required."""
        values = self._given.getlist(name)
        if len(values) > 1:
            raise Refused(f"the parameter '{name}' is given {len(values)} times")
        if not values or not values[0]:
            if default is None:
                raise Refused(f"the parameter '{name}' is missing")
            return default
        if len(values[0]) > LONGEST_ID:
            raise TooLarge(f"the parameter '{name}' is too long")
        return values[0]

    def choice(self, name: str, known: tuple[str, ...]) -> str:
        """Return a parameter that is one of these, by default the first."""
        value = self.text(name, known[0])
        if value not in known:
            raise Refused(str(unknown(name, value[:80], known)))
        return value

    def flag(self, name: str) -> bool:
        """Return whether a parameter is given and neither 0 nor empty."""
        return self.text(name, "0") != "0"

    def whole(self, name: str, default: int | None = None, *, least: int = 0, most: int = LARGEST_WHOLE) -> int:
        """Return a whole number within limits."""
        text = self.text(name, None if default is None else str(default))
        if not WHOLE.fullmatch(text):
            raise Refused(f"'{name}' must be a whole number, not '{text[:80]}'")
        value = int(text) if len(text) <= 20 else least - 1 if text.startswith("-") else most + 1
        if not least <= value <= most:
            limits = f"{least} or more" if value < least and most == LARGEST_WHOLE else f"from {least} to {most}"
            raise Refused(f"'{name}' must be {limits}, not {text[:80]}")
        return value

    def scale(self) -> int:
        """Return the scale of pictures."""
        return self.whole("scale", 1, least=1, most=MOST_SCALE)

    def real(self, name: str) -> float | None:
        """Return a number, or None if it is not given."""
        text = self.text(name, "")
        return float(_numbers(name, text, 1)[0]) if text else None

    def code(self, name: str, latents: int) -> NDArray[np.float32] | None:
        """Return a code, comma-separated numbers, or None if it is not given."""
        values = self._given.getlist(name)
        if len(values) > 1:
            raise Refused(f"the parameter '{name}' is given {len(values)} times")
        if not values or not values[0]:
            return None
        return _numbers(name, values[0], latents)


def _numbers(name: str, text: str, count: int) -> NDArray[np.float32]:
    if len(text) > 32 * MOST_NUMBERS or text.count(",") >= MOST_NUMBERS:
        raise TooLarge(f"'{name}' holds too many numbers")
    words = text.split(",")
    if len(words) != count:
        raise Refused(
            f"'{name}' must hold {count} number{'s' if count > 1 else ''} separated by commas, not {len(words)}"
        )
    if not all(map(REAL.fullmatch, words)):
        raise Refused(f"'{name}' holds something that is not a number")
    values = [float(word) for word in words]
    if not all(isfinite(value) and abs(value) <= LARGEST_CODE for value in values):
        raise Refused(f"'{name}' must hold finite numbers of at most {LARGEST_CODE:,.0f}")
    return np.array(values, dtype=np.float32)
