"""Read meshes from files: Wavefront OBJ and PLY, text or binary, with or without gzip."""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unweave.data.meshes import Mesh, build_mesh
from unweave.errors import UsageError
from unweave.files import refuse_special

TYPES = {
    **{"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d"},
    **{"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I"},
    **{"float32": "f", "float64": "d"},
}
"""PLY's number types, in both spellings, and their codes in `struct`."""
FORMATS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
CORNERS = ("vertex_indices", "vertex_index")
"""The possible names of the list of a face's vertices in a PLY file."""
HEADER = re.compile(rb"ply\r?\n.*?^end_header[ \t]*\r?\n", re.DOTALL | re.MULTILINE)

Row = dict[str, Any]
Take = Callable[[str, int], Sequence[float]]
"""Reads the next numbers of a file, given their type and number."""


@dataclass
class Polygons:
    """The content of a file: vertices, polygons between them, and normals, which corners may lack."""

    points: list[Sequence[float]] = field(default_factory=list)
    faces: list[Sequence[int]] = field(default_factory=list)
    normals: list[Sequence[float]] = field(default_factory=list)
    face_normals: list[Sequence[int] | None] = field(default_factory=list)

    def mesh(self) -> Mesh:
        """Return the mesh, with each polygon cut into triangles that share its first corner."""
        if not self.faces:
            raise UsageError("it has no faces")
        triangles, normals = [], []
        nowhere = np.zeros(3)
        vectors = np.array(self.normals, dtype=np.float64).reshape(-1, 3)
        for face, known in zip(self.faces, self.face_normals, strict=True):
            for k in range(1, len(face) - 1):
                triangles.append((face[0], face[k], face[k + 1]))
                normals.append([nowhere] * 3 if known is None else vectors[[known[0], known[k], known[k + 1]]])
        return build_mesh(np.array(self.points, dtype=np.float64), triangles, np.array(normals))


def read_mesh(path: str | Path) -> Mesh:
    """Return the mesh in a file whose name ends in .obj or .ply, or in one of them and .gz."""
    place = Path(path).expanduser()
    kind = place.with_suffix("").suffix if place.suffix.lower() == ".gz" else place.suffix
    if kind.lower() not in READERS:
        raise UsageError(f"a mesh file must end in {', '.join(READERS)}, or in one of these and .gz, not '{place}'")
    refuse_special(place)
    try:
        content = place.read_bytes()
        content = gzip.decompress(content) if place.suffix.lower() == ".gz" else content
        return READERS[kind.lower()](content).mesh()
    except UsageError as error:
        raise UsageError(f"'{place}' is not a mesh that can be drawn: {error}") from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UsageError(f"'{place}' is not a gzip file, or is incomplete") from error
    except OSError as error:
        raise UsageError(f"cannot read '{place}': {error.strerror or error}") from error


def read_obj(content: bytes) -> Polygons:
    """Read the vertices (v), normals (vn) and faces (f) of an OBJ file; anything else is ignored."""
    found = Polygons()
    for number, words in _obj_lines(content):
        try:
            if words[0] == "v":
                found.points.append(_vector(words[1:4]))
            elif words[0] == "vn":
                found.normals.append(_vector(words[1:4]))
            elif words[0] == "f":
                corners = [corner.split("/") for corner in words[1:]]
                has_normals = all(len(corner) == 3 and corner[2] for corner in corners)
                found.faces.append(_face([_place(corner[0], len(found.points)) for corner in corners]))
                normals = [_place(corner[2], len(found.normals)) for corner in corners] if has_normals else None
                found.face_normals.append(normals)
        except UsageError as error:
            raise UsageError(f"line {number}: {error}") from error
    return found


def read_ply(content: bytes) -> Polygons:
    """Read the vertices (x, y, z), their normals and the faces of a PLY file."""
    header = HEADER.match(content)
    if header is None:
        raise UsageError("it does not start with the header of a PLY file")
    lines = header[0].decode("ascii", "replace").splitlines()
    words = [line.split() for line in lines[1:-1] if line.split() and line.split()[0] not in ("comment", "obj_info")]
    if not words or words[0][0] != "format" or len(words[0]) != 3 or words[0][1] not in FORMATS:
        raise UsageError(f"line 2 must state the format, one of {', '.join(FORMATS)}")
    order = FORMATS[words[0][1]]
    take = _binary(content, header.end(), order) if order else _text(content[header.end() :])
    found = Polygons()
    for name, count, properties in _elements(words[1:]):
        for number, row in enumerate(_rows(name, count, properties, take)):
            try:
                _keep(found, name, row)
            except UsageError as error:
                raise UsageError(f"{name} {number}: {error}") from error
    for number, face in enumerate(found.faces):
        if not all(0 <= corner < len(found.points) for corner in face):
            raise UsageError(f"face {number}: its vertices {list(face)} are not all in 0 to {len(found.points) - 1}")
    known = len(found.normals) == len(found.points)
    found.face_normals = [face if known else None for face in found.faces]
    return found


