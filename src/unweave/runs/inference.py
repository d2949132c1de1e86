"""Encode and decode with a run's model, in chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch

from unweave.errors import UsageError
from unweave.losses import Loss
from unweave.memory import keep_freed_memory
from unweave.nets import Gaussian, Joint, Model

T = TypeVar("T")
CHUNK = 256
"""Number of images that are encoded or decoded at once."""


def posterior(model: Model, images: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return means and log-variances, each (n, latents), of images or vectors; point codes have only means.

    A categorical latent beside Gaussian ones has the log-variance -inf.
    """

    def encode(part: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        q = model.encode(model.pixels(part))
        return q.mean.cpu().numpy(), q.log_variance.cpu().numpy() if isinstance(q, Gaussian | Joint) else None

    parts = _in_chunks(encode, model.checked(images))
    log_variances = [spread for _, spread in parts if spread is not None]
    return np.concatenate([mean for mean, _ in parts]), np.concatenate(log_variances) if log_variances else None


def decode(model: Model, loss: Loss, codes: np.ndarray) -> np.ndarray:
    """Return the images or vectors that the loss expects of codes (n, latents)."""

    def images(part: np.ndarray) -> np.ndarray:
        codes = torch.from_numpy(part).to(model.device)
        return model.images(loss.mean(model.decode(model.embed(codes))))

    return np.concatenate(_in_chunks(images, _checked(model, codes)))


def losses(model: Model, loss: Loss, images: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the reconstruction loss (n,) of each image, decoded from its code."""
    images, codes = model.checked(images), _checked(model, codes)

    def of(rows: np.ndarray) -> np.ndarray:
        x = model.pixels(images[rows])
        y = model.decode(model.embed(torch.from_numpy(codes[rows]).to(model.device)))
        return loss.distance(x, y).cpu().numpy()

    return np.concatenate(_in_chunks(of, np.arange(len(images))))


def jacobians(model: Model, loss: Loss, codes: np.ndarray) -> np.ndarray:
    """Return the derivatives of the expected pixels with respect to each latent, (n, pixels, latents)."""
    codes = _checked(model, codes)
    parts = []
    for start in range(0, len(codes), CHUNK):
        z = torch.tensor(codes[start : start + CHUNK], device=model.device, requires_grad=True)
        parts.append(_slopes(loss.mean(model.decode(z)), z).cpu().numpy())
    return np.concatenate(parts)


def _slopes(y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Return the derivatives (n, pixels, latents) of pixels y (n, ...) with respect to their codes z (n, latents).

    They are computed by differentiating the backward pass: J'u is linear in u, and the gradient of its entry j is
    column j of J.
    """
    u = torch.zeros_like(y, requires_grad=True)
    (product,) = torch.autograd.grad(y, z, u, create_graph=True)
    columns = [torch.autograd.grad(product[:, j].sum(), u, retain_graph=True)[0] for j in range(z.shape[1])]
    return torch.stack(columns, -1).flatten(1, -2)


def _checked(model: Model, codes: np.ndarray) -> np.ndarray:
    codes = np.asarray(codes, dtype=np.float32)
    if codes.ndim != 2 or codes.shape[1] != model.latents:
        raise UsageError(f"codes must have shape (n, {model.latents}), not {codes.shape}")
    return codes


def _in_chunks(function: Callable[[np.ndarray], T], rows: np.ndarray) -> list[T]:
    keep_freed_memory()
    with torch.inference_mode():
        return [function(rows[start : start + CHUNK]) for start in range(0, max(len(rows), 1), CHUNK)]
