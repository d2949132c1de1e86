"""Use your own net in two ways: as two modules in Python, and as a registered function for the command line.

unweave train beta-vae --plugin examples/own_net.py --net pooled:channels=16 --data xysquares:size=32
"""

import torch
from torch import nn

import unweave


class Encoder(nn.Module):
    """Images (n, C, H, W) to features (n, F): the method adds its own layer on top of them."""

    def __init__(self, shape, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(shape[2], channels, 3, stride=2, padding=1),
            nn.GroupNorm(4, channels),
            nn.SiLU(),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
        )

    def forward(self, x):
        return self.layers(x)


class Decoder(nn.Module):
    """Codes (n, latents) to (n, C, H, W): logits for the loss bce, means for the others."""

    def __init__(self, shape, latents, hidden):
        super().__init__()
        height, width, channels = shape
        self.layers = nn.Sequential(nn.Linear(latents, hidden), nn.SiLU(), nn.Linear(hidden, height * width * channels))
        self.shape = (channels, height, width)

    def forward(self, z):
        return self.layers(z).unflatten(1, self.shape)


@unweave.nets.register("pooled")
def pooled(shape, latents, width, channels=8):
    """Return an encoder and a decoder for images of a shape (H, W, C)."""
    return Encoder(shape, channels), Decoder(shape, latents, round(100 * width))


def main():
    common = {"data": "xysquares:size=32", "latents": 6, "steps": 50, "batch": 16}
    by_name = unweave.train("vae", net="pooled:channels=16", out="runs/by-name", **common)
    print(by_name.config["net"])
    torch.manual_seed(0)  # the initial weights are part of the run's identity
    modules = Encoder((32, 32, 3), 8), Decoder((32, 32, 3), 6, 100)
    unweave.train("vae", net=modules, out="runs/by-modules", **common)
    again = unweave.Run.open("runs/by-modules", net=modules)  # any modules with the same layers
    print(again.encode(again.data.images([0, 1, 2])).shape)


if __name__ == "__main__":
    main()
