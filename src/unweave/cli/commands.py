"""The table of commands, the help that lists them, and finding the command for the words given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version

import unweave
from unweave.cli.plugins import load_plugins
from unweave.errors import UsageError, unknown
from unweave.text import facts


@dataclass(frozen=True)
class Command:
    """A command: where its function is, and what the list of commands says about it."""

    function: str
    """Module and function, imported when the command is called."""
    summary: str
    example: str
    options: str = ""
    """Module and dataclass of its options, for completion; those of `train` depend on the method."""
    plugins: bool = False
    """Whether it takes --plugin."""


COMMANDS = {
    "train": Command(
        "unweave.cli.train:train",
        "train a method on a data set",
        "unweave train beta-vae --beta 4 --data shapes2d --steps 20000 --seed 0 --out runs/first",
        plugins=True,
    ),
    "evaluate": Command(
        "unweave.cli.evaluate:evaluate",
        "score a run, or your own codes and factors",
        "unweave evaluate runs/first",
        "unweave.cli.evaluate:Evaluate",
        plugins=True,
    ),
    "compare": Command(
        "unweave.cli.compare:compare",
        "compare runs, or your own codes, on the same samples: differences and their intervals",
        "unweave compare runs/first runs/second --out compare.html",
        "unweave.cli.compare:Compare",
        plugins=True,
    ),
    "report": Command(
        "unweave.cli.report:report",
        "draw the page of a run: scores, reconstructions, traversals, curves",
        "unweave report runs/first",
        "unweave.cli.report:Report",
        plugins=True,
    ),
    "publish": Command(
        "unweave.cli.publish:publish",
        "write a run as a folder for the Hugging Face hub: weights, model card, scores, traversals",
        "unweave publish runs/first --out published/first",
        "unweave.cli.publish:Publish",
        plugins=True,
    ),
    "explore": Command(
        "unweave.cli.explore:explore",
        "open a page in the browser with runs, studies and codes: move latents, compare, sort and filter",
        "unweave explore runs --open",
        "unweave.cli.explore:Explore",
        plugins=True,
    ),
    "study run": Command(
        "unweave.cli.study:run",
        "train and score many models from a TOML file; the same command continues an interrupted study",
        "unweave study run sweep.toml --out studies/sweep --workers 2",
        "unweave.cli.study:Run",
        plugins=True,
    ),
    "study status": Command(
        "unweave.cli.study:status",
        "show which runs of a study are done, running, failed or to do",
        "unweave study status studies/sweep",
        "unweave.cli.study:Show",
        plugins=True,
    ),
    "study report": Command(
        "unweave.cli.study:report",
        "draw the page of a study: plots, means over seeds, which cells differ, runs",
        "unweave study report studies/sweep",
        "unweave.cli.study:Draw",
        plugins=True,
    ),
    "study table": Command(
        "unweave.cli.study:table",
        "write all scores of a study as one table",
        "unweave study table studies/sweep --out scores.csv",
        "unweave.cli.study:Write",
    ),
    "study noise": Command(
        "unweave.cli.study_noise:noise",
        "score the runs of a study under label noise: do supervised scores survive wrong labels?",
        "unweave study noise studies/sweep --metrics beta-vae-score factor-vae-score mig",
        "unweave.cli.study_noise:Noise",
        plugins=True,
    ),
    "select": Command(
        "unweave.cli.select:select",
        "rank the models below a folder without labels; say which to keep and how certain that is",
        "unweave select studies/sweep --score udr-lasso --out selection.html",
        "unweave.cli.select:Select",
        plugins=True,
    ),
    "data list": Command(
        "unweave.cli.data:list_all",
        "list the data sets",
        "unweave data list",
        "unweave.cli.data:List",
        plugins=True,
    ),
    "data info": Command(
        "unweave.cli.data:info",
        "show the factors, the size and the statistics of a data set",
        "unweave data info shapes2d",
        "unweave.cli.data:Info",
        plugins=True,
    ),
    "data show": Command(
        "unweave.cli.data:show",
        "draw a data set as a picture",
        "unweave data show shapes2d --out grid.png",
        "unweave.cli.data:Show",
        plugins=True,
    ),
    "data fetch": Command(
        "unweave.cli.data_fetch:fetch",
        "fetch the files of a published data set",
        "unweave data fetch dsprites",
        "unweave.cli.data_fetch:Fetch",
    ),
    "data export": Command(
        "unweave.cli.data_export:export",
        "write a data set as Parquet files",
        "unweave data export shapes2d --out exported",
        "unweave.cli.data_export:Export",
        plugins=True,
    ),
    "metrics list": Command(
        "unweave.cli.metrics:list_all",
        "list the metrics",
        "unweave metrics list",
        "unweave.cli.metrics:List",
        plugins=True,
    ),
    "metrics info": Command(
        "unweave.cli.metrics:info",
        "show what a metric measures and needs, and its options",
        "unweave metrics info dci",
        "unweave.cli.metrics:Info",
        plugins=True,
    ),
    "encode": Command(
        "unweave.cli.encode:encode",
        "encode the images of a data set with a pretrained encoder or your own",
        "unweave encode efficientnet-lite0 --data rooms3d --samples 1000 --out codes.npz",
        "unweave.cli.encode:Encode",
        plugins=True,
    ),
    "perceive": Command(
        "unweave.cli.perceive:perceive",
        "measure what a loss sees of each factor: can a VAE disentangle this data?",
        "unweave perceive xysquares --loss mse --out perception",
        "unweave.cli.perceive:Perceive",
        plugins=True,
    ),
    "learn-loss": Command(
        "unweave.cli.learn_loss:learn",
        "learn a reconstruction loss whose distances follow the factors",
        "unweave learn-loss xysquares --radius 31 --out xy8.loss",
        "unweave.cli.learn_loss:LearnLoss",
        plugins=True,
    ),
    "sparsify": Command(
        "unweave.cli.sparsify:sparsify",
        "fit a sparse autoencoder to codes, and write the sparse codes",
        "unweave sparsify codes.npz --features 256 --k 8 --out sae",
        "unweave.cli.sparsify:Sparsify",
    ),
    "task clustering": Command(
        "unweave.cli.task:clustering",
        "measure how fast a reward predictor learns on the codes of runs on scenes2d",
        "unweave task clustering runs/scenes --by colour",
        "unweave.cli.task:Clustering",
        plugins=True,
    ),
    "gaussian": Command(
        "unweave.cli.gaussian:gaussian",
        "solve the linear-Gaussian VAE exactly on a grid, and score it",
        "unweave gaussian 3-in-2 --repeats 40 --out gaussian.png",
        "unweave.cli.gaussian:Gaussian",
    ),
    "geomancer": Command(
        "unweave.cli.geomancer:geomancer",
        "find the factors of a data manifold from its holonomy",
        "unweave geomancer points.npy --dim 4 --out factors.npz",
        "unweave.cli.geomancer:Geomancer",
    ),
    "reproduce": Command(
        "unweave.cli.reproduce:run",
        "reproduce a published result",
        "unweave reproduce impossibility --preset smoke",
        "unweave.cli.reproduce:Reproduce",
    ),
    "reproduce list": Command(
        "unweave.cli.reproduce:list_all",
        "list the published results",
        "unweave reproduce list",
        "unweave.cli.reproduce:List",
    ),
    "completion": Command(
        "unweave.cli.completion:completion",
        "print a completion script for bash, zsh or fish",
        "unweave completion bash",
        "unweave.cli.completion:Completion",
    ),
}
"""To add a command: a line here, and its function, which takes the words after the command's name."""


