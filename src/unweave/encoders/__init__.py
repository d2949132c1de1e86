"""Codes of any encoder, pretrained or your own, for the images of any data set.

>>> from unweave.encoders import encode
>>> found = encode("pixels", "xysquares:size=32", samples=50)
>>> found.codes.shape, found.factors.shape
((50, 3072), (50, 6))

Notes
-----
- `encoding` (`encode`, `layers`) with `choosing` (which images), `filling` (batches), `cache` (codes by image, in
  parts), `projection` (to a common width) and `codes` (the result, as a file).
- `table` (the encoders by name), `opening` (from a name to an `Encoder`), `encoder`; they are opened by `network`
  (torch, layers by hooks), `onnx_file` and `libraries` (timm, open-clip).
- `preprocessing`, `weights` (files of weights, never unpickled, and their digests), the networks `efficientnet_lite`
  and `shift_tolerant`, `initialising` (random weights).
- `sparse`: sparse autoencoders on codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.late import public_name

if TYPE_CHECKING:
    from unweave.encoders.codes import Codes as Codes
    from unweave.encoders.encoder import Encoder as Encoder
    from unweave.encoders.encoding import encode as encode
    from unweave.encoders.encoding import encode_layers as encode_layers
    from unweave.encoders.encoding import layers as layers
    from unweave.encoders.opening import open_encoder as open_encoder
    from unweave.encoders.preprocessing import Preprocessing as Preprocessing
    from unweave.encoders.projection import PROJECTIONS as PROJECTIONS
    from unweave.encoders.projection import project as project
    from unweave.encoders.table import ENCODERS as ENCODERS

_HOME = {
    "Codes": "codes",
    "ENCODERS": "table",
    "Encoder": "encoder",
    "PROJECTIONS": "projection",
    "Preprocessing": "preprocessing",
    "encode": "encoding",
    "encode_layers": "encoding",
    "layers": "encoding",
    "open_encoder": "opening",
    "project": "projection",
}
__all__ = [
    "ENCODERS",
    "PROJECTIONS",
    "Codes",
    "Encoder",
    "Preprocessing",
    "encode",
    "encode_layers",
    "layers",
    "open_encoder",
    "project",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use: the command line's help needs the table but not torch."""
    return public_name(__name__, _HOME, name)
