"""Tripod: multi-information against loops and scipy, the Hessian penalty against functions whose Hessian is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import norm
from torch import Tensor, nn

import unweave
from unweave.errors import UsageError
from unweave.methods import Batch
from unweave.methods.tripod import Tripod, draw_probes, hessian_penalty, hidden_layers, multi_information
from unweave.nets import Net
from unweave.nets.modulated import ModulatedDecoder
from unweave.nets.quantised import Quantised

LATENTS = 4


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def codes(n: int = 12) -> Tensor:
    return torch.randn(n, LATENTS, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


class Quadratic(nn.Module):
    """Units z'Hz / 2 + b'z for given Hessians."""

    def __init__(self, hessians: Tensor) -> None:
        super().__init__()
        self.hessians = hessians

    def forward(self, z: Tensor) -> Tensor:
        return torch.einsum("ni,uij,nj->nu", z, self.hessians, z) / 2 + z[:, :1]


def test_multi_information_is_that_of_loops_over_densities():
    z = codes().numpy()
    n, d = z.shape
    deviation = z.std(0)
    silverman = ((4 / (d + 2)) ** (1 / (d + 4))) * n ** (-1 / (d + 4))
    total = 0.0
    for code in z:
        joint = np.mean([np.prod(norm.pdf(code, other, deviation * silverman)) for other in z])
        marginals = [np.mean([norm.pdf(code[j], other[j], deviation[j]) for other in z]) for j in range(d)]
        total += np.log(joint) - np.log(marginals).sum()
    found = multi_information(torch.from_numpy(z), torch.from_numpy(deviation))
    assert found.item() == pytest.approx(total / n, rel=1e-10)


def test_multi_information_is_the_same_on_any_scale_and_larger_for_dependent_codes():
    z = torch.randn(400, LATENTS, generator=torch.Generator().manual_seed(0))
    copies = z[:, :1].expand(-1, LATENTS) + 0.01 * z

    def of(z: Tensor) -> float:
        return multi_information(z, z.std(0, correction=0)).item()

    assert of(z * torch.tensor([1.0, 10.0, 0.1, 3.0]) + 5) == pytest.approx(of(z), rel=1e-3)
    assert of(copies) > of(z) + 1


def test_the_penalty_is_zero_where_no_latents_mix_and_grows_with_what_mixes():
    z, probes = codes(2000), draw_probes(2000, LATENTS, seeded(0)).double()
    apart = torch.diag_embed(torch.rand(5, LATENTS, generator=torch.Generator().manual_seed(1), dtype=torch.float64))
    mixed = torch.ones(5, LATENTS, LATENTS, dtype=torch.float64) - torch.eye(LATENTS, dtype=torch.float64)
    assert hessian_penalty(Quadratic(apart), z, probes).item() == pytest.approx(0, abs=1e-12)
    found = [hessian_penalty(Quadratic(apart + share * mixed), z, probes).item() for share in (0.01, 0.1, 1.0)]
    assert found == sorted(found)
    # The mean of ratios of two random numbers is above the ratio of their means.
    for value, share in zip(found, (0.01, 0.1, 1.0), strict=True):
        assert value > share**2 * mixed.square().sum() / (apart + share * mixed).square().sum()


def test_the_variances_are_twice_the_squared_entries_of_the_hessian_off_the_diagonal_and_all():
    """With many images the means of numerator and denominator, each from two probes, are half the variances."""
    n = 20_000
    hessian = torch.randn(1, LATENTS, LATENTS, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    hessian = hessian + hessian.mT
    probes = draw_probes(n, LATENTS, seeded(0)).double()
    values = torch.einsum("kpni,ij,kpnj->kpn", probes, hessian[0], probes)
    signs, normal = values.var(1, correction=0).mean(1) * 2
    squares = hessian[0].square()
    assert signs.item() == pytest.approx(2 * (squares.sum() - squares.diag().sum()).item(), rel=0.05)
    assert normal.item() == pytest.approx(2 * squares.sum().item(), rel=0.05)


def test_the_penalty_is_the_ratio_of_variances_written_out_and_has_no_scale():
    n = 6
    z = codes(n)
    hessians = torch.randn(3, LATENTS, LATENTS, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    hessians = hessians + hessians.mT
    probes = draw_probes(n, LATENTS, seeded(7)).double()
    variances = np.zeros((2, n, 3))
    for kind in range(2):
        for image in range(n):
            for unit, hessian in enumerate(hessians):
                curvatures = [(probe @ hessian @ probe).item() for probe in probes[kind, :, image]]
                variances[kind, image, unit] = np.var(curvatures)
    mixing, whole = variances.mean(2)
    for scale in (1, 9):
        found = hessian_penalty(Quadratic(scale * hessians), z, probes).item()
        assert found == pytest.approx((mixing / whole).mean(), rel=1e-6)


def test_an_image_without_curvature_does_not_rule_the_penalty():
    """Its denominator is a share of the others', not zero."""
    z, probes = codes(6), draw_probes(6, LATENTS, seeded(7)).double()
    probes[1, 1, 0] = probes[1, 0, 0]  # two equal directions: no variance
    hessians = torch.ones(3, LATENTS, LATENTS, dtype=torch.float64)
    assert hessian_penalty(Quadratic(hessians), z, probes).item() < 1e4


