"""The state of a training, and how it is saved and restored."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import polars
import torch
from safetensors.torch import save as save_tensors

from unweave.config import Config, Training
from unweave.data import Dataset
from unweave.errors import UsageError
from unweave.files import write_atomically
from unweave.nets import Model, Modules
from unweave.runs import CHECKPOINT, LOG, METADATA, WEIGHTS, snapshot_path, status_of
from unweave.tables import read_log, write_table
from unweave.training.folder import AGAIN
from unweave.training.history import History
from unweave.training.resolve import numbers_before_categories
from unweave.training.streams import Streams
from unweave.training.supervision import Supervision


@dataclass
class TrainingState:
    """Weights, optimiser, random streams and log after `step` steps."""

    model: Model
    optimiser: torch.optim.Optimizer
    adversary: torch.optim.Optimizer | None
    """The optimiser of the adversary, if the method has one."""
    supervision: Supervision | None
    """The labelled images, if there are any."""
    streams: Streams
    history: History
    step: int = 0
    seconds: float = 0.0

    @classmethod
    def initial(
        cls, config: Config, data: Dataset, device: torch.device, log_every: int, modules: Modules | None = None
    ) -> TrainingState:
        """Return the state before the first step; `modules` are the user's encoder and decoder, if any."""
        streams = Streams(config.training.seed, device)
        model = config.build(data.shape, streams.initialisation, modules)
        if config.training.standardise:
            model.set_pixel_scale(*data.scale())
        model = model.to(device)
        optimiser = _optimiser(model, config.training)
        adversary = None
        if model.adversary is not None:
            rate = config.method.adversary_rate
            adversary = torch.optim.Adam(model.adversary.parameters(), lr=rate, betas=(0.5, 0.9), fused=True)
        numbers = numbers_before_categories(config.method.categories_of(config.net.latents))
        supervision = config.labels and Supervision(config.labels, data, streams.labels, numbers)
        if supervision and supervision.embedding:
            learnt = supervision.embedding.to(device).parameters()
            optimiser.add_param_group({"params": list(learnt), "weight_decay": 0.0})
        return cls(model, optimiser, adversary, supervision, streams, History(log_every))

    def finite(self) -> bool:
        """Return whether the loss of the current window and all weights are finite."""
        weights = torch.stack([p.detach().square().sum() for p in self.model.parameters()])
        return self.history.finite() and bool(torch.isfinite(weights).all())

    def save(self, folder: Path, *, last: bool = False) -> None:
        """Write log, weights and checkpoint, each atomically.

        Resuming reads only the checkpoint (and the rows of the log up to its step), so a process may be killed between
        any of the three. The `last` step ends a window of the log in the table, but not in the checkpoint, so a run
        that is trained further has the same log as one that was trained without a break.
        """
        write_table(folder / LOG, self.history.table(self.step if last else None))
        write_atomically(folder / WEIGHTS, save_tensors(self._weights(), self._metadata()))
        values = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "adversary": self.adversary and self.adversary.state_dict(),
            "streams": self.streams.state(),
            "window": self.history.state(),
            "step": self.step,
        }
        if self.supervision and self.supervision.embedding:
            values["embedding"] = self.supervision.embedding.state_dict()
        buffer = BytesIO()
        torch.save(rebuilt(values), buffer)
        write_atomically(folder / CHECKPOINT, buffer.getvalue())

    def save_snapshot(self, folder: Path) -> None:
        """Save the weights of this step."""
        path = snapshot_path(folder, self.step)
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, save_tensors(self._weights(), self._metadata()))

    def restore(self, folder: Path) -> None:
        """Continue from the folder's checkpoint, if there is one."""
        path = folder / CHECKPOINT
        if not path.is_file():
            return
        try:
            self._restore(torch.load(path, map_location=self.model.device, weights_only=True))
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # torch raises many kinds for a damaged file
            trained_on, here = status_of(folder).get("device"), self.model.device.type
            if trained_on and trained_on != here:
                raise UsageError(f"'{folder}' was trained on {trained_on}; resume it there, not on {here}") from error
            raise UsageError(f"'{path}' is damaged; {AGAIN}") from error
        self.seconds = float(status_of(folder).get("seconds", 0.0))
        if not (folder / LOG).is_file():
            raise UsageError(f"'{folder / LOG}' is missing; put it back, or {AGAIN}")
        log = read_log(folder / LOG).drop("seconds", strict=False)  # written by earlier versions
        closed = self.step - self.history.under_way  # a row at this step belongs to an incomplete window
        self.history.rows = log.filter(polars.col("step") <= closed).to_dicts()

    def _restore(self, values: dict[str, Any]) -> None:
        """Continue from the content of a checkpoint; a damaged one can raise any exception."""
        self.model.load_state_dict(values["model"])
        self.optimiser.load_state_dict(values["optimiser"])
        if self.adversary is not None:
            self.adversary.load_state_dict(values["adversary"])
        if self.supervision and self.supervision.embedding:
            self.supervision.embedding.load_state_dict(values["embedding"])
        self.streams.restore(values["streams"])
        self.history.restore(values["window"], self.model.device)
        self.step = values["step"]
        taken = max(int(state["step"]) for state in self.optimiser.state.values())
        if self.step != taken:
            raise ValueError(f"Adam has taken {taken} steps, not {self.step}")

    def _metadata(self) -> dict[str, str]:
        # With the shape of the images, the model can be built without the data set.
        # A single key, because safetensors writes several in random order, and equal runs should have equal files.
        return {METADATA: json.dumps({"step": self.step, "shape": self.model.shape})}

    def _weights(self) -> dict[str, torch.Tensor]:
        # Row-major: readers without torch do not know channels_last. Copied: two names may share a tensor.
        return {name: value.detach().cpu().contiguous().clone() for name, value in self.model.state_dict().items()}


def rebuilt(value: Any) -> Any:
    """Return a copy without shared objects: pickle writes shared objects once, so equal states could differ."""
    if isinstance(value, dict):
        return {rebuilt(key): rebuilt(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(rebuilt, value))
    return sys.intern(value) if isinstance(value, str) else value


def _optimiser(model: Model, training: Training) -> torch.optim.Optimizer:
    """Return Adam, or AdamW, which decays weights and scales of normalisation layers, but not biases and codebooks."""
    if not training.weight_decay:
        return torch.optim.Adam(model.own_parameters(), lr=training.lr, fused=True)
    weights = {id(weight) for name, weight in model.named_parameters() if name.endswith("weight")}
    decaying = [weight for weight in model.own_parameters() if id(weight) in weights]
    others = [weight for weight in model.own_parameters() if id(weight) not in weights]
    groups = [{"params": decaying}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=training.lr, weight_decay=training.weight_decay, fused=True)
