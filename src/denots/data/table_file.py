"""Table files: CSV, TSV, Parquet, Feather and Excel in, predictions out."""

import codecs
import gzip
import io
import lzma
import os
import re
import sys
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from denots.data.column import LINE, kind_of
from denots.data.missing import MISSING_WORDS, as_numbers, odd_words
from denots.data.shards import is_sharded
from denots.errors import InvalidFile, InvalidTable

if TYPE_CHECKING:
    import pandas as pd

STANDARD = FilePath("-")  # standard input or output, as CSV
TEXT_SUFFIXES = (*(kind + packed for kind in (".csv", ".tsv") for packed in ("", ".gz", ".xz", ".zip")), ".zip")
SUFFIXES = (*TEXT_SUFFIXES, ".parquet", ".feather", ".xlsx")
SUPPORTED = ".csv and .tsv (also with .gz, .xz or .zip), .zip, .parquet, .feather, .xlsx"

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PLAIN_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
_OBJECT_STORE = re.compile(r"[a-z][a-z0-9+]+:/")  # one slash is left of two in a path
_ROW_LABELS = re.compile(r"__index_level_\d+__")


def read_table(path: str | FilePath, *, id: str | None = None, texts: Iterable[str] = ()) -> "pd.DataFrame":
    """Read a table file whole: .csv, .tsv (also with .gz, .xz or .zip), .parquet, .feather or .xlsx.

    A folder is read as a Parquet table in parts; "-" is CSV on standard input. In text files the words
    "NaN", "nan", "NA", "null" and "NULL" and empty cells are
    missing where a column is otherwise numeric; in a column of text only empty cells are,
    so a class or a series may be called "NA". A .csv file may have semicolons or tabs instead
    of commas; with semicolons, numbers may have decimal commas. Text is UTF-8, or UTF-16 where it begins so. A line with too few or too
    many fields is an error. The index of the result is named "line" and says in which line of the
    file each row stands, unless a cell or an empty line breaks the count. Stamps with a time zone stay
    text, as they were written.

    Args:
        id: the id column. In text files it is read as text, so that 007 stays 007; it
            becomes integers only where every cell is one of at most 18 digits without
            leading zeros.
        texts: further columns of text files that are read as text, whatever is in them.
    """
    import pyarrow as pa

    path = FilePath(path)
    place = "standard input" if path == STANDARD else str(path)
    suffix = check_readable(path)
    try:
        if suffix in TEXT_SUFFIXES:
            return parse_text(_content(path, suffix), place, suffix=suffix, id=id, texts=texts)
        return _READERS[suffix](path, id)
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        raise _unreadable(place, suffix, error) from error


def parse_text(
    content: bytes, place: str, *, suffix: str = ".csv", id: str | None = None, texts: Iterable[str] = ()
) -> "pd.DataFrame":
    """The table in the bytes of a text file, read as `read_table` reads the file; errors call it by its place."""
    import pyarrow as pa

    if not content:
        raise InvalidTable(f"{place} is empty (0 bytes); write it again.")
    try:
        return _read_csv(place, content, suffix, id, texts)
    except pa.ArrowException as error:
        raise _unreadable(place, suffix, error) from error


def _unreadable(place: str, suffix: str, error: Exception) -> InvalidTable:
    reason = " ".join(str(error).split())
    return InvalidTable(
        f"{place} cannot be read as {suffix}: {reason} It may be truncated or of another format; write it again."
    )


def write_table(frame: "pd.DataFrame", path: str | FilePath) -> None:
    """Write a table without its index; the file appears whole or not at all. "-" is CSV on standard output."""
    path = FilePath(path)
    check_destination(path)
    if path == STANDARD:
        frame.to_csv(sys.stdout, index=False)
        return
    suffix = _suffix(path)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
    try:
        if suffix in TEXT_SUFFIXES:
            _write_text(frame, partial, path.name, suffix)
        else:
            _WRITERS[suffix](frame, partial)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def check_destination(path: FilePath) -> None:
    """Refuse a name that `write_table` could not write to; worth asking before long work."""
    if path == STANDARD:
        return
    if _suffix(path) == ".xlsx":
        _require_excel(path)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidTable(f"cannot write {path}: it must be a file name in an existing folder.")


def check_readable(path: FilePath) -> str:
    """The suffix of a file that is there, or the error that says what is wrong with the name."""
    if path == STANDARD:
        return ".csv"
    if path.is_dir():
        if is_sharded(path):
            raise InvalidTable(
                f"{path} is a set of shards, which denots fit and denots predict read; name a table here, such as the one that it was made of."
            )
        if not any(path.rglob("*.parquet")):
            raise InvalidTable(f"{path} is a folder without .parquet files; name one table file in it.")
        return ".parquet"
    check_mounted(path)
    suffix = _suffix(path)
    if not path.exists():
        raise InvalidTable(f"there is no file {path}; check the name and the folder.")
    if path.stat().st_size == 0:
        raise InvalidTable(f"{path} is empty (0 bytes); write it again.")
    return suffix


