"""The decoder's hidden layers, recorded while a run is trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from torch import nn

import unweave
from unweave.methods import METHODS
from unweave.nets.hidden import hidden_activations
from unweave.tracing import Tracing, read_about, trace_path
from unweave.training.traces import UNITS, _projected, trace_indices

from .test_loop import Stop, stop_at


def files_of(run: unweave.Run) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (run.path / "traces").iterdir()}


def test_traces_are_the_activations_at_every_moment(tmp_path: Path, quick_train):
    run = quick_train(trace_every=12, trace_samples=20, snapshots=[12, 24])
    assert run.trace_steps == [0, 12, 24, 30]
    assert run.trace_layers == ["1", "3", "5"]
    traces = run.traces()
    assert (traces.shape, traces.dtype) == ((4, 20, 72), np.float32)
    images = run.data.images(run.trace_indices)
    for moment, step in ((1, 12), (2, 24), (3, 30)):
        then = run.at(step)
        with torch.no_grad():
            z = torch.from_numpy(then.encode(images))
            expected = [then.model.decoder[: number + 1](z).numpy() for number in (1, 3, 5)]
        np.testing.assert_allclose(traces[moment], np.concatenate(expected, axis=1), atol=3e-4)
        np.testing.assert_array_equal(run.traces(["3"])[moment], traces[moment][:, 24:48])
    np.testing.assert_array_equal(run.traces("5"), traces[:, :, 48:])
    assert (traces[0] != traces[1]).any()


def test_traces_change_neither_weights_nor_identity_nor_checkpoints(tmp_path: Path, quick_train):
    plain, traced = quick_train(out=tmp_path / "plain"), quick_train(out=tmp_path / "traced", trace_every=7)
    for name in ("weights.safetensors", "checkpoint.pt", "log.parquet"):
        assert (plain.path / name).read_bytes() == (traced.path / name).read_bytes()
    assert plain.id == traced.id
    assert traced.trace_indices.shape == (100,)


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if not kind.decoder])
def test_without_a_decoder_there_is_nothing_to_trace(name, quick_train):
    with pytest.raises(unweave.UsageError, match=f"{name} has no decoder to trace"):
        quick_train(method=name, trace_every=4)


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if kind.decoder])
def test_every_method_is_traced_and_resumes_to_the_same_traces(name, tmp_path: Path, quick_train):
    options = {"method": name, "steps": 12, "log_every": 3, "checkpoint_every": 6, "batch": 8, "latents": 6}
    plain = quick_train(**options, out=tmp_path / "plain")
    options |= {"trace_every": 4, "trace_samples": 8}
    whole = quick_train(**options, out=tmp_path / "whole")
    with pytest.raises(Stop):
        quick_train(**options, out=tmp_path / "cut", on_result=stop_at(9))
    cut = quick_train(**options, out=tmp_path / "cut")
    assert cut.trace_steps == [0, 4, 8, 12]
    assert files_of(cut) == files_of(whole)
    assert plain.weights == whole.weights == cut.weights
    assert np.isfinite(cut.traces()).all()


def test_a_run_that_is_trained_further_has_the_traces_of_a_long_one(tmp_path: Path, quick_train):
    short = quick_train(trace_every=20, trace_samples=5)
    assert short.trace_steps == [0, 20, 30]
    further = quick_train(trace_every=20, trace_samples=5, steps=50)
    assert further.trace_steps == [0, 20, 40, 50]
    assert files_of(further) == files_of(quick_train(trace_every=20, trace_samples=5, steps=50, out=tmp_path / "long"))


def test_the_images_are_those_of_the_data_set_whatever_the_run(tmp_path: Path, quick_train):
    first = quick_train(trace_every=30, trace_samples=6, seed=0, out=tmp_path / "first")
    other = quick_train(trace_every=30, trace_samples=9, seed=3, net="conv", latents=5, out=tmp_path / "other")
    np.testing.assert_array_equal(first.trace_indices, other.trace_indices[:6])
    many = trace_indices(unweave.load("xysquares:size=32"), 5000)
    assert len(np.unique(many)) == 5000
    np.testing.assert_array_equal(many[:9], other.trace_indices)


def test_a_wide_layer_keeps_its_distances():
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((60, 3000)).astype(np.float32)).abs()
    shown = _projected(x.unflatten(1, (10, 30, 10)))
    assert shown.shape == (60, UNITS)
    ratios = (torch.pdist(shown) / torch.pdist(x)).numpy() ** 2
    assert abs(ratios.mean() - 1) < 0.05
    assert ratios.std() < 1.2 * np.sqrt(2 / UNITS)
    assert _projected(x[:, :UNITS]).equal(x[:, :UNITS])


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e7])
def test_small_and_large_activations_are_kept(size, tmp_path: Path):
    """A decoder that all but ignores its codes has activations that float16 alone would hold for equal."""
    from unweave.tracing import Moment, read_moment, write_moment

    rng = np.random.default_rng(0)
    deviations = size * 1e-5 * rng.standard_normal((30, 8))
    values = (size * rng.standard_normal(8) + deviations).astype(np.float32)
    values[:, 7] = size
    write_moment(tmp_path, Moment(5, tuple(range(30)), {"a": values}))
    found = read_moment(trace_path(tmp_path, 5), ["a"]).layers["a"]
    np.testing.assert_allclose(found, values, atol=size * 1e-7)
    stored = load_file(trace_path(tmp_path, 5))
    assert {name: str(value.dtype) for name, value in stored.items()} == {"a": "float16", "a:mean": "float32"}


class Functional(nn.Module):
    """A decoder whose non-linearities are functions, and which draws random numbers even when it is evaluated."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = nn.Linear(4, 8), nn.Linear(8, 9), nn.Linear(9, 1024)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        hidden = self.second(torch.relu(self.first(z)) + 0 * torch.rand(1))
        return self.last(torch.relu(hidden)).reshape(-1, 1, 32, 32)


