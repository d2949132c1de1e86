"""Files of weights: read, fitted and refused."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from unweave.encoders.weights import digest_of_network, fill, read_weights
from unweave.errors import UsageError


class Payload:
    def __reduce__(self):
        return Path.touch, (Path("executed"),)


def test_tensors_are_read_from_either_kind_of_file(tiny, tmp_path):
    state = tiny.state_dict()
    torch.save(state, tmp_path / "plain.pt")
    torch.save({"state_dict": {f"module.{name}": value for name, value in state.items()}}, tmp_path / "parallel.pt")
    save_file(state, tmp_path / "safe.safetensors")
    for path in tmp_path.iterdir():
        found = read_weights(path)
        assert found.keys() == state.keys()
        assert all(torch.equal(found[name], state[name]) for name in state)


@pytest.mark.parametrize("name", ["pickle.pt", "torch.pt"])
def test_what_needs_unpickling_is_refused_and_not_executed(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    if name == "pickle.pt":
        path.write_bytes(pickle.dumps(Payload()))
    else:
        torch.save({"weights": Payload()}, path)
    with pytest.raises(UsageError, match="Python objects, which are not loaded: unpickling may run any code"):
        read_weights(path)
    assert not Path("executed").exists()


@pytest.mark.parametrize("name", ["broken.safetensors", "list.pt", "missing.pt"])
def test_other_files_are_refused(name, tmp_path):
    (tmp_path / "broken.safetensors").write_bytes(b"these are no tensors")
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(UsageError, match=r"there is no file|not a readable file|does not hold the state_dict"):
        read_weights(tmp_path / name)


def test_weights_of_another_network_are_refused(tiny):
    state = tiny.state_dict()
    with pytest.raises(UsageError, match=r"they lack 'linear\.bias'"):
        fill(tiny, {name: value for name, value in state.items() if name != "linear.bias"}, "a file")
    with pytest.raises(UsageError, match="they hold 'extra', which it does not have"):
        fill(tiny, {**state, "extra": torch.zeros(1)}, "a file")
    with pytest.raises(UsageError, match=r"'linear\.bias' is \(2,\) and should be \(5,\)"):
        fill(tiny, {**state, "linear.bias": torch.zeros(2)}, "a file")


def test_the_digest_is_of_every_weight_and_layer(tiny):
    before = digest_of_network(tiny)
    assert digest_of_network(tiny) == before
    with torch.no_grad():
        tiny.linear.bias[4] += 1e-3
    changed = digest_of_network(tiny)
    assert changed != before
    tiny.relu = torch.nn.ELU()
    assert digest_of_network(tiny) != changed
