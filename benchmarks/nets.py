"""CPU time of a training step with each net, as a multiple of conv's: `python benchmarks/nets.py`.

Forwards and backwards on a batch of 64 random images, one thread, ten latents; for conv also with the Jacobian term,
at 16 codes. The nets alternate, and a cell is the shortest of the rounds, so other programs on the machine matter
little.
"""

from __future__ import annotations

import argparse
import time

import torch

from unweave.losses import loss_of
from unweave.methods import OrthogonalJacobian
from unweave.nets import Model, Net
from unweave.text import table

NETS = ("conv", "additive", "additive:shared=true", "additive:narrow=false", "broadcast")
TERMS = {"conv + jacobian": OrthogonalJacobian(), "conv + jacobian, 4 columns": OrthogonalJacobian(columns=4)}


def step(model: Model, x: torch.Tensor, term: OrthogonalJacobian | None) -> float:
    begun = time.process_time()
    model.zero_grad()
    z = model.encode(x).mean
    loss = (model.decode(z) - x).square().sum()
    if term is not None:
        loss = loss + term.term(model, loss_of("mse"), z, 0, torch.Generator())
    loss.backward()
    return time.process_time() - begun


def measured(side: int, width: float, rounds: int) -> list[dict[str, str]]:
    shape = (side, side, 3)
    names = [*NETS, *TERMS]
    nets = {name: Net(name.partition(" ")[0], width=width) for name in names}
    models = {name: net.build(shape, torch.Generator().manual_seed(0)) for name, net in nets.items()}
    x = torch.rand(64, 3, side, side).contiguous(memory_format=torch.channels_last)
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, model in models.items():
            times[name].append(step(model, x, TERMS.get(name)))
    return [
        {
            "net": name,
            "side": str(side),
            "width": f"{width:g}",
            "weights of the decoder": f"{sum(p.numel() for p in model.decoder.parameters()):,}",
            "time over conv's": f"{min(times[name]) / min(times['conv']):.1f}",
        }
        for name, model in models.items()
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    rows = [*measured(32, 0.5, rounds), *measured(64, 1.0, rounds)]
    print(table(rows, numbers=["side", "width", "weights of the decoder", "time over conv's"]))
