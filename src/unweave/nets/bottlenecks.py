"""The table of bottlenecks; to add one, write a layer and add a line here."""

from __future__ import annotations

from unweave.nets.bottleneck import GaussianHead, Head, PointHead
from unweave.nets.categorical import JointHead
from unweave.nets.quantised import CodebookHead, GridHead
from unweave.nets.relaxed import RelaxedHead
from unweave.nets.vectors import VectorHead

BOTTLENECKS: dict[str, type[Head]] = {
    "gaussian": GaussianHead,
    "point": PointHead,
    "codebook": CodebookHead,
    "grid": GridHead,
    "joint": JointHead,
    "vectors": VectorHead,
    "relaxed": RelaxedHead,
}
"""The layers between encoder and decoder, made from the numbers of features and latents, and options."""
