"""`unweave report` on the command line: what it says of a model that carries nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.torch import save_file

import unweave


def test_a_collapsed_model_is_called_so(cli, tmp_path: Path):
    options = {"net": "mlp", "width": 0.05, "latents": 3, "device": "cpu", "threads": 1}
    run = unweave.train("vae", data="xysquares:size=32", out=tmp_path / "run", steps=1, batch=4, **options)
    path = run.path / "weights.safetensors"
    with safe_open(path, framework="pt") as file:
        tensors, metadata = {name: 0 * file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    tensors["pixel_deviation"] += 1
    save_file(tensors, path, metadata)
    page, warning, blank, following = cli("report", run.path).out.splitlines()
    assert page == str(run.path / "report.html")
    assert warning.startswith("This model has collapsed: no latent carries information")
    assert (blank, following) == ("", f"next: open {page} in a browser")


def test_weights_that_are_no_numbers_are_one_line(cli, run, tmp_path):
    folder = Path(shutil.copytree(run, tmp_path / "copy"))
    path = folder / "weights.safetensors"
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) * float("nan") for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata()
    save_file(tensors, path, metadata)
    for command in ("report", "evaluate"):
        code, out, err = cli(command, folder)
        assert (code, out) == (2, "")
        assert err == f"unweave: '{path}' contains weights that are not finite; train again with a smaller lr\n"


def test_own_data_are_called_by_the_name_of_their_file(cli, tiny, tmp_path):
    rng = np.random.default_rng(0)
    images, factors = rng.integers(0, 256, size=(20, 32, 32, 1), dtype=np.uint8), rng.integers(0, 3, size=(20, 2))
    np.savez(tmp_path / "faces.npz", images=images, factors=factors)
    words = ("--data", tmp_path / "faces.npz", *tiny[2:], "--steps", "1", "--out", tmp_path / "run")
    assert f"{tmp_path / 'run'} has finished: vae on faces.npz, 1 steps" in cli("train", "vae", *words).out
    assert cli("report", tmp_path / "run").code == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert "<h1>vae <small>on</small> faces.npz</h1>" in page
    assert "<dt>data path</dt>" in page
    assert "<dt>data digest</dt>" not in page
    assert "<dt>data size</dt>" not in page
