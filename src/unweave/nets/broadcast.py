"""The spatial broadcast decoder: every pixel is computed from the code and the pixel's coordinates."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unweave.nets.body import Body, Shape, image_shape
from unweave.nets.conv import conv, scaled

CHANNELS = 64
LAYERS = 2


def broadcast(shape: Shape, latents: int, width: float, depth: int = 1) -> Body:
    """Return the encoder of `conv` with a spatial broadcast decoder [Watters2019b]_.

    The code is repeated at every pixel, together with the pixel's two coordinates from -1 to 1, and 3 × 3 convolutions
    of stride 1 follow: 64, 64, C. `depth` multiplies the number of hidden convolutions.
    """
    height, breadth, channels = image_shape(shape)
    whole, hidden = conv(shape, latents, width, depth), scaled(CHANNELS, width)
    sizes = [latents + 2, *[hidden] * (LAYERS * depth)]
    layers: list[nn.Module] = []
    for before in sizes[:-1]:
        layers += [nn.Conv2d(before, hidden, 3, 1, 1), nn.ReLU(inplace=True)]
    decoder = BroadcastDecoder(nn.Sequential(*layers, nn.Conv2d(hidden, channels, 3, 1, 1)), (height, breadth))
    return Body(whole.encoder, decoder, whole.features, whole.draw)


class BroadcastDecoder(nn.Module):
    """Applies layers that keep the size of the picture to the code and the coordinates at every pixel."""

    def __init__(self, layers: nn.Module, sides: tuple[int, int]) -> None:
        super().__init__()
        self.layers = layers
        self.sides = sides

    def forward(self, z: Tensor) -> Tensor:
        """Return images (n, C, H, W)."""
        return self.render(z, self.places(z))

    def render(self, z: Tensor, places: Tensor) -> Tensor:
        """Return images (n, C, H, W) whose pixels have the coordinates `places` (2, H, W)."""
        grid = (len(z), *places.shape[1:], -1)
        codes, at = z[:, None, None].expand(grid), places.permute(1, 2, 0).expand(grid)
        # Channels last in memory, like the weights.
        return self.layers(torch.cat([codes, at], 3).permute(0, 3, 1, 2))

    def places(self, z: Tensor) -> Tensor:
        """Return the vertical and horizontal coordinates (2, H, W) of all pixels, on the device of the codes."""
        down, across = (torch.linspace(-1, 1, side, dtype=z.dtype, device=z.device) for side in self.sides)
        return torch.stack(torch.meshgrid(down, across, indexing="ij"))
