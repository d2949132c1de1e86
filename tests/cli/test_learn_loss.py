"""`unweave learn-loss`: what it prints and writes, and what it refuses before any time is spent."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unweave.losses import full_name
from unweave.losses.loss_file import parse_loss_file

QUICK = ("--steps", "3", "--batch", "32", "--pairs", "64")
LEARN = ("learn-loss", "xysquares:size=32")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """Work in an empty folder, and measure in the end on a few pairs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("unweave.perception.agreement.PAIRS", 512)


def test_a_loss_is_learnt_drawn_and_trained_with(cli, tiny):
    code, out, err = cli(*LEARN, "--radius", "7", *QUICK, "--out", "my.loss", "--picture", "my.png")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("wrote my.loss and my.png: a kernel of radius 7, which adds up to ")
    rows = [line.split() for line in lines if line.startswith(("mse", "my.loss"))]
    assert [row[0] for row in rows] == ["mse", "mse-box:radius=15", "my.loss"]
    assert all(len(row) == 5 and all(0 < float(cell) <= 1 for cell in row[1:]) for row in rows)
    assert lines[-1] == "next: unweave train beta-vae --data xysquares:size=32 --loss my.loss"
    with Image.open("my.png") as picture:
        assert picture.format == "PNG"
        assert np.asarray(picture.convert("L")).std() > 10
    words = lines[-1].removeprefix("next: unweave ").split()
    assert cli(*words, *tiny[2:], "--steps", "2", "--out", "run").code == 0
    assert json.loads(Path("run/config.json").read_text())["method"]["loss"] == full_name("my.loss")


def test_a_loss_for_machines(cli):
    code, out, err = cli(*LEARN, "--kind", "autoencoder", "--seed", "3", *QUICK, "--out", "my.loss", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["out"], found["picture"], found["kind"], found["radius"]) == ("my.loss", None, "autoencoder", None)
    assert found["settings"]["seed"] == 3
    assert list(found["correlations"]) == ["mse", "mse-box:radius=15", "learnt"]
    assert set(found["correlations"]["learnt"]) == {"factor", "random", *(f"{a}_{c}" for c in "RGB" for a in "xy")}
    file = parse_loss_file("my.loss", Path("my.loss").read_bytes())
    assert file.record["settings"] == found["settings"]
    assert file.record["correlations"]["random"] == found["correlations"]["learnt"]["random"]


def test_an_adversarial_loss_says_so_in_its_file(cli):
    assert cli(*LEARN, "--adversarial", "--no-scaled", *QUICK, "--out", "my.loss").code == 0
    settings = parse_loss_file("my.loss", Path("my.loss").read_bytes()).record["settings"]
    assert (settings["adversarial"], settings["scaled"]) == (True, False)


def test_an_interrupt_leaves_nothing_and_says_so(cli, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("unweave.perception.learning.soft_spearman", interrupted)
    assert cli(*LEARN, *QUICK, "--out", "my.loss") == (130, "", "unweave: interrupted; nothing was written\n")
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("learn-loss", "--out", "my.loss"), "missing: DATA; for example: unweave learn-loss xysquares"),
        (LEARN, "missing: --out FILE; for example"),
        ((*LEARN, "--out", "my.npy"), "the file of a loss must end in .loss: 'my.loss', not 'my.npy'"),
        ((*LEARN, "--out", "none/my.loss"), "there is no folder 'none' to write 'my.loss' into"),
        ((*LEARN, "--out", "my.loss", "--radius", "40"), "pixels of 32 × 32 images are at most 31 apart"),
        ((*LEARN, "--out", "my.loss", "--radius", "x"), "--radius: 'x' is not a whole number"),
        ((*LEARN, "--out", "my.loss", "--steps", "0"), "steps must be a whole number from 1 up, got 0"),
        ((*LEARN, "--out", "my.loss", "--lr", "-1"), "lr must be a positive number, not -1.0"),
        ((*LEARN, "--out", "my.loss", "--kind", "krnel"), "did you mean 'kernel'?"),
        ((*LEARN, "--out", "my.loss", "--picture", "my.jpg"), "the picture is a PNG: write --picture my.png"),
        ((*LEARN, "--out", "my.loss", "--picture", "none/my.png"), "cannot be written: there is no folder 'none'"),
        (
            (*LEARN, "--out", "my.loss", "--raduis", "3"),
            "unknown option --raduis for 'learn-loss'; did you mean --radius?",
        ),
        (("learn-loss", "xysquars", "--out", "my.loss"), "did you mean 'xysquares'?"),
        (("learn-loss", "plain.npz", "--out", "my.loss"), "learning a loss needs factors, but npz has none"),
    ],
    ids=str,
)
def test_mistakes_are_one_line_and_write_nothing(cli, words, message):
    np.savez("plain.npz", images=np.zeros((4, 8, 8, 1), np.uint8))
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert err.startswith("unweave: ")
    assert message in err
    assert err.count("\n") == 1
    assert os.listdir() == ["plain.npz"]


def test_training_with_a_file_that_is_no_loss_is_one_line(cli, tiny):
    Path("bad.loss").write_text("no loss")
    code, out, err = cli("train", "beta-vae", *tiny, "--loss", "bad.loss", "--steps", "2", "--out", "run")
    assert (code, out) == (2, "")
    assert err == "unweave: 'bad.loss' is not a loss file; learn one: unweave learn-loss DATA --out my.loss\n"
    assert os.listdir() == ["bad.loss"]
