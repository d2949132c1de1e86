"""`unweave report` on the command line: what it says of a model that carries nothing."""

from __future__ import annotations

from pathlib import Path

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
    assert warning.startswith("This model has collapsed: no latent carries anything")
    assert (blank, following) == ("", f"next: open {page} in a browser")
