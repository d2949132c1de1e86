"""Each penalty against its formula in loops of float64, and its gradient against finite differences."""

from __future__ import annotations

import math
import sys
from itertools import combinations, product

import numpy as np
import pytest
import torch
from scipy.integrate import dblquad
from scipy.stats import ncx2, norm
from torch import Tensor, nn
from torch.autograd import gradcheck
from torch.func import functional_call

from unweave.nets import NETS
from unweave.penalties import (
    density_ratio,
    density_ratio_loss,
    dip_covariance,
    hausdorff_support,
    kl_parts,
    mmd,
    orthogonal_jacobian,
    shuffle_latents,
    sigreg,
    soft_hausdorff_support,
    total_correlation,
)
from unweave.penalties.off_diagonal import off_diagonal_squares
from unweave.penalties.sigreg import draw_directions


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(n: int = 7, latents: int = 3, seed: int = 1) -> Tensor:
    return torch.randn(n, latents, generator=seeded(seed), dtype=torch.float64)


# Total correlation


def density(z: float, mean: float, log_variance: float) -> float:
    return float(norm.pdf(z, mean, math.exp(log_variance / 2)))


def aggregate(z: np.ndarray, mean: np.ndarray, log_variance: np.ndarray, k: int, size: int | None, latents) -> float:
    """log q(z_k) over some latents, written out."""
    n, total = len(z), 0.0
    for i in range(n):
        joint = math.prod(density(z[k, j], mean[i, j], log_variance[i, j]) for j in latents)
        weight = 1 / n if size is None else (1 / size if i == k else (size - 1) / (size * (n - 1)))
        total += weight * joint
    return math.log(total)


@pytest.mark.parametrize("size", [None, 50, 4])  # 4: rows drawn with replacement may outnumber the images
def test_the_parts_of_the_kl_term_are_their_sums(size):
    mean, log_variance, noise = normal(seed=1), normal(seed=2) - 1, normal(seed=3)
    z = mean + (log_variance / 2).exp() * noise
    a, b, c = z.numpy(), mean.numpy(), log_variance.numpy()
    joint = np.mean([aggregate(a, b, c, k, size, range(3)) for k in range(7)])
    margins = np.mean([sum(aggregate(a, b, c, k, size, [j]) for j in range(3)) for k in range(7)])
    own = np.mean([sum(math.log(density(a[k, j], b[k, j], c[k, j])) for j in range(3)) for k in range(7)])
    kl = np.mean([sum(0.5 * (b[k, j] ** 2 + math.exp(c[k, j]) - c[k, j] - 1) for j in range(3)) for k in range(7)])
    parts = kl_parts(z, mean, log_variance, data_size=size)
    assert parts.information.item() == pytest.approx(own - joint, rel=1e-10)
    assert parts.total_correlation.item() == pytest.approx(joint - margins, rel=1e-10)
    assert parts.dimension_kl.item() == pytest.approx(kl - own + margins, rel=1e-10)
    assert total_correlation(z, mean, log_variance, data_size=size) == parts.total_correlation


@pytest.mark.parametrize("size", [None, 1000])
def test_a_variance_whose_inverse_overflows_gives_no_nan(size):
    mean, log_variance = torch.randn(48, 4, generator=seeded(0)), torch.full((48, 4), -2.0)
    log_variance[3, 2] = -134.0
    z = mean + (log_variance / 2).exp() * torch.randn(48, 4, generator=seeded(1))
    mean.requires_grad_()
    log_variance.requires_grad_()
    parts = kl_parts(z, mean, log_variance, data_size=size)
    torch.stack(parts).sum().backward()
    exact = kl_parts(z.double(), mean.double(), log_variance.double(), data_size=size)
    torch.testing.assert_close(torch.stack(parts).double(), torch.stack(exact), rtol=0, atol=1e-4)
    for gradient in (mean.grad, log_variance.grad):
        assert gradient is not None
        assert gradient.isfinite().all()


# DIP


@pytest.mark.parametrize("second", [False, True])
def test_the_covariance_terms_are_their_sums(second):
    mean, log_variance = normal(9), normal(9, seed=2)
    values, variances = mean.numpy(), np.exp(log_variance.numpy())
    off = diagonal = 0.0
    for i, j in product(range(3), repeat=2):
        c = sum((row[i] - values[:, i].mean()) * (row[j] - values[:, j].mean()) for row in values) / 9
        c += variances[:, i].mean() if second and i == j else 0
        off, diagonal = off + (i != j) * c**2, diagonal + (i == j) * (c - 1) ** 2
    found = dip_covariance(mean, log_variance if second else None)
    assert found.off_diagonal.item() == pytest.approx(off, rel=1e-10)
    assert found.diagonal.item() == pytest.approx(diagonal, rel=1e-10)


