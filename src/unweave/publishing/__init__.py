"""Publishing a run: a folder as the Hugging Face hub wants it, which `Run.open` reads back, and its upload."""

from __future__ import annotations

from unweave.publishing.folder import publish
from unweave.publishing.hub import check_repo, upload

__all__ = ["check_repo", "publish", "upload"]
