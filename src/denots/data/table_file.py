"""Table files: CSV, TSV, Parquet and Feather in, predictions out."""

import os
import re
import uuid
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from denots.data.column import LINE, MISSING_WORDS
from denots.errors import InvalidFile, InvalidTable

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
    many fields is an error. The index of the result is named "line" and says in which line of the
    file each row stands, unless a cell or an empty line breaks the count. Stamps with a time zone stay text, so that a mix of zones can be
    noticed.

    Args:
        id: the id column. In text files it is read as text, so that 007 stays 007; it
            becomes integers only where every cell is one of at most 18 digits without
            leading zeros.
    """
    import pandas as pd
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
        labels = [name for name in table.column_names if _ROW_LABELS.fullmatch(name)]
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error
    except (pa.ArrowException, OSError, EOFError) as error:
        if "UTF8" in str(error):
            raise _not_utf8(path) from error
        reason = " ".join(str(error).split())
        raise InvalidTable(
            f"{path} cannot be read as {suffix}: {reason} It may be truncated or of another format; write it again."
        ) from error
    frame = table.drop_columns(labels).to_pandas(ignore_metadata=True, date_as_object=False)
    if _READERS[suffix] is _read_csv and _lines(path) == len(frame) + 1:
        frame.index = pd.RangeIndex(2, len(frame) + 2, name=LINE)
    return frame


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
            raise _not_utf8(path)
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


def _lines(path: FilePath) -> int:
    """Lines of a text file, compressed or not; a last one without an end counts, too."""
    import pyarrow as pa

    count, last = 0, b""
    with pa.input_stream(str(path)) as stream:
        while block := stream.read(1 << 22):
            count, last = count + block.count(b"\n"), block[-1:]
    return count + (last != b"\n")


def _not_utf8(path: FilePath) -> InvalidFile:
    """Where the first byte stands that is no UTF-8, and how the line would read in the usual other encoding."""
    import pyarrow as pa

    with pa.input_stream(str(path)) as stream:
        lines = stream.read().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            shown = line[max(error.start - 20, 0) : error.start + 20].decode("latin-1").strip()
            return InvalidFile(
                f"{path}, line {number}: byte 0x{line[error.start]:02X} is not UTF-8 text (as Latin-1 it reads {shown!r}); "
                "save the file as UTF-8, for example with: iconv -f latin1 -t utf-8."
            )
    return InvalidFile(f"{path} is not UTF-8 text; save it as UTF-8.")


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