@pytest.mark.parametrize(("net", "count"), [("mlp", 3), ("conv", 4)])
def test_hidden_layers_are_what_comes_out_of_the_non_linear_ones(net, count):
    model = Net(net, latents=LATENTS, width=0.05).build((32, 32, 3), torch.Generator().manual_seed(0))
    z = torch.randn(2, LATENTS)
    layers = hidden_layers(model.decoder, z)
    assert len(layers) == count
    seen: list[Tensor] = []
    for layer in model.decoder.children():
        if isinstance(layer, nn.ReLU | nn.Tanh):
            layer.register_forward_hook(lambda module, inputs, output: seen.append(output.clone()))
    model.decode(z)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(layers, seen, strict=True))
    assert hidden_layers(nn.Sequential(nn.Linear(LATENTS, 3)), z) == []


@pytest.mark.parametrize("net", ["qlae", "tripod"])
def test_hidden_layers_of_a_modulated_decoder_are_its_conditions_and_stages(net):
    model = Net(net, latents=LATENTS, width=0.05).build((32, 32, 3), torch.Generator().manual_seed(0))
    assert isinstance(model.decoder, ModulatedDecoder)
    z = torch.randn(2, LATENTS, generator=torch.Generator().manual_seed(1))
    found, shown = hidden_layers(model.decoder, z), model.decoder.hidden(z)
    assert len(found) == 3  # conditions, and two of three stages
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(found, shown, strict=True))


def test_terms_are_weighted_and_reach_encoder_and_decoder():
    model = Net("mlp", latents=LATENTS, width=0.02).build((32, 32, 3), torch.Generator().manual_seed(0), "grid")
    batch = Batch(torch.rand(6, 3, 32, 32, generator=seeded(1)), choices=seeded(3))
    method = Tripod(multi_information=0.5, hessian=0.25, loss="mse")
    q, z = method.infer(model, batch, 3, torch.Generator())
    terms = method.terms(model, batch, q, z, 3)
    assert isinstance(q, Quantised)
    deviation = q.continuous.std(0, correction=0) + 1e-6
    torch.testing.assert_close(terms["multi_information"], 0.5 * 3072 * multi_information(z, deviation))
    probes = draw_probes(6, LATENTS, seeded(3)) * deviation
    torch.testing.assert_close(terms["hessian"], 0.25 * 3072 * hessian_penalty(model.decoder, z, probes))
    for name in ("multi_information", "hessian"):
        weights = [next(model.encoder.parameters()), next(model.decoder.parameters())]
        reached = torch.autograd.grad(terms[name], weights, allow_unused=True, retain_graph=True)
        assert reached[0] is not None
        assert reached[0].any()
        assert (reached[1] is not None) == (name == "hessian")


def test_probes_are_signs_and_normal_numbers_new_every_time():
    choices = seeded(1)
    signs, normal = draw_probes(500, LATENTS, choices)
    assert signs.unique().tolist() == [-1, 1]
    assert normal.std().item() == pytest.approx(1, abs=0.05)
    assert not torch.equal(signs, draw_probes(500, LATENTS, choices)[0])


def test_it_trains_in_half_precision_and_its_codes_lie_on_the_grid(tmp_path):
    run = unweave.train(
        Tripod(), data="xysquares:size=32", steps=10, batch=8, net="mlp", width=0.05, precision="bf16", out=tmp_path
    )
    codes = run.encode(run.data.images(range(100)))
    steps = (codes + 1) * 11 / 2
    np.testing.assert_allclose(steps, steps.round(), atol=1e-5)


def test_the_number_of_levels_is_a_field_and_kept_with_the_run(tmp_path):
    unweave.train(Tripod(levels=3), data="xysquares:size=32", steps=2, batch=8, net="mlp", width=0.05, out=tmp_path)
    opened = unweave.Run.open(tmp_path)
    codes = opened.encode(opened.data.images(range(100)))
    assert set(np.unique(codes)) <= {-1, 0, 1}


def test_wrong_weights_are_refused():
    with pytest.raises(UsageError, match="levels must be at least 2"):
        Tripod(levels=1)
    with pytest.raises(UsageError, match="multi_information must be"):
        Tripod(multi_information=-1)
    with pytest.raises(UsageError, match="hessian must be"):
        Tripod(hessian=float("inf"))
