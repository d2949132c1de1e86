"""Two modules of the user's as a net: tried, copied, trained, resumed and opened again."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import unweave
from unweave.errors import UsageError
from unweave.nets import Net
from unweave.runs import Run
from unweave.training.interrupt import Interrupted

SHAPE = (32, 32, 3)
PIXELS = 32 * 32 * 3
OPTIONS: dict[str, Any] = {"data": "xysquares:size=32", "latents": 3, "batch": 8, "steps": 6}


class Encoder(nn.Module):
    """Uses `view`, which takes no images that are channels last in memory, and dropout and batch normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 4, 4)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.is_contiguous()
        return nn.functional.dropout(self.norm(self.conv(x)), 0.1, self.training).view(len(x), -1)


def decoder(latents: int = 3) -> nn.Module:
    return nn.Sequential(nn.Linear(latents, PIXELS), nn.Unflatten(1, (3, 32, 32)))


def modules(seed: int = 0) -> tuple[nn.Module, nn.Module]:
    torch.manual_seed(seed)
    return Encoder(), decoder()


def test_two_modules_are_trained_in_a_copy_and_open_again(tmp_path):
    mine = modules()
    before = [value.clone() for module in mine for value in module.state_dict().values()]
    run = unweave.train("vae", net=mine, out=tmp_path / "run", **OPTIONS)
    after = [value for module in mine for value in module.state_dict().values()]
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    net = run.config["net"]
    assert (net["name"], net["latents"]) == ("own", 3)
    parameters = sum(value.numel() for module in mine for value in module.parameters())
    origin = {"name": "Encoder and Sequential", "parameters": parameters}
    assert {key: run.origins["net"][key] for key in origin} == origin
    images = run.data.images(np.arange(5))
    again = Run.open(tmp_path / "run", net=modules(seed=1))
    assert np.array_equal(again.encode(images), run.encode(images))
    assert again.decode(run.encode(images)).shape == images.shape


def test_without_the_modules_the_message_says_how(tmp_path):
    unweave.train("vae", net=modules(), out=tmp_path / "run", **OPTIONS)
    run = Run.open(tmp_path / "run")
    assert run.step == len(run.log()) * 6
    with pytest.raises(UsageError, match=r"open it with unweave\.Run\.open\('.*run', net=\(encoder, decoder\)\)"):
        _ = run.model
    other = Run.open(tmp_path / "run", net=(Encoder(), decoder(4)))
    with pytest.raises(UsageError, match="these modules differ from those of the run"):
        _ = other.model


def test_an_earlier_step_of_the_run_has_the_modules_too(tmp_path):
    run = unweave.train("vae", net=modules(), out=tmp_path / "run", snapshots=[4], **OPTIONS)
    images = run.data.images(np.arange(5))
    earlier = run.at(4)
    assert earlier.step == 4
    assert not np.array_equal(earlier.encode(images), run.encode(images))


def stop_after(step: int) -> Callable[[dict[str, float]], None]:
    def tell(row: dict[str, float]) -> None:
        if row["step"] == step:
            signal.raise_signal(signal.SIGINT)

    return tell


def test_a_run_of_two_modules_resumes_bit_for_bit(tmp_path):
    options = {**OPTIONS, "log_every": 1}
    unweave.train("vae", net=modules(), out=tmp_path / "whole", **options)
    torch.manual_seed(5)
    state = torch.get_rng_state()
    with pytest.raises(Interrupted):
        unweave.train("vae", net=modules(), out=tmp_path / "parts", on_result=stop_after(2), **options)
    torch.set_rng_state(state)
    unweave.train("vae", net=modules(), out=tmp_path / "parts", **options)
    whole, parts = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "parts"))
    assert whole == parts


def test_modules_that_start_elsewhere_are_another_run_unless_one_insists(tmp_path):
    options = {**OPTIONS, "log_every": 1}
    unweave.train("vae", net=modules(), out=tmp_path / "whole", **options)
    with pytest.raises(Interrupted):
        unweave.train("vae", net=modules(), out=tmp_path / "parts", on_result=stop_after(2), **options)
    with pytest.raises(UsageError, match="started from other weights; resume=True continues from its checkpoint"):
        unweave.train("vae", net=modules(seed=1), out=tmp_path / "parts", **options)
    unweave.train("vae", net=modules(seed=1), out=tmp_path / "parts", resume=True, **options)
    whole, parts = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "parts"))
    assert whole == parts


def test_training_leaves_torch_s_own_generator_as_it_was(tmp_path):
    mine = modules()
    before = torch.get_rng_state()
    unweave.train("vae", net=mine, out=tmp_path / "run", **OPTIONS)
    assert torch.equal(torch.get_rng_state(), before)


