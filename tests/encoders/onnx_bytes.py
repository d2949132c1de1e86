"""A small ONNX file, written field by field, so that no package is needed to write one."""

from __future__ import annotations

from pathlib import Path


def _field(number: int, value: int | bytes) -> bytes:
    """Return a field of a protocol buffer: a number, or bytes with their length before them."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _tensor_info(name: str, kind: int, shape: tuple[int | str, ...]) -> bytes:
    """Return a ValueInfoProto: its type is a tensor of this kind (1 float, 2 uint8) and shape."""
    sides = [_field(1, side) if isinstance(side, int) else _field(2, side.encode()) for side in shape]
    dims = b"".join(_field(1, side) for side in sides)
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, kind) + _field(2, dims)))


def _node(operator: str, given: str, result: str, attribute: bytes = b"") -> bytes:
    parts = _field(1, given.encode()) + _field(2, result.encode()) + _field(4, operator.encode())
    return parts + (_field(5, attribute) if attribute else b"")


def write_onnx(path: Path, kind: int, shape: tuple[int | str, ...]) -> Path:
    """Write the ONNX file of the mean of each channel: (batch, 3, H, W) floats to (batch, 3); of bytes, cast first."""
    cast = _field(1, b"to") + _field(3, 1) + _field(20, 2)  # to float
    turn = _field(1, b"perm") + b"".join(_field(8, axis) for axis in (0, 3, 1, 2)) + _field(20, 7)
    nodes = []
    given = "image"
    if kind == 2:
        nodes.append(_node("Cast", given, "floats", cast))
        given = "floats"
    if shape[3] == 3:
        nodes.append(_node("Transpose", given, "turned", turn))
        given = "turned"
    nodes += [_node("GlobalAveragePool", given, "maps"), _node("Flatten", "maps", "codes")]
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"graph")
    graph += _field(11, _tensor_info("image", kind, shape)) + _field(12, _tensor_info("codes", 1, ("batch", 3)))
    path.write_bytes(_field(1, 8) + _field(7, graph) + _field(8, _field(1, b"") + _field(2, 13)))
    return path


def write_maps(path: Path, shape: tuple[int | str, ...]) -> Path:
    """Write the ONNX file whose output, `maps`, is its input, floats from 0 up."""
    graph = _field(1, _node("Relu", "image", "maps")) + _field(2, b"graph")
    graph += _field(11, _tensor_info("image", 1, shape)) + _field(12, _tensor_info("maps", 1, shape))
    path.write_bytes(_field(1, 8) + _field(7, graph) + _field(8, _field(1, b"") + _field(2, 13)))
    return path
