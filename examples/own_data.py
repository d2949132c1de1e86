"""Define a data set that is drawn on demand; files and arrays need no code (docs/data/own.md).

unweave data show "discs:size=32" --plugin examples/own_data.py
unweave train beta-vae --plugin examples/own_data.py --data discs --out runs/discs
"""

import numpy as np

import unweave
from unweave.data import Dataset, FactorSpace


class Discs(Dataset):
    """A disc of varying position and radius."""

    def __init__(self, size: int = 32) -> None:
        self.factors = FactorSpace(("x", "y", "radius"), (8, 8, 4))
        self.shape = (size, size, 1)  # height, width, channels
        self.binary = True  # black and white, so the default loss is bce
        self.options = {"size": size}  # load("discs:size=64") builds the set again

    def _draw(self, indices):
        x, y, radius = self.factors.from_index(indices).T[:, :, None, None]
        size = self.shape[0]
        rows, columns = np.mgrid[:size, :size]
        across = columns - size * (x + 2) / 11
        down = rows - size * (y + 2) / 11
        inside = across**2 + down**2 <= (size * (radius + 1) / 24) ** 2
        return (255 * inside[..., None]).astype(np.uint8)


def main():
    data = unweave.load("discs:size=16")
    print(data)
    run = unweave.train("vae", data=data, net="mlp", width=0.1, latents=4, steps=100, out="runs/discs")
    print(run.evaluate("mig", samples=500, test_samples=200).select("metric", "value", "floor"))


if __name__ == "__main__":
    main()
