"""One step of training: the objective of a batch, and the update of the weights."""

from __future__ import annotations

import torch
from torch import Tensor

from unweave.config import Config
from unweave.data import Dataset
from unweave.losses import loss_of
from unweave.methods import Batch, Method
from unweave.nets import Posterior
from unweave.training.state import TrainingState


def take_step(state: TrainingState, config: Config, data: Dataset) -> Posterior:
    """Update the state by one step, and return the posteriors of its batch."""
    method, model, size = config.method, state.model, config.training.batch
    batch = _draw(method, data, size, state)
    with torch.autocast(model.device.type, torch.bfloat16, enabled=config.training.precision == "bf16"):
        q, z = method.infer(model, batch, state.step, state.streams.noise)
        terms = _terms(state, config, batch, q, z)
    with torch.no_grad():
        diagnostics = method.diagnostics(model, q, z, state.step)
    loss = torch.stack(list(terms.values())).sum()
    state.optimiser.zero_grad()
    loss.backward()
    if config.training.clip:
        torch.nn.utils.clip_grad_value_(model.own_parameters(), config.training.clip)
    state.optimiser.step()
    if state.adversary is not None:
        diagnostics["adversary"] = _train_adversary(state.adversary, method, data, size, state, z)
    state.history.add(loss, terms, diagnostics)
    state.step += 1
    return q


def _draw(method: Method, data: Dataset, size: int, state: TrainingState) -> Batch:
    """Return the next batch: its images, and their factors if the method needs them."""
    indices = method.draw(data, size, state.streams.batches).ravel()
    x = state.model.pixels(data.inputs(indices))  # (group_size * size, C, H, W) in [0, 1] or standardised; or (…, D)
    factors = torch.from_numpy(data.values(indices)).to(x.device) if method.labelled else None
    return Batch(x, indices.size // size, factors, state.streams.choices)


def _terms(state: TrainingState, config: Config, batch: Batch, q: Posterior, z: Tensor) -> dict[str, Tensor]:
    """Return the terms of the objective: those of the method, and the additional ones."""
    method, model, jacobian = config.method, state.model, config.jacobian
    terms = method.checked_terms(model, batch, q, z, state.step)
    if jacobian is not None:
        codes, loss = method.decoded(q, z), loss_of(method.loss)
        terms["jacobian"] = jacobian.term(model, loss, codes, state.step, state.streams.columns)
    if state.supervision is not None:
        terms["supervised"] = state.supervision.term(model, state.step)
    return terms


def _train_adversary(
    optimiser: torch.optim.Optimizer, method: Method, data: Dataset, size: int, state: TrainingState, z: Tensor
) -> Tensor:
    """Update the adversary on the codes of the batch and of another one, and return its loss."""

    @torch.no_grad()
    def another() -> Tensor:
        batch = _draw(method, data, size, state)
        return method.infer(state.model, batch, state.step, state.streams.noise)[1]

    loss = method.adversary_loss(state.model, z.detach(), another)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.detach()
