"""The folder that is published: weights, configuration, scores, a picture and the card."""

from __future__ import annotations

import json
from contextlib import suppress
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

from unweave.errors import UsageError
from unweave.files import write_atomically
from unweave.publishing.card import model_card
from unweave.publishing.files import CARD, PICTURE, remove_leftovers
from unweave.publishing.hub import check_repo
from unweave.publishing.licences import check_licence
from unweave.publishing.portable import portable_config
from unweave.publishing.scores import all_scores
from unweave.runs import CONFIG, LOG, PUBLISHED, SCORES, STATUS, Run, read_json
from unweave.tables import to_parquet

NOT_PUBLISHED = ("data", "machine")
"""What stays out of status.json: where the data were, and the processor, its cores and the memory."""
MOST_ROWS = 20
"""Latents in the picture of traversals, the most informative ones."""


def publish(
    run: Run | str | PathLike[str], out: str | PathLike[str], *, repo: str | None = None, license: str | None = None
) -> Path:
    """Write a run as a folder that the Hugging Face hub shows and `Run.open` reads. Nothing is uploaded.

    Parameters
    ----------
    run
        The run, or its folder.
    out
        The folder to write: a new or empty one, or one that this run was published in before. Scores computed there
        are kept; an older report (report.html) is removed.
    repo
        Where it will be on the hub, as user/name: the card then says how to load it from there.
    license
        The licence of the weights, by the hub's name of it, such as apache-2.0, or other; by default none is named.

    Returns
    -------
    Path
        The folder. `unweave.publishing.upload` uploads it.

    Examples
    --------
    >>> folder = publish("runs/first", "published/first")  # doctest: +SKIP
    >>> unweave.Run.open(folder).encode(images)  # doctest: +SKIP
    """
    run = run if isinstance(run, Run) else Run.open(Path(run))
    out = Path(out)
    if repo is not None:
        check_repo(repo)
    if license is not None:
        check_licence(license)
    _check_out(run, out)
    files = _contents(run, out, repo, license)
    _write(out, files)
    remove_leftovers(out, files)
    return out


def _contents(run: Run, out: Path, repo: str | None, license: str | None) -> dict[str, bytes]:
    """Return the files by name; the one that says that the folder is a run comes last."""
    run.model  # noqa: B018  raises where the weights are missing or damaged
    config, files = portable_config(run)
    files[PUBLISHED] = run.weights_path.read_bytes()
    with suppress(FileNotFoundError):
        files[LOG] = (run.path / LOG).read_bytes()
    scores = all_scores(run, out)
    if scores is not None:
        files[SCORES] = to_parquet(scores.drop("current"))
    picture = _traversals(run)
    if picture is not None:
        files[PICTURE] = picture
    status = {key: value for key, value in run.status.items() if key not in NOT_PUBLISHED}
    files[STATUS] = _json({**status, "step": run.step})
    name, drawn = out.resolve().name, PICTURE if picture else None
    files[CARD] = model_card(run, config, name, drawn, scores, repo=repo, license=license).encode()
    files[CONFIG] = _json(config)
    return files


def _json(value: dict[str, Any]) -> bytes:
    return f"{json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False)}\n".encode()


def _traversals(run: Run) -> bytes | None:
    """Return the picture of traversals, or None if there is no decoder or the data set is missing."""
    if not run.has_decoder:
        return None
    try:
        picture = run.traversals(rows=MOST_ROWS)
    except UsageError:
        return None
    buffer = BytesIO()
    picture.save(buffer, "png")
    return buffer.getvalue()


def _check_out(run: Run, out: Path) -> None:
    """Refuse a folder that holds anything but an earlier publication of this run."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"'{out}' is a file; choose a folder")
    if out.resolve() == run.path.resolve():
        raise UsageError(f"'{out}' is the run itself; choose another folder")
    if not out.is_dir() or all(entry.name.startswith(".") for entry in out.iterdir()):  # such as .git
        return
    if not (out / PUBLISHED).is_file() or not (out / CONFIG).is_file():
        raise UsageError(f"'{out}' is not empty and not a published run; choose another folder")
    if read_json(out / CONFIG).get("id") != run.config.get("id"):
        raise UsageError(f"'{out}' holds another published run; choose another folder")


def _write(out: Path, files: dict[str, bytes]) -> None:
    """Write all files; where one cannot be written, a folder that was empty before is empty again."""
    was_there = out.is_dir()
    was_empty = not was_there or not (out / CONFIG).is_file()
    out.mkdir(parents=True, exist_ok=True)
    try:
        for name, content in files.items():
            write_atomically(out / name, content)
    except BaseException:
        if was_empty:
            for name in files:
                (out / name).unlink(missing_ok=True)
        if not was_there:
            with suppress(OSError):
                out.rmdir()
        raise
