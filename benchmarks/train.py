"""Steps per second of `unweave.train`, with data and logging, compared with a bare eager torch loop.

The baseline is a first draft: the same network in plain torch, stock Adam, images preloaded as float tensors, no log.
Each side has its own process, because the settings of the memory allocator are per process. They alternate block by
block, so that both see the same machine. The ratio compares the median blocks.

    python benchmarks/train.py                         # batch 64 and 256, shapes2d
    python benchmarks/train.py --batch 64 --data rooms3d --threads 1
    python benchmarks/train.py --snapshots             # with and without a snapshot after each block of 100 steps
    python benchmarks/train.py --traces                # with and without a trace of 100 images after each block
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

PRELOADED = 2048


def floor(pipe: Connection, data_name: str, batch: int, block: int, blocks: int, threads: int) -> None:
    import torch
    from torch import nn
    from torch.nn import functional

    import unweave

    torch.set_num_threads(threads)
    data = unweave.load(data_name)
    channels = data.shape[2]
    images = torch.from_numpy(data.images(range(PRELOADED))).permute(0, 3, 1, 2).float().div(255).contiguous()
    encoder = nn.Sequential(
        *(nn.Conv2d(channels, 32, 4, 2, 1), nn.ReLU(), nn.Conv2d(32, 32, 4, 2, 1), nn.ReLU()),
        *(nn.Conv2d(32, 64, 4, 2, 1), nn.ReLU(), nn.Conv2d(64, 64, 4, 2, 1), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 20)),
    )
    decoder = nn.Sequential(
        *(nn.Linear(10, 256), nn.ReLU(), nn.Linear(256, 1024), nn.ReLU(), nn.Unflatten(1, (64, 4, 4))),
        *(nn.ConvTranspose2d(64, 64, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU()),
        *(nn.ConvTranspose2d(32, 32, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(32, channels, 4, 2, 1)),
    )
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
    for _ in range(blocks):
        pipe.recv()
        for _ in range(block):
            x = images[torch.randint(PRELOADED, (batch,))]
            mean, log_variance = encoder(x).chunk(2, dim=1)
            z = mean + (0.5 * log_variance).exp() * torch.randn_like(mean)
            reconstruction = functional.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum") / batch
            kl = 0.5 * (mean**2 + log_variance.exp() - log_variance - 1).sum(1).mean()
            loss = reconstruction + 4 * kl
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        pipe.send(None)


def trained(pipe: Connection, data_name: str, batch: int, block: int, blocks: int, threads: int) -> None:
    import warnings

    import unweave
    from unweave.methods import BetaVAE

    def gate(row: dict[str, float]) -> None:
        pipe.send(None)
        if row["step"] < block * blocks:
            pipe.recv()

    warnings.simplefilter("ignore")  # bce on grey images is intended: the same work on both sides
    with tempfile.TemporaryDirectory() as folder:
        pipe.recv()
        unweave.train(
            BetaVAE(beta=4, loss="bce"),
            data=data_name,
            out=Path(folder) / "run",
            steps=block * blocks,
            batch=batch,
            threads=threads,
            log_every=block,
            device="cpu",
            on_result=gate,
        )


def with_records(pipe: Connection, data: str, block: int, blocks: int, kept: bool, what: str, samples: int) -> None:
    """Train with or without a record in each block; send the CPU time of each block and of its record."""
    import unweave
    from unweave.training.state import TrainingState
    from unweave.training.traces import Tracer

    owner: Any = Tracer if what == "trace" else TrainingState
    name = "save" if what == "trace" else "save_snapshot"
    saving, save, last = [0.0], getattr(owner, name), [0.0]

    def timed(*arguments: Any) -> None:
        start = time.process_time()
        save(*arguments)
        saving[0] += time.process_time() - start

    def gate(row: dict[str, float]) -> None:
        if row["step"] % block == 0:  # of snapshots at block - 1 steps: within the block
            now = time.process_time()
            pipe.send((now - last[0], saving[0]))
            saving[0] = 0.0
            if row["step"] < block * blocks:
                pipe.recv()
            last[0] = time.process_time()

    setattr(owner, name, timed)
    with tempfile.TemporaryDirectory() as folder:
        pipe.recv()
        steps = range(block - 1, block * blocks, block)
        traces = {"trace_every": block - 1, "trace_samples": samples}  # one within each of the first hundred blocks
        records: dict[str, Any] = traces if what == "trace" else {"snapshots": steps}
        common = {"data": data, "batch": 64, "threads": 1, "device": "cpu", "progress": False}
        unweave.train(
            "beta-vae",
            out=Path(folder) / "run",
            steps=block * blocks,
            log_every=block,
            on_result=gate,
            **common,
            **(records if kept else {}),
        )


def records(data: str, block: int, blocks: int, what: str, samples: int) -> None:
    """Print the CPU time of alternating blocks with and without a record, and the share of saving."""
    context = multiprocessing.get_context("spawn")
    pipes: list[Any] = []
    for kept in (False, True):
        mine, there = context.Pipe()
        context.Process(
            target=with_records, args=(there, data, block, blocks, kept, what, samples), daemon=True
        ).start()
        pipes.append(mine)
    told: list[list[tuple[float, float]]] = [[], []]
    for _ in range(blocks):
        for pipe, times in zip(pipes, told, strict=True):
            pipe.send(None)
            times.append(pipe.recv())
    plain, kept = (statistics.median(total for total, _ in times[1:]) for times in told)
    saving = statistics.median(part for _, part in told[1][1:])
    print(f"{block} steps: {plain:.2f} CPU s without and {kept:.2f} with a {what} ({kept / plain - 1:+.1%})")
    share = saving / plain
    print(f"saving it: {1000 * saving:.1f} ms, {share:.2%} of {block} steps")


def measure(data: str, batch: int, block: int, blocks: int, threads: int) -> dict[str, list[float]]:
    """Return the seconds per step in every block except the first, for either side."""
    context = multiprocessing.get_context("spawn")
    sides: dict[str, Callable[..., None]] = {"floor": floor, "unweave": trained}
    pipes: dict[str, Any] = {}
    workers = []
    for name, target in sides.items():
        pipes[name], there = context.Pipe()
        workers.append(context.Process(target=target, args=(there, data, batch, block, blocks, threads), daemon=True))
        workers[-1].start()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(blocks):
        for name, pipe in pipes.items():
            start = time.perf_counter()
            pipe.send(None)
            pipe.recv()
            if number:  # the first block holds imports and warming up
                seconds[name].append((time.perf_counter() - start) / block)
    for worker in workers:
        worker.join()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="shapes2d")
    parser.add_argument("--batch", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--block", type=int, default=20, help="steps per block at batch 64; fewer for larger batches")
    parser.add_argument("--blocks", type=int, default=9)
    parser.add_argument("--snapshots", action="store_true", help="measure the cost of snapshots")
    parser.add_argument("--traces", action="store_true", help="measure the cost of traces")
    parser.add_argument("--samples", type=int, default=100, help="number of traced images")
    options = parser.parse_args()
    if options.snapshots or options.traces:
        what = "trace" if options.traces else "snapshot"
        return records(options.data, 100, options.blocks, what, options.samples)
    print(f"data {options.data}, {options.threads} threads, medians of {options.blocks - 1} interleaved blocks")
    print(f"{'batch':>6} {'floor steps/s':>14} {'unweave steps/s':>16} {'ratio':>6}   ratio of each pair of blocks")
    for batch in options.batch:
        block = max(4, options.block * 64 // batch)
        seconds = measure(options.data, batch, block, options.blocks, options.threads)
        floor_step, our_step = (statistics.median(seconds[name]) for name in ("floor", "unweave"))
        pairs = sorted(f / u for f, u in zip(seconds["floor"], seconds["unweave"], strict=True))
        print(
            f"{batch:>6} {1 / floor_step:>14.2f} {1 / our_step:>16.2f} {floor_step / our_step:>6.2f}"
            f"   {pairs[0]:.2f} … {pairs[-1]:.2f}"
        )
    return None


if __name__ == "__main__":
    main()
