"""A run: a folder that can be read without unweave, and the object that reads it.

config.json          what decides the result, with the run's identity
status.json          state, step, seconds, machine
log.parquet          step, seconds, loss, terms…
weights.safetensors  the model at its last checkpoint
checkpoint.pt        what resuming needs besides; gone once the run has finished
scores.parquet       metric, value, low, high, seconds, options
report.html          the page that `unweave report` draws
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError, safe_open

from unweave.config import Config
from unweave.data import Dataset, load
from unweave.devices import choose_device
from unweave.errors import UsageError
from unweave.files import write_atomically
from unweave.losses import loss_of
from unweave.nets import Model

if TYPE_CHECKING:
    import polars

CONFIG = "config.json"
STATUS = "status.json"
LOG = "log.parquet"
WEIGHTS = "weights.safetensors"
SCORES = "scores.parquet"
T = TypeVar("T")
CHUNK = 256
"""Images that go through the network at once when encoding or decoding."""


class Run:
    """A trained, or half-trained, model in its folder."""

    def __init__(self, path: Path, values: dict[str, Any], device: str = "auto") -> None:
        self.path = path
        self.config: dict[str, Any] = values
        self.settings = Config.from_json(values)
        self._device = device
        self._data: Dataset | None = None

    @classmethod
    def open(cls, path: str | Path, *, device: str = "auto", data: Dataset | None = None) -> Run:
        """Open the run in the folder `path`; `data` is its data set, for one that only this process has."""
        path = Path(path)
        if not path.is_dir():
            raise UsageError(f"there is no folder '{path}'")
        if not (path / CONFIG).is_file():
            raise UsageError(f"'{path}' is not a run: it has no {CONFIG}")
        run = cls(path, read_json(path / CONFIG), device)
        if data is not None:
            if data.description != run.settings.data:
                raise UsageError(f"'{path}' was trained on {run.settings.data}, not on {data.description}")
            run._data = data
        return run

    def __repr__(self) -> str:
        return f"Run('{self.path}', {self.settings.method}, {self.state} at step {self.step})"

    @property
    def id(self) -> str:
        """The run's identity: a hash of its configuration."""
        return self.settings.id

    @property
    def status(self) -> dict[str, Any]:
        """What status.json says now."""
        status = self.path / STATUS
        return read_json(status) if status.is_file() else {"state": "unfinished", "step": 0}

    @property
    def state(self) -> str:
        """Return "unfinished", "finished" or "failed"."""
        return self.status["state"]

    @property
    def step(self) -> int:
        """Number of steps the saved weights have been trained for."""
        return self.status["step"]

    @property
    def data(self) -> Dataset:
        """The data set the run was trained on."""
        if self._data is None:
            self._data = load(**self.settings.data)
        return self._data

    @cached_property
    def model(self) -> Model:
        """The model with its saved weights, ready to evaluate; the data set need not be at hand."""
        path = self.path / WEIGHTS
        if not path.is_file():
            raise UsageError(f"'{self.path}' has no weights: it stopped before its first checkpoint; train it again")
        try:
            with safe_open(path, framework="pt") as file:
                height, width, channels = map(int, file.metadata()["shape"].split(","))
                weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            model = self.settings.build((height, width, channels), torch.Generator())
            model.load_state_dict(weights)
        except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise UsageError(f"'{path}' does not hold this run's weights: {str(error).splitlines()[0]}") from error
        return model.to(choose_device(self._device)).eval()

    def log(self) -> polars.DataFrame:
        """Return the training curve: step, seconds, loss and every term."""
        import polars

        path = self.path / LOG
        return read_table(path) if path.is_file() else polars.DataFrame({"step": [], "loss": []})

    def posterior(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means and log-variances, each (n, latents), of uint8 images (n, H, W, C)."""

        def encode(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            q = self.model.encode(self.model.pixels(part))
            return q.mean.cpu().numpy(), q.log_variance.cpu().numpy()

        parts = self._in_chunks(encode, self._checked(images))
        means, log_variances = zip(*parts, strict=True)
        return np.concatenate(means), np.concatenate(log_variances)

    def encode(self, images: np.ndarray) -> np.ndarray:
        """Return the codes (n, latents) of uint8 images (n, H, W, C): their posterior means."""
        return self.posterior(images)[0]

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Return the expected images, uint8 (n, H, W, C), of codes (n, latents)."""
        codes = self._checked_codes(codes)
        mean = loss_of(self.settings.method.loss).mean

        def decode(part: np.ndarray) -> np.ndarray:
            z = torch.from_numpy(part).to(self.model.device)
            return self.model.images(mean(self.model.decode(z)))

        return np.concatenate(self._in_chunks(decode, codes))

    def reconstruct(self, images: np.ndarray) -> np.ndarray:
        """Return what the model makes of images: the decoded posterior means, uint8 (n, H, W, C)."""
        return self.decode(self.encode(images))

    def losses(self, images: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the reconstruction loss (n,) of each image, decoded from its code: summed over pixels, in nats."""
        distance = loss_of(self.settings.method.loss).distance
        codes = self._checked_codes(codes)

        def losses(rows: np.ndarray) -> np.ndarray:
            x = self.model.pixels(images[rows])
            y = self.model.decode(torch.from_numpy(codes[rows]).to(self.model.device))
            # A loss is a mean over its batch, and may mix pixels but not images: one image at a time.
            return torch.stack([distance(x[[i]], y[[i]]) for i in range(len(x))]).cpu().numpy()

        return np.concatenate(self._in_chunks(losses, np.arange(len(self._checked(images)))))

    def jacobians(self, codes: np.ndarray) -> np.ndarray:
        """Return how the expected pixels move with each code, (n, pixels, latents), at codes (n, latents)."""
        mean = loss_of(self.settings.method.loss).mean
        codes = self._checked_codes(codes)

        parts = []
        for start in range(0, len(codes), CHUNK):
            z = torch.tensor(codes[start : start + CHUNK], device=self.model.device, requires_grad=True)
            parts.append(_slopes(mean(self.model.decode(z)), z).cpu().numpy())
        return np.concatenate(parts)

    def evaluate(
        self,
        metrics: str | Sequence[str] = "all",
        *,
        samples: int | None = None,
        test_samples: int | None = None,
        on_progress: Callable[[str, int, int], None] | None = None,
        on_scores: Callable[[polars.DataFrame], None] | None = None,
        **settings: Any,
    ) -> polars.DataFrame:
        """Score the run on random images, encoding each distinct one once, and save the scores in its folder.

        Each metric's scores are saved as soon as they are there, in the place of earlier ones of the same weights and
        options.

        Parameters
        ----------
        metrics
            Names of metrics, or a group of them, as for `unweave.evaluate`.
        samples, test_samples
            How many images to score on, and to test on what was fitted, instead of the preset's ("paper": 10,000 and
            5,000; "fast": 2,000 and 1,000).
        on_progress, on_scores
            Told of progress, and given each metric's scores before they are saved, as for `unweave.evaluate`.
        **settings
            The fields of `unweave.metrics.Request`: preset, options, label_noise, seed, intervals, floors, …

        Returns
        -------
        polars.DataFrame
            The table of `unweave.evaluate`.
        """
        from unweave.metrics.request import Request
        from unweave.scoring import score_run

        def save(table: polars.DataFrame) -> None:
            if on_scores:
                on_scores(table)
            self._save_scores(table)

        request = Request.of(metrics, settings)
        return score_run(
            self, request, samples=samples, test_samples=test_samples, on_progress=on_progress, on_scores=save
        )

    def _save_scores(self, table: polars.DataFrame) -> None:
        """Save scores in the place of earlier ones of the same names and options."""
        import polars

        kept = self.scores()
        if kept is not None:
            kept = kept.join(table, on=("metric", "options"), how="anti", maintain_order="left")
        write_table(self.path / SCORES, table if kept is None else polars.concat([kept, table]))

    def scores(self) -> polars.DataFrame | None:
        """Return the table of all scores that `evaluate` saved, or None."""
        path = self.path / SCORES
        return read_table(path) if path.is_file() else None

    def _checked(self, images: np.ndarray) -> np.ndarray:
        images = np.ascontiguousarray(images)
        if images.dtype != np.uint8 or images.shape[1:] != self.model.shape:
            expected = "(n, " + ", ".join(map(str, self.model.shape)) + ")"
            raise UsageError(f"images must be uint8 of shape {expected}, not {images.dtype} {images.shape}")
        return images

    def _checked_codes(self, codes: np.ndarray) -> np.ndarray:
        codes = np.asarray(codes, dtype=np.float32)
        if codes.ndim != 2 or codes.shape[1] != self.model.latents:
            raise UsageError(f"codes must have shape (n, {self.model.latents}), not {codes.shape}")
        return codes

    @staticmethod
    def _in_chunks(function: Callable[[np.ndarray], T], rows: np.ndarray) -> list[T]:
        with torch.inference_mode():
            return [function(rows[start : start + CHUNK]) for start in range(0, max(len(rows), 1), CHUNK)]


def _slopes(y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Return the derivatives (n, pixels, latents) of pixels y (n, ...) with respect to their codes z (n, latents).

    Backwards through the backward pass: of J'u, which is linear in u, the gradient of entry j is column j of J.
    """
    u = torch.zeros_like(y, requires_grad=True)
    (product,) = torch.autograd.grad(y, z, u, create_graph=True)
    columns = [torch.autograd.grad(product[:, j].sum(), u, retain_graph=True)[0] for j in range(z.shape[1])]
    return torch.stack(columns, -1).flatten(1, -2)


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file of a run."""
    try:
        values = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"'{path}' cannot be read as JSON: {error}") from error
    if not isinstance(values, dict):
        raise UsageError(f"'{path}' does not hold a JSON object")
    return values


def read_table(path: Path) -> polars.DataFrame:
    """Return the table in a Parquet file of a run."""
    import polars

    try:
        return polars.read_parquet(path)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise UsageError(f"'{path}' cannot be read as a table; remove it if it is damaged") from error


def write_table(path: Path, table: polars.DataFrame) -> None:
    """Write a table as Parquet, whole or not at all."""
    buffer = BytesIO()
    table.write_parquet(buffer)
    write_atomically(path, buffer.getvalue())