def check_mounted(path: FilePath) -> None:
    """Refuse a place in an object store, such as s3://bucket/visits, which has no path."""
    if _OBJECT_STORE.match(str(path)) and not path.exists():
        raise InvalidTable(
            f"{path} names a place in an object store, and files are read by their paths: mount the store (mount-s3, gcsfuse, "
            "rclone mount) on every machine, or copy what is needed first."
        )


def _suffix(path: FilePath) -> str:
    name = path.name.lower()
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return suffix
    raise InvalidTable(f"{path} is not a table file; supported are {SUPPORTED}.")


def _content(path: FilePath, suffix: str) -> bytes:
    """The bytes of a text file, unpacked."""
    if path == STANDARD:
        return sys.stdin.buffer.read()
    raw = path.read_bytes()
    if suffix.endswith(".gz"):
        return gzip.decompress(raw)
    if suffix.endswith(".xz"):
        return lzma.decompress(raw)
    return _unzip(path, raw) if suffix.endswith(".zip") else raw


def _unzip(path: FilePath, raw: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        files = [part for part in archive.infolist() if not part.is_dir() and not part.filename.startswith("__MACOSX")]
        if len(files) != 1:
            raise InvalidTable(f"{path} holds {len(files)} files; expected one, the table, so unpack it.")
        if files[0].flag_bits & 1:
            raise InvalidTable(f"{path} is encrypted; unpack it.")
        return archive.read(files[0])


def _read_csv(place: str, content: bytes, suffix: str, id: str | None, texts: Iterable[str]) -> "pd.DataFrame":
    import pandas as pd
    import pyarrow as pa

    types = dict.fromkeys([*texts, *([] if id is None else [id])], pa.string())
    content = _from_utf16(place, content) if content.startswith(UTF16) else content
    try:
        frame = as_pandas(_csv_table(content, delimiter_of(content, suffix), types, id))
    except (UnicodeDecodeError, pa.ArrowException) as error:
        if isinstance(error, UnicodeDecodeError) or "UTF8" in str(error):
            raise not_utf8(place, content) from error
        raise
    if content.count(b"\n") + (not content.endswith(b"\n")) == len(frame) + 1:
        frame.index = pd.RangeIndex(2, len(frame) + 2, name=LINE)
    return frame


def _from_utf16(place: str, content: bytes) -> bytes:
    """The "Unicode text" of spreadsheets."""
    try:
        return content.decode("utf-16").encode()
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{place} begins as UTF-16 and is none ({error.reason}); save it as UTF-8.") from error


def _csv_table(content: bytes, delimiter: str, types: dict[str, Any], id: str | None) -> Any:
    """An Arrow table; stamps with a zone stay text, and text that is no UTF-8 is an error."""
    import pyarrow as pa

    readings = {point: parse_csv(content, types, delimiter, point) for point in (".," if delimiter == ";" else ".")}
    point = min(readings, key=lambda point: text_columns(readings[point]))
    table = readings[point]
    zoned = [field.name for field in table.schema if pa.types.is_timestamp(field.type) and field.type.tz is not None]
    if zoned:
        table = parse_csv(content, types | dict.fromkeys(zoned, pa.string()), delimiter, point)
    for k, field in enumerate(table.schema):
        if pa.types.is_binary(field.type):
            raise pa.ArrowInvalid(f"column {field.name!r} is not UTF8")
        if pa.types.is_string(field.type):
            table = table.set_column(k, field.name, read_cells(table.column(k), whole=field.name == id))
    return table


def parse_csv(content: bytes, types: dict[str, Any], delimiter: str, point: str) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    return csv.read_csv(
        pa.BufferReader(content),
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=types, null_values=list(MISSING_WORDS), strings_can_be_null=False, decimal_point=point
        ),
    )


def delimiter_of(content: bytes, suffix: str) -> str:
    """A tab in a .tsv file; elsewhere a comma, or what the header has instead of one."""
    if suffix.startswith(".tsv"):
        return "\t"
    header = content[: 1 << 16].partition(b"\n")[0]
    return next((sign.decode() for sign in (b",", b";", b"\t") if sign in header), ",")


