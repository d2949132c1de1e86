"""The room of `rooms3d`, drawn by ray casting: the surface that each pixel shows, and its brightness.

Colours come later. A geometry is four planes of light (of the floor, the walls, the object and its white highlight),
so one drawing serves a thousand colourings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.solids import Box, Capsule, Cylinder, Floats, Solid

SOLIDS = (Box(0.74, 1.48), Cylinder(0.74, 1.64), Capsule(0.9, 1.8), Capsule(0.62, 2.1))
SCALES = np.linspace(0.75, 1.25, 8)
ANGLES = np.radians(np.linspace(-30, 30, 15))

SURFACES = np.array([[-3.2], [-3.2], [0]], dtype=np.float32)  # walls x = -3.2 and y = -3.2, floor z = 0
REACH = 2.5  # distance from an edge of the room up to which it is darker
TARGET, DISTANCE, ELEVATION, FIELD = 0.95, 9.0, np.radians(24), np.radians(28)  # of the camera
RAYS = 4  # along each side of a pixel

LIGHT = np.array([[0.2], [0.6], [0.775]], dtype=np.float32)  # the unit vector towards the lamp
SPREAD = 0.09  # half the width of the lamp, which softens the shadow
AMBIENT, DIRECT = 0.5, 0.5  # shares of light from everywhere and from the lamp
GLOSS, POLISH = 0.5, 32  # strength and sharpness of the highlight
BRIGHTEST = 250  # in 255ths; the four planes of a pixel may round up without passing 255


@dataclass(frozen=True)
class View:
    """The empty room from one angle: n rays, m of which end on the floor."""

    eye: Floats  # (3, 1)
    rays: Floats  # (3, n), unit vectors
    walls: Floats  # (n,), the light of the points where rays end on a wall
    floor: NDArray[np.intp]  # (m,), the rays that end on the floor
    places: Floats  # (3, m), where they end
    ambient: Floats  # (m,), the ambient light there
    lamp: Floats  # (3, m), unit vectors towards the lamp; each ray of a pixel has its own point of the lamp


def draw_geometries(width: int) -> NDArray[np.uint8]:
    """Return the planes of all geometries, (scale, shape, orientation, width, width, 4)."""
    planes = np.empty((len(SCALES), len(SOLIDS), len(ANGLES), width, width, 4), dtype=np.uint8)
    for orientation, angle in enumerate(ANGLES):
        view = look(angle, width)
        for scale, factor in enumerate(SCALES.astype(np.float32)):
            for shape, solid in enumerate(SOLIDS):
                light = furnish(view, solid, factor).reshape(4, RAYS**2, width, width).mean(axis=1)
                planes[scale, shape, orientation] = np.rint(BRIGHTEST * np.moveaxis(light, 0, -1))
    return planes


def look(angle: float, width: int) -> View:
    """Return the view of the empty room with the camera turned by this angle."""
    azimuth = np.pi / 4 + angle
    right = np.array([[-np.sin(azimuth)], [np.cos(azimuth)], [0]])
    back = np.cos(ELEVATION) * np.array([[np.cos(azimuth)], [np.sin(azimuth)], [np.tan(ELEVATION)]])
    up = np.cross(back, right, axis=0)
    eye = (DISTANCE * back + [[0], [0], [TARGET]]).astype(np.float32)

    # Rays are ordered by their position in a pixel, then by pixel: the mean over the first axis is the image.
    steps = np.tan(FIELD / 2) * spread_evenly(RAYS * width).reshape(width, RAYS).T
    down, across = np.broadcast_arrays(steps[:, None, :, None], steps[None, :, None, :])
    rays = unit(across.ravel() * right - down.ravel() * up - back).astype(np.float32)

    ends = (SURFACES - eye) / rays
    ends[rays >= 0] = np.inf
    surface = ends.argmin(axis=0)
    points = eye + ends.min(axis=0) * rays
    # The formula gives 1/2 for the surface that the point lies on, although it hides nothing. 1.5 corrects for that.
    ambient = AMBIENT * (1.5 - hidden_by_wall(points - SURFACES).sum(axis=0))
    walls = np.where(surface == 2, 0, ambient + DIRECT * LIGHT[surface, 0])
    floor = np.flatnonzero(surface == 2)
    lamp = lamp_points().take(floor // width**2, axis=1)
    return View(eye, rays, walls, floor, points.take(floor, axis=1), ambient.take(floor), lamp)


def furnish(view: View, solid: Solid, scale: np.float32) -> Floats:
    """Return the light (4, n) of floor, walls, object and highlight with the solid in the room."""
    floor, walls, own, highlight = light = np.zeros((4, len(view.walls)), dtype=np.float32)
    walls[:] = view.walls
    direct = np.full(len(view.floor), DIRECT * LIGHT[2], dtype=np.float32)
    shadow, _ = hits(solid, scale, view.places, view.lamp)
    direct[shadow] = 0
    floor[view.floor] = direct + view.ambient * (1 - hidden_by_ball(view.places, scale * solid.radius))

    seen, distance = hits(solid, scale, view.eye, view.rays)
    rays = view.rays.take(seen, axis=1)
    floor[seen] = walls[seen] = 0
    own[seen], highlight[seen] = shade(rays, solid.normals((view.eye + distance * rays) / scale))
    return light


def hits(solid: Solid, scale: np.float32, origins: Floats, directions: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return which rays hit the solid of this scale, and at what distance."""
    origins = origins / scale
    to_middle = np.array([[0], [0], [solid.height / 2]], dtype=np.float32) - origins
    missed_by = dot(to_middle, to_middle) - dot(to_middle, directions) ** 2
    close = np.flatnonzero(missed_by < solid.bound**2)
    origins = np.broadcast_to(origins, directions.shape).take(close, axis=1)
    entry = solid.entry(origins, directions.take(close, axis=1))
    met = np.flatnonzero(entry < np.inf)
    return close.take(met), scale * entry.take(met)