def test_shared_weights_stay_shared(tmp_path):
    layer = nn.Linear(PIXELS, 3, bias=False)

    class Transposed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, z: torch.Tensor) -> torch.Tensor:
            return (z @ self.layer.weight).unflatten(1, (3, 32, 32))

    run = unweave.train("vae", net=(nn.Sequential(nn.Flatten(), layer), Transposed()), out=tmp_path / "run", **OPTIONS)
    weights = run.model.state_dict()
    assert torch.equal(weights["encoder.1.weight"], weights["decoder.layer.weight"])
    assert not torch.equal(weights["encoder.1.weight"], layer.weight)


class Odd(nn.Module):
    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.weight, self.answer = nn.Parameter(torch.zeros(1)), answer

    def forward(self, x: torch.Tensor) -> Any:
        return self.answer(x)


GOOD = nn.Sequential(nn.Flatten(), nn.Linear(PIXELS, 5))


@pytest.mark.parametrize(
    ("net", "message"),
    [
        (("conv", "conv"), r"net must be two torch modules, \(encoder, decoder\), not \(str, str\)"),
        (GOOD, r"net must be two torch modules, \(encoder, decoder\), not Sequential"),
        ((nn.Flatten(), decoder()), "the encoder Flatten has no parameters"),
        ((GOOD, Odd(lambda z: z).double()), "the decoder's weight is torch.float64; a net is trained in float32"),
        ((nn.Conv2d(3, 4, 2, 2), decoder()), r"but gives \(2, 4, 16, 16\); put nn.Flatten\(\) at its end"),
        ((nn.Conv2d(1, 4, 2, 2), decoder()), r"the encoder fails on images \(2, 3, 32, 32\): .*1 channels"),
        ((GOOD, decoder(7)), r"the decoder fails on codes \(2, 3\): .*; `latents` sets the number of latents"),
        ((GOOD, nn.Linear(3, 9)), r"must map codes \(2, 3\) to images \(2, 3, 32, 32\), but gives \(2, 9\)"),
        ((Odd(lambda x: (x, x)), decoder()), r"the encoder must return a tensor of floats, not \(Tensor, Tensor\)"),
        (
            (Odd(lambda x: x.flatten(1).long()), decoder()),
            "the encoder must return a tensor of floats, not torch.int64",
        ),
        ((Odd(lambda x: x.flatten()[None]), decoder()), r"features \(2, F\), but gives \(1, 6144\)"),
    ],
)
def test_modules_that_do_not_fit_are_refused_before_anything_is_written(tmp_path, net, message):
    with pytest.raises(UsageError, match=message) as caught:
        unweave.train("vae", net=net, out=tmp_path / "run", **OPTIONS)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_options_that_say_nothing_are_refused(tmp_path):
    with pytest.raises(UsageError, match="width applies only to nets given by name"):
        unweave.train("vae", net=modules(), width=0.5, out=tmp_path / "run", **OPTIONS)
    with pytest.raises(UsageError, match="pass two modules of your own in Python"):
        Net("own")


def test_the_weights_of_a_registered_net_come_from_the_seed(tmp_path):
    @unweave.nets.register("seeded-net")
    def make(shape, latents, width, bias=True):
        return nn.Sequential(nn.Flatten(), nn.Linear(PIXELS, 5, bias)), decoder(latents)

    net = Net("seeded-net", 3)
    assert net.name == "seeded-net:bias=true"
    first, same, other = (net.build(SHAPE, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1))
    weights = [model.state_dict()["encoder.1.weight"] for model in (first, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    run = unweave.train("vae", net="seeded-net:bias=false", out=tmp_path / "run", **OPTIONS)
    assert run.config["net"]["name"] == "seeded-net:bias=false"
    assert Run.open(tmp_path / "run").model.latents == 3
    assert Path(tmp_path / "run" / run.origins["net"]["file"]).resolve() == Path(__file__).resolve()
    assert json.loads((tmp_path / "run" / "config.json").read_text())["origins"]["net"]["name"].endswith("make")


def test_a_registered_net_that_fails_is_one_line(tmp_path):
    @unweave.nets.register("failing-net")
    def make(shape, latents, width):
        raise KeyError("no")

    with pytest.raises(UsageError, match=r"the net failing-net cannot be built for images \(32, 32, 3\): 'no'"):
        unweave.train("vae", net="failing-net", out=tmp_path / "run", **OPTIONS)
    assert not (tmp_path / "run").exists()
