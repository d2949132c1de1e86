"""Render images of meshes: project triangles onto samples, keep the nearest, apply Lambert's law; loops are compiled.

The camera looks down the z axis; x points to the right and y up. With half the angle of view α, it stands at
d = 1 / sin α, where the unit ball just fills the image, and sees a point (x, y, z) at

    (x, y) / ((d - z) tan α)    in perspective,    (x, y) for α = 0,

with the edges of the image at ±1. Within a triangle, 1 / (d - z) (z itself without perspective) is linear in the image.
Coordinates count samples from the centre of the image, so a quarter turn about the z axis only swaps and negates them,
and turns the image exactly. This file imports numba, so it is imported only when something is drawn.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.compiled import cached
from unweave.data.meshes import Floats, Mesh
from unweave.errors import UsageError

FIELDS = (0, 120)
"""The smallest and the largest angle of view, in degrees."""
FINE = 257 * 255
"""The largest brightness of a sample. It is an integer, so sums do not depend on their order."""


def render(
    mesh: Mesh,
    rotations: ArrayLike,
    lights: ArrayLike,
    *,
    size: int = 64,
    field: float = 30.0,
    samples: int = 2,
    ambient: float = 0.0,
) -> NDArray[np.uint8]:
    """Return images (n, size, size, 1) of a mesh under rotations (n, 3, 3) and lights (n, 3).

    A light is the unit vector towards a distant lamp, in the camera's frame. A point with the normal m has brightness

        ambient + (1 - ambient) max(0, m·light).

    A face seen from behind is lit as if its normal pointed to the viewer. The background is black. A pixel is the mean
    of samples × samples points. `field` is the angle of view in degrees, 0 for parallel rays.
    """
    turns, lamps = check_rotations(rotations), check_lights(lights)
    if len(turns) != len(lamps):
        raise UsageError(f"there are {len(turns)} rotations, but {len(lamps)} lights")
    if not 0 <= ambient <= 1:
        raise UsageError(f"ambient must lie between 0 and 1, not {ambient}")
    distance, scale, width = _camera(mesh, size, field, samples)
    images = np.empty((len(turns), size, size, 1), dtype=np.uint8)
    # The loops would be compiled again for another memory layout.
    vertices, triangles, normals = map(np.ascontiguousarray, (mesh.vertices, mesh.triangles, mesh.normals))
    placed, nearest, owner, shares = _memory(mesh, width)
    _render(
        vertices, triangles, normals, mesh.closed, turns, lamps, distance, scale, samples, float(ambient), placed,
        nearest, owner, shares, images,
    )  # fmt: skip
    return images


def visible(
    mesh: Mesh, rotations: ArrayLike, *, size: int = 64, field: float = 30.0
) -> tuple[NDArray[np.int32], Floats]:
    """Return the triangle at each pixel's centre, (n, size, size), -1 for none, and its z there, nan for none."""
    turns = check_rotations(rotations)
    distance, scale, width = _camera(mesh, size, field, 1)
    owners, heights = np.empty((len(turns), width, width), dtype=np.int32), np.empty((len(turns), width, width))
    placed, nearest, owner, shares = _memory(mesh, width)
    for i, turn in enumerate(turns):
        _project(mesh.vertices, turn, distance, scale, placed)
        _fill(placed, mesh.triangles, mesh.closed, nearest, owner, shares)
        near = np.where(owner < 0, np.nan, nearest)
        owners[i], heights[i] = owner, distance - 1 / near if distance else near
    return owners, heights


def check_rotations(rotations: ArrayLike) -> Floats:
    """Return rotations as float64 (n, 3, 3) after checking them."""
    turns = np.ascontiguousarray(rotations, dtype=np.float64)
    if turns.ndim != 3 or turns.shape[1:] != (3, 3):
        raise UsageError(f"rotations must have the shape (n, 3, 3), not {turns.shape}")
    products = turns @ turns.swapaxes(1, 2)
    if not (np.abs(products - np.eye(3)) < 1e-6).all() or not (np.linalg.det(turns) > 0).all():
        raise UsageError("rotations must be orthogonal matrices of determinant 1")
    return turns


def check_lights(lights: ArrayLike) -> Floats:
    """Return lights as float64 (n, 3) after checking them."""
    lamps = np.ascontiguousarray(lights, dtype=np.float64)
    if lamps.ndim != 2 or lamps.shape[1] != 3:
        raise UsageError(f"lights must have the shape (n, 3), not {lamps.shape}")
    if not (np.abs(np.linalg.norm(lamps, axis=1) - 1) < 1e-6).all():
        raise UsageError("lights must be vectors of length 1")
    return lamps


def _camera(mesh: Mesh, size: int, field: float, samples: int) -> tuple[float, float, int]:
    """Return the camera's distance (0 for parallel rays), samples per unit of the image, and samples along a side."""
    if size < 1 or samples < 1:
        raise UsageError(f"an image needs at least one pixel and one sample, not size {size} and {samples} samples")
    if not FIELDS[0] <= field <= FIELDS[1]:
        raise UsageError(f"field must be an angle of {FIELDS[0]} to {FIELDS[1]} degrees, not {field}")
    if np.linalg.norm(mesh.vertices, axis=1).max() > 1 + 1e-9:
        raise UsageError("the mesh does not fit the unit ball; make it with build_mesh")
    width = size * samples
    half = math.radians(field) / 2
    return (1 / math.sin(half), width / 2 / math.tan(half), width) if half else (0.0, width / 2, width)


def _memory(mesh: Mesh, width: int) -> tuple[Floats, Floats, NDArray[np.int32], Floats]:
    """Return working memory for drawing: projected vertices, and three planes of samples."""
    square = (width, width)
    owner = np.empty(square, dtype=np.int32)
    return np.empty((len(mesh.vertices), 4)), np.empty(square), owner, np.empty((*square, 3))