@pytest.mark.parametrize("shape", [(5, 5), (4, 6, 6), (7, 3)])
def test_small_squares_outside_a_large_diagonal_keep_their_digits(shape):
    """In float32 their sum would vanish in a difference of sums, or come out negative."""
    matrices = 1e-4 * torch.randn(shape, generator=seeded())
    diagonal = matrices.diagonal(dim1=-2, dim2=-1)
    expected = matrices.double().square().sum() - diagonal.double().square().sum()
    diagonal += 3
    assert off_diagonal_squares(matrices).item() == pytest.approx(expected.item(), rel=1e-5)


# Support


def square_distance(codes: np.ndarray, i: int, j: int, a: int, b: int, c: int) -> float:
    return (codes[a, i] - codes[c, i]) ** 2 + (codes[b, j] - codes[c, j]) ** 2


def test_the_support_distance_is_that_of_loops():
    codes, rows = normal(), range(7)
    z = codes.numpy()
    expected = sum(
        max(min(square_distance(z, i, j, a, b, c) for c in rows) for a in rows for b in rows)
        for i, j in combinations(range(3), 2)
    )
    assert hausdorff_support(codes).item() == pytest.approx(expected, rel=1e-12)


def softly(values: list[float], temperature: float) -> float:
    """The mean of values by the weights exp(value / temperature)."""
    weights = np.exp((np.array(values) - (max(values) if temperature > 0 else min(values))) / temperature)
    return float(np.sum(weights * values) / weights.sum())


@pytest.mark.parametrize("temperature", [0.01, 1.0, 30.0])  # the smallest is computed in logarithms
def test_the_soft_support_distance_is_that_of_loops(temperature):
    codes, rows = normal(), range(7)
    z, expected = codes.numpy(), 0.0
    for i, j in combinations(range(3), 2):
        nearest = [softly([square_distance(z, i, j, a, b, c) for c in rows], -temperature) for a in rows for b in rows]
        expected += softly(nearest, temperature)
    assert soft_hausdorff_support(codes, temperature=temperature).item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_codes_far_apart_have_a_soft_distance_in_float32_too(scale):
    codes = scale * normal(12, 4)
    exact = soft_hausdorff_support(codes, temperature=1.0)
    found = soft_hausdorff_support(codes.float().requires_grad_(), temperature=1.0)
    torch.testing.assert_close(found.double(), exact, rtol=1e-4, atol=0)
    found.backward()


def test_both_ways_to_the_soft_distance_agree(monkeypatch):
    codes = normal(12, 4)
    one = soft_hausdorff_support(codes)
    monkeypatch.setattr(sys.modules[soft_hausdorff_support.__module__], "STEEPEST", 0.0)
    torch.testing.assert_close(soft_hausdorff_support(codes), one)


@pytest.mark.parametrize("penalty", [hausdorff_support, soft_hausdorff_support])
def test_pairs_are_drawn_without_replacement_from_the_generator(penalty):
    codes = normal(8, 5)
    every = [penalty(codes[:, [i, j]]).item() for i, j in combinations(range(5), 2)]
    assert penalty(codes).item() == pytest.approx(sum(every))
    three = penalty(codes, pairs=3, generator=seeded(4)).item()
    assert penalty(codes, pairs=3, generator=seeded(4)).item() == three
    assert min(abs(three - sum(some)) for some in combinations(every, 3)) < 1e-9
    assert penalty(codes, pairs=100, generator=seeded()).item() == pytest.approx(sum(every))
    assert penalty(codes[:, :1]).item() == 0


# Discrepancy from the prior


def kernel_value(kernel: str, square: float, scale: float) -> float:
    return scale / (scale + square) if kernel == "imq" else math.exp(-square / scale)


