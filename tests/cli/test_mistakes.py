from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = ("train", "beta-vae", "--data", "xysquares:size=32")

MISTAKES = {
    # a misspelt name: the nearest one
    ("trian",): "no command is called 'trian'; did you mean 'train'? "
    "(known: train, evaluate, compare, report, publish, explore, study, select, data, metrics, encode, perceive, "
    "learn-loss, sparsify, task, gaussian, geomancer, reproduce, completion)",
    ("data", "lst"): "no command is called 'data lst'; did you mean 'data list'? "
    "(known: data list, data info, data show, data fetch, data export)",
    ("train", "bta-vae"): "no method is called 'bta-vae'; did you mean 'beta-vae'?",
    ("data", "info", "shape2d"): "no data set is called 'shape2d'; did you mean 'shapes2d'?",
    ("data", "info", "xysquares:spacng=1"): "no option of xysquares is called 'spacng'; did you mean 'spacing'?",
    (*TRAIN, "--loss", "bec"): "no reconstruction loss is called 'bec'; did you mean 'bce'?",
    (*TRAIN, "--net", "cnv"): "no net is called 'cnv'; did you mean 'conv'?",
    # a name that no other one is near: no suggestion
    ("gaussian", "9-in"): "no scenario is called '9-in' (known: ",
    # an option that is not there
    (*TRAIN, "--bta", "4"): "unknown option --bta for 'train beta-vae'; did you mean --beta?",
    ("train", "beta-vae", "--dta", "shapes2d"): "unknown option --dta for 'train beta-vae'; did you mean --data?",
    (*TRAIN, "--nt=mlp"): "unknown option --nt for 'train beta-vae'; did you mean --net?",
    (*TRAIN, "--lr", "x", "--bta", "4"): "unknown option --bta for 'train beta-vae'; did you mean --beta?",
    ("train", "vae", "--beta", "4"): "unknown option --beta for 'train vae'; see: unweave train vae --help",
    (*TRAIN, "-beta", "4"): "unknown option -beta for 'train beta-vae'; did you mean --beta?",
    ("data", "list", "--jsn"): "unknown option --jsn for 'data list'; did you mean --json?",
    ("--verbose", "train"): "a command comes first, not '--verbose'; see: unweave --help",
    # something missing, or too much
    ("data", "info"): "missing: NAME; for example: unweave data info shapes2d",
    ("report",): "missing: RUN; for example: unweave report runs/first",
    ("train", "beta-vae"): "missing: --data NAME; for example: unweave train beta-vae --data shapes2d",
    ("train", "beta-vae", "--data"): "--data needs a value; for example: unweave train beta-vae --data shapes2d",
    ("train", "beta-vae", "shapes2d"): "missing: --data NAME; for example: unweave train beta-vae --data shapes2d",
    ("train", "--data", "shapes2d"): "the method comes first, not '--data'; for example: unweave train beta-vae",
    ("evaluate",): "name a run, or give --codes and --factors; for example: unweave evaluate runs/first",
    ("data", "list", "now"): "'unweave data list' takes no words besides its options: leave out 'now'; for example: ",
    ("report", "a", "b", "c"): "'unweave report' takes RUN and no more words: leave out 'b', 'c'; for example: ",
    ("evaluate", "a", "b", "c"): "score one run at a time; to compare several: unweave compare a b c",
    ("data", "list", "--json=yes"): "--json takes no value, but 'yes' was given",
    (*TRAIN, "--out", "--lr", "1"): "--out needs a value; for example: unweave train beta-vae --data shapes2d",
    ("gaussian", "--gamma", "1", "x"): "--gamma: 'x' is not a number",
    ("train", "beta-vae", "--beta", "2", "--labels", "a"): "missing: --data NAME; for example: ",
    # a value that is none
    (*TRAIN, "--beta", "x"): "--beta: 'x' is neither a number nor a schedule such as 1:4@10000, 1:4@50% or ",
    (*TRAIN, "--steps", "1.5"): "--steps: '1.5' is not a whole number",
    (*TRAIN, "--threads", "two"): "--threads: 'two' is not a whole number",
    (*TRAIN, "--beta", "-1"): "beta must be a number that is not negative, not -1.0",
    (*TRAIN, "--steps", "0"): "steps and batch must be at least 1, not 0 and 64",
    (*TRAIN, "--device", "abacus"): "the device 'abacus' is not available; use auto, cpu, cuda or mps",
    (*TRAIN, "--device", "meta"): "the device 'meta' is not available; use auto, cpu, cuda or mps",
    ("data", "show", "xysquares", "--out", "grid.jpg"): "the picture is a PNG: write --out grid.png, not 'grid.jpg'",
    ("data", "show", "xysquares", "--seed", "-1"): "--seed must be 0 or more, not -1",
    # an option given twice; without steps, so that it never comes to a training
    (*TRAIN, "--steps", "0", "--seed", "1", "--seed=2"): "--seed is given twice",
    (*TRAIN, "--steps", "0", "--log-every", "1", "--log_every", "2"): "--log-every is given twice",
    (*TRAIN, "--steps", "0", "--data", "shapes2d"): "--data is given twice",
    (*TRAIN, "--sed", "1", "--sed", "2"): "unknown option --sed for 'train beta-vae'; did you mean --seed?",
    (*TRAIN, "--steps", "1", "--track", "nothing", "--track", "wandb"): "no tracker is called 'nothing'",
    ("data", "list", "--json", "--json"): "--json is given twice",
    # no such place
    ("evaluate", "nowhere"): "there is no folder 'nowhere'",
    ("report", "nowhere"): "there is no folder 'nowhere'",
    ("evaluate", "."): "'.' is not a run: it has no config.json",
    (*TRAIN, "--resume", "--out", "nothing"): "there is nothing to resume in 'nothing'",
    (*TRAIN, "--out", "a-file"): "'a-file' is a file; a run needs a folder",
    (*TRAIN, "--out", "a-file/run"): "cannot use 'a-file/run': Not a directory",
    ("data", "show", "xysquares", "--out", "a-file/grid.png"): "cannot use 'a-file': File exists",
}


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_a_mistake_gets_one_clear_line(cli, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a-file").touch()
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: {MISTAKES[words]}")
    assert err.count("\n") == 1
    assert os.listdir() == ["a-file"]  # and nothing is left behind


@pytest.mark.parametrize("greed", [("--latents", "10000000000000"), ("--batch", "1000000000000")])
def test_too_little_memory_is_one_line(cli, tmp_path, greed):
    code, out, err = cli(*TRAIN, "--net", "mlp", *greed, "--out", tmp_path / "run")
    assert (code, out) == (2, "")
    assert err == "unweave: there is not enough memory for this; try a smaller batch, net or data set\n"


def test_a_mistake_in_a_process_of_its_own_has_no_traceback(tmp_path):
    command = [sys.executable, "-m", "unweave", "data", "info", "shape2d"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("unweave: no data set is called 'shape2d'; did you mean 'shapes2d'?")
    assert done.stderr.count("\n") == 1


def test_a_bug_is_not_hidden(monkeypatch):
    from unweave.cli import main, metrics

    def broken(words: list[str]) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(metrics, "list_all", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["metrics", "list"])


@pytest.mark.parametrize("words", [["data", "list"], ["data", "list", "--help"], []])
def test_a_reader_that_leaves_early_is_no_mistake(words):
    process = subprocess.Popen(
        [sys.executable, "-m", "unweave", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == ""
    assert process.wait() == 0


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(("words", "code"), [("metrics list", 0), ("metrics list --help", 0), ("trian", 2)])
def test_closed_output_is_no_mistake(words, code):
    for closed, tells in ((">&-", code != 0), (">&- 2>&-", False)):
        command = f"{shlex.quote(sys.executable)} -m unweave {words} {closed}"
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (code, "")
        assert done.stderr.startswith("unweave: no command is called") if tells else done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_that_finds_no_room_is_one_line():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "unweave", "data", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "unweave: cannot write the output: No space left on device\n")
