"""Table files: CSV, TSV, Parquet and Feather in, predictions out."""

import os
import re
import uuid
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from denots.data.column import MISSING_WORDS
from denots.errors import InvalidTable

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".parquet", ".feather")

_PLAIN_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
_ROW_LABELS = re.compile(r"__index_level_\d+__")


def read_table(path: str | FilePath, *, id: str | None = None) -> "pd.DataFrame":
    """Read a .csv, .csv.gz, .tsv, .parquet or .feather file whole.

    In text files the words "NaN", "nan", "NA", "null" and "NULL" and empty cells are
    missing where a column is otherwise numeric; in a column of text only empty cells are,
    so a class or a series may be called "NA". A .csv file may have semicolons or tabs instead
    of commas; with semicolons, numbers may have decimal commas. A line with too few or too
    many fields is an error. Stamps with a time zone stay text, so that a mix of zones can be
    noticed.

    Args:
        id: the id column. In text files it is read as text, so that 007 stays 007; it
            becomes integers only where every cell is one of at most 18 digits without
            leading zeros.
    """
    import pyarrow as pa

    path = FilePath(path)
    suffix = _suffix(path)
    if not path.exists():
        raise InvalidTable(f"there is no file {path}; check the name and the folder.")
    if path.is_dir():
        raise InvalidTable(f"{path} is a folder; name one table file in it.")
    if path.stat().st_size == 0:
        raise InvalidTable(f"{path} is empty (0 bytes); write it again.")
    try:
        table = _READERS[suffix](path, id)
    except (pa.ArrowException, OSError, EOFError) as error:
        reason = " ".join(str(error).split())
        raise InvalidTable(
            f"{path} cannot be read as {suffix}: {reason} It may be truncated or of another format; write it again."
        ) from error
    labels = [name for name in table.column_names if _ROW_LABELS.fullmatch(name)]
    return table.drop_columns(labels).to_pandas(ignore_metadata=True, date_as_object=False)


def write_table(frame: "pd.DataFrame", path: str | FilePath) -> None:
    """Write a table without its index; the file appears whole or not at all."""
    path = FilePath(path)
    check_destination(path)
    suffix = _suffix(path)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
    try:
        _WRITERS[suffix](frame, partial)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def check_destination(path: FilePath) -> None:
    """Refuse a name that `write_table` could not write to; worth asking before long work."""
    _suffix(path)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidTable(f"cannot write {path}: it must be a file name in an existing folder.")


def _suffix(path: FilePath) -> str:
    name = path.name.lower()
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return suffix
    raise InvalidTable(f"{path} is not a table file; supported are {', '.join(SUFFIXES)}.")


def _read_csv(path: FilePath, id: str | None) -> Any:
    import pyarrow as pa

    types = {} if id is None else {id: pa.string()}
    delimiter = _delimiter(path)
    readings = {point: _parse_csv(path, types, delimiter, point) for point in (".," if delimiter == ";" else ".")}
    point = min(readings, key=lambda point: _text_columns(readings[point]))
    table = readings[point]
    zoned = [field.name for field in table.schema if pa.types.is_timestamp(field.type) and field.type.tz is not None]
    if zoned:
        table = _parse_csv(path, types | dict.fromkeys(zoned, pa.string()), delimiter, point)
    for k, field in enumerate(table.schema):
        if pa.types.is_binary(field.type):
            raise InvalidTable(f"{path}: column {field.name!r} is not UTF-8 text; save the file as UTF-8.")
        if pa.types.is_string(field.type):
            table = table.set_column(k, field.name, _read_text(table.column(k), whole=field.name == id))
    return table


def _parse_csv(path: FilePath, types: dict[str, Any], delimiter: str, point: str) -> Any:
    from pyarrow import csv

    return csv.read_csv(
        path,
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=types, null_values=list(MISSING_WORDS), strings_can_be_null=False, decimal_point=point
        ),
    )


def _delimiter(path: FilePath) -> str:
    """A tab in a .tsv file; elsewhere a comma, or what the header has instead of one."""
    import pyarrow as pa

    if path.name.lower().endswith(".tsv"):
        return "\t"
    with pa.input_stream(str(path)) as stream:
        header = stream.read(1 << 16).partition(b"\n")[0]
    return next((sign.decode() for sign in (b",", b";", b"\t") if sign in header), ",")


def _text_columns(table: Any) -> int:
    import pyarrow as pa

    return sum(pa.types.is_string(field.type) for field in table.schema)


def _read_text(cells: Any, *, whole: bool) -> Any:
    """Empty cells become missing; ids that are all plain integers become integers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if whole and len(cells) and pc.all(pc.match_substring_regex(cells, _PLAIN_INTEGER)).as_py():
        return cells.cast(pa.int64())
    return pc.if_else(pc.equal(cells, ""), pa.scalar(None, cells.type), cells)


def _read_parquet(path: FilePath, id: str | None) -> Any:
    from pyarrow import parquet

    return parquet.read_table(path)


def _read_feather(path: FilePath, id: str | None) -> Any:
    from pyarrow import feather

    return feather.read_table(path)


_READERS: dict[str, Callable[[FilePath, str | None], Any]] = {
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
    ".feather": _read_feather,
}

_WRITERS: dict[str, Callable[["pd.DataFrame", FilePath], None]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False, compression=None),
    ".csv.gz": lambda frame, path: frame.to_csv(path, index=False, compression="gzip"),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t", compression=None),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
    ".feather": lambda frame, path: frame.reset_index(drop=True).to_feather(path),
}
