"""Each penalty, forwards and backwards, against the same formula written naively, on one thread.

python benchmarks/penalties.py              measures all: docs/results/penalties.csv, and the table of docs/penalties.md
python benchmarks/penalties.py --write      the table alone, from the file

The two alternate, and a ratio compares the smallest CPU times of the rounds. `difference` is the largest relative
difference of their values and gradients.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import polars
import torch
from pages import put
from torch import Tensor, nn

from unweave.nets import NETS
from unweave.penalties import (
    density_ratio,
    dip_covariance,
    hausdorff_support,
    mmd,
    orthogonal_jacobian,
    sigreg,
    soft_hausdorff_support,
    total_correlation,
)
from unweave.penalties.mmd import smoothed
from unweave.penalties.sigreg import draw_directions

TOP = Path(__file__).parents[1]
STORE, PAGE = TOP / "docs" / "results" / "penalties.csv", TOP / "docs" / "penalties.md"
ROWS, LATENTS = 64, 10
SIZE = 50_000
"""Images in the data set, for the stratified estimate."""
FEW = 8
"""Number of codes at which Jacobians are computed: with more, the naive version would take minutes."""
PAIRS = list(combinations(range(LATENTS), 2))

Function = Callable[[Tensor], Tensor]


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def codes(name: str) -> Tensor:
    return torch.randn(FEW if name == "orthogonal_jacobian" else ROWS, LATENTS, generator=seeded())


def correlation_by_images(x: Tensor, size: int | None) -> Tensor:
    """The densities of one sample after another, by torch's distributions."""
    mean, joint, margins = x.detach(), [], []
    q = torch.distributions.Normal(mean, 0.5)
    for k in range(ROWS):
        weights = torch.full((ROWS,), 1 / ROWS if size is None else (1 - 1 / size) / (ROWS - 1))
        if size is not None:
            weights[k] = 1 / size
        densities = q.log_prob(x[k])  # (images, latents)
        joint.append((weights.log() + densities.sum(1)).logsumexp(0))
        margins.append(sum((weights.log() + densities[:, j]).logsumexp(0) for j in range(LATENTS)))
    return (torch.stack(joint) - torch.stack(margins)).mean()


def covariance_by_entries(x: Tensor) -> Tensor:
    """One entry of the covariance after another."""
    centred, total = x - x.mean(0), x.new_zeros(())
    for i in range(LATENTS):
        for j in range(LATENTS):
            entry = (centred[:, i] * centred[:, j]).mean()
            total = total + (entry.square() if i != j else (entry - 1).square())
    return total


def distances(x: Tensor, i: int, j: int) -> Tensor:
    """Squared distances (n * n, n) of all points of the product from all codes, as in the authors' code."""
    points = torch.stack([x[:, i].repeat_interleave(ROWS), x[:, j].repeat(ROWS)], 1)
    return (points[:, None] - x[:, [i, j]]).square().sum(2)


def support_by_points(x: Tensor) -> Tensor:
    """The whole matrix of distances, with its gradient."""
    return sum((distances(x, i, j).min(1).values.max() for i, j in PAIRS), x.new_zeros(()))


def soft_support_by_points(x: Tensor) -> Tensor:
    """The whole matrix of distances and its softmax."""
    total = x.new_zeros(())
    for i, j in PAIRS:
        apart = distances(x, i, j)
        nearest = ((-apart).softmax(1) * apart).sum(1)
        total = total + (nearest.softmax(0) * nearest).sum()
    return total


def mmd_by_rows(x: Tensor) -> Tensor:
    """One code after another; the prior's expectation is ours."""
    scale, among, prior = 2.0 * LATENTS, x.new_zeros(()), x.new_zeros(())
    for a in range(ROWS):
        for b in range(ROWS):
            if a != b:
                among = among + scale / (scale + (x[a] - x[b]).square().sum())
        prior = prior + smoothed("imq", x[a].square().sum()[None], scale, LATENTS, 1.0).squeeze(0) / ROWS
    between = smoothed("imq", torch.zeros(1), scale, LATENTS, 2.0).squeeze(0)
    return among / (ROWS * (ROWS - 1)) - 2 * prior + between


def sigreg_by_exponentials(x: Tensor) -> Tensor:
    """Complex exponentials at all 17 points, as in the paper's listing."""
    t = torch.linspace(-5, 5, 17)
    normal = (-0.5 * t.square()).exp()
    projected = x @ draw_directions(LATENTS, 256, seeded()).float()
    empirical = (1j * projected[:, :, None] * t).exp().mean(0)
    return ROWS * torch.trapezoid((empirical - normal).abs().square() * normal, t, dim=1).mean()


def ratio_by_probabilities(discriminator: nn.Module) -> Function:
    """The logarithm of a ratio of probabilities, the discriminator's weights moved too."""

    def ratio(x: Tensor) -> Tensor:
        probabilities = discriminator(x).softmax(1)
        return (probabilities[:, 0] / probabilities[:, 1]).log().mean()

    return ratio


