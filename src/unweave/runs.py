"""A run: a folder that can be read without unweave, and the object that reads it.

config.json          what decides the result, with the run's identity
status.json          state, step, seconds, machine
log.parquet          step, loss, terms…
weights.safetensors  the model at its last checkpoint
snapshots/           the model at earlier steps, where they were asked for
checkpoint.pt        what training on needs besides: optimiser, random streams; about three times the weights
scores.parquet       metric, value, low, high, floor, ceiling, adjusted, options, step, weights
report.html          the page that `unweave report` draws
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors

from unweave.again import train_command
from unweave.config import Config
from unweave.data import Data, Dataset, load, load_again, recorded
from unweave.data.identity import holds_arrays, with_absolute_path
from unweave.devices import choose_device
from unweave.errors import UnknownName, UsageError, called
from unweave.files import is_whole_archive
from unweave.losses import loss_of
from unweave.nets import Gaussian, Model, Modules, Shape
from unweave.nets.own import OWN
from unweave.origins import how_to_load, plugins_of, warn_of_changes
from unweave.progress import OnProgress, reporting
from unweave.tables import merge_scores, read_log, read_scores

if TYPE_CHECKING:
    import polars
    from PIL.Image import Image

    from unweave.report.chart import Chart
    from unweave.report.notebook import Page

CONFIG = "config.json"
STATUS = "status.json"
LOG = "log.parquet"
WEIGHTS = "weights.safetensors"
CHECKPOINT = "checkpoint.pt"
SCORES = "scores.parquet"
PAGE = "report.html"
FILES = (STATUS, LOG, WEIGHTS, CHECKPOINT, SCORES, PAGE, CONFIG)
"""All files of a run; the one that says that the folder is a run is the last."""
SNAPSHOTS = "snapshots"
TENSORBOARD = "tensorboard"
"""The folder for TensorBoard, in that of the run."""
METADATA = "unweave"
"""The key of safetensors' metadata below which the step and the shape of the images are, as JSON."""
T = TypeVar("T")
CHUNK = 256
"""Images that go through the network at once when encoding or decoding."""


