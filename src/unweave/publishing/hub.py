"""Uploading a published folder to the Hugging Face hub."""

from __future__ import annotations

import re
from glob import escape
from os import PathLike, fspath
from pathlib import Path

from unweave.errors import UsageError
from unweave.publishing.files import published_files
from unweave.runs import CONFIG, PUBLISHED

REPO = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def check_repo(repo: str) -> None:
    """Raise a `UsageError` if this cannot be the name of a repository on the hub."""
    if REPO.fullmatch(repo) is None:
        raise UsageError(f"the repository must have the form user/name, not '{repo}'")


def upload(folder: str | PathLike[str], repo: str, *, private: bool = False) -> str:
    """Upload a published folder to the Hugging Face hub, with the token that `hf auth login` stored.

    Only the files that `unweave.publish` wrote are uploaded.

    Parameters
    ----------
    folder
        The folder that `unweave.publish` wrote.
    repo
        The repository, user/name; it is made where there is none.
    private
        Whether a new repository is private.

    Returns
    -------
    str
        The address of the repository.

    Examples
    --------
    >>> folder = unweave.publish("runs/first", "published/first", repo="ada/first")  # doctest: +SKIP
    >>> upload(folder, "ada/first")  # doctest: +SKIP
    'https://huggingface.co/ada/first'
    """
    check_repo(repo)
    if not all(Path(folder, name).is_file() for name in (CONFIG, PUBLISHED)):
        raise UsageError(f"'{fspath(folder)}' is not a published run; first: unweave publish RUN --out FOLDER")
    names = [escape(name) for name in published_files(Path(folder))]
    place = f"the folder '{fspath(folder)}' is ready for another try"
    try:
        from huggingface_hub import HfApi
    except ImportError:
        missing = "uploading needs huggingface_hub, which is not installed; run: pip install 'unweave[hub]'"
        raise UsageError(f"{missing}; {place}") from None
    api = HfApi()
    try:
        address = api.create_repo(repo, repo_type="model", private=private, exist_ok=True)
        about = "Publish a run of unweave"
        api.upload_folder(repo_id=repo, folder_path=fspath(folder), allow_patterns=names, commit_message=about)
    except Exception as error:  # the hub, its libraries and the network fail in many ways; none is ours
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UsageError(f"'{repo}' could not be uploaded: {reason}; {place} (log in with: hf auth login)") from error
    return str(address)
