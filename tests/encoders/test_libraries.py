"""Models of timm and open-clip, with random weights and with weights from a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from unweave.encoders import encode, layers, open_encoder
from unweave.errors import UsageError

DATA = "xysquares:size=32"
CLIP = {
    "embed_dim": 6,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 64, "patch_size": 16},
    "text_cfg": {"context_length": 4, "vocab_size": 10, "width": 64, "heads": 1, "layers": 1},
}
pytestmark = [pytest.mark.usefixtures("_libraries"), pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def timm(_libraries: None) -> Any:
    return pytest.importorskip("timm")


@pytest.fixture
def clip(_libraries: None, tmp_path: Path) -> Any:
    library: Any = pytest.importorskip("open_clip")
    (tmp_path / "small-clip.json").write_text(json.dumps(CLIP))
    library.add_model_config(tmp_path / "small-clip.json")
    return library


def test_a_model_of_timm_is_pooled_and_has_tokens(timm):
    name = "timm:test_vit"
    found = encode(name, DATA, samples=5, random_weights=True, cache=False)
    widths = layers(name, random_weights=True)
    assert found.codes.shape == (5, widths["pooled"])
    assert {"patch_embed", "blocks.0", "norm", "tokens"} <= set(widths)
    tokens = encode(name, DATA, samples=5, layer="tokens", pooling="flatten", random_weights=True, cache=False)
    assert tokens.codes.shape[1] % widths["tokens"] == 0
    assert tokens.codes.shape[1] > widths["tokens"]
    config = timm.create_model("test_vit").pretrained_cfg
    assert found.record["preprocessing"]["size"] == config["input_size"][-1]
    assert found.record["preprocessing"]["mean"] == list(config["mean"])


def test_weights_of_timm_come_from_a_file(timm, tmp_path):
    torch.manual_seed(5)
    network = timm.create_model("test_resnet", pretrained=False)
    save_file(network.state_dict(), tmp_path / "net.safetensors")
    found = encode(f"timm:test_resnet:weights={tmp_path / 'net.safetensors'}", DATA, samples=4, cache=False)
    opened: Any = open_encoder(f"timm:test_resnet:weights={tmp_path / 'net.safetensors'}")
    network.eval()
    with torch.no_grad():
        from unweave.data import load

        x = opened._preprocessing(load(DATA).images(found.indices))
        expected = network.forward_head(network.forward_features(x), pre_logits=True)
    np.testing.assert_allclose(found.codes, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(UsageError, match="are of another network"):
        encode(f"timm:test_vit:weights={tmp_path / 'net.safetensors'}", DATA, samples=4)


def test_weights_that_are_not_here_are_one_line(timm, clip):
    with pytest.raises(
        UsageError, match=r"the weights of timm:test_vit are not in the cache.*timm:test_vit:weights=FILE"
    ):
        encode("timm:test_vit", DATA, samples=4)
    with pytest.raises(UsageError, match=r"open-clip:small-clip needs weights: open-clip:small-clip:pretrained=TAG"):
        encode("open-clip:small-clip", DATA, samples=4)
    with pytest.raises(UsageError, match="are not in the cache and cannot be fetched"):
        encode("open-clip:RN50:pretrained=yfcc15m", DATA, samples=4)
    with pytest.raises(UsageError, match="no tag of weights of ViT-B-32 is called 'opanai'; did you mean 'openai'"):
        encode("open-clip:ViT-B-32:pretrained=opanai", DATA, samples=4)


def test_the_image_tower_of_a_clip_model(clip, tmp_path):
    found = encode("open-clip:small-clip", DATA, samples=5, random_weights=True, cache=False)
    assert found.codes.shape == (5, 6)
    assert found.record["preprocessing"]["size"] == 32
    assert layers("open-clip:small-clip", DATA, random_weights=True)["tokens"] == 64
    torch.manual_seed(7)
    model = clip.create_model("small-clip")
    torch.save(model.state_dict(), tmp_path / "clip.pt")
    loaded = encode(f"open-clip:small-clip:weights={tmp_path / 'clip.pt'}", DATA, samples=5, cache=False)
    opened: Any = open_encoder(f"open-clip:small-clip:weights={tmp_path / 'clip.pt'}")
    from unweave.data import load

    with torch.no_grad():
        expected = model.eval().encode_image(opened._preprocessing(load(DATA).images(loaded.indices)))
    np.testing.assert_allclose(loaded.codes, expected, rtol=1e-4, atol=1e-5)
    assert not np.allclose(loaded.codes, found.codes)


def test_the_control_of_an_encoder_in_onnx_is_its_architecture(timm):
    found = encode("sscd-student:size=64", DATA, samples=3, random_weights=True, cache=False)
    assert found.record["encoder"] == "sscd-student:size=64"
    assert found.record["random_weights"]
    assert found.codes.std(0).max() > 0


def test_wrong_names_are_one_line(timm):
    with pytest.raises(UsageError, match=r"no model of timm is called 'resnet5'; did you mean resnet5"):
        encode("timm:resnet5", DATA, samples=4)
    with pytest.raises(UsageError, match="no option of timm:test_vit is called 'weight'; did you mean 'weights'"):
        encode("timm:test_vit:weight=x", DATA, samples=4)


def test_a_missing_library_is_named_by_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(
        UsageError, match=r"timm is not installed; install the extra: pip install 'unweave\[encoders\]'"
    ):
        encode("timm:test_vit", DATA, samples=4)
