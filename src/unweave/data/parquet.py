"""Read and write images and factors as Parquet files, in the layout of Hugging Face data sets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unweave.data.columns import factor_columns
from unweave.data.dataset import Dataset, Images
from unweave.data.encoded import LIMIT, list_faults, read_pictures
from unweave.data.factors import Integers
from unweave.data.restricted import drawn_cells
from unweave.data.table_files import Content, FileTable, Reading
from unweave.errors import UsageError
from unweave.files import exclusive, is_temporary, refuse_special, write_atomically, write_json
from unweave.progress import OnProgress
from unweave.text import memory, pairs

if TYPE_CHECKING:
    import polars

SHARD = 10_000
"""Images per file."""
SHARD_NAME = re.compile(r"(.*?)-?(\d{5})-of-(\d{5})\.parquet")
UNFINISHED = ".unfinished-export"
"""The lock of a folder while it is written. If a killed process has left it, the folder's content is incomplete."""
NOTES = ("README.md", "dataset.json")
README = """---
configs:
- config_name: default
  data_files: "data-*.parquet"
dataset_info:
  features:
{features}
---
# {name}

{count:,} images of {height} × {width} × {channels} from unweave's data set `{name}` ({options}), as PNG in the column
`image`{factors}

`unweave data info parquet:path=FOLDER` reads them again.
"""


class Parquet(FileTable):
    """Your own images in Parquet files: a column `image` of encoded images and, optionally, columns of numbers."""

    name = "parquet"
    example = "exported"

    def _read(self, path: Path, reading: Reading) -> Content:
        import polars

        files = _shards(path)
        weight = sum(file.stat().st_size for file in files)
        if weight > LIMIT:
            raise UsageError(f"the files in '{path}' take {memory(weight)}, more than {memory(LIMIT)}")
        tables = [_read_shard(file) for file in files]
        for file, table in zip(files, tables, strict=True):
            if table.columns != tables[0].columns:
                theirs, ours = ", ".join(table.columns), ", ".join(tables[0].columns)
                raise UsageError(f"'{file}' has the columns {theirs}, but '{files[0]}' has {ours}")
        rows = polars.concat(tables, how="vertical_relaxed")
        if not len(rows):
            raise UsageError(f"'{path}' holds no images")
        starts = np.cumsum([0, *map(len, tables)])

        def label(row: int) -> str:
            shard = int(np.searchsorted(starts, row, side="right")) - 1
            return f"the image in row {row - starts[shard]} of '{files[shard]}'"

        names, ignored = factor_columns(rows.columns[1:], reading.factors)
        encoded = [content or b"" for content in rows["image"].to_list()]
        found = read_pictures(encoded, reading.size, label, skip=reading.skip, on_progress=reading.on_progress)
        faults = f"left out images that cannot be read: {len(found.faults):,}: {list_faults(found.faults)}"
        notes = [faults] if found.faults else []
        if ignored:
            listed = ",".join(ignored)
            notes.append(f"'{path}': columns ignored because of their names: {listed} (factors={listed} uses them)")
        factors = rows.select(names).to_numpy()[found.kept] if names else None
        return Content(found.images, factors, names or None, notes=notes)


def export_parquet(
    data: Dataset,
    out: Path,
    *,
    rows: int | None = None,
    shard: int = SHARD,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> list[Path]:
    """Write a data set as Parquet files into an empty or new folder, and return their paths.

    All images are written in their order, or `rows` random ones; for a restricted set, only images that it draws.
    `on_progress` is called after each file. A failed export leaves nothing behind; a killed one can be run again.
    """
    if shard < 1 or (rows is not None and rows < 1):
        raise UsageError("the numbers of rows and of images per file must be at least 1")
    indices = drawn_cells(data)
    if rows is not None:
        if rows > len(indices):
            raise UsageError(f"{data.name} has only {len(indices):,} images, so {rows:,} cannot be written")
        indices = np.sort(np.random.default_rng(seed).choice(indices, size=rows, replace=False))
    if "image" in data.factors.names:
        raise UsageError(f"a factor of {data.name} is called 'image', like the column of images; rename it")
    parts = np.split(indices, range(shard, len(indices), shard))
    files = [out / f"data-{number:05}-of-{len(parts):05}.parquet" for number in range(len(parts))]
    with _claimed(out):
        done = 0
        for file, part in zip(files, parts, strict=True):
            write_atomically(file, _encode_shard(data, part))
            done += len(part)
            if on_progress:
                on_progress("images written", done, len(indices))
        write_atomically(out / NOTES[0], _readme(data, len(indices)).encode())
        factors = dict(zip(data.factors.names, data.factors.sizes, strict=True))
        facts = {"data": data.description, "images": len(indices), "shape": data.shape, "factors": factors}
        write_json(out / NOTES[1], facts)
    return files


@contextmanager
def _claimed(out: Path) -> Iterator[None]:
    """Lock a folder that is new, empty or left by a killed export; after an error, remove what was written."""
    unfinished = out / UNFINISHED
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not unfinished.is_file())):
        raise UsageError(f"'{out}' exists and is not an empty folder; choose another one")
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    out.mkdir(parents=True, exist_ok=True)

    def taken() -> None:
        raise UsageError(f"another process is writing into '{out}'")

    with exclusive(unfinished, taken):
        try:
            _remove_exported(out)
            yield
        except BaseException:  # an interrupt too
            _remove_exported(out)
            unfinished.unlink()
            with suppress(OSError):  # a folder with other files stays
                for folder in made:
                    folder.rmdir()
            raise
        unfinished.unlink()


