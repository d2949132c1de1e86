"""The object that reads the folder of a run: `opening` opens it, `inference` encodes and decodes, `scoring` scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.data import Data, Dataset, load, load_again
from unweave.devices import choose_device
from unweave.errors import UsageError, called
from unweave.losses import Loss, loss_of
from unweave.nets import Model, Modules
from unweave.origins import Origin, plugins_of, warn_of_changes
from unweave.progress import OnProgress, reporting
from unweave.runs import inference
from unweave.runs.files import CONFIG, LOG, PUBLISHED, SCORES, SNAPSHOTS, WEIGHTS, snapshot_path, status_of
from unweave.runs.opening import find_data, naming_origin, open_model, read_config, recorded_origins, settings_of
from unweave.runs.weights import identity_of_file
from unweave.tables import merge_scores, read_log, read_scores
from unweave.tracing import about_traces, read_traces, traced_steps

if TYPE_CHECKING:
    import polars
    from PIL.Image import Image

    from unweave.report.chart import Chart
    from unweave.report.notebook import Page


class Run:
    """A trained or partly trained model in its folder.

    Examples
    --------
    >>> run = Run.open("runs/first")
    >>> images = run.data.images([0, 1, 2])
    >>> codes = run.encode(images)
    >>> codes.shape, run.decode(codes).shape
    ((3, 10), (3, 32, 32, 3))
    >>> run.traversals(rows=3).save("traversals.png")
    >>> run.log().columns
    ['step', 'loss', 'reconstruction', 'kl']
    """

    def __init__(self, path: Path, values: dict[str, Any], device: str = "auto", net: Modules | None = None) -> None:
        self.path = path
        self.config: dict[str, Any] = values
        self.settings = settings_of(values, path)
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
            The device of the model: "auto", "cpu", "cuda", "mps" …
        data
            The data set, if it is no longer where it was: a path, a name, an array or a data set. It must be the one
            that the run was trained on, which is checked.
        net
            The encoder and decoder, if the run was trained with two modules: any modules with the same layers. They
            get the weights of the run.

        Returns
        -------
        Run
            The run. Your own method, net or data set must be defined before, or loaded as a plugin.

        Examples
        --------
        >>> Run.open("runs/first").state
        'finished'
        """
        path = Path(path)
        values = read_config(path)
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
    def origins(self) -> dict[str, Origin]:
        """Where its method, net and data set come from, if they are a user's own."""
        return recorded_origins(self.config)

    @property
    def plugins(self) -> list[str]:
        """The files that define its parts, for `--plugin` or `unweave.plugins.load`."""
        return plugins_of(self.origins, self.path)

    def __repr__(self) -> str:
        return f"Run('{self.path}', {self.settings.method}, {self.state} at step {self.step})"

    @property
    def id(self) -> str:
        """The run's identity: a hash of its configuration."""
        return self.settings.id

    @property
    def status(self) -> dict[str, Any]:
        """The current content of status.json."""
        return status_of(self.path)

    @property
    def state(self) -> str:
        """The state: "unfinished", "finished" or "failed"."""
        return self.status["state"]

    @property
    def step(self) -> int:
        """Number of steps the saved weights have been trained for."""
        return self.status["step"] if self._snapshot is None else self._snapshot

    @property
    def snapshots(self) -> list[int]:
        """The steps whose weights are saved in addition to the last."""
        return sorted(int(path.stem) for path in (self.path / SNAPSHOTS).glob("[0-9]*.safetensors"))

    def has_snapshot(self, step: int) -> bool:
        """Return whether the weights of this step are saved."""
        return snapshot_path(self.path, step).is_file()

    def at(self, step: int) -> Run:
        """Return the run at an earlier step.

        Parameters
        ----------
        step
            The last step, or one of `snapshots`.

        Returns
        -------
        Run
            The run with the weights of that step.
        """
        if step == self.status["step"]:
            return self
        if not self.has_snapshot(step):
            kept = ", ".join(f"{kept:,}" for kept in [*self.snapshots, self.status["step"]])
            raise UsageError(f"'{self.path}' has no snapshot of step {step:,} (saved: {kept})")
        earlier = Run(self.path, self.config, self._device, self._modules)
        earlier._data, earlier._snapshot = self._data, step
        return earlier

    @property
    def trace_steps(self) -> list[int]:
        """The steps after which the decoder's hidden layers were recorded."""
        return traced_steps(self.path)

    @property
    def trace_indices(self) -> np.ndarray:
        """The indices (samples,) of the traced images, the same for every run on the data set."""
        return np.array(about_traces(self.path)["indices"], dtype=np.int64)

    @property
    def trace_layers(self) -> list[str]:
        """The names of the traced layers, in the order of the decoder."""
        return list(about_traces(self.path)["layers"])

    def traces(self, layers: str | Sequence[str] | None = None) -> np.ndarray:
        """Return the activations of the decoder's hidden layers for the trace images during training.

        Parameters
        ----------
        layers
            One or some of `trace_layers`; by default all.

        Returns
        -------
        np.ndarray
            Activations (moments, samples, units), float32, after `trace_steps`, for the images `trace_indices`, with
            the units of all layers concatenated. A layer with more than 256 units is represented by 256 random sums,
            which preserve Euclidean distances.
        """
        moments = read_traces(self.path, [layers] if isinstance(layers, str) else layers)
        return np.stack([np.concatenate([*moment.layers.values()], axis=1) for moment in moments])

    @property
    def weights_path(self) -> Path:
        """The file of its weights, which has another name in a published run."""
        if self._snapshot is not None:
            return snapshot_path(self.path, self._snapshot)
        published = self.path / PUBLISHED
        return published if published.is_file() else self.path / WEIGHTS

    @property
    def weights(self) -> str | None:
        """The identity of the current weights, a hash of their tensors; None before the first checkpoint."""
        try:
            path, found = self.weights_path, self.weights_path.stat()
        except FileNotFoundError:
            return None
        return identity_of_file(path, found.st_ino, found.st_mtime_ns, found.st_size)

    @property
    def has_posterior(self) -> bool:
        """Whether codes are means of Gaussian posteriors; otherwise some latents are points without a variance."""
        return self.settings.method.bottleneck == "gaussian"

    @property
    def has_decoder(self) -> bool:
        """Whether codes can be decoded; some methods learn only codes, without a decoder."""
        return self.settings.method.decoder

    @property
    def categories(self) -> tuple[int, ...]:
        """The number of categories of each latent, 0 for a numeric one. A categorical code is a category's index."""
        return self.settings.method.categories_of(self.settings.net.latents)

    @property
    def data(self) -> Dataset:
        """The data set that the run was trained on."""
        if self._data is None:
            with naming_origin(self.config, self.path):
                self._data = load(**find_data(self.settings, self.path))
        return self._data

    @property
    def model(self) -> Model:
        """The model with its saved weights, in evaluation mode; the data set is not needed."""
        return self._loaded[0]

    @cached_property
    def _loaded(self) -> tuple[Model, int, str]:
        """The model, and the step and identity of its weights, read at once because training replaces the file."""
        model, step, weights = open_model(self.weights_path, self.settings, self.origins, self._modules, self.path)
        return model.to(choose_device(self._device)).eval(), step, weights

    def traversals(self, **options: Any) -> Image:
        """Return a picture of traversals.

        Parameters
        ----------
        **options
            As for `unweave.report.traversals`.

        Returns
        -------
        PIL.Image.Image
            One row for each latent, with its values from -2 to 2.
        """
        from unweave.report import traversals

        return traversals(self, **options)

    def reconstructions(self, n: int = 10, *, seed: int = 0) -> Image:
        """Return a picture of random images and their reconstructions.

        Parameters
        ----------
        n
            Number of images.
        seed
            Seed of the choice of images.

        Returns
        -------
        PIL.Image.Image
            The images above, their reconstructions below.
        """
        from unweave.report import reconstructions

        return reconstructions(self, n, seed=seed)

    def latents(self, *, samples: int = 2000, seed: int = 0) -> Chart:
        """Return a figure of the information in each latent, and of its relation to the factors.

        Parameters
        ----------
        samples
            Number of images.
        seed
            Seed of the choice of images.

        Returns
        -------
        Chart
            The figure of `unweave.report.latents_figure`.
        """
        from unweave.report import latents_figure

        return latents_figure(self, samples=samples, seed=seed)

    def curves(self) -> Chart:
        """Return a figure of the loss and its terms over the training steps."""
        from unweave.report import training_figure

        return training_figure(self.log())

    def report(self, out: str | Path | None = None) -> Page:
        """Write the report page of the run.

        Parameters
        ----------
        out
            The file; by default report.html in the run's folder.

        Returns
        -------
        Page
            The page, which a notebook displays.
        """
        from unweave.report import Page, write_page

        return Page(write_page(self, None if out is None else Path(out)))

    def _repr_html_(self) -> str:
        from unweave.report.notebook import run_html

        return run_html(self)

    def log(self) -> polars.DataFrame:
        """Return the training log as a table: step, loss, every term, and diagnostics."""
        import polars

        path = self.path / LOG
        return read_log(path) if path.is_file() else polars.DataFrame({"step": [], "loss": []})

    def posterior(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the posteriors of images or vectors.

        Parameters
        ----------
        images
            Images, uint8 (n, H, W, C), or vectors (n, D).

        Returns
        -------
        tuple
            Means and log-variances, each (n, latents). Codes that are points (`has_posterior` is False) have no
            log-variances: None.
        """
        return inference.posterior(self.model, images)

    def encode(self, images: np.ndarray) -> np.ndarray:
        """Return the codes of images or vectors: posterior means, or points.

        Parameters
        ----------
        images
            Images, uint8 (n, H, W, C), or vectors (n, D).

        Returns
        -------
        np.ndarray
            Codes (n, latents).
        """
        return self.posterior(images)[0]

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Return the expected images or vectors for codes.

        Parameters
        ----------
        codes
            Codes (n, latents).

        Returns
        -------
        np.ndarray
            Images, uint8 (n, H, W, C), or vectors, float32 (n, D). A run without a decoder (`has_decoder` is False)
            raises a `UsageError`.
        """
        return inference.decode(self.model, self._loss, codes)

    def reconstruct(self, images: np.ndarray) -> np.ndarray:
        """Return the reconstructions of images or vectors: the decoded posterior means.

        Parameters
        ----------
        images
            Images, uint8 (n, H, W, C), or vectors (n, D).

        Returns
        -------
        np.ndarray
            Images or vectors of the same shape.
        """
        return self.decode(self.encode(images))

    def losses(self, images: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the reconstruction loss of each image.

        Parameters
        ----------
        images
            Images, uint8 (n, H, W, C), or vectors (n, D).
        codes
            The codes (n, latents) that they are decoded from.

        Returns
        -------
        np.ndarray
            Losses (n,), summed over pixels, in nats.
        """
        return inference.losses(self.model, self._loss, images, codes)

    def jacobians(self, codes: np.ndarray) -> np.ndarray:
        """Return the derivatives of the expected pixels with respect to each latent.

        Parameters
        ----------
        codes
            Codes (n, latents) at which the derivatives are computed.

        Returns
        -------
        np.ndarray
            Jacobians (n, pixels, latents).
        """
        if any(self.categories):
            raise UsageError("some latents are categorical, and there are no derivatives with respect to categories")
        return inference.jacobians(self.model, self._loss, codes)

    @property
    def _loss(self) -> Loss:
        return loss_of(self.settings.method.loss)

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
        """Score the run on random images, and save the scores in its folder.

        Each distinct image is encoded once. The scores of a metric are saved as soon as they are computed, and replace
        earlier scores of the same weights and options.

        Parameters
        ----------
        metrics
            Names of metrics, or of a group, as for `unweave.evaluate`.
        samples, test_samples
            Number of train and test rows, instead of the preset's ("paper": 10,000 and 5,000; "fast": 2,000 and
            1,000).
        progress, on_progress, on_result
            Whether to show a progress bar, a function to call with the progress instead, and a function to call with
            each metric's scores before they are saved, as for `unweave.evaluate`.
        **settings
            The fields of `unweave.metrics.Request`: preset, options, label_noise, seed, intervals, floors, …

        Returns
        -------
        polars.DataFrame
            The table of `unweave.evaluate`. The saved table has no times, so that equal runs have equal files.

        Examples
        --------
        >>> run = Run.open("runs/first")
        >>> run.evaluate("mig", samples=1000, test_samples=500)["metric"].to_list()
        ['mig', 'encoding']
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
        """Save scores under the step and weights of the loaded model, even if training has continued since."""
        if not len(table):
            return
        _, step, weights = self._loaded
        merge_scores(self.path / SCORES, table, step=step, weights=weights)

    def scores(self) -> polars.DataFrame | None:
        """Return all scores that `evaluate` saved.

        Returns
        -------
        polars.DataFrame or None
            The table of scores, or None if there are none. `step` and `weights` say which model a score belongs to,
            `current` whether that is the model in the folder now: a run that was scored and then trained further keeps
            its earlier scores, but they are not current.
        """
        import polars

        from unweave.score_frame import Scores

        table = read_scores(self.path / SCORES)
        if table is None:
            return None
        same = polars.col("weights") == polars.lit(self.weights, dtype=polars.String)
        return Scores(table.with_columns(current=same.fill_null(value=False)))