def shade(rays: Floats, normals: Floats) -> Floats:
    """Return the light of the object and of its highlight (2, n): Lambert's law and Blinn's half vectors."""
    highlight = GLOSS * np.maximum(dot(normals, unit(LIGHT - rays)), 0) ** POLISH
    diffuse = AMBIENT * (0.75 + 0.25 * normals[2]) + DIRECT * np.maximum(dot(normals, LIGHT), 0)
    return np.stack([(1 - highlight) * diffuse, highlight])


def hidden_by_wall(distance: Floats) -> Floats:
    """Return the share of the sky that a wall of height `REACH` hides at this distance."""
    return (1 - distance / np.sqrt(distance**2 + REACH**2)) / 2


def hidden_by_ball(places: Floats, radius: np.float32) -> Floats:
    """Return the share of the sky that a ball on the floor hides: its form factor, r³ / (d² + r²)^(3/2)."""
    ratio = 1 / (1 + dot(places, places) / radius**2)
    return ratio * np.sqrt(ratio)


def lamp_points() -> Floats:
    """Return unit vectors (3, RAYS²) towards a grid of points on the lamp.

    The grid is rotated by the angle whose tangent is 1/RAYS, so that the shadow of an edge in any direction has RAYS²
    steps.
    """
    side = unit(np.cross(LIGHT, [[0], [0], [1]], axis=0))
    other = np.cross(LIGHT, side, axis=0)
    steps = SPREAD * spread_evenly(RAYS)
    a, b = (grid.ravel() for grid in np.meshgrid(steps, steps))
    return unit(LIGHT + (a + b / RAYS) * side + (b - a / RAYS) * other).astype(np.float32)


def spread_evenly(n: int) -> NDArray[np.float64]:
    """Return the midpoints of n equal parts of the interval from -1 to 1."""
    return (2 * np.arange(n) + 1) / n - 1


def dot(a: Floats, b: Floats) -> Floats:
    """Return the scalar products of columns."""
    return np.einsum("in,in->n", *np.broadcast_arrays(a, b))


def unit(vectors: Floats) -> Floats:
    """Return the columns, each divided by its length."""
    return vectors / np.sqrt((vectors * vectors).sum(axis=0))