def jacobian_by_outputs(decoder: nn.Module) -> Function:
    """One Jacobian after another, by torch's own function of it."""

    def cosines(x: Tensor) -> Tensor:
        total = x.new_zeros(())
        for row in x:
            jacobian = torch.autograd.functional.jacobian(
                lambda z: decoder(z[None]).flatten(), row, create_graph=True, vectorize=True
            )
            unit = jacobian / jacobian.norm(dim=0)
            total = total + torch.stack([(unit[:, i] @ unit[:, j]).square() for i, j in PAIRS]).mean() / len(x)
        return total

    return cosines


def drawn(network: nn.Module) -> nn.Module:
    for weight in network.parameters():
        nn.init.normal_(weight, std=0.1, generator=seeded())
    return network


def cases() -> dict[str, tuple[Function, Function, str]]:
    """Return for each penalty ours, the naive one, and what that is."""
    widths = [LATENTS, 1000, 1000, 2]
    layers = [layer for i in range(3) for layer in (nn.Linear(widths[i], widths[i + 1]), nn.LeakyReLU(0.2))]
    discriminator = drawn(nn.Sequential(*layers[:-1]))
    decoder = drawn(NETS["conv"]((16, 16, 1), LATENTS, 0.25).decoder)
    log_variance = torch.full((ROWS, LATENTS), -2 * 0.6931471805599453)
    return {
        "total_correlation": (
            lambda x: total_correlation(x, x.detach(), log_variance),
            lambda x: correlation_by_images(x, None),
            "one sample after another, by torch's distributions",
        ),
        "total_correlation, stratified": (
            lambda x: total_correlation(x, x.detach(), log_variance, data_size=SIZE),
            lambda x: correlation_by_images(x, SIZE),
            "the same",
        ),
        "density_ratio": (
            lambda x: density_ratio(discriminator, x),
            ratio_by_probabilities(discriminator),
            "the logarithm of a ratio of probabilities, with a gradient by the discriminator",
        ),
        "dip_covariance": (
            lambda x: torch.stack(dip_covariance(x)).sum(),
            covariance_by_entries,
            "one entry after another",
        ),
        "hausdorff_support": (hausdorff_support, support_by_points, "all n³ distances, with a gradient"),
        "soft_hausdorff_support": (
            soft_hausdorff_support,
            soft_support_by_points,
            "all n³ distances and their softmax",
        ),
        "mmd": (mmd, mmd_by_rows, "one pair of codes after another"),
        "sigreg": (
            lambda x: sigreg(x, generator=seeded()),
            sigreg_by_exponentials,
            "complex exponentials at all 17 points",
        ),
        "orthogonal_jacobian": (
            lambda x: orthogonal_jacobian(decoder, x),
            jacobian_by_outputs(decoder),
            "one image after another, by torch's own Jacobian",
        ),
    }


def taken(penalty: Function, x: Tensor) -> tuple[float, Tensor, Tensor]:
    """Return the CPU seconds of a pass forwards and backwards, the value and the gradient."""
    x = x.clone().requires_grad_()
    start = time.process_time()
    value = penalty(x)
    value.backward()  # by the weights of a discriminator or decoder too, as in a training loop
    assert x.grad is not None
    return time.process_time() - start, value.detach(), x.grad


def measured(ours: Function, naive: Function, x: Tensor, rounds: int) -> tuple[float, float]:
    """Return how many times longer the naive one takes on codes x, and how far the two are apart."""
    seconds: tuple[list[float], list[float]] = ([], [])
    apart = 0.0
    for _ in range(rounds + 1):
        (one, value, gradient), (other, expected, right) = taken(ours, x), taken(naive, x)
        seconds[0].append(one)
        seconds[1].append(other)
        by_value = ((value - expected).abs() / expected.abs()).item()
        apart = max(apart, by_value, ((gradient - right).norm() / right.norm()).item())
    return min(seconds[1][1:]) / min(seconds[0][1:]), apart  # the first round warms up


def text() -> str:
    """Return the table of the docs."""
    lines = ["| penalty | written naively | times faster |", "|---|---|--:|"]
    for row in polars.read_csv(STORE).iter_rows(named=True):
        name, _, kind = row["penalty"].partition(", ")
        lines.append(f"| `{name}`{kind and ', ' + kind} | {row['naive']} | {row['ratio']:.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table of the docs from the file")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if not options.write:
        rows = []
        for name, (ours, naive, what) in cases().items():
            x = codes(name)
            ratio, apart = measured(ours, naive, x, options.rounds)
            rows.append({"penalty": name, "naive": what, "rows": len(x), "latents": LATENTS})
            rows[-1] |= {"ratio": round(ratio, 1), "difference": float(f"{apart:.1e}")}
            print(rows[-1], flush=True)
        polars.DataFrame(rows).write_csv(STORE)
    put(PAGE, "penalties", text())


if __name__ == "__main__":
    main()
