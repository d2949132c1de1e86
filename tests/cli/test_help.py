from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from unweave.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_the_overview_names_every_command_and_the_first_steps(cli, words):
    code, out, err = cli(*words)
    assert (code, err) == (0, "")
    for name, command in COMMANDS.items():
        assert f"  {name} " in out
        assert command.summary in out
    assert COMMANDS["train"].example in out


def test_version(cli):
    assert cli("--version") == (0, f"unweave {version('unweave')}\n", "")


@pytest.mark.parametrize("words", [("data",), ("data", "--help"), ("data", "-h")])
def test_a_group_lists_its_own_commands_only(cli, words):
    code, out, err = cli(*words)
    assert (code, err) == (0, "")
    assert "data show" in out
    assert "evaluate" not in out


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_help_with_an_example(cli, name, flag):
    code, out, err = cli(*name.split(), flag)
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: unweave {name}")
    assert COMMANDS[name].example in out


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_train_without_a_method_lists_the_methods(cli, words):
    from unweave.methods import METHODS

    _, out, _ = cli("train", *words)
    for name in METHODS:
        assert f"\n  {name} " in out


def test_help_stays_whole_beside_other_options(cli):
    assert cli("train", "beta-vae", "--bta", "3", "--help") == cli("train", "beta-vae", "--help")


def test_a_method_s_help_shows_its_fields_and_everyone_s(cli):
    _, out, _ = cli("train", "beta-vae", "--help")
    text = " ".join(out.replace("│", " ").split())
    for flag, help_text in {
        "--beta NUMBER|FROM:TO@STEPS": "Weight of the KL term; a number, or a schedule such as 1:4@10000.",
        "--loss {auto,bce,mse,mae,gaussian,learnt,mse-box,mse-gauss,mse-kernel,nb, poisson}": "Reconstruction loss",
        "--net {auto,additive,broadcast,conv,disent,dlib,mlp,qlae,tripod}": "Architecture: conv",
        "--latents INT": "Number of latents. (default: 10)",
        "--standardise": "Scale every channel to mean 0",
        "--checkpoint-every INT": "Steps between two checkpoints.",
        "--device {auto,cpu,cuda,mps}": "Where to train",
        "--track {tensorboard,wandb}": "Also send the log to one of these trackers",
        "--label-kind {perfect,binned,noisy,partial,permuted}": "Quality of the labels",
    }.items():
        assert f"{flag} {help_text}" in text
    assert "--name" not in out
    assert "--no-standardise" not in out
    assert "--beta" not in cli("train", "vae", "--help").out


@pytest.mark.parametrize("words", [["--help"], ["data", "list"]])
def test_light_commands_import_nothing_heavy(words):
    program = (
        f"import sys; from unweave.cli import main; main({words!r}); "
        "print(sorted({'torch', 'polars', 'matplotlib', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_page_of_the_command_line_shows_every_example():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name, command in COMMANDS.items():
        assert f"## unweave {name}\n" in page
        assert f"{command.example}\n" in page
