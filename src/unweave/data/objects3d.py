"""An object that turns under a moving lamp: images of the manifold SO(3) × S²."""

from __future__ import annotations

import hashlib
import os
from numbers import Real
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data.dataset import SIZES, Dataset, Images, Option, integer_option
from unweave.data.factors import FactorSpace, Integers, integers
from unweave.data.hashing import draw_words
from unweave.data.mesh_files import read_mesh
from unweave.data.meshes import Mesh, horned_stone
from unweave.errors import UsageError
from unweave.files import refuse_special

Floats = NDArray[np.float64]

CELLS = 10
"""Number of equal intervals into which each coordinate is divided."""
LIGHTS = ("sphere", "front")
LARGEST = 2**31
WIDEST = 120


class Objects3D(Dataset):
    r"""A stone, or your own mesh, in any orientation and lit from any direction; drawn by unweave.

    The images are a sample: the orientation and the light of image i are drawn from the seed, uniformly and
    independently, as in S3O4D [Pfau2020]_. With five numbers u uniform in [0, 1),

        rotation = Z(2πu₁) Y(arccos(1 - 2u₂)) Z(2πu₃),    light = (√(1 - h²) cos 2πu₄, √(1 - h²) sin 2πu₄, h),

    where Z and Y are rotations about these axes, and h = 2u₅ - 1, or 1 - u₅ for light from the front only. The rotation
    is uniform on SO(3), the light on the sphere or half sphere. `latents` returns both; `values` returns only the
    tenths that contain the five numbers.
    """

    name = "objects3d"
    factors = FactorSpace(("turn", "tilt", "spin", "light_turn", "light_height"), (CELLS,) * 5)
    binary = False
    is_grid = False
    is_function = False

    def __init__(
        self,
        *,
        size: int = 64,
        n: int = 100_000,
        seed: int = 0,
        mesh: str = "",
        digest: str = "",
        smooth: bool = True,
        field: float = 30.0,
        samples: int = 2,
        light: str = "sphere",
        ambient: float = 0.2,
    ) -> None:
        size = integer_option("size", size, SIZES)
        own = _own_mesh(str(mesh), str(digest)) if mesh else {}
        if light not in LIGHTS:
            raise UsageError(f"light must be one of {', '.join(LIGHTS)}, not {light!r}")
        if not isinstance(smooth, bool):
            raise UsageError(f"smooth must be true or false, not {smooth!r}")
        self._view = (
            _number("field", field, WIDEST),
            integer_option("samples", samples, (1, 2, 4)),
            _number("ambient", ambient, 1),
        )
        self.options: dict[str, Option] = {
            "size": size,
            "n": _whole("n", n, 1),
            "seed": _whole("seed", seed, 0),
            **own,
            "smooth": smooth,
            "field": self._view[0],
            "samples": self._view[1],
            "ambient": self._view[2],
            "light": light,
        }
        self.shape = (size, size, 1)
        if own:
            self.licence = "the licence of your mesh"
        surface = read_mesh(own["mesh"]) if own else horned_stone()
        self.mesh: Mesh = surface if smooth else surface.flat()

    def __len__(self) -> int:
        return int(self.options["n"])

    @property
    def nbytes(self) -> int:
        """Memory used by the set, in bytes."""
        return self.mesh.nbytes

    def values(self, indices: ArrayLike) -> Integers:
        """Return the tenths (n, 5), 0 to 9, that contain the five numbers of images with these indices (n,)."""
        return np.floor(CELLS * self._numbers(indices)).astype(np.int64)

    def latents(self, indices: ArrayLike) -> Floats:
        """Return the latents (n, 12) of images with these indices (n,): the rotation, row by row, and the light.

        The rotation maps the object to the camera's frame: x to the right, y up, z to the viewer. The light is the
        unit vector towards the lamp in that frame.
        """
        turn, tilt, spin, around, height = self._numbers(indices).T
        down = np.arccos(1 - 2 * tilt)
        rotations = about(2, 2 * np.pi * turn) @ about(1, down) @ about(2, 2 * np.pi * spin)
        up = 1 - height if self.options["light"] == "front" else 2 * height - 1
        out, angle = np.sqrt(1 - up**2), 2 * np.pi * around
        lights = np.stack([out * np.cos(angle), out * np.sin(angle), up], axis=1)
        return np.concatenate([rotations.reshape(-1, 9), lights], axis=1)

    def render(self, latents: ArrayLike) -> Images:
        """Return the images (n, H, W, 1) of any latents (n, 12), which need not be in the sample."""
        values = np.asarray(latents, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != 12:
            raise UsageError(f"latents must be a rotation and a light, (n, 9 + 3), not {values.shape}")
        from unweave.data.raster import render  # it imports numba

        rotations, lights = values[:, :9].reshape(-1, 3, 3), values[:, 9:]
        field, samples, ambient = self._view
        return render(self.mesh, rotations, lights, size=self.shape[0], field=field, samples=samples, ambient=ambient)

    def _draw(self, indices: Integers) -> Images:
        return self.render(self.latents(indices))

    def _numbers(self, indices: ArrayLike) -> Floats:
        """Return five numbers (n, 5) in [0, 1) for each index, which depend only on it and the seed."""
        indices = integers(indices, "indices")
        if indices.ndim != 1:
            raise UsageError(f"indices must be a list of numbers, but their shape is {indices.shape}")
        if indices.size and not (indices.min() >= 0 and indices.max() < len(self)):
            raise UsageError(f"indices must lie between 0 and {len(self) - 1}")
        return (draw_words(int(self.options["seed"]), indices, 5) >> 11).astype(np.float64) * 2.0**-53


def about(axis: int, angles: Floats) -> Floats:
    """Return the rotations (n, 3, 3) about a coordinate axis by these angles (n,), anticlockwise seen from its tip."""
    after, last = (axis + 1) % 3, (axis + 2) % 3
    rotations = np.zeros((len(angles), 3, 3))
    rotations[:, axis, axis] = 1
    rotations[:, after, after] = rotations[:, last, last] = np.cos(angles)
    rotations[:, last, after] = np.sin(angles)
    rotations[:, after, last] = -np.sin(angles)
    return rotations


def _own_mesh(mesh: str, digest: str) -> dict[str, str]:
    """Return the absolute path of a mesh and the digest of its file, which must equal the given one, if any."""
    place = Path(os.path.abspath(os.path.expanduser(mesh)))
    refuse_special(place)
    try:
        found = hashlib.sha256(place.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise UsageError(f"cannot read the mesh '{place}': {error.strerror or error}") from error
    if digest and digest != found:
        raise UsageError(f"'{place}' has changed: its digest is {found}, not {digest}")
    return {"mesh": str(place), "digest": found}


def _whole(name: str, value: object, least: int) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and least <= value < LARGEST:
        return int(value)
    raise UsageError(f"{name} must be an integer from {least} to {LARGEST - 1}, not {value!r}")


def _number(name: str, value: object, largest: float) -> float:
    if isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= largest:
        return float(value)
    raise UsageError(f"{name} must be a number from 0 to {largest}, not {value!r}")