@pytest.mark.parametrize("kernel", ["imq", "gaussian"])
def test_the_discrepancy_is_the_formula_with_the_prior_integrated(kernel):
    codes, scale = normal(3, 2), 2 * 2 * 0.7
    z = codes.numpy()
    among = np.mean([kernel_value(kernel, ((a - b) ** 2).sum(), scale) for a, b in combinations(z, 2)])

    def averaged(point: np.ndarray, variance: float) -> float:
        def integrand(y: float, x: float) -> float:
            height = math.exp(-(x**2 + y**2) / (2 * variance)) / (2 * math.pi * variance)
            return height * kernel_value(kernel, (point[0] - x) ** 2 + (point[1] - y) ** 2, scale)

        return dblquad(integrand, -9, 9, -9, 9, epsabs=1e-7)[0]

    between = np.mean([averaged(point, 1.0) for point in z])
    expected = among - 2 * between + averaged(np.zeros(2), 2.0)
    assert mmd(codes, kernel=kernel, bandwidth=0.7).item() == pytest.approx(expected, abs=1e-5)


# SIGReg


def test_sigreg_is_the_integral_of_loops():
    codes, limit, points = normal(5), 5.0, 17
    directions = draw_directions(3, 4, seeded(9)).numpy().T
    t = np.linspace(-limit, limit, points)
    total = 0.0
    for direction in directions:
        heights = []
        for node in t:
            empirical = sum(np.exp(1j * node * (direction @ row)) for row in codes.numpy()) / 5
            heights.append(abs(empirical - math.exp(-(node**2) / 2)) ** 2 * math.exp(-(node**2) / 2))
        steps = [(heights[i] + heights[i + 1]) / 2 * (t[i + 1] - t[i]) for i in range(points - 1)]
        total += 5 * sum(steps) / 4
    found = sigreg(codes, directions=4, points=points, limit=limit, generator=seeded(9))
    assert found.item() == pytest.approx(total, rel=1e-12)


def test_an_even_number_of_points_is_a_trapezoid_rule_too():
    codes = normal(50)
    fine = sigreg(codes, points=401, limit=8.0, generator=seeded(2)).item()
    assert sigreg(codes, points=400, limit=8.0, generator=seeded(2)).item() == pytest.approx(fine, rel=1e-4)


def test_sigreg_of_normal_codes_is_that_of_theory_for_any_number_of_them():
    """E n |phi_n - phi|^2 = 1 - phi^2, so that the expected statistic is the integral of (1 - e^-t²) e^(-t²/2)."""
    expected = math.sqrt(2 * math.pi) * (1 - 1 / math.sqrt(3))
    for n in (10, 200):
        values = [sigreg(normal(n, 4, seed), directions=32, generator=seeded(seed)).item() for seed in range(300)]
        error = float(np.std(values)) / math.sqrt(300)
        assert np.mean(values) == pytest.approx(expected, abs=4 * error + 0.01)


def test_directions_are_unit_vectors_and_the_same_for_every_dtype():
    directions = draw_directions(4, 100, seeded())
    torch.testing.assert_close(directions.norm(dim=0), torch.ones(100, dtype=torch.float64))
    codes = normal(20)
    single = sigreg(codes.float(), generator=seeded()).item()
    assert single == pytest.approx(sigreg(codes, generator=seeded()).item(), rel=1e-4)


# Density ratio


def test_the_density_ratio_is_the_mean_log_odds_and_leaves_the_discriminator_alone():
    codes, discriminator = normal().requires_grad_(), nn.Linear(3, 2).double()
    found = density_ratio(discriminator, codes)
    weight, bias = discriminator.weight.detach().numpy(), discriminator.bias.detach().numpy()
    odds = [(weight[0] - weight[1]) @ row + bias[0] - bias[1] for row in codes.detach().numpy()]
    assert found.item() == pytest.approx(np.mean(odds), rel=1e-12)
    found.backward()
    assert discriminator.weight.grad is None
    assert codes.grad is not None
    np.testing.assert_allclose(codes.grad[0], (weight[0] - weight[1]) / 7, rtol=1e-12)


def test_the_density_ratio_of_half_precision_logits_is_a_float32():
    discriminator = nn.Linear(3, 2).bfloat16()
    assert density_ratio(discriminator, normal().bfloat16()).dtype == torch.float32


def test_the_discriminators_loss_is_a_cross_entropy_written_out():
    codes, others, discriminator = normal(), normal(seed=2), nn.Linear(3, 2).double()
    expected = 0.0
    for kind, rows in enumerate((codes, shuffle_latents(others))):
        for logits in discriminator(rows).detach().numpy():
            expected += (math.log(math.exp(logits[0]) + math.exp(logits[1])) - logits[kind]) / 14
    assert density_ratio_loss(discriminator, codes, others).item() == pytest.approx(expected, rel=1e-10)


