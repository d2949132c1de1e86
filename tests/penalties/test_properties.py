"""What holds of every penalty: invariances, bad input, docstrings; and that methods log it, times its weight."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import unweave
import unweave.penalties
from unweave.errors import UsageError
from unweave.methods import Batch, Method
from unweave.methods.alpha_tcvae import AlphaTCVAE
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.methods.dip_vae import DIPVAE
from unweave.methods.factor_vae import FactorVAE
from unweave.methods.hfs import HFS
from unweave.methods.info_vae import InfoVAE
from unweave.nets import Gaussian, Model, Net
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
from unweave.penalties.checks import NotFinite

DISCRIMINATOR = nn.Linear(4, 2)


class FirstTwo(nn.Module):
    """A discriminator without rounding errors: its logits are two of the latents."""

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :2]


def sums(z: Tensor) -> Tensor:
    """A decoder whose Jacobian (2 z, 1) is exact in every precision."""
    return torch.stack([z.square().sum(1), z.sum(1)], 1)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def codes(n: int = 12, latents: int = 4, seed: int = 1) -> Tensor:
    return torch.randn(n, latents, generator=seeded(seed), dtype=torch.float64)


Penalty = Callable[[Tensor], Tensor]
OF_CODES: dict[str, Penalty] = {
    "total_correlation": lambda x: total_correlation(x, x, torch.zeros_like(x) - 2),
    "stratified": lambda x: total_correlation(x, x, torch.zeros_like(x) - 2, data_size=99),
    "information": lambda x: kl_parts(x, x, torch.zeros_like(x) - 2).information,
    "dip_covariance I": lambda x: torch.stack(dip_covariance(x)),
    "dip_covariance II": lambda x: torch.stack(dip_covariance(x, x)),
    "hausdorff_support": hausdorff_support,
    "soft_hausdorff_support": soft_hausdorff_support,
    "mmd imq": mmd,
    "mmd gaussian": lambda x: mmd(x, kernel="gaussian"),
    "sigreg": lambda x: sigreg(x, generator=seeded()),
}
"""Functions of codes alone."""
FROM_ONE_ROW: dict[str, Penalty] = {
    "sigreg": sigreg,
    "density_ratio": lambda x: density_ratio(DISCRIMINATOR, x),
    "density_ratio_loss": lambda x: density_ratio_loss(DISCRIMINATOR, x, x),
    "shuffle_latents": shuffle_latents,
    "orthogonal_jacobian": lambda x: orthogonal_jacobian(lambda z: z, x),
}
"""Those that one row is enough for."""
ALL = {**OF_CODES, **FROM_ONE_ROW}

of_codes = pytest.mark.parametrize("name", OF_CODES)
every = pytest.mark.parametrize("name", ALL)


@of_codes
def test_the_order_of_rows_does_not_matter(name):
    x = codes()
    torch.testing.assert_close(OF_CODES[name](x[torch.randperm(12, generator=seeded())]), OF_CODES[name](x))


@pytest.mark.parametrize("name", [name for name in OF_CODES if name != "sigreg"])  # whose directions would turn too
def test_the_order_of_latents_does_not_matter(name):
    x = codes()
    torch.testing.assert_close(OF_CODES[name](x[:, [2, 0, 3, 1]]), OF_CODES[name](x))


def test_many_directions_see_the_same_of_turned_codes():
    x = codes(50) * torch.tensor([1.0, 2.0, 0.5, 1.0])
    turn = torch.linalg.qr(codes(4)).Q
    one, turned = (sigreg(rows, directions=20_000, generator=seeded()) for rows in (x, x @ turn))
    torch.testing.assert_close(turned, one, rtol=0.02, atol=0)


@of_codes
def test_half_precision_elsewhere_does_not_blur_it(name):
    x = codes().float()
    with torch.autocast("cpu", torch.bfloat16):
        blurred = OF_CODES[name](x)
    torch.testing.assert_close(blurred, OF_CODES[name](x))


IN_HALF = {
    **OF_CODES,
    "density_ratio": lambda x: density_ratio(FirstTwo(), x),
    "density_ratio_loss": lambda x: density_ratio_loss(FirstTwo(), x, -x),
    "orthogonal_jacobian": lambda x: orthogonal_jacobian(sums, x),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", IN_HALF)
def test_codes_in_half_precision_have_the_value_of_float64(name, dtype):
    x = codes(80).to(dtype).requires_grad_()
    found = IN_HALF[name](x)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), IN_HALF[name](x.double()), rtol=1e-4, atol=1e-6)
    found.sum().backward()
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()


def test_the_sum_of_many_kernels_does_not_overflow():
    x = codes(512, 6).half()
    torch.testing.assert_close(mmd(x).double(), mmd(x.double()), rtol=0, atol=1e-6)


def test_a_single_latent_in_half_precision_has_a_float32_too():
    assert orthogonal_jacobian(sums, codes(latents=1).half()).dtype == torch.float32


@every
def test_codes_that_are_not_finite_are_refused(name):
    for bad in (float("nan"), float("inf")):
        x = codes().float()
        x[3, 1] = bad
        with pytest.raises(NotFinite, match="must be finite"):
            ALL[name](x)


@every
def test_other_shapes_and_types_are_refused(name):
    for bad in (torch.zeros(4), torch.zeros(2, 3, 4, 5), torch.zeros(3, 0)):
        with pytest.raises(UsageError, match=r"must have the shape \(n, latents\)"):
            ALL[name](bad)
    with pytest.raises(UsageError, match="must be a tensor of floats"):
        ALL[name](torch.zeros(3, 4, dtype=torch.long))


@pytest.mark.parametrize("name", [name for name in OF_CODES if name not in FROM_ONE_ROW])
def test_one_row_is_refused(name):
    with pytest.raises(UsageError, match="must have at least 2 rows, not 1"):
        OF_CODES[name](codes(1))


@pytest.mark.parametrize("name", FROM_ONE_ROW)
def test_no_row_is_refused(name):
    with pytest.raises(UsageError, match="must have at least 1 row, not 0"):
        FROM_ONE_ROW[name](torch.zeros(0, 4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: total_correlation(codes(), codes(), codes(11)), "log_variance must have the shape of mean"),
        (lambda: total_correlation(codes(11), codes(), codes()), "z must have the shape of mean"),
        (lambda: kl_parts(codes(), codes(), codes(), data_size=1), "data_size must be an integer of at least 2"),
        (lambda: dip_covariance(codes(), codes(12, 3)), "log_variance must have the shape of mean"),
        (lambda: hausdorff_support(codes(), pairs=0), "pairs must be an integer of at least 1"),
        (lambda: soft_hausdorff_support(codes(), temperature=0.0), "temperature must be a positive number"),
        (lambda: mmd(codes(), kernel="gausian"), "did you mean 'gaussian'"),
        (lambda: mmd(codes(), bandwidth=float("nan")), "bandwidth must be a positive number"),
        (lambda: sigreg(codes(), directions=0), "directions must be an integer"),
        (lambda: sigreg(codes(), points=2), "points must be an integer of at least 3"),
        (lambda: sigreg(codes(), limit=-1), "limit must be a positive number"),
        (lambda: density_ratio(nn.Linear(4, 1).double(), codes()), r"two logits for each code, not \(12, 1\)"),
        (lambda: density_ratio_loss(DISCRIMINATOR, codes(), codes(3)), "others must have the shape of codes"),
        (lambda: orthogonal_jacobian(lambda z: z, codes(), columns=1), "columns must be an integer of at least 2"),
        (lambda: mmd([[0.0, 1.0]]), "codes must be a tensor of floats, not list"),  # pyright: ignore[reportArgumentType]
        (lambda: orthogonal_jacobian(lambda z: z.sum(), codes()), "decode must turn 12 codes into 12 outputs"),
        (lambda: orthogonal_jacobian(lambda z: z.detach(), codes()), "decode must be differentiable"),
        (lambda: orthogonal_jacobian(lambda z: (z > 0).long(), codes()), "decode must be differentiable"),
        (lambda: mmd(codes(), kernel=None), "no kernel is called 'None'"),  # pyright: ignore[reportArgumentType]
        (lambda: soft_hausdorff_support(codes(), temperature="1"), "temperature must be a positive number, not '1'"),  # pyright: ignore[reportArgumentType]
        (lambda: sigreg(codes(), points=True), "points must be an integer of at least 3, not True"),
    ],
)
def test_bad_options_are_refused_in_one_line(call, message):
    with pytest.raises(UsageError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("call", [density_ratio, lambda d, x: density_ratio_loss(d, x, x)])
def test_a_discriminator_that_is_no_module_is_refused_by_both(call):
    with pytest.raises(UsageError, match=r"discriminator must be a torch\.nn\.Module, not function"):
        call(lambda x: x[:, :2], codes())
    with pytest.raises(UsageError, match=r"two logits for each code, not tuple"):
        call(nn.LSTM(4, 2, dtype=torch.float64), codes())


@pytest.mark.parametrize("generator", [0, np.random.default_rng(0)])
@pytest.mark.parametrize(
    "penalty",
    [
        sigreg,
        hausdorff_support,
        partial(soft_hausdorff_support, pairs=2),
        partial(orthogonal_jacobian, sums, columns=2),
    ],
)
def test_a_generator_that_is_not_torchs_is_refused(penalty, generator):
    with pytest.raises(UsageError, match=r"must be a torch\.Generator, such as .*manual_seed\(0\), not ") as caught:
        penalty(codes(), generator=generator)
    assert "\n" not in str(caught.value)


def test_numbers_of_numpy_are_numbers():
    x, one, two = codes(), np.float32(1), np.int64(2)
    cases: list[tuple[Callable[..., Tensor], dict[str, Any]]] = [
        (soft_hausdorff_support, {"temperature": one, "pairs": two}),
        (hausdorff_support, {"pairs": two}),
        (mmd, {"bandwidth": one}),
        (lambda x, data_size: total_correlation(x, x, x, data_size=data_size), {"data_size": np.int64(100)}),
        (partial(orthogonal_jacobian, sums), {"columns": two}),
        (sigreg, {"directions": two, "points": np.int32(5), "limit": np.float64(4)}),
    ]
    for penalty, options in cases:
        drawn = {"generator"} & set(inspect.signature(penalty).parameters)
        plain = {name: value.item() for name, value in options.items()}
        numpys, pythons = (penalty(x, **given, **{name: seeded() for name in drawn}) for given in (options, plain))
        assert numpys == pythons


FUNCTIONS = [name for name in unweave.penalties.__all__ if inspect.isfunction(getattr(unweave.penalties, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_docstring_has_all_sections_and_its_example_runs(name):
    found = getattr(unweave.penalties, name)
    text = inspect.getdoc(found) or ""
    sections = dict(zip(*[iter(re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)[1:])] * 2, strict=True))
    assert {"Parameters", "Returns", "Examples"} <= set(sections)
    described = re.findall(r"\w+", "\n".join(re.findall(r"^\S.*", sections["Parameters"], re.MULTILINE)))
    assert described == list(inspect.signature(found).parameters)
    example = doctest.DocTestParser().get_doctest(sections["Examples"], {}, name, None, None)
    assert example.examples
    assert not doctest.DocTestRunner().run(example).failed


# The methods


def batch_terms(method: Method, choices: int = 3) -> tuple[Model, Gaussian, Tensor, dict[str, Tensor]]:
    net = Net("mlp", latents=4, width=0.02)
    model = net.build((16, 16, 1), seeded(), method.bottleneck, method.adversary)
    batch = Batch(torch.rand(9, 1, 16, 16, generator=seeded(1)), choices=seeded(choices))
    q, z = method.infer(model, batch, 0, seeded(2))
    assert isinstance(q, Gaussian)
    return model, q, z, method.terms(model, batch, q, z, 0)


def test_beta_tcvae_logs_the_parts_times_their_weights():
    for size in (None, 500, 5):  # 5: fewer than the nine rows, which training draws with replacement
        estimator = "weighted" if size is None else "stratified"
        method = BetaTCVAE(beta=6, alpha=2, gamma=3, estimator=estimator, data_size=size or 0, loss="mse")
        _, q, z, terms = batch_terms(method)
        parts = kl_parts(z, q.mean, q.log_variance, data_size=size)
        expected = {"information": 2 * parts[0], "total_correlation": 6 * parts[1], "dimension_kl": 3 * parts[2]}
        assert {name: terms[name].item() for name in expected} == {k: v.item() for k, v in expected.items()}
        assert parts.total_correlation == total_correlation(z, q.mean, q.log_variance, data_size=size)


def test_alpha_tcvae_logs_the_information_times_its_weight():
    _, q, z, terms = batch_terms(AlphaTCVAE(alpha=0.5, loss="mse"))
    expected = 4 * 0.5 / 3.5 * kl_parts(z, q.mean, q.log_variance).information
    assert terms["information"].item() == pytest.approx(expected.item())


def test_factor_vae_logs_the_density_ratio_times_its_weight():
    method = FactorVAE(gamma=7, adversary_units=8, loss="mse")
    model, _, z, terms = batch_terms(method)
    assert model.adversary is not None
    assert terms["total_correlation"] == 7 * density_ratio(model.adversary, z)
    other = codes(9).float()
    assert method.adversary_loss(model, z, lambda: other) == density_ratio_loss(model.adversary, z, other)


def test_dip_vae_logs_the_covariance_terms_times_their_weights():
    for kind in ("I", "II"):
        _, q, _, terms = batch_terms(DIPVAE(kind=kind, lambda_od=3, lambda_d=5, loss="mse"))
        found = dip_covariance(q.mean, q.log_variance if kind == "II" else None)
        assert (terms["off_diagonal"], terms["diagonal"]) == (3 * found.off_diagonal, 5 * found.diagonal)


def test_hfs_logs_the_support_distance_and_the_total_correlation_times_their_weights():
    for temperature, penalty in ((0.0, hausdorff_support), (0.5, soft_hausdorff_support)):
        method = HFS(gamma=4, pairs=3, temperature=temperature, tc=5, loss="mse")
        _, q, z, terms = batch_terms(method)
        options = {"temperature": temperature} if temperature else {}
        assert terms["support"] == 4 * penalty(q.mean, pairs=3, generator=seeded(3), **options)
        assert terms["total_correlation"] == 5 * total_correlation(z, q.mean, q.log_variance)


def test_info_vae_logs_the_discrepancy_times_its_weight():
    for kernel in ("imq", "gaussian"):
        method = InfoVAE(alpha=0.5, lambda_mmd=9.5, kernel=kernel, bandwidth=2.0, loss="mse")
        _, _, z, terms = batch_terms(method)
        assert terms["mmd"] == 9 * mmd(z, kernel=kernel, bandwidth=2.0)


def test_codes_that_are_not_finite_end_training_as_a_divergence(tmp_path):
    options = {"data": "xysquares:size=32", "net": "mlp", "width": 0.02, "batch": 8, "log_every": 100}
    with pytest.raises(UsageError, match=r"no longer finite.*try a smaller lr"):
        unweave.train("dip-vae", steps=60, lr=1e12, out=tmp_path / "run", **options)
    assert unweave.Run.open(tmp_path / "run").status["state"] == "failed"
