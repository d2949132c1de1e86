"""The Tab key: scripts that a shell reads, and what they offer."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from unweave.cli import main
from unweave.cli.commands import COMMANDS
from unweave.cli.completion import following
from unweave.cli.completion_scripts import SCRIPTS
from unweave.methods import METHODS

PRESS_TAB = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_unweave; echo "${COMPREPLY[@]}"
"""
"""Calls the function as bash does when Tab is pressed after the last word."""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory):
    """Return the scripts of all shells, as files."""
    folder, table = tmp_path_factory.mktemp("scripts"), following()
    for shell, script in SCRIPTS.items():
        (folder / shell).write_text(script(table))
    return folder


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_is_one_that_the_shell_can_read(scripts, shell):
    checked = [shell for shell in SCRIPTS if shutil.which(shell)]
    assert "bash" in checked
    if shell in checked:  # zsh and fish are not on every machine
        subprocess.run([shell, "-n", scripts / shell], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["tr"], "train"),
        (["train", "be"], "beta-vae beta-tcvae beta-tvae"),
        (["data", ""], "list info show fetch export"),
        (["data", "info", "mpi3d-r"], "mpi3d-realistic mpi3d-real"),
        (["train", "beta-vae", "--be"], "--beta"),
        (["train", "vae", "--be"], ""),
        (["train", "beta-vae", "--data", "xyo"], "xyobject xyobject-shaded"),
        (["train", "beta-vae", "--data", "xysquares", "--net", "d"], "disent dlib"),
        (["train", "qlae", "--preset", ""], "qlae"),
        (["train", "ada-gvae", "--rule", ""], "exact redrawn dlib laplace"),
        (["train", "beta-vae", "--track", "tensorboard", "w"], "wandb"),
        (["evaluate", "run", "--metrics", "mig", "dci-l"], "dci-lasso dci-logistic"),
        (["evaluate", "run", "--seed", "1", "--no-"], "--no-intervals --no-floors"),
        (["evaluate", "ru"], "runs"),
        (["train", "beta-vae", "--seed", ""], ""),
        (["reproduce", "g"], "guardians geomancer"),
        (["completion", ""], "bash zsh fish"),
    ],
    ids=str,
)
def test_bash_offers_what_may_follow(scripts, tmp_path, words, offered):
    (tmp_path / "runs").mkdir()
    command = ["bash", "-c", PRESS_TAB, "bash", scripts / "bash", "unweave", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (done.stdout.strip(), done.stderr) == (offered, "")


def test_completing_starts_no_python(scripts, tmp_path):
    """So that it is quick: it works where nothing is installed."""
    command = [shutil.which("bash"), "-c", PRESS_TAB, "bash", scripts / "bash", "unweave", "train", "beta-v"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PATH": str(tmp_path)})
    assert done.stdout.strip() == "beta-vae"


def test_the_table_knows_every_command_and_every_method():
    table = following()
    for name, command in COMMANDS.items():
        assert name in table or f"{name} =" in table
        assert command.options or name == "train"
    for name in METHODS:
        assert "--data" in table[f"train {name}"].split()


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_command_prints_the_script(cli, scripts, shell):
    assert cli("completion", shell) == (0, (scripts / shell).read_text() + "\n", "")


def test_another_shell_is_one_line(capsys):
    with pytest.raises(SystemExit):
        main(["completion", "bsah"])
    assert (
        capsys.readouterr().err == "unweave: no shell is called 'bsah'; did you mean 'bash'? (known: bash, zsh, fish)\n"
    )