HELP = (["-h"], ["--help"], ["help"])
OVERVIEW = """{about}

usage: unweave COMMAND [OPTIONS]

commands:
  {commands}

{title}:
  {examples}

unweave COMMAND --help explains a command."""


def run_command(words: list[str]) -> None:
    """Find the command that the words begin with, and run it on the rest."""
    for length in (2, 1):
        if (name := " ".join(words[:length])) in COMMANDS:
            rest = words[length:]
            return _function(name)(load_plugins(rest) if COMMANDS[name].plugins else rest)
    if words == ["--version"]:
        return print("unweave", version("unweave"))
    if not words or words[:1] in HELP:
        return print(_overview(list(COMMANDS), ["train", "evaluate", "report"]))
    return _group(words[0], words[1:])


def _group(first: str, rest: list[str]) -> None:
    """Show the commands of a group, such as `unweave data`, or raise an error about the words."""
    if first.startswith("-"):
        raise UsageError(f"a command comes first, not '{first}'; see: unweave --help")
    members = [name for name in COMMANDS if name.startswith(f"{first} ")]
    if not members:
        raise unknown("command", first, dict.fromkeys(name.split()[0] for name in COMMANDS))
    if rest and rest[:1] not in HELP:
        raise unknown("command", f"{first} {rest[0]}", members)
    print(_overview(members, members))


def _overview(names: list[str], examples: list[str]) -> str:
    """Return the help that lists these commands with these examples."""
    listed = facts({name: COMMANDS[name].summary for name in names})
    shown = [COMMANDS[name].example for name in examples]
    return OVERVIEW.format(
        about=unweave.__doc__,
        commands=listed.replace("\n", "\n  "),
        title="example" if len(shown) == 1 else "examples",
        examples="\n  ".join(shown),
    )


def _function(name: str) -> Callable[[list[str]], None]:
    module, function = COMMANDS[name].function.split(":")
    return getattr(import_module(module), function)
