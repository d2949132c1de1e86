"""`unweave publish`: a run as a folder for the Hugging Face hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, Plugins, parse
from unweave.cli.plugins import run_words
from unweave.errors import UsageError
from unweave.progress import Bar
from unweave.text import to_json


@dataclass(frozen=True)
class Publish:
    """Write a run as a folder that the Hugging Face hub shows and `Run.open` reads: weights, card, scores, traversals.

    Nothing leaves this machine without --upload.
    """

    run: Annotated[Positional[Path], arg(metavar="RUN")]
    """The run's folder."""
    out: Annotated[Path, arg(metavar="FOLDER")]
    """The folder to write: new, empty, or where this run was published before."""
    repo: Annotated[str | None, arg(metavar="USER/NAME", help_behavior_hint="(default: none)")] = None
    """The repository on the hub; the card then says how to load the run from there."""
    license: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="(default: none)")] = None
    """The licence of the weights, by the hub's name of it, such as apache-2.0, or other."""
    upload: Flag = False
    """Also upload the folder to --repo, with the token that `hf auth login` stored."""
    private: Flag = False
    """With --upload, make a new repository private."""
    plugin: Plugins = ()
    """Also know the methods, nets, metrics and data sets that a Python file or module defines."""
    data: Annotated[str | None, arg(metavar="PATH", help_behavior_hint="")] = None
    """The run's data set, where it has moved: it is checked to be the one trained on."""
    json: Flag = False
    """Print one JSON object instead of text."""

    def __post_init__(self) -> None:
        if self.upload and self.repo is None:
            raise UsageError("--upload needs --repo USER/NAME")
        if self.private and not self.upload:
            raise UsageError("--private needs --upload")


def publish(words: list[str]) -> None:
    """Run `unweave publish`."""
    options = parse(Publish, words, "publish")
    from unweave.publishing import publish as write
    from unweave.publishing import upload
    from unweave.publishing.files import published_files
    from unweave.publishing.scores import has_current_scores
    from unweave.runs import Run

    run = Run.open(options.run, data=options.data)
    with Bar("writing the folder"), writing(options.out):
        folder = write(run, options.out, repo=options.repo, license=options.license)
    address = None
    if options.upload and options.repo:
        with Bar(f"uploading {folder}"):
            address = upload(folder, options.repo, private=options.private)
    scored, files = has_current_scores(run, folder), published_files(folder)
    if options.json:
        return print(to_json({"folder": str(folder), "files": files, "scored": scored, "address": address}))
    print(f"{folder}: {', '.join(files)}", *([f"uploaded to {address}"] if address else []), sep="\n")
    if not scored:
        print("The card has no scores: these weights have not been scored. Score the run, then publish it again.")
    print(f"\nnext: unweave evaluate {run_words(folder if scored else options.run, options.data)}")
