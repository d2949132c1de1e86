from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from PIL import Image

from unweave.cli.perceive import LOSSES
from unweave.losses import Loss, loss_of

QUICK = ("--pairs", "400", "--traversals", "2")


def size_of(picture: Path) -> tuple[int, int]:
    with Image.open(picture) as found:
        return found.size


def test_the_table_and_the_sentence(cli):
    code, out, err = cli("perceive", "xysquares:size=32", *QUICK)
    assert (code, err) == (0, "")
    blocks = out.rstrip().split("\n\n")
    assert blocks[0] == "xysquares:size=32, loss mse: 400 pairs per factor"
    head, *rows = (line.split() for line in blocks[1].splitlines())
    assert head == ["factor", "values", "mean", "std", "relative", "linear", "rank", "order", "signal", "verdict"]
    assert rows[0][:4] == ["x_R", "8", "0.0104", "0.0000"]
    assert rows[0][-3:] == ["0.50", "0.0", "confused"]
    assert rows[-1][0] == "random"
    assert float(rows[-1][1]) == pytest.approx(0.0308, abs=2e-4)
    assert blocks[-2].startswith("No: on xysquares, the loss mse confuses all 6 factors")
    assert blocks[-1] == "next: unweave perceive xysquares:size=32 --out perception"


def test_figures_and_the_table_as_a_file(cli, tmp_path):
    out = tmp_path / "new" / "folder"
    code, text, err = cli("perceive", "xysquares:size=32", "--loss", "mse-box:radius=9", *QUICK, "--out", out)
    assert (code, err) == (0, "")
    assert {file.name for file in out.iterdir()} == {"distances.png", "cumulative.png", "factors.png", "perception.csv"}
    assert f"wrote {out / 'distances.png'}" in text
    for file in out.glob("*.png"):
        assert min(size_of(file)) > 100
    assert polars.read_csv(out / "perception.csv")["factor"].to_list()[-1] == "random"
    assert text.splitlines()[-1].startswith(
        "next: unweave train beta-vae --data xysquares:size=32 --loss mse-box:radius="
    )


def test_a_run_adds_its_codes_and_reconstructions(cli, run, tmp_path):
    plain = cli("perceive", "xysquares:size=32", "--loss", "bce", *QUICK, "--out", tmp_path / "plain")
    with_run = cli("perceive", "xysquares:size=32", "--run", run, *QUICK, "--out", tmp_path / "run")
    assert (plain.code, with_run.code, with_run.err) == (0, 0, "")
    assert "loss bce" in with_run.out  # that of the run
    heights = [size_of(tmp_path / name / "distances.png")[1] for name in ("plain", "run")]
    assert heights[1] > 2 * heights[0]
    code, out, err = cli("perceive", "xysquares", "--run", run)
    assert (code, out) == (2, "")
    assert "the run was trained on xysquares" in err


def test_perception_for_machines(cli):
    code, out, err = cli("perceive", "xyobject:size=32", *QUICK, "--json")
    assert (code, err) == (0, "")
    seen = json.loads(out)
    assert seen["data"]["name"] == "xyobject"
    assert [row["factor"] for row in seen["factors"]][-1] == "random"
    assert set(seen) == {"data", "loss", "sentence", "notes", "losses", "learnable", "factors", "files"}
    assert seen["losses"]["mse"] > 0


@pytest.fixture
def own(tmp_path):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, size=(30, 16, 16, 3), dtype=np.uint8)
    factors = np.stack([np.arange(30) % 3, rng.integers(0, 5, 30)], axis=1)
    np.savez(tmp_path / "own.npz", images=images, factors=factors)
    np.savez(tmp_path / "bare.npz", images=images)
    np.savez(tmp_path / "one.npz", images=images[:1])
    np.savez(tmp_path / "same.npz", images=np.repeat(images[:1], 6, axis=0), factors=np.arange(6)[:, None])
    np.savez(tmp_path / "vectors.npz", x=rng.normal(size=(40, 4)), factors=(np.arange(40) % 4)[:, None])
    folder = tmp_path / "pictures"
    folder.mkdir()
    lines = ["file,size"]
    for number in range(12):
        Image.fromarray(np.full((16, 16), 20 * number, dtype=np.uint8)).save(folder / f"{number}.png")
        lines.append(f"{number}.png,{number % 6}")
    (folder / "factors.csv").write_text("\n".join(lines))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("own.npz", "'own.npz' has fewer than 100 pairs that differ only in"),
        ("bare.npz", "Unknown: bare.npz has no factors that distances could follow."),
        (
            "bare.npz",
            "'bare.npz' has no factors: only the distances of random pairs are measured; provide a table of factors",
        ),
        ("same.npz", "No: on same.npz, the loss mse overlooks"),
        ("vectors.npz", "mean rank correlation"),
        ("pictures", "pictures, loss mse"),
    ],
)
def test_own_images_get_what_can_be_had(cli, own, name, line):
    code, out, err = cli("perceive", own / name, *QUICK, "--out", own / "out")
    assert (code, err) == (0, "")
    assert line in out
    assert "nan" not in out
    assert (own / "out" / "cumulative.png").is_file()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["xysquare"], "no data set is called 'xysquare'; did you mean 'xysquares'?"),
        (["xysquares", "--loss", "msebox"], "no reconstruction loss is called 'msebox'; did you mean 'mse-box'?"),
        (["xysquares", "--pairs", "1"], "--pairs must be 2 or more, not 1"),
        (["xysquares", "--seed", "-1"], "--seed must be 0 or more, not -1"),
        (["xysquares", "--traversals", "0"], "--traversals must be 1 or more, not 0"),
        (["xysquares", "--run", "nowhere"], "there is no folder 'nowhere'"),
        (["OWN/one.npz"], "distances need at least two images, but 'npz' has 1"),
        (["OWN/vectors.npz", "--loss", "mse-box"], "is for images, but 'vectors' holds vectors"),
        (["OWN/own.npz", "--out", "OWN/own.npz"], "--out must be a folder"),
        (["xysquares", "--loss", "OWN/k.npy"], "for your own kernel write mse-kernel:path="),
        (
            ["xysquares", "--loss", "OWN/own.npz"],
            "is not a loss: files written by unweave learn-loss end in .loss",
        ),
        (["OWN/nothing.npz"], "there is no file or folder"),
    ],
)
def test_mistakes_get_one_line(cli, own, words, line):
    code, out, err = cli("perceive", *(word.replace("OWN", str(own)) for word in words))
    assert (code, out) == (2, "")
    assert line in err
    assert err.count("\n") == 1


def test_the_losses_that_completion_offers_are_there():
    for name in LOSSES:
        assert isinstance(loss_of(f"{name}:path=kernel.npy" if name == "mse-kernel" else name), Loss)