READERS = {".obj": read_obj, ".ply": read_ply}


def _obj_lines(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of each line that is not empty; a backslash at the end joins it with the next."""
    begun: list[str] = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        text = line.partition("#")[0].rstrip()
        begun += text.removesuffix("\\").split()
        if begun and not text.endswith("\\"):
            yield number, begun
            begun = []


def _vector(words: Sequence[str | float]) -> tuple[float, ...]:
    try:
        numbers = tuple(map(float, words))
    except ValueError:
        numbers = ()
    if len(numbers) != 3 or not np.isfinite(numbers).all():
        raise UsageError(f"three finite numbers are needed, not '{' '.join(map(str, words))}'")
    return numbers


def _place(word: str, count: int) -> int:
    """Return the position in a list that OBJ calls `word`: 1 is the first entry, -1 the last so far."""
    try:
        number = int(word)
    except ValueError:
        raise UsageError(f"'{word}' is not an integer") from None
    if not 1 <= abs(number) <= count:
        raise UsageError(f"there is no vertex or normal {number}; there are {count} up to here")
    return number - 1 if number > 0 else count + number


def _face(corners: Sequence[int]) -> Sequence[int]:
    if len(corners) < 3:
        raise UsageError(f"a face needs three corners or more, not {len(corners)}")
    return corners


def _elements(words: list[list[str]]) -> list[tuple[str, int, list[tuple[str, str, str]]]]:
    """Read a PLY header: the name and count of each element, and for each property its name, type and type of count.

    Only lists have a type of count; it is empty for a single number.
    """
    elements: list[tuple[str, int, list[tuple[str, str, str]]]] = []
    for line in words:
        match line:
            case ["element", name, count] if count.isdecimal():
                elements.append((name, int(count), []))
            case ["property", "list", length, kind, name] if elements and length in TYPES and kind in TYPES:
                elements[-1][2].append((name, TYPES[kind], TYPES[length]))
            case ["property", kind, name] if elements and kind in TYPES:
                elements[-1][2].append((name, TYPES[kind], ""))
            case _:
                raise UsageError(f"its header has an unknown line: '{' '.join(line)}'")
    return elements


def _rows(name: str, count: int, properties: Sequence[tuple[str, str, str]], take: Take) -> Iterator[Row]:
    """Yield the rows of an element, by the names of its properties."""
    for number in range(count if properties else 0):
        row: Row = {}
        try:
            for label, kind, length in properties:
                row[label] = take(kind, _length(take(length, 1)[0])) if length else take(kind, 1)[0]
        except (struct.error, IndexError):
            raise UsageError(f"it ends at {name} {number} of {count}") from None
        yield row


def _length(number: float) -> int:
    if number < 0 or number != int(number):
        raise UsageError(f"a list cannot have {number} entries")
    return int(number)


def _binary(content: bytes, place: int, order: str) -> Take:
    """Return a function that reads numbers from bytes, one after another."""

    def take(kind: str, count: int) -> Sequence[float]:
        nonlocal place
        size = struct.calcsize(order + kind) * count
        if place + size > len(content):  # before `struct` allocates memory for numbers that are missing
            raise IndexError
        numbers = struct.unpack_from(f"{order}{count}{kind}", content, place)
        place += size
        return numbers

    return take


def _text(content: bytes) -> Take:
    """Return a function that reads numbers from text, one after another."""
    words = content.split()
    place = 0

    def take(kind: str, count: int) -> Sequence[float]:
        nonlocal place
        if place + count > len(words):
            raise IndexError
        part, place = words[place : place + count], place + count
        try:
            return list(map(float if kind in "fd" else int, part))
        except ValueError:
            wrong = b" ".join(part).decode("ascii", "replace")
            raise UsageError(f"'{wrong}' is not a number") from None

    return take


def _keep(found: Polygons, name: str, row: Row) -> None:
    """Add a row of a PLY file to the polygons; elements other than vertices and faces are ignored."""
    if name == "vertex":
        if not row.keys() >= {"x", "y", "z"}:
            raise UsageError("a vertex needs the properties x, y and z")
        found.points.append(_vector([row["x"], row["y"], row["z"]]))
        if row.keys() >= {"nx", "ny", "nz"}:
            found.normals.append(_vector([row["nx"], row["ny"], row["nz"]]))
    elif name == "face":
        corners = next((row[label] for label in CORNERS if label in row), None)
        if corners is None:
            raise UsageError(f"a face needs a list {' or '.join(CORNERS)}")
        found.faces.append(_face(corners))