class Shared(nn.Module):
    """A decoder with one non-linearity for all layers, a dropout, and a sigmoid at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = nn.Linear(4, 8), nn.Linear(8, 9), nn.Linear(9, 1024)
        self.act, self.drop, self.end = nn.ELU(), nn.Dropout(0.5), nn.Sigmoid()

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        hidden = self.drop(self.act(self.second(self.act(self.first(z)))))
        return self.end(self.last(hidden)).reshape(-1, 1, 32, 32)


@pytest.mark.parametrize(
    ("decoder", "layers"), [(Functional, {"first": 8, "second": 9}), (Shared, {"act": 8, "act:2": 9})]
)
def test_modules_of_a_users_own(decoder, layers, tmp_path: Path, quick_train):
    grey = np.random.default_rng(0).integers(0, 255, (50, 32, 32), np.uint8)
    net = (nn.Sequential(nn.Flatten(), nn.Linear(1024, 16), nn.Dropout(0.2), nn.ReLU()), decoder())
    options = {"data": grey, "net": net, "width": 1.0}
    plain = quick_train(**options, out=tmp_path / "plain")
    traced = quick_train(**options, out=tmp_path / "traced", trace_every=10, trace_samples=20)
    assert traced.trace_layers == list(layers)
    assert traced.traces().shape == (4, 20, sum(layers.values()))
    assert plain.weights == traced.weights


def test_vectors(tmp_path: Path, quick_train):
    rows = np.random.default_rng(0).standard_normal((60, 5)).astype(np.float32)
    run = quick_train(data=rows, trace_every=15, trace_samples=30)
    assert run.traces().shape == (3, 30, 72)


def test_a_nonlinearity_in_place_and_an_output_that_is_a_view():
    torch.manual_seed(0)
    decoder = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Hardtanh(0, 0.1, inplace=True), nn.Linear(3, 4), nn.Tanh())
    decoder.append(nn.Unflatten(1, (2, 2)))
    z = torch.randn(6, 2)
    with torch.no_grad():
        found = hidden_activations(decoder, z, torch.clone)
        first = decoder[1](decoder[0](z))
    assert list(found) == ["1", "2"]  # and not "4", whose values are the output
    assert found["1"].equal(first)
    assert not found["1"].equal(found["2"])


def test_traces_that_cannot_be_had(tmp_path: Path, quick_train):
    refused = pytest.raises
    for options, said in [
        ({"trace_every": 0}, "trace_every must be a whole number, 1 or more, not 0"),
        ({"trace_every": 2.5}, "trace_every must be a whole number, 1 or more, not 2.5"),
        ({"trace_every": 5, "trace_samples": 1}, "trace_samples must be a whole number, 2 or more, not 1"),
        ({"trace_samples": 5}, "trace_samples needs trace_every, the steps between two traces"),
    ]:
        with refused(unweave.UsageError, match=said):
            quick_train(**options)
    few = np.zeros((10, 32, 32), np.uint8)
    with refused(unweave.UsageError, match="has only 10 images, not 100 to trace: lower trace_samples"):
        quick_train(data=few, trace_every=10)
    linear = (nn.Sequential(nn.Flatten(), nn.Linear(1024, 4)), nn.Sequential(nn.Linear(4, 1024)))
    linear[1].append(nn.Unflatten(1, (1, 32, 32)))
    images = np.zeros((200, 32, 32), np.uint8)
    with refused(unweave.UsageError, match="the decoder Sequential has no hidden layer, so there is nothing to trace"):
        quick_train(data=images, net=linear, width=1.0, trace_every=10)
    assert not (tmp_path / "run").exists()


def test_traces_of_a_run_that_has_none_or_others(tmp_path: Path, quick_train):
    run = quick_train()
    for read in (run.traces, lambda: run.trace_indices, lambda: run.trace_layers):
        with pytest.raises(unweave.UsageError, match="has no traces; train it again with trace_every"):
            read()
    with pytest.raises(unweave.UsageError, match="has passed step 0 without a trace; train again in another folder"):
        quick_train(trace_every=10)
    run = quick_train(trace_every=10, trace_samples=5, overwrite=True)
    assert run.trace_steps == [0, 10, 20, 30]
    with pytest.raises(unweave.UsageError, match="has passed step 15 without a trace"):
        quick_train(trace_every=15, trace_samples=5)
    with pytest.raises(unweave.UsageError, match="have 5 images, not 6: set trace_samples to 5"):
        quick_train(trace_every=10, trace_samples=6)
    with pytest.raises(unweave.UsageError, match=r"no layer is called '2' \(known: 1, 3, 5\)"):
        run.traces(["2"])
    with pytest.raises(unweave.UsageError, match="choose at least one layer: 1, 3, 5"):
        run.traces([])
    assert quick_train(overwrite=True).trace_steps == []


def test_damaged_traces(tmp_path: Path, quick_train):
    run = quick_train(trace_every=30, trace_samples=5)
    path = trace_path(run.path, 30)
    whole = path.read_bytes()
    for content in (b"", b"nothing", whole[:-10], whole[: len(whole) // 2], whole[:8] + b"{}" + whole[10:]):
        path.write_bytes(content)
        with pytest.raises(unweave.UsageError, match=r"000030\.safetensors' cannot be read as a trace"):
            run.traces()
    path.write_bytes(whole)
    other = quick_train(trace_every=30, trace_samples=6, out=tmp_path / "other")
    path.write_bytes(trace_path(other.path, 30).read_bytes())
    with pytest.raises(unweave.UsageError, match=r"000030\.safetensors' has different images from the traces"):
        run.traces()


def test_what_a_killed_process_had_begun_is_removed(tmp_path: Path, quick_train):
    run = quick_train(trace_every=30, trace_samples=5)
    left = run.path / "traces" / ".000030.safetensors.0123456789ab.tmp"
    left.write_bytes(b"half")
    quick_train(trace_every=30, trace_samples=5)
    assert not left.exists()
    assert read_about(trace_path(run.path, 30))["step"] == 30


def test_moments():
    assert Tracing(10).moments(30) == [0, 10, 20, 30]
    assert Tracing(50).moments(30) == [0, 30]
