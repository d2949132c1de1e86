"""Errors of requests: each has its status, and one clear line."""

from __future__ import annotations

from unweave.errors import UsageError


class Refused(UsageError):
    """A request that cannot be answered, with the status that says so."""

    status = 400


class Missing(Refused):
    """Nothing has that identity, or not any more."""

    status = 404


class Unable(Refused):
    """What is asked for is there, but cannot be shown: a damaged run, a run of vectors as images …"""

    status = 409


class TooLarge(Refused):
    """A request that is longer, or asks for more, than is answered."""

    status = 413
