"""Errors of requests: each has a status and a message of one line."""

from __future__ import annotations

from unweave.errors import UsageError


class Refused(UsageError):
    """A request that cannot be answered, with its HTTP status."""

    status = 400


class Missing(Refused):
    """The identity does not exist, or no longer exists."""

    status = 404


class Unable(Refused):
    """The requested thing exists but cannot be shown: a damaged run, a run of vectors as images …"""

    status = 409


class TooLarge(Refused):
    """A request that is too long, or for too much."""

    status = 413
