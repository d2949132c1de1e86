"""Define a new method, train it, score it, and compare it with a β-VAE.

The idea: in a β-VAE every latent costs the same, so every rotation of the codes is equally good. Here the price of a
latent grows with its index. The first latents are cheap, so the factor that explains most goes there.

Run it as a script, or give it to the command line as a plugin:

    unweave train ordered-vae --plugin examples/own_method.py --data shapes2d:size=32 --beta 0:4@50%
"""

from dataclasses import dataclass

import torch

import unweave
from unweave.methods import BetaVAE, Method, Scheduled, value_at


@dataclass(frozen=True)
class OrderedVAE(Method):
    """Ordered VAE: -E_q[log p(x|z)] + beta sum_j growth^j KL(q(z_j|x) || p(z_j))."""

    beta: Scheduled = 1.0
    """Weight of the KL term of the first latent; a number, or a schedule such as 0:4@50%."""
    growth: float = 1.3
    """How much more each latent costs than the one before it."""

    def __post_init__(self):
        super().__post_init__()
        self.require_not_negative("beta", "growth")

    def penalty(self, model, q, z, step):
        kl = q.kl().mean(0)  # (latents,) in nats
        prices = self.growth ** torch.arange(len(kl), device=kl.device)
        return {"kl": value_at(self.beta, step) * (prices * kl).sum()}

    def diagnostics(self, model, q, z, step):
        return {"first_kl": q.kl().mean(0)[0]}


def main():
    small = {"net": "mlp", "width": 0.1, "latents": 6, "lr": 3e-3, "batch": 32}
    common = {"data": "shapes2d:size=32", "steps": 300, "seed": 0, **small}
    ordered = unweave.train(OrderedVAE(beta=1), out="runs/ordered", **common)
    plain = unweave.train(BetaVAE(beta=1), out="runs/plain", **common)

    scores = ordered.evaluate(["mig", "mcc"], samples=1000, test_samples=500)
    print(scores.select("metric", "value", "low", "high", "floor", "ceiling"))

    # Both on the same images. One seed says little about a method: compare several.
    compared = unweave.compare(plain, ordered, metrics=["mig", "mcc"], samples=1000, test_samples=500)
    print(compared.select("metric", "value_a", "value_b", "difference", "low", "high"))


if __name__ == "__main__":
    main()