class Run:
    """A trained, or half-trained, model in its folder."""

    def __init__(self, path: Path, values: dict[str, Any], device: str = "auto", net: Modules | None = None) -> None:
        self.path = path
        self.config: dict[str, Any] = values
        with self._naming_its_origin():
            settings = Config.from_json(values)
        self.settings = replace(settings, data=with_absolute_path(settings.data, path))
        self._device = device
        self._data: Dataset | None = None
        self._modules = net
        self._snapshot: int | None = None

    @classmethod
    def open(
        cls, path: str | Path, *, device: str = "auto", data: Data | None = None, net: Modules | None = None
    ) -> Run:
        """Open the run in a folder.

        Parameters
        ----------
        path
            The run's folder.
        device
            Where the model will be: "auto", "cpu", "cuda", "mps" …
        data
            Its data set, where that is not found any more: a path, a name, an array or a data set. It is checked to be
            the one that the run was trained on.
        net
            Its encoder and decoder, where the run was trained on two modules: new ones of the same layers. Their
            weights are those of the run, whatever they were.

        Returns
        -------
        Run
            The run. A method, net or data set of your own must have been defined, or loaded as a plugin.
        """
        path = Path(path)
        if not path.is_dir():
            raise UsageError(f"there is no folder '{path}'")
        if not (path / CONFIG).is_file():
            raise UsageError(f"'{path}' is not a run: it has no {CONFIG}")
        values = read_json(path / CONFIG)
        try:
            run = cls(path, values, device, net)
        except UsageError as error:
            raise UsageError(f"'{path / CONFIG}': {error}") from error
        if data is not None:
            with called(f"'{path}'"):
                run._data = load_again(run.settings.data, data)
        warn_of_changes(run.origins, path)
        return run

    @property
    def origins(self) -> dict[str, dict[str, Any]]:
        """Where its method, net and data set come from, as far as they are a user's own."""
        found = self.config.get("origins")
        return {part: origin for part, origin in found.items() if isinstance(origin, dict)} if found else {}

    @property
    def plugins(self) -> list[str]:
        """The files that define what it is made of, for `--plugin` or `unweave.plugins.load`."""
        return plugins_of(self.origins, self.path)

    @contextmanager
    def _naming_its_origin(self) -> Iterator[None]:
        """Answer a name that is not known with the plugin that defines it, where the run says which."""
        try:
            yield
        except UnknownName as error:
            part = "data" if error.kind == "data set" else error.kind
            if part not in self.origins:
                raise
            raise UsageError(f"its {error.kind} is {how_to_load(self.origins[part], self.path)}") from error

    def __repr__(self) -> str:
        return f"Run('{self.path}', {self.settings.method}, {self.state} at step {self.step})"

    @property
    def id(self) -> str:
        """The run's identity: a hash of its configuration."""
        return self.settings.id

    @property
    def status(self) -> dict[str, Any]:
        """What status.json says now."""
        return status_of(self.path)

    @property
    def state(self) -> str:
        """Return "unfinished", "finished" or "failed"."""
        return self.status["state"]

    @property
    def step(self) -> int:
        """Number of steps the saved weights have been trained for."""
        return self.status["step"] if self._snapshot is None else self._snapshot

    @property
    def snapshots(self) -> list[int]:
        """The steps whose weights are kept beside the last."""
        return sorted(int(path.stem) for path in (self.path / SNAPSHOTS).glob("[0-9]*.safetensors"))

    def has_snapshot(self, step: int) -> bool:
        """Tell whether the weights of this step are there."""
        return snapshot_path(self.path, step).is_file()

    def at(self, step: int) -> Run:
        """Return the run as it was after this step: the last one, or a snapshot."""
        if step == self.status["step"]:
            return self
        if not self.has_snapshot(step):
            kept = ", ".join(f"{kept:,}" for kept in [*self.snapshots, self.status["step"]])
            raise UsageError(f"'{self.path}' has no snapshot of step {step:,} (kept: {kept})")
        earlier = Run(self.path, self.config, self._device)
        earlier._data, earlier._snapshot = self._data, step
        return earlier

    @property
    def _weights_path(self) -> Path:
        return self.path / WEIGHTS if self._snapshot is None else snapshot_path(self.path, self._snapshot)

    @property
    def weights(self) -> str | None:
        """The identity of the weights in the folder now, a hash of their tensors; None before the first checkpoint."""
        try:
            path, found = self._weights_path, self._weights_path.stat()
        except FileNotFoundError:
            return None
        return _hash_of_file(path, found.st_ino, found.st_mtime_ns, found.st_size)

    @property
    def has_posterior(self) -> bool:
        """Whether a code is the mean of a Gaussian posterior; otherwise it is a point, and has no variance."""
        return self.settings.method.bottleneck == "gaussian"

    @property
    def data(self) -> Dataset:
        """The data set the run was trained on."""
        if self._data is None:
            with self._naming_its_origin():
                self._data = load(**self._found_data())
        return self._data

    def _found_data(self) -> dict[str, Any]:
        """Return the description of the data set with the path where it is: seen from the run, or as it was then."""
        description = recorded(self.settings.data)
        if "path" not in description or Path(description["path"]).exists():
            return description
        former = self.status.get("data")
        if isinstance(former, str) and Path(former).exists():
            return {**description, "path": former}
        raise UsageError(
            f"the data of '{self.path}' are not at '{description['path']}'; say where they are: --data PATH "
            "(in Python: Run.open(folder, data=PATH))"
        )

    @property
    def model(self) -> Model:
        """The model with its saved weights, ready to evaluate; the data set need not be at hand."""
        return self._loaded[0]

    @cached_property
    def _loaded(self) -> tuple[Model, int, str]:
        """The model, and the step and the identity of its weights: of one reading, for training replaces the file."""
        path = self._weights_path
        if not path.is_file():
            raise UsageError(f"'{self.path}' has no {WEIGHTS}; {_help(self.path)}")
        if self.settings.net.name == OWN and self._modules is None:
            modules = self.origins.get("net", {}).get("name", "an encoder and a decoder")
            needed = f"unweave.Run.open('{self.path}', net=(encoder, decoder))"
            raise UsageError(f"the net of '{self.path}' is two modules of your own, {modules}: open it with {needed}")
        content = path.read_bytes()
        try:
            step, shape = _metadata(content)
            model = self.settings.build(shape, torch.Generator(), self._modules)
            tensors = load_tensors(content)
            model.load_state_dict(tensors)
        except UsageError:
            raise
        except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
            reason = str(error).splitlines()[0].rstrip(":")
            raise UsageError(f"'{path}' does not hold this run's weights ({reason}); {_help(self.path)}") from error
        if not all(tensor.isfinite().all() for tensor in tensors.values()):
            raise UsageError(f"'{path}' holds weights that are no finite numbers; train again, with a smaller lr")
        return model.to(choose_device(self._device)).eval(), step, _hash(content)

    def traversals(self, **options: Any) -> Image:
        """Return a picture with one row for each latent, its values from -2 to 2; see `unweave.report.traversals`."""
        from unweave.report import traversals

        return traversals(self, **options)

    def reconstructions(self, n: int = 10, *, seed: int = 0) -> Image:
        """Return a picture of n random images above what the model makes of them."""
        from unweave.report import reconstructions

        return reconstructions(self, n, seed=seed)

    def latents(self, *, samples: int = 2000, seed: int = 0) -> Chart:
        """Return a figure of what each latent carries, and of which factor; see `unweave.report.latents_figure`."""
        from unweave.report import latents_figure

        return latents_figure(self, samples=samples, seed=seed)

    def curves(self) -> Chart:
        """Return a figure of the loss and of each of its terms over the steps."""
        from unweave.report import training_figure

        return training_figure(self.log())

    def report(self, out: str | Path | None = None) -> Page:
        """Write the page of the run, by default as report.html in its folder, and return it."""
        from unweave.report import Page, write_page

        return Page(write_page(self, None if out is None else Path(out)))

    def _repr_html_(self) -> str:
        from unweave.report.notebook import run_html

        return run_html(self)

    def log(self) -> polars.DataFrame:
        """Return the training curve: step, loss and every term."""
        import polars

        path = self.path / LOG
        return read_log(path) if path.is_file() else polars.DataFrame({"step": [], "loss": []})

    def posterior(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return means and log-variances, each (n, latents), of uint8 images (n, H, W, C), or of vectors (n, D).

        Codes that are points (`has_posterior` is False) have no variance: of them, the codes and None.
        """

        def encode(part: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
            q = self.model.encode(self.model.pixels(part))
            return q.mean.cpu().numpy(), q.log_variance.cpu().numpy() if isinstance(q, Gaussian) else None

        parts = self._in_chunks(encode, self.model.checked(images))
        log_variances = [spread for _, spread in parts if spread is not None]
        return np.concatenate([mean for mean, _ in parts]), np.concatenate(log_variances) if log_variances else None

    def encode(self, images: np.ndarray) -> np.ndarray:
        """Return the codes (n, latents) of uint8 images (n, H, W, C), or vectors (n, D): posterior means, or points."""
        return self.posterior(images)[0]

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Return the expected images, uint8 (n, H, W, C), or vectors, float32 (n, D), of codes (n, latents)."""
        codes = self._checked_codes(codes)
        mean = loss_of(self.settings.method.loss).mean

        def decode(part: np.ndarray) -> np.ndarray:
            z = torch.from_numpy(part).to(self.model.device)
            return self.model.images(mean(self.model.decode(z)))

        return np.concatenate(self._in_chunks(decode, codes))

    def reconstruct(self, images: np.ndarray) -> np.ndarray:
        """Return what the model makes of images or vectors: the decoded posterior means."""
        return self.decode(self.encode(images))

    def losses(self, images: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the reconstruction loss (n,) of each image, decoded from its code: summed over pixels, in nats."""
        distance = loss_of(self.settings.method.loss).distance
        codes = self._checked_codes(codes)

        def losses(rows: np.ndarray) -> np.ndarray:
            x = self.model.pixels(images[rows])
            y = self.model.decode(torch.from_numpy(codes[rows]).to(self.model.device))
            return distance(x, y).cpu().numpy()

        images = self.model.checked(images)
        return np.concatenate(self._in_chunks(losses, np.arange(len(images))))

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
        progress: bool | None = None,
        on_progress: OnProgress | None = None,
        on_result: Callable[[polars.DataFrame], None] | None = None,
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
        progress, on_progress, on_result
            A bar or none, who is told of progress instead, and who is given each metric's scores before they are saved,
            as for `unweave.evaluate`.
        **settings
            The fields of `unweave.metrics.Request`: preset, options, label_noise, seed, intervals, floors, …

        Returns
        -------
        polars.DataFrame
            The table of `unweave.evaluate`. What is saved has no times: equal runs have equal files.
        """
        from unweave.metrics.evaluate import whole_scores
        from unweave.metrics.request import Request
        from unweave.scoring import score_run

        def save(table: polars.DataFrame) -> None:
            if on_result:
                on_result(table)
            self._save_scores(whole_scores(table).drop("seconds"))  # times would make equal runs differ

        request = Request.of(metrics, settings)
        with reporting(on_progress, progress) as told:
            return score_run(
                self, request, samples=samples, test_samples=test_samples, on_progress=told, on_result=save
            )

    def _save_scores(self, table: polars.DataFrame) -> None:
        """Save scores of the model as it was loaded, whatever training has made of the folder since."""
        if not len(table):
            return
        _, step, weights = self._loaded
        merge_scores(self.path / SCORES, table, step=step, weights=weights)

    def scores(self) -> polars.DataFrame | None:
        """Return the table of all scores that `evaluate` saved, or None.

        `step` and `weights` say which model a score is of, `current` whether that is the model in the folder now:
        a run that was scored and then trained further keeps its earlier scores, and they are not current.
        """
        import polars

        from unweave.score_frame import Scores

        table = read_scores(self.path / SCORES)
        if table is None:
            return None
        same = polars.col("weights") == polars.lit(self.weights, dtype=polars.String)
        return Scores(table.with_columns(current=same.fill_null(value=False)))

    def _checked_codes(self, codes: np.ndarray) -> np.ndarray:
        codes = np.asarray(codes, dtype=np.float32)
        if codes.ndim != 2 or codes.shape[1] != self.model.latents:
            raise UsageError(f"codes must have shape (n, {self.model.latents}), not {codes.shape}")
        return codes

    @staticmethod
    def _in_chunks(function: Callable[[np.ndarray], T], rows: np.ndarray) -> list[T]:
        with torch.inference_mode():
            return [function(rows[start : start + CHUNK]) for start in range(0, max(len(rows), 1), CHUNK)]


def _help(folder: Path) -> str:
    """Return the command that writes damaged or missing files again: from the checkpoint, or else from the start."""
    values = read_json(folder / CONFIG)
    config, kept = Config.from_json(values), is_whole_archive(folder / CHECKPOINT)
    config = replace(config, data=with_absolute_path(config.data, folder))
    objects = [*(["modules"] if config.net.name == OWN else []), *(["arrays"] if holds_arrays(config.data) else [])]
    if objects:
        return f"train it again with the same {' and '.join(objects)}{'' if kept else ', and overwrite=True'}"
    plugins = [word for plugin in plugins_of(values.get("origins", {}), folder) for word in ("--plugin", plugin)]
    if kept:
        return f"its checkpoint still has what is missing: {train_command(config, folder, *plugins)}"
    return f"train it again: {train_command(config, folder, *plugins, '--overwrite')}"


def _slopes(y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Return the derivatives (n, pixels, latents) of pixels y (n, ...) with respect to their codes z (n, latents).

    Backwards through the backward pass: of J'u, which is linear in u, the gradient of entry j is column j of J.
    """
    u = torch.zeros_like(y, requires_grad=True)
    (product,) = torch.autograd.grad(y, z, u, create_graph=True)
    columns = [torch.autograd.grad(product[:, j].sum(), u, retain_graph=True)[0] for j in range(z.shape[1])]
    return torch.stack(columns, -1).flatten(1, -2)


def _metadata(content: bytes) -> tuple[int, Shape]:
    """Return the step of the weights in a safetensors file, and the shape of the images."""
    metadata = json.loads(content[8 : _start_of_tensors(content)])["__metadata__"]
    if METADATA in metadata:
        metadata = json.loads(metadata[METADATA])
    else:  # an earlier version wrote each under a key of its own
        metadata = {**metadata, "shape": metadata["shape"].split(",")}
    return int(metadata["step"]), tuple(map(int, metadata["shape"]))


def _start_of_tensors(content: bytes) -> int:
    """Return where the header of a safetensors file ends: its length is in the first eight bytes."""
    return 8 + int.from_bytes(content[:8], "little")


def _hash(content: bytes) -> str:
    """Return a hash of the tensors of a safetensors file, and not of its header, whose order is left to chance."""
    return hashlib.sha256(content[_start_of_tensors(content) :]).hexdigest()[:16]


@lru_cache(maxsize=256)
def _hash_of_file(path: Path, *state: int) -> str:
    """Return the hash of a file that is in this state: a file that has changed is read again."""
    return _hash(path.read_bytes())


def snapshot_path(folder: Path, step: int) -> Path:
    """Return where a run keeps its weights of this step."""
    return folder / SNAPSHOTS / f"{step}.safetensors"


def status_of(folder: Path) -> dict[str, Any]:
    """Return what status.json in the folder of a run says; before its first checkpoint a run has none."""
    path = folder / STATUS
    return _checked_status(path, read_json(path)) if path.is_file() else {"state": "unfinished", "step": 0}


def _checked_status(path: Path, status: dict[str, Any]) -> dict[str, Any]:
    """Return a status as it is, if it says what it must, and in the right types."""
    state, step, seconds = status.get("state"), status.get("step"), status.get("seconds", 0.0)
    if not (isinstance(state, str) and _is_count(step) and isinstance(seconds, int | float) and seconds >= 0):
        raise UsageError(f"'{path}' is damaged: it must hold state, step and seconds; {_help(path.parent)}")
    return status


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file of a run."""
    try:
        values = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"'{path}' cannot be read as JSON: {error}") from error
    if not isinstance(values, dict):
        raise UsageError(f"'{path}' does not hold a JSON object")
    return values