def _remove_exported(out: Path) -> None:
    """Remove the files of an export, and no others."""
    for file in out.iterdir():
        if file.name in NOTES or SHARD_NAME.fullmatch(file.name) or is_temporary(file):
            file.unlink()


def _shards(path: Path) -> list[Path]:
    """Return the path of a Parquet file, or all of a folder; a gap in a numbered series raises a `UsageError`."""
    if path.is_file():
        return [path]
    files = sorted(file for file in path.rglob("*.parquet") if not file.name.startswith("."))
    if not files:
        raise UsageError(f"'{path}' holds no .parquet files")
    for file in files:
        if numbered := SHARD_NAME.fullmatch(file.name):
            series = file.name[: numbered.start(2)]
            for number in range(int(numbered[3])):
                other = file.with_name(f"{series}{number:05}-of-{numbered[3]}.parquet")
                if not other.is_file():
                    raise UsageError(f"'{other}' is missing: the folder is incomplete")
    return files


def _read_shard(file: Path) -> polars.DataFrame:
    """Return the bytes of the images, and the columns of numbers."""
    import polars
    from polars.exceptions import PanicException, PolarsError

    refuse_special(file)
    try:
        table = polars.read_parquet(file)
    except (PolarsError, PanicException) as error:
        raise UsageError(f"'{file}' is not a Parquet file, or is damaged") from error
    kinds = ", ".join(f"{name} ({kind})" for name, kind in table.schema.items())
    image = table.schema.get("image")
    if isinstance(image, polars.Struct) and "bytes" in image.to_schema():
        table = table.with_columns(polars.col("image").struct.field("bytes").alias("image"))
    if table.schema.get("image") != polars.Binary:
        hint = f"vectors:path={file} loads its rows as vectors"
        raise UsageError(f"'{file}' needs a column 'image' of encoded images; it has: {kinds}; {hint}")
    whole = [name for name, kind in table.schema.items() if kind.is_integer() or kind == polars.Boolean]
    names = [name for name, kind in table.schema.items() if name in whole or kind.is_float()]
    numbers = (polars.col(name).cast(polars.Int64 if name in whole else polars.Float64, strict=False) for name in names)
    table = table.select("image", *numbers)
    for name in names:
        if table[name].null_count():
            row = table[name].is_null().arg_max()
            raise UsageError(f"'{name}' in row {row} of '{file}' is missing or too large")
    return table


def _encode_shard(data: Dataset, indices: Integers) -> bytes:
    """Return a Parquet file of these images and their factors."""
    import polars

    pictures = [
        {"bytes": picture, "path": f"{index:07}.png"}
        for part in np.split(indices, range(256, len(indices), 256))
        for index, picture in zip(part, _encode(data.images(part)), strict=True)
    ]
    image = polars.Struct({"bytes": polars.Binary, "path": polars.String})
    columns = dict(zip(data.factors.names, data.values(indices).T, strict=True))
    table = polars.DataFrame({"image": polars.Series(pictures, dtype=image), **columns})
    buffer = BytesIO()
    table.write_parquet(buffer, compression="uncompressed")  # a PNG is compressed already
    return buffer.getvalue()


def _encode(images: Images) -> list[bytes]:
    """Return images (n, H, W, C) as PNG files."""
    from PIL import Image  # slow to import

    encoded = []
    for image in images:
        buffer = BytesIO()
        Image.fromarray(image[..., 0] if image.shape[2] == 1 else image).save(buffer, "PNG")
        encoded.append(buffer.getvalue())
    return encoded


def _readme(data: Dataset, count: int) -> str:
    """Return the README of an exported set; its front matter describes the columns to other tools."""
    kind = "float64" if data.continuous else "int64"
    columns = [("image", "image"), *((name, kind) for name in data.factors.names)]
    height, width, channels = data.shape
    return README.format(
        features="\n".join(f"  - name: {json.dumps(name)}\n    dtype: {kind}" for name, kind in columns),
        name=data.name,
        options=pairs(data.options),
        count=count,
        height=height,
        width=width,
        channels=channels,
        factors=_listed(data),
    )


def _listed(data: Dataset) -> str:
    """Return the README's description of the factors."""
    if not data.is_labelled:
        return ". They have no labels."
    kinds = [
        f"- `{name}`: " + ("real numbers" if name in data.continuous else f"{size:,} values")
        for name, size in zip(data.factors.names, data.factors.sizes, strict=True)
    ]
    return ", and one column for each factor, classes numbered from 0:\n\n" + "\n".join(kinds)