# Orthogonal Jacobian


def cosines(decode, z: Tensor) -> float:
    """The mean squared cosine between columns of central differences, in loops."""
    total, count = 0.0, 0
    for row in z:
        columns = []
        for i in range(z.shape[1]):
            step = torch.zeros_like(row)
            step[i] = 1e-6
            columns.append(((decode((row + step)[None]) - decode((row - step)[None])) / 2e-6).detach().numpy().ravel())
        for a, b in combinations(columns, 2):
            total += (a @ b) ** 2 / max((a @ a) * (b @ b), 1e-300)
            count += 1
    return total / count


def drawn_decoder(name: str, latents: int = 3) -> nn.Module:
    decoder = NETS[name]((16, 16, 1), latents, 0.1).decoder.double()
    for weight in decoder.parameters():
        nn.init.normal_(weight, std=0.3, generator=seeded(weight.numel()))
    return decoder


@pytest.mark.parametrize("name", NETS)
def test_the_jacobian_of_every_decoder_is_that_of_central_differences(name):
    decoder, z = drawn_decoder(name), normal(2)
    assert orthogonal_jacobian(decoder, z).item() == pytest.approx(cosines(decoder, z), rel=1e-5)


@pytest.mark.parametrize("name", ["conv", "tripod"])
def test_its_gradient_by_the_weights_is_that_of_central_differences(name):
    decoder, z = drawn_decoder(name), normal(2)
    orthogonal_jacobian(decoder, z).backward()
    weight = next(weight for weight in decoder.parameters() if weight.ndim == 2)
    assert weight.grad is not None
    for place in ((0, 0), (1, 2)):
        values = []
        for step in (1e-6, -2e-6):
            with torch.no_grad():
                weight[place] += step
            values.append(orthogonal_jacobian(decoder, z).item())
        with torch.no_grad():
            weight[place] += 1e-6
        assert weight.grad[place].item() == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-3, abs=1e-9)


def picture(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Unflatten(1, (2, 2, 2)), *layers)


LAYERS = [
    nn.LayerNorm(8),
    nn.Sequential(nn.Unflatten(1, (2, 4)), nn.LayerNorm([2, 4], elementwise_affine=False), nn.Tanh()),
    nn.RMSNorm(8),
    nn.BatchNorm1d(8).eval(),
    picture(nn.GroupNorm(1, 2)),
    picture(nn.InstanceNorm2d(2, affine=True)),
    picture(nn.InstanceNorm2d(2, track_running_stats=True).eval()),
    picture(nn.ConvTranspose2d(2, 2, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True)),
    picture(nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(2, 1, 3), nn.GELU()),
    nn.GLU(),
    nn.Softmax(1),
    nn.Softplus(),
]


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_its_gradient_is_right_behind_any_layer(layer):
    """Those behind layer and instance normalisation are wrong, if torch's own derivatives are taken."""
    decoder = nn.Sequential(nn.Linear(3, 8), layer).double()
    weight = normal(8, 3)

    def by_weight(weight: Tensor) -> Tensor:
        named = {"0.weight": weight}
        return orthogonal_jacobian(lambda z: functional_call(decoder, named, z), normal(2))

    assert gradcheck(by_weight, weight.requires_grad_(), rtol=1e-3)


def test_a_decoder_that_ignores_its_codes_has_columns_that_vanish():
    picture = nn.Parameter(torch.ones(5))
    assert orthogonal_jacobian(lambda z: picture.expand(len(z), 5), normal()).item() == 0
    assert orthogonal_jacobian(lambda z: z[:, :1].expand(len(z), 5), normal()).item() == 0


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_it_is_measured_without_gradients_too(mode):
    decoder, z = nn.Linear(3, 5).double(), normal()
    expected = orthogonal_jacobian(decoder, z).item()
    with mode():
        assert orthogonal_jacobian(decoder, z).item() == expected
        assert orthogonal_jacobian(decoder, normal()).item() == expected


def test_weights_that_are_not_finite_give_a_nan():
    """As columns that vanish they would have the best score there is."""
    for bad in (math.nan, math.inf):
        layer = nn.Linear(6, 9)
        with torch.no_grad():
            layer.weight[0, 2] = bad
        found = orthogonal_jacobian(layer, normal(4, 6).float())
        assert found.isnan()
        found.backward()
        assert layer.weight.grad is not None
        assert layer.weight.grad.isnan().any()


