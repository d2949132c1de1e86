from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unweave.data.mesh_files import read_mesh
from unweave.data.meshes import Mesh, build_mesh
from unweave.errors import UsageError

POINTS: Any = np.array([(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0), (1, 0.5, 3)])
FACES = [(3, 2, 1, 0), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
TRIANGLES = [(3, 2, 1), (3, 1, 0), *FACES[1:]]
"""A pyramid: its base of four corners is cut from the first one on."""


def obj(points: Any = POINTS, faces: Any = FACES) -> bytes:
    lines = [f"v {x} {y} {z}" for x, y, z in points] + [" ".join(["f", *(str(i + 1) for i in f)]) for f in faces]
    return "\n".join(lines).encode()


def ply(kind: str, points: Any = POINTS, faces: Any = FACES) -> bytes:
    header = (
        f"ply\nformat {kind} 1.0\ncomment made by hand\nelement vertex {len(points)}\n"
        "property float x\nproperty float y\nproperty double z\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    ).encode()
    if kind == "ascii":
        rows = [*(" ".join(map(str, p)) for p in points), *(" ".join(map(str, (len(f), *f))) for f in faces)]
        return header + "\n".join(rows).encode()
    order = "<" if "little" in kind else ">"
    vertices = b"".join(struct.pack(f"{order}ffd", *point) for point in points)
    return header + vertices + b"".join(struct.pack(f"{order}B{len(face)}i", len(face), *face) for face in faces)


KINDS = {
    "a.obj": obj(),
    "a.ply": ply("ascii"),
    "little.ply": ply("binary_little_endian"),
    "BIG.PLY": ply("binary_big_endian"),
    "windows.ply": ply("ascii").replace(b"\n", b"\r\n"),
    "a.obj.gz": gzip.compress(obj()),
    "little.ply.gz": gzip.compress(ply("binary_little_endian")),
}


def written(folder: Path, name: str, content: bytes) -> Mesh:
    (folder / name).write_bytes(content)
    return read_mesh(folder / name)


def assert_same(mesh: Mesh, other: Mesh):
    np.testing.assert_array_equal(mesh.vertices, other.vertices)
    np.testing.assert_array_equal(mesh.triangles, other.triangles)
    np.testing.assert_array_equal(mesh.normals, other.normals)


@pytest.mark.parametrize("name", KINDS)
def test_all_formats_hold_the_same_mesh(name: str, tmp_path: Path):
    assert_same(written(tmp_path, name, KINDS[name]), build_mesh(POINTS, TRIANGLES))


def test_an_obj_may_count_backwards_break_lines_and_hold_other_things(tmp_path: Path):
    text = """# a pyramid
mtllib nothing.mtl
o pyramid
v 0 0 0 1.0
v 2 0 0 # colours follow
v 2 1 0 0.5 0.5 0.5
v 0 1 0
vt 0.5 0.5
f -1 -2 -3 \\
  -4
v 1 0.5 3
g sides
s off
f 1/1 2/1 -1/1
f 2 3 5

f 3 4 5
f 4//  1// 5//
l 1 2
"""
    assert_same(written(tmp_path, "a.obj", text.encode()), build_mesh(POINTS, TRIANGLES))


def test_the_normals_of_an_obj_are_those_of_corners(tmp_path: Path):
    text = obj(faces=FACES[:3]).decode() + "\nvn 0 0 2\nvn 1 0 1\nf 3//1 4/7/-1 5//1\nf 4 1 5\n"
    mesh = written(tmp_path, "a.obj", text.encode())
    half = np.sqrt(0.5)
    np.testing.assert_allclose(mesh.normals[4], [[0, 0, 1], [half, 0, half], [0, 0, 1]])
    np.testing.assert_array_equal(np.delete(mesh.normals, 4, 0), np.delete(build_mesh(POINTS, TRIANGLES).normals, 4, 0))


def test_the_normals_of_a_ply_are_those_of_vertices_and_the_rest_is_skipped(tmp_path: Path):
    outward = POINTS - [1, 0.5, 1]
    rows = [
        f"7 {' '.join(map(str, point))} {' '.join(map(str, normal))}"
        for point, normal in zip(POINTS, outward, strict=True)
    ]
    faces = [f"{len(face)} {' '.join(map(str, face))} 255" for face in FACES]
    header = """ply
format ascii 1.0
obj_info 3
element camera 1
property list uchar float numbers
property int kind
element vertex 5
property uchar red
property float32 x
property float32 y
property float64 z
property float nx
property float ny
property float nz
element face 5
property list uint8 int32 vertex_index
property uint8 red
element empty 99999999999999
end_header"""
    text = "\n".join([header, "2 0.5 0.5 9", *rows, *faces])
    mesh = written(tmp_path, "a.ply", text.encode())
    units = outward / np.linalg.norm(outward, axis=1)[:, None]
    np.testing.assert_allclose(mesh.normals, units[TRIANGLES])


BINARY = ply("binary_little_endian")
TEXT = ply("ascii").decode()
BROKEN = {
    "empty.obj": (b"", "no faces"),
    "points.obj": (obj(faces=[]), "no faces"),
    "nan.obj": (
        obj().replace(b"v 2.0 1.0 0.0", b"v 2 nan 0"),
        "line 3: three finite numbers are needed, not '2 nan 0'",
    ),
    "infinite.obj": (obj().replace(b"v 2.0 1.0 0.0", b"v 2 1e999 0"), "three finite numbers"),
    "word.obj": (obj().replace(b"v 2.0 1.0 0.0", b"v 2 up 0"), "line 3: three finite numbers are needed, not '2 up 0'"),
    "short.obj": (obj().replace(b"v 2.0 1.0 0.0", b"v 2 1"), "three finite numbers"),
    "beyond.obj": (obj() + b"\nf 1 2 6", "line 11: there is no vertex or normal 6; there are 5"),
    "before.obj": (b"f 1 2 3\n" + obj(), "line 1: there is no vertex or normal 1; there are 0"),
    "zero.obj": (obj() + b"\nf 1 2 0", "no vertex or normal 0"),
    "backwards.obj": (obj() + b"\nf 1 2 -6", "no vertex or normal -6"),
    "normal.obj": (obj() + b"\nf 1//1 2//1 3//1", "no vertex or normal 1; there are 0"),
    "fraction.obj": (obj() + b"\nf 1 2 1.5", "'1.5' is not an integer"),
    "two.obj": (obj() + b"\nf 1 2", "line 11: a face needs three corners or more, not 2"),
    "flat.obj": (obj([(0, 0, 0), (1, 1, 1), (2, 2, 2)], [(0, 1, 2)]), "no face of the mesh has an area"),
    "point.obj": (obj([(1, 1, 1)] * 3, [(0, 1, 2)]), "no extent"),
    "picture.obj": (bytes(range(256)), "no faces"),
    "empty.ply": (b"", "does not start with the header of a PLY file"),
    "magic.ply": (BINARY.replace(b"ply", b"plz", 1), "does not start with the header"),
    "endless.ply": (BINARY.replace(b"end_header", b"end_of_it"), "does not start with the header"),
    "format.ply": (BINARY.replace(b"binary_little", b"binary_middle"), "one of ascii, binary_little_endian"),
    "type.ply": (BINARY.replace(b"float x", b"quad x"), "an unknown line: 'property quad x'"),
    "count.ply": (BINARY.replace(b"vertex 5", b"vertex -5"), "'element vertex -5'"),
    "orphan.ply": (b"ply\nformat ascii 1.0\nproperty int x\nend_header\n", "'property int x'"),
    "none.ply": (ply("ascii", faces=[]), "no faces"),
    "flat.ply": (TEXT.replace("double z", "double w").encode(), "vertex 0: a vertex needs the properties x, y and z"),
    "corners.ply": (TEXT.replace("_indices", "_names").encode(), "face 0: a face needs a list vertex_indices"),
    "truncated.ply": (BINARY[:-1], "it ends at face 4 of 5"),
    "cut.ply": (BINARY[:-80], "it ends at vertex 4 of 5"),
    "promised.ply": (BINARY.replace(b"vertex 5", b"vertex 5000000000"), "it ends at vertex 9 of 5000000000"),
    "text.ply": (TEXT.replace("3 3 0 4", "3 3 0").encode(), "it ends at face 4 of 5"),
    "word.ply": (TEXT.replace("1.0 0.5 3.0", "1.0 half 3.0").encode(), "'half' is not a number"),
    "nan.ply": (TEXT.replace("1.0 0.5 3.0", "1.0 nan 3.0").encode(), "vertex 4: three finite numbers"),
    "beyond.ply": (ply("ascii", faces=[(0, 1, 5)]), r"face 0: its vertices \[0, 1, 5\] are not all in 0 to 4"),
    "negative.ply": (ply("ascii", faces=[(0, 1, 2), (0, 1, -1)]), "face 1: its vertices"),
    "two.ply": (ply("ascii", faces=[(0, 1)]), "face 0: a face needs three corners"),
    "list.ply": (
        TEXT.replace("uchar int", "char int").replace("\n4 3 2", "\n-4 3 2").encode(),
        "cannot have -4 entries",
    ),
    "fractions.ply": (TEXT.replace("uchar int", "uchar float").encode(), "must be integers"),
    "a.obj.gz": (obj(), "not a gzip file, or is incomplete"),
    "b.obj.gz": (gzip.compress(obj())[:-9], "not a gzip file, or is incomplete"),
    "c.ply.gz": (gzip.compress(BINARY)[:30] + b"\xff" * 50, "not a gzip file, or is incomplete"),
    "a.stl": (b"solid", "a mesh file must end in .obj, .ply, or in one of these and .gz"),
    "a.gz": (b"", "a mesh file must end in .obj, .ply"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gets_one_clear_line(name: str, tmp_path: Path):
    content, message = BROKEN[name]
    with pytest.raises(UsageError, match=message) as caught:
        written(tmp_path, name, content)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_what_is_no_file_gets_one_clear_line(tmp_path: Path):
    (tmp_path / "folder.obj").mkdir()
    for name, message in [("folder.obj", "Is a directory"), ("nothing.ply", "No such file")]:
        with pytest.raises(UsageError, match=message):
            read_mesh(tmp_path / name)


@pytest.mark.parametrize("name", ["a.obj", "a.ply", "little.ply", "little.ply.gz"])
def test_whatever_is_wrong_with_the_bytes_it_is_a_usage_error(name: str, tmp_path: Path):
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(100):
        content = bytearray(KINDS[name])
        for place in rng.integers(len(content), size=rng.integers(1, 4)):
            content[place] = rng.integers(256)
        try:
            mesh = written(tmp_path, name, bytes(content[: rng.integers(1, 2 * len(content))]))
            assert np.isfinite(mesh.vertices).all()
        except UsageError as error:
            assert "\n" not in str(error)  # noqa: PT017
            refused += 1
    assert refused > 20