@cached(nogil=True)
def _render(
    vertices, triangles, normals, closed, turns, lamps, distance, scale, samples, ambient, placed, nearest, owner,
    shares, images,
):  # fmt: skip
    """Draw all images; the four arguments before `images` are working memory."""
    for i in range(len(turns)):
        _project(vertices, turns[i], distance, scale, placed)
        _fill(placed, triangles, closed, nearest, owner, shares)
        _shade(normals, turns[i], lamps[i], samples, ambient, owner, shares, images[i])


@cached(nogil=True)
def _project(vertices, turn, distance, scale, placed):
    """Write each vertex's position in samples from the centre, its nearness, and its weight in interpolation."""
    for v in range(len(vertices)):
        x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        right = turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z
        up = turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z
        near = turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z
        weight = 1.0
        if distance > 0:  # divided by depth, what is linear on the triangle is linear in the image
            near = 1 / (distance - near)
            weight = near
        placed[v, 0] = scale * weight * right
        placed[v, 1] = scale * weight * up
        placed[v, 2] = near
        placed[v, 3] = weight


@cached(nogil=True)
def _fill(placed, triangles, closed, nearest, owner, shares):
    """Write the triangle that each sample shows, -1 for none, its nearness, and the shares of its corners there.

    A sample belongs to a triangle if it lies inside or on its border. Neighbours overlap in their common side, so no
    sample falls between them. Of two equally near triangles the first wins. Shares are not normalised; they are
    negative for a triangle seen from behind.
    """
    width = len(nearest)
    middle = width / 2 - 0.5
    nearest[:] = -np.inf
    owner[:] = -1
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        xa, xb, xc, ya, yb, yc = placed[a, 0], placed[b, 0], placed[c, 0], placed[a, 1], placed[b, 1], placed[c, 1]
        doubled = (xb - xa) * (yc - ya) - (yb - ya) * (xc - xa)  # the area, positive if seen from outside
        if doubled == 0 or (closed and doubled < 0):
            continue
        left, right = max(0, math.ceil(min(xa, xb, xc) + middle)), min(width - 1, math.floor(max(xa, xb, xc) + middle))
        top, bottom = max(0, math.ceil(middle - max(ya, yb, yc))), min(width - 1, math.floor(middle - min(ya, yb, yc)))
        if left > right or top > bottom:
            continue
        facing = 1.0 if doubled > 0 else -1.0
        xbc, ybc, ubc, vbc = _side(placed, b, c, facing)
        xca, yca, uca, vca = _side(placed, c, a, facing)
        xab, yab, uab, vab = _side(placed, a, b, facing)
        near_a, near_b, near_c = placed[a, 2], placed[b, 2], placed[c, 2]
        for row in range(top, bottom + 1):
            y = middle - row
            bc, ca, ab = vbc * (y - ybc), vca * (y - yca), vab * (y - yab)
            for column in range(left, right + 1):
                x = column - middle
                part_a, part_b, part_c = ubc * (x - xbc) + bc, uca * (x - xca) + ca, uab * (x - xab) + ab
                whole = part_a + part_b + part_c
                if min(part_a, part_b, part_c) >= 0 and whole > 0:
                    near = (part_a * near_a + part_b * near_b + part_c * near_c) / whole
                    if near > nearest[row, column]:
                        nearest[row, column] = near
                        owner[row, column] = t
                        shares[row, column, 0] = facing * part_a * placed[a, 3]
                        shares[row, column, 1] = facing * part_b * placed[b, 3]
                        shares[row, column, 2] = facing * part_c * placed[c, 3]


@cached(nogil=True)
def _side(placed, a, b, facing):
    """Return a point on the line from a to b, and its normal to the inside, as long as the side."""
    if a > b:  # so that both triangles at this side use the same line, bit for bit
        a, b, facing = b, a, -facing
    x, y = placed[a, 0], placed[a, 1]
    return x, y, facing * (y - placed[b, 1]), facing * (placed[b, 0] - x)


@cached(nogil=True)
def _shade(normals, turn, lamp, samples, ambient, owner, shares, image):
    """Write the image: the mean brightness of each pixel's samples."""
    # Rotate the lamp into the frame of the mesh, so that the normals need not be rotated.
    lamp_x = turn[0, 0] * lamp[0] + turn[1, 0] * lamp[1] + turn[2, 0] * lamp[2]
    lamp_y = turn[0, 1] * lamp[0] + turn[1, 1] * lamp[1] + turn[2, 1] * lamp[2]
    lamp_z = turn[0, 2] * lamp[0] + turn[1, 2] * lamp[1] + turn[2, 2] * lamp[2]
    share = FINE // 255 * samples * samples
    for row in range(len(image)):
        for column in range(len(image)):
            total = 0
            for i in range(row * samples, (row + 1) * samples):
                for j in range(column * samples, (column + 1) * samples):
                    t = owner[i, j]
                    if t >= 0:
                        a, b, c = shares[i, j, 0], shares[i, j, 1], shares[i, j, 2]
                        x = a * normals[t, 0, 0] + b * normals[t, 1, 0] + c * normals[t, 2, 0]
                        y = a * normals[t, 0, 1] + b * normals[t, 1, 1] + c * normals[t, 2, 1]
                        z = a * normals[t, 0, 2] + b * normals[t, 1, 2] + c * normals[t, 2, 2]
                        square = x * x + y * y + z * z
                        along = x * lamp_x + y * lamp_y + z * lamp_z
                        lit = min(along / math.sqrt(square), 1.0) if along > 0 and square > 0 else 0.0
                        total += int(FINE * (ambient + (1 - ambient) * lit) + 0.5)
            image[row, column, 0] = (total + share // 2) // share