def test_orthogonal_columns_have_none_and_parallel_ones_all_of_it():
    z = normal(4, 2)
    assert orthogonal_jacobian(lambda z: z * 3, z).item() == 0
    assert orthogonal_jacobian(lambda z: z.sum(1, keepdim=True), z).item() == pytest.approx(1)
    assert orthogonal_jacobian(lambda z: z, normal(4, 1)).item() == 0


def test_columns_that_vanish_are_orthogonal_and_give_no_nan():
    layer = nn.Linear(3, 5).double()
    with torch.no_grad():
        layer.weight[:, 1] = 0
    found = orthogonal_jacobian(layer, normal())
    a, _, c = layer.weight.detach().numpy().T
    assert found.item() == pytest.approx((a @ c) ** 2 / (a @ a) / (c @ c) / 3)
    found.backward()
    assert layer.weight.grad is not None
    assert torch.isfinite(layer.weight.grad).all()
    assert not layer.weight.grad[:, 1].any()


@pytest.mark.parametrize("scale", [1e-25, 1e-3, 1e25])
def test_the_scale_of_latents_and_of_pixels_does_not_matter(scale):
    weight = normal(3, 6).float()
    one = orthogonal_jacobian(lambda z: torch.tanh(z @ weight), normal().float())
    pixels = orthogonal_jacobian(lambda z: scale * torch.tanh(z @ weight), normal().float())
    torch.testing.assert_close(pixels, one)
    factors = torch.tensor([1.0, scale, 1.0])
    latents = orthogonal_jacobian(lambda z: torch.tanh((z * factors) @ weight), normal().float() / factors)
    torch.testing.assert_close(latents, one)


def test_some_columns_are_drawn_from_the_generator():
    weight, z = normal(5, 8), normal(2, 5)
    pairs = {(i, j): (weight[i] @ weight[j]) ** 2 / weight[i].square().sum() / weight[j].square().sum()
             for i, j in combinations(range(5), 2)}  # fmt: skip
    found = {round(orthogonal_jacobian(lambda z: z @ weight, z, columns=2, generator=seeded(s)).item(), 9)
             for s in range(60)}  # fmt: skip
    assert found == {round(value.item(), 9) for value in pairs.values()}


# Gradients


@pytest.mark.parametrize(
    "penalty",
    [
        lambda x: total_correlation(x, normal(5, seed=4), torch.zeros_like(x)),
        lambda x: total_correlation(normal(5, seed=4), x, normal(5, seed=5), data_size=30),
        lambda x: kl_parts(x, normal(5, seed=4), 0.1 * x).dimension_kl,
        lambda x: dip_covariance(x).off_diagonal,
        lambda x: dip_covariance(x, 0.2 * x).diagonal,
        hausdorff_support,
        soft_hausdorff_support,
        lambda x: soft_hausdorff_support(x, temperature=0.05),
        lambda x: mmd(x),
        lambda x: mmd(x, kernel="gaussian"),
        lambda x: sigreg(x, directions=5, generator=seeded()),
        lambda x: orthogonal_jacobian(lambda z: torch.stack([z.prod(1), z.sin().sum(1), z[:, 0] ** 2], 1), x),
    ],
)
def test_gradients_by_codes_are_those_of_finite_differences(penalty):
    assert gradcheck(penalty, normal(5).requires_grad_())


def test_the_prior_is_integrated_as_a_chi_squared_variable_in_many_dimensions():
    """|z - y|^2 for y from N(0, I) is chi-squared, with |z|^2 as non-centrality."""
    n, latents = 4, 10
    codes = normal(n, latents)
    scale = 2 * latents
    nodes = (np.arange(20_000) + 0.5) / 20_000  # quantiles
    inner = [np.mean(scale / (scale + ncx2.ppf(nodes, latents, float(row @ row)))) for row in codes.numpy()]
    own = np.mean(scale / (scale + 2 * ncx2.ppf(nodes, latents, 1e-12)))
    among = np.mean([scale / (scale + ((a - b) ** 2).sum()) for a, b in combinations(codes.numpy(), 2)])
    assert mmd(codes).item() == pytest.approx(among - 2 * np.mean(inner) + own, abs=1e-5)
