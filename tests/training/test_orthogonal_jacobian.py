"""Orthogonal columns of the decoder's Jacobian, beside any method: against finite differences, resumed, and learnt."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import unweave
from unweave.again import train_command
from unweave.cli import main
from unweave.config import Config
from unweave.errors import UsageError
from unweave.losses import Loss, loss_of
from unweave.methods import AE, METHODS, OrthogonalJacobian, Schedule
from unweave.metrics import jacobian_orthogonality
from unweave.nets import NETS, Model, Net
from unweave.study.grid import grid_of
from unweave.study.task import settings_of

from .test_loop import Stop, assert_same, stop_at, weights

TERM = OrthogonalJacobian(weight=5, columns=3, codes=6)


def slowly(model: Model, loss: Loss, z: Tensor) -> float:
    """The mean squared cosine of all pairs of columns, by central differences, one code at a time."""
    model = model.double()

    def expected(code: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return loss.mean(model.decode(torch.tensor(code[None]))).numpy().ravel()

    squares = []
    for code in z.double().numpy():
        columns = []
        for latent in range(len(code)):
            step = np.zeros(len(code))
            step[latent] = 1e-5
            columns.append((expected(code + step) - expected(code - step)) / 2e-5)
        for i, j in combinations(range(len(code)), 2):
            lengths = (columns[i] @ columns[i]) * (columns[j] @ columns[j])
            squares.append((columns[i] @ columns[j]) ** 2 / lengths)
    return float(np.mean(squares))


@pytest.mark.parametrize(("name", "loss"), [("mlp", "bce"), ("mlp", "mse"), ("mlp", "gaussian"), ("tripod", "mse")])
def test_the_term_is_that_of_finite_differences(name, loss):
    kind = loss_of(loss)
    net = Net(name, latents=4, width=0.1)
    model = net.build((16, 16, 1), torch.Generator().manual_seed(0), has_spread=kind.has_spread)
    z = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))
    term = OrthogonalJacobian(weight=Schedule(0, 8, 10), codes=3)
    found = term.term(model, kind, z, 5, torch.Generator()).item()
    assert found == pytest.approx(4 * slowly(model, kind, z[:3]), rel=1e-3)


def test_a_linear_decoder_whose_columns_are_known():
    """Columns of angles 60°, 90° and 45°: squared cosines 1/4, 0 and 1/2. The metric says the same of |cosines|."""
    first, second = np.array([1, 0, 0, 0]), np.array([1 / 2, np.sqrt(3 / 4), 0, 0])
    third = np.array([0, np.sqrt(2 / 3), np.sqrt(1 / 3), 0])
    columns = np.stack([3 * first, second, 0.1 * third], 1)  # lengths do not count
    model = Net("mlp", 3, 0.01).build((4,), torch.Generator().manual_seed(0))
    model.decoder = nn.Linear(3, 4)
    model.decoder.weight.data = torch.tensor(columns, dtype=torch.float32)
    found = OrthogonalJacobian(weight=1, codes=0).term(model, loss_of("mse"), torch.zeros(7, 3), 0, torch.Generator())
    assert found.item() == pytest.approx((1 / 4 + 0 + 1 / 2) / 3, abs=1e-6)
    assert jacobian_orthogonality(columns[None]) == pytest.approx(1 - (1 / 2 + 0 + np.sqrt(1 / 2)) / 3, abs=1e-6)


def test_only_the_decoder_is_trained_by_it():
    model = Net("conv", 4, 0.1).build((32, 32, 3), torch.Generator().manual_seed(0))
    z = model.encode(torch.rand(4, 3, 32, 32, generator=torch.Generator().manual_seed(1))).mean
    OrthogonalJacobian().term(model, loss_of("mse"), z, 0, torch.Generator()).backward()
    assert all(p.grad is None for p in [*model.encoder.parameters(), *model.bottleneck.parameters()])
    weights = [p for name, p in model.decoder.named_parameters() if name.endswith("weight")]
    assert all(p.grad is not None and p.grad.any() for p in weights)


def test_drawn_columns_are_right_on_average():
    model = Net("mlp", 5, 0.02).build((6,), torch.Generator().manual_seed(0))
    z, loss, generator = (
        torch.randn(4, 5, generator=torch.Generator().manual_seed(1)),
        loss_of("mse"),
        torch.Generator(),
    )
    whole = OrthogonalJacobian(weight=1).term(model, loss, z, 0, generator).item()
    part = OrthogonalJacobian(weight=1, columns=2)
    drawn = [part.term(model, loss, z, 0, generator).item() for _ in range(300)]
    error = np.std(drawn) / np.sqrt(len(drawn))
    assert error > 0
    assert abs(np.mean(drawn) - whole) < 4 * error


def test_the_log_adds_up_and_other_runs_stay_as_they_were(quick_train, tmp_path):
    plain = quick_train()
    drawn = quick_train(jacobian=TERM, out=tmp_path / "drawn")
    free = quick_train(jacobian=OrthogonalJacobian(weight=0, columns=2), out=tmp_path / "free")
    log = drawn.log()
    assert log.columns == ["step", "loss", "reconstruction", "kl", "jacobian"]
    np.testing.assert_allclose(log["loss"], log["reconstruction"] + log["kl"] + log["jacobian"], rtol=1e-6)
    np.testing.assert_equal(weights(free), weights(plain))  # columns are drawn from a stream of their own
    assert (weights(drawn)["decoder.0.weight"] != weights(plain)["decoder.0.weight"]).any()
    assert "jacobian" not in plain.config
    assert unweave.Run.open(drawn.path).settings.jacobian == OrthogonalJacobian(weight=5.0, columns=3, codes=6)
    assert len({plain.id, drawn.id, free.id}) == 3


@pytest.mark.parametrize("columns", [0, 2])
def test_a_resumed_run_equals_an_uninterrupted_one(quick_train, tmp_path, columns):
    options = {"jacobian": OrthogonalJacobian(weight=Schedule(0, 5, 20), columns=columns, codes=4)}
    whole = quick_train(**options)
    with pytest.raises(Stop):
        quick_train(**options, out=tmp_path / "cut", on_result=stop_at(14))
    assert_same(whole, quick_train(**options, out=tmp_path / "cut"))


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if kind.decoder])
def test_any_method_takes_it(name, quick_train):
    log = quick_train(method=name, jacobian=TERM, steps=3, batch=6, latents=6, log_every=1).log()
    terms = [part for part in log.columns[2:] if not part.startswith("diagnostics/")]
    assert "jacobian" in terms
    assert (log["jacobian"] > 0).all()
    np.testing.assert_allclose(log["loss"], sum(log[term] for term in terms), rtol=1e-5)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("net", NETS)
def test_any_net_takes_it(net, precision, quick_train):
    run = quick_train(net=net, jacobian=TERM, steps=2, batch=4, log_every=1, width=0.1, precision=precision)
    assert run.log()["jacobian"].is_between(0, TERM.weight, closed="right").all()


def test_it_makes_the_jacobian_orthogonal(quick_train):
    """An autoencoder of vectors that are mixed at random: its columns are as they come, without the term."""
    rng = np.random.default_rng(0)
    x = np.tanh(rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 8))).astype(np.float32)
    scores = []
    for weight in (0, 10):
        term = OrthogonalJacobian(weight=weight)
        run = quick_train(method=AE(), data=x, jacobian=term, steps=300, latents=3, lr=3e-3, overwrite=True)
        scores.append(jacobian_orthogonality(run.jacobians(run.encode(x[:50]))))
    assert scores[0] < 0.8
    assert scores[1] > 0.9


def test_mistakes_are_one_clear_line_and_leave_no_folder_behind(quick_train, tmp_path):
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"columns": 1}, "compares columns: use 2 or more"),
        ({"columns": -1}, "columns of the Jacobian term must be 0 or more"),
        ({"codes": 1.5}, "codes must be of type int"),
        ({"weight": -1.0}, "weight"),
    ]
    for settings, message in wrong:
        with pytest.raises(UsageError, match=message):
            OrthogonalJacobian(**settings)
    with pytest.raises(UsageError, match="draws 5 columns, but the decoder has only 4 inputs"):
        quick_train(jacobian=OrthogonalJacobian(columns=5))
    with pytest.raises(UsageError, match="needs a decoder, but lejepa has none"):
        quick_train(method="lejepa", jacobian=OrthogonalJacobian())
    with pytest.raises(UsageError, match="it needs 2 or more, not 1"):
        quick_train(jacobian=OrthogonalJacobian(), latents=1)
    modules = (
        nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 4)),
        nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3 * 32 * 32), nn.Unflatten(1, (3, 32, 32))),
    )
    own = {"net": modules, "width": 1.0}
    with pytest.raises(UsageError, match="needs a decoder without batch normalisation"):
        quick_train(jacobian=OrthogonalJacobian(), **own)
    assert not (tmp_path / "run").exists()
    quick_train(jacobian=TERM)
    with pytest.raises(UsageError, match=r"jacobian\.weight 5\.0 → 6\.0.*choose another folder"):
        quick_train(jacobian=OrthogonalJacobian(weight=6, columns=3, codes=6))


def test_from_the_command_line(tmp_path, capsys):
    words = (
        "train beta-vae --data xysquares:size=32 --net additive:groups=2 --latents 4 --width 0.03 --steps 2 --batch 4"
    )
    line = [*words.split(), "--jacobian-weight", "0:8@50%", "--jacobian-columns", "2", "--threads", "1"]
    main([*line, "--out", str(tmp_path / "run"), "--json"])
    assert set(json.loads(capsys.readouterr().out)["terms"]) == {"reconstruction", "kl", "jacobian"}
    run = unweave.Run.open(tmp_path / "run")
    assert run.settings.jacobian == OrthogonalJacobian(weight=Schedule(0, 8, 1), columns=2)
    command = train_command(run.settings, tmp_path / "again")
    assert "--jacobian-weight 0:8@1 --jacobian-columns 2" in command
    assert "--net additive:groups=2," in command
    main([*command.split()[1:], "--json"])
    assert unweave.Run.open(tmp_path / "again").id == run.id


def test_in_a_study():
    small = {"data": "xysquares:size=32", "seeds": 1, "steps": 2, "width": 0.03, "latents": 4}
    entry = {
        "name": "beta-vae",
        "net": ["conv", "additive:groups=2"],
        "jacobian": [{"weight": 3}, {"weight": "0:3@50%"}],
    }
    tasks = grid_of({**small, "methods": ["beta-vae", entry]}).plan().tasks
    assert len(tasks) == 5
    found = [Config.from_json(task.config).jacobian for task in tasks]
    assert found[:3] == [None, OrthogonalJacobian(weight=3.0), OrthogonalJacobian(weight=Schedule(0, 3, 1))]
    columns = [settings_of(task.config) for task in tasks]
    assert "jacobian.weight" not in columns[0]
    assert columns[1]["jacobian.weight"] == 3.0
    for wrong, message in (
        ({"wieght": 3}, "did you mean 'weight'"),
        (3, "jacobian must be a table of settings, not 3"),
    ):
        with pytest.raises(UsageError, match=message):
            grid_of({**small, "methods": [{"name": "vae", "jacobian": wrong}]}).plan()