def not_utf8(place: str, content: bytes, first: int = 1) -> InvalidFile:
    """Where the first byte stands that is no UTF-8, and how the line would read in the usual other encoding.

    `first` is the line of the file with which the content begins.
    """
    if content.startswith(UTF16):
        return InvalidFile(f"{place} is UTF-16; save it as UTF-8, for example with: iconv -f utf-16 -t utf-8.")
    for number, line in enumerate(content.split(b"\n"), start=first):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            shown = line[max(error.start - 20, 0) : error.start + 20].decode("latin-1").strip()
            return InvalidFile(
                f"{place}, line {number}: byte 0x{line[error.start]:02X} is not UTF-8 text (as Latin-1 it reads {shown!r}); "
                "save the file as UTF-8, for example with: iconv -f latin1 -t utf-8."
            )
    return InvalidFile(f"{place} is not UTF-8 text; save it as UTF-8.")


def text_columns(table: Any) -> int:
    import pyarrow as pa

    return sum(pa.types.is_string(field.type) for field in table.schema)


def read_cells(cells: Any, *, whole: bool) -> Any:
    """Empty cells become missing; ids that are all plain integers become integers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if whole and len(cells) and pc.all(pc.match_substring_regex(cells, _PLAIN_INTEGER)).as_py():
        return cells.cast(pa.int64())
    return pc.if_else(pc.equal(cells, ""), pa.scalar(None, cells.type), cells)


def as_pandas(table: Any) -> "pd.DataFrame":
    """Column by column, each of which is freed once it is converted, so that a table is not held twice."""
    table = table.drop_columns([name for name in table.column_names if _ROW_LABELS.fullmatch(name)])
    return table.to_pandas(ignore_metadata=True, date_as_object=False, split_blocks=True, self_destruct=True)


def _read_parquet(path: FilePath, id: str | None) -> "pd.DataFrame":
    from pyarrow import parquet

    return as_pandas(parquet.read_table(path))


def _read_feather(path: FilePath, id: str | None) -> "pd.DataFrame":
    from pyarrow import feather

    return as_pandas(feather.read_table(path))


def _read_excel(path: FilePath, id: str | None) -> "pd.DataFrame":
    """The only sheet with cells; numbers with a few words for missing among them are numbers."""
    import pandas as pd

    _require_excel(path)
    try:
        sheets = pd.read_excel(path, sheet_name=None, engine="openpyxl", keep_default_na=False, na_values=[""])
    except (KeyError, ValueError) as error:
        raise zipfile.BadZipFile(f"{error}.") from error
    filled = {name: sheet for name, sheet in sheets.items() if len(sheet)}
    if len(filled) != 1:
        raise InvalidTable(
            f"{path} has {len(filled)} sheets with rows{': ' if filled else ''}{', '.join(map(repr, filled))}; expected one, "
            "so save the one to read as a file of its own."
        )
    (frame,) = filled.values()
    for name in [name for name in frame.columns if frame[name].dtype == object]:
        if name == id:
            frame[name] = frame[name].where(frame[name].isna(), frame[name].astype(str))
        elif kind_of(frame[name]) == "mixed" and not odd_words(frame[name]).any():
            frame[name] = as_numbers(frame[name])
    return frame


def _write_text(frame: "pd.DataFrame", partial: FilePath, name: str, suffix: str) -> None:
    packed = {"gz": "gzip", "xz": "xz", "zip": "zip"}.get(suffix.rpartition(".")[2])
    inside = {"archive_name": FilePath(name[:-4]).with_suffix(suffix[:4] if len(suffix) > 4 else ".csv").name}
    compression: Any = None if packed is None else {"method": packed, **(inside if packed == "zip" else {})}
    frame.to_csv(partial, index=False, sep="\t" if suffix.startswith(".tsv") else ",", compression=compression)


def _write_excel(frame: "pd.DataFrame", partial: FilePath) -> None:
    with partial.open("wb") as file:
        try:
            frame.to_excel(file, index=False, engine="openpyxl")
        except ValueError as error:
            raise InvalidTable(f"the table cannot be written as .xlsx: {error}; write .csv or .parquet.") from error


def _require_excel(path: FilePath) -> None:
    from importlib.util import find_spec

    if find_spec("openpyxl") is None:
        raise InvalidTable(f"{path}: Excel files need openpyxl; install it with: pip install 'denots[excel]'.")


_READERS: dict[str, Callable[[FilePath, str | None], "pd.DataFrame"]] = {
    ".parquet": _read_parquet,
    ".feather": _read_feather,
    ".xlsx": _read_excel,
}

_WRITERS: dict[str, Callable[["pd.DataFrame", FilePath], None]] = {
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
    ".feather": lambda frame, path: frame.reset_index(drop=True).to_feather(path),
    ".xlsx": _write_excel,
}
