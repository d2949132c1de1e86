"""The additive decoder: it is a sum, by brute force; its layers, options, traces and runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

import unweave
from unweave.config import Config
from unweave.errors import UsageError
from unweave.methods import VQVAE, BetaVAE, JointVAE
from unweave.nets import Model, Net
from unweave.nets.additive import AdditiveDecoder
from unweave.nets.hidden import hidden_activations

SHAPES = [(16, 16, 3), (7,)]


def build(options: str = "", shape=(16, 16, 3), latents: int = 6, width: float = 0.2, depth: int = 1) -> Model:
    name = f"additive:{options}" if options else "additive"
    return Net(name, latents, width, depth).build(shape, torch.Generator().manual_seed(0))


def additive_of(model: Model) -> AdditiveDecoder:
    assert isinstance(model.decoder, AdditiveDecoder)
    return model.decoder


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def mixed_difference(f, i: int, j: int) -> float:
    """The largest |f(z + a_i + b_j) - f(z + a_i) - f(z + b_j) + f(z)| over a few codes, in double precision."""
    generator = torch.Generator().manual_seed(1)
    z, a, b = (torch.randn(5, 6, generator=generator, dtype=torch.float64) for _ in range(3))
    one, other = torch.zeros_like(z), torch.zeros_like(z)
    one[:, i], other[:, j] = a[:, i], b[:, j]
    with torch.no_grad():
        return (f(z + one + other) - f(z + one) - f(z + other) + f(z)).abs().max().item()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("shared", ["true", "false"])
@pytest.mark.parametrize("groups", [0, 2, 3])
def test_latents_of_different_groups_do_not_interact(shape, groups, shared):
    """f is a sum of functions of groups of latents where its mixed second differences across them vanish."""
    decoder = build(f"groups={groups},shared={shared}", shape).decoder.double()
    size = 1 if groups == 0 else 6 // groups
    for i in range(6):
        for j in range(i + 1, 6):
            found = mixed_difference(decoder, i, j)
            if i // size == j // size:
                assert found > 1e-3  # in a group they do
            else:
                assert found < 1e-12


@pytest.mark.parametrize("shape", SHAPES)
def test_pooled_by_logsumexp_its_exponential_is_the_mean(shape):
    decoder = additive_of(build("groups=3,pooling=logsumexp", shape)).double()
    z = torch.randn(5, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    torch.testing.assert_close(decoder(z).exp(), decoder.of_groups(z).exp().mean(1))
    assert mixed_difference(decoder, 0, 2) > 1e-5
    assert mixed_difference(lambda z: decoder(z).exp(), 0, 2) < 1e-12
    assert mixed_difference(lambda z: decoder(z).exp(), 0, 1) > 1e-5


def test_other_decoders_are_not_additive():
    for name, shape in (("conv", (16, 16, 3)), ("broadcast", (16, 16, 3)), ("mlp", (7,))):
        decoder = Net(name, 6, 0.2).build(shape, torch.Generator().manual_seed(0)).decoder.double()
        assert mixed_difference(decoder, 0, 5) > 1e-4, name


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("pooling", ["sum", "logsumexp"])
def test_its_output_is_that_of_loops_over_its_weights(pooling, shared):
    """Three fully connected decoders of two latents each, in plain numpy."""
    model = build(f"groups=3,pooling={pooling},shared={str(shared).lower()}", (7,))
    state = {name: value.numpy().astype(float) for name, value in model.decoder.state_dict().items()}
    z = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    found = model.decode(torch.from_numpy(z)).detach().numpy()
    for row in range(4):
        outputs = []
        for group in range(3):
            rest = 0 if shared else group
            x = state[f"first.{group}.weight"] @ z[row, 2 * group : 2 * group + 2] + state[f"first.{group}.bias"]
            for layer in (1, 3, 5):
                x = state[f"rest.{rest}.{layer}.weight"] @ np.tanh(x) + state[f"rest.{rest}.{layer}.bias"]
            outputs.append(x)
        if pooling == "sum":
            expected = outputs[0] + outputs[1] + outputs[2]
        else:
            expected = np.log((np.exp(outputs[0]) + np.exp(outputs[1]) + np.exp(outputs[2])) / 3)
        np.testing.assert_allclose(found[row], expected, atol=1e-5)


def test_of_one_group_it_is_the_decoder_of_conv():
    one, plain = build("groups=1"), Net("conv", 6, 0.2).build((16, 16, 3), torch.Generator().manual_seed(0))
    shapes = [[parameter.shape for parameter in model.parameters()] for model in (one, plain)]
    assert shapes[0] == shapes[1]
    for ours, theirs in zip(one.parameters(), plain.parameters(), strict=True):
        assert torch.equal(ours, theirs)  # the same draws, in the same order
    z = torch.randn(3, 6, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(one.decode(z), plain.decode(z))


def test_its_weights_are_counted_by_hand():
    """At 64 × 64 × 3, ten latents: a narrow decoder of one latent has 10, 10, 20, 20 channels and 81 units."""

    def of(latents: int, units: int, low: int, high: int) -> tuple[int, int]:
        first = (latents + 1) * units
        rest = (units + 1) * high * 16 + (16 * high + 1) * high + (16 * high + 1) * low + (16 * low + 1) * low
        return first, rest + (16 * low + 1) * 3

    first, rest = of(1, 81, 10, 20)
    shape = (64, 64, 3)
    assert count(build("", shape, 10, 1.0).decoder) == 10 * (first + rest)
    assert count(build("shared=true", shape, 10, 1.0).decoder) == 10 * first + rest
    first, rest = of(1, 256, 32, 64)
    assert count(build("narrow=false", shape, 10, 1.0).decoder) == 10 * (first + rest)
    first, rest = of(10, 256, 32, 64)
    whole = count(Net("conv").build(shape, torch.Generator()).decoder)
    assert whole == first + rest
    assert count(build("", shape, 10, 1.0).decoder) == pytest.approx(whole, rel=0.02)


def test_each_group_starts_at_the_scale_of_a_decoder_alone():
    model = build("narrow=false", width=1.0)
    for label, parameter in model.decoder.named_parameters():
        if parameter.ndim > 1 and parameter.numel() > 5000:
            area = parameter[0, 0].numel() if parameter.ndim == 4 else 1
            variance = 2 / ((parameter.shape[0] + parameter.shape[1]) * area)
            assert parameter.var().item() == pytest.approx(variance, rel=0.1), label


@pytest.mark.parametrize("shape", SHAPES)
def test_its_jacobian_is_that_of_finite_differences_group_by_group(shape):
    decoder = additive_of(build("groups=3", shape)).double()
    z = torch.randn(1, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(decoder, z).flatten(0, -3)[:, 0]
    for latent in range(6):
        step = torch.zeros(1, 6, dtype=torch.float64)
        step[0, latent] = 1e-6
        own = latent // 2
        moved = (decoder.of_groups(z + step) - decoder.of_groups(z - step))[0] / 2e-6
        torch.testing.assert_close(moved[own].flatten(), jacobian[:, latent], atol=1e-7, rtol=1e-5)
        assert not moved[[group for group in range(3) if group != own]].any()


def test_every_weight_has_a_gradient():
    for options in ("", "groups=2,shared=true", "pooling=logsumexp"):
        model = build(options, (32, 32, 1), width=0.5)
        model.decode(torch.randn(8, 6, generator=torch.Generator().manual_seed(0))).square().sum().backward()
        assert all(p.grad is not None and p.grad.any() for p in model.decoder.parameters())


@pytest.mark.parametrize(("shape", "layers", "depth"), [((16, 16, 3), 3, 1), ((7,), 3, 1), ((7,), 6, 2)])
def test_a_hidden_layer_is_that_of_all_groups(shape, layers, depth):
    model = build("groups=3", shape, depth=depth)
    decoder = additive_of(model)
    z = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        found = hidden_activations(decoder, z, torch.clone)
        alone = [
            hidden_activations(part, z[:, 2 * g : 2 * g + 2], torch.clone) for g, part in enumerate(decoder.parts())
        ]
    assert len(found) == layers
    for name, layer in found.items():
        units = math.prod(alone[0][name].shape[1:])
        for group in range(3):
            expected = alone[group][name].flatten(1)
            assert torch.equal(layer[:, group * units : (group + 1) * units], expected)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("additive:groups=4", "groups of additive must divide the number of latents, 10: 4"),
        ("additive:groups=-1", "number of latents, 10: -1"),
        ("additive:groups=2.5", "number of latents, 10: 2.5"),
        ("additive:groups=true", "number of latents, 10: True"),
        ("additive:pooling=max", "no pooling is called 'max'"),
        ("additive:pooling=3", "no pooling is called '3'"),
        ("additive:shared=yes", "shared of additive must be true or false, not 'yes'"),
        ("additive:group=5", "did you mean 'groups'"),
    ],
)
def test_wrong_options_are_one_clear_line(name, message):
    with pytest.raises(UsageError, match=message):
        Net(name).resolve((32, 32, 3))


def test_its_options_are_part_of_the_name_and_of_the_identity():
    assert Net("additive").name == "additive:groups=0,pooling=sum,shared=false,narrow=true"
    assert Net("additive:shared=true,groups=5").name == "additive:groups=5,pooling=sum,shared=true,narrow=true"
    assert Net(Net("additive:groups=5").name) == Net("additive:groups=5")
    data = {"name": "xysquares"}
    ids = {Config(BetaVAE(), data, Net(name)).id for name in ("additive", "additive:groups=5", "conv", "broadcast")}
    assert len(ids) == 4
    config = Config(BetaVAE(), data, Net("additive:pooling=logsumexp"))
    assert Config.from_json(config.to_json()) == config


@pytest.mark.parametrize("net", ["additive:groups=2", "additive:groups=2,pooling=logsumexp,shared=true", "broadcast"])
def test_a_run_is_read_again_and_resumes_bit_for_bit(net, tmp_path):
    def train(out: str, **options) -> unweave.Run:
        steps = {"steps": 6, "batch": 8, "latents": 4, "width": 0.05, "checkpoint_every": 3, "log_every": 3}
        data = "xysquares:size=32"
        return unweave.train(BetaVAE(), data=data, net=net, out=tmp_path / out, progress=False, **steps, **options)

    whole = train("whole", trace_every=3, trace_samples=5)

    def stop(row: dict[str, float]) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        train("cut", on_result=stop)
    resumed = train("cut")
    for name in ("weights.safetensors", "log.parquet"):
        assert (whole.path / name).read_bytes() == (resumed.path / name).read_bytes()
    again = unweave.Run.open(whole.path)
    codes = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    np.testing.assert_array_equal(again.decode(codes), whole.decode(codes))
    assert again.trace_steps == [0, 3, 6]
    assert again.traces().shape[:2] == (3, 5)


@pytest.mark.parametrize(
    ("method", "groups", "sizes"),
    [
        (JointVAE(categorical=2, categories=5, loss="mse"), 0, [1, 1, 1, 1, 5, 5]),
        (JointVAE(categorical=1, categories=5, loss="mse"), 3, [2, 2, 6]),
        (VQVAE(size=4, loss="mse"), 0, [4] * 6),
        (VQVAE(size=4, loss="mse"), 2, [12, 12]),
    ],
)
def test_all_inputs_of_a_latent_are_in_one_group(method, groups, sizes):
    config = Config(method, {"name": "own"}, Net(f"additive:groups={groups}", 6, 0.1))
    model = config.build((7,), torch.Generator().manual_seed(0))
    assert additive_of(model).sizes == sizes
    codes = torch.zeros(2, 6)
    codes[:, -1] = 1
    assert additive_of(model).of_groups(model.embed(codes)).shape == (2, len(sizes), 7)


def test_groups_are_counted_in_latents_where_one_has_many_inputs(tmp_path):
    with pytest.raises(UsageError, match="must divide the number of latents, 10: 3"):
        unweave.train("joint-vae", net="additive:groups=3", latents=10, data="xysquares:size=32", out=tmp_path / "run")
