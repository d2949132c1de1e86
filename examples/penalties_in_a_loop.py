"""Use a penalty in your own training loop: a VAE whose total correlation is penalised to make latents independent.

Encoder, decoder, loop and optimiser are plain torch. Only the data and the penalty come from unweave.
"""

import torch
from torch import nn
from torch.nn import functional

import unweave
from unweave.penalties import total_correlation

LATENTS = 6


def main(steps=300):
    torch.manual_seed(0)
    data = unweave.load("shapes2d:size=32")
    images = torch.from_numpy(data.images(range(0, len(data), 367))).float().flatten(1) / 255  # (2009, 1024)

    encoder = nn.Sequential(nn.Linear(1024, 128), nn.ReLU(), nn.Linear(128, 2 * LATENTS))
    decoder = nn.Sequential(nn.Linear(LATENTS, 128), nn.ReLU(), nn.Linear(128, 1024))
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)

    for step in range(steps):
        x = images[torch.randint(len(images), (64,))]
        mean, log_variance = encoder(x).chunk(2, 1)
        z = mean + (log_variance / 2).exp() * torch.randn_like(mean)
        reconstruction = functional.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum") / len(x)
        kl = 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).sum(1).mean()
        dependence = total_correlation(z, mean, log_variance)  # in nats

        loss = reconstruction + kl + 5 * dependence  # a β-TCVAE with β = 6
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 100 == 99:
            terms = f"reconstruction {reconstruction:.1f}, kl {kl:.1f}, total correlation {dependence:.2f}"
            print(f"step {step + 1}: {terms}")
    return decoder(encoder(images)[:, :LATENTS]), images


if __name__ == "__main__":
    main()
