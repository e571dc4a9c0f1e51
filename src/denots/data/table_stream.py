"""Table files of any size as a stream of Arrow batches that share one schema, in bounded memory."""

import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import IO, TYPE_CHECKING, Any

from denots.data.table_file import (
    STANDARD,
    TEXT_SUFFIXES,
    check_readable,
    delimiter_of,
    not_utf8,
    parse_csv,
    read_cells,
    read_table,
)
from denots.errors import InvalidTable

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK = 16 * 2**20  # bytes of text that are parsed at once
ROWS = 2**17  # of a Parquet or Feather table that are decoded at once
_PLAIN_INTEGERS = r"^(0|-?[1-9][0-9]{0,17})$"


@dataclass(frozen=True, slots=True, eq=False)
class TableStream:
    """The batches of a table, as often as they are asked for.

    first_line: the line of the file in which the first row stands; None where rows are no lines.
    """

    schema: "pa.Schema"
    batches: Callable[[], Iterator["pa.Table"]]
    first_line: int | None = None


def open_stream(path: FilePath, *, id: str, texts: Iterable[str] = ()) -> TableStream:
    """A table file as `read_table` reads it, piece by piece.

    Text files are read twice: which type a column has is known only at their end. Excel files and standard input
    are read whole.
    """
    import pyarrow as pa

    if path == STANDARD or path.suffix.lower() == ".xlsx":
        table = pa.Table.from_pandas(read_table(path, id=id, texts=texts), preserve_index=False)
        return TableStream(table.schema, lambda: iter([table]))
    suffix = check_readable(path)
    with _named_errors(path, suffix):
        if suffix in TEXT_SUFFIXES:
            return _open_text(path, suffix, id, tuple(texts))
        return _open_columns(path, suffix)


def _open_columns(path: FilePath, suffix: str) -> TableStream:
    import pyarrow as pa
    from pyarrow import dataset

    found = dataset.dataset(path, format=suffix.removeprefix("."), partitioning="hive")

    def batches() -> Iterator[pa.Table]:
        with _named_errors(path, suffix):
            for batch in found.to_batches(batch_size=ROWS, batch_readahead=1, fragment_readahead=1):
                if len(batch):
                    yield pa.Table.from_batches([batch])

    return TableStream(found.schema, batches)


def _open_text(path: FilePath, suffix: str, id: str, texts: tuple[str, ...]) -> TableStream:
    import pyarrow as pa

    header, delimiter = _header(path, suffix)
    points = ".," if delimiter == ";" else "."
    fixed = dict.fromkeys((*texts, id), pa.string())
    types: dict[str, dict[str, Any]] = {point: {} for point in points}
    whole_ids, rows, newlines = True, 0, header.count(b"\n")
    for first, chunk in _chunks(path, suffix):
        for point in points:
            table = _parsed(path, header + chunk, fixed, delimiter, point, first, rows)
            for field in table.schema:
                types[point][field.name] = _joint(types[point].get(field.name), field.type)
        if id in table.column_names:
            whole_ids = whole_ids and _are_integers(table.column(id))
        rows += len(table)
        newlines += chunk.count(b"\n") + (not chunk.endswith(b"\n"))
    if not rows:
        raise InvalidTable("the table has no rows; give at least one observation.")
    point = min(points, key=lambda point: sum(map(pa.types.is_string, types[point].values())))
    chosen = {name: pa.string() if pa.types.is_null(kind) else kind for name, kind in types[point].items()}

    def batches() -> Iterator[pa.Table]:
        before = 0
        with _named_errors(path, suffix):
            for first, chunk in _chunks(path, suffix):
                table = _parsed(path, header + chunk, chosen, delimiter, point, first, before)
                before += len(table)
                for k, field in enumerate(table.schema):
                    if pa.types.is_string(field.type):
                        cells = read_cells(table.column(k), whole=False)
                        whole = field.name == id and whole_ids
                        table = table.set_column(k, field.name, cells.cast(pa.int64()) if whole else cells)
                yield table

    told = {**chosen, id: pa.int64()} if whole_ids and id in chosen else chosen
    one_line_each = newlines == rows + header.count(b"\n")
    return TableStream(pa.schema(list(told.items())), batches, 2 if one_line_each else None)


def _parsed(
    path: FilePath, content: bytes, types: dict[str, Any], delimiter: str, point: str, first: int, before: int
) -> "pa.Table":
    """A piece of text with its header; errors name the line, or the row, of the whole file."""
    import pyarrow as pa

    try:
        table = parse_csv(content, types, delimiter, point)
        odd = [field.name for field in table.schema if pa.types.is_binary(field.type)]
        if odd:
            raise pa.ArrowInvalid(f"column {odd[0]!r} is not UTF8")
    except (UnicodeDecodeError, pa.ArrowException) as error:
        if isinstance(error, UnicodeDecodeError) or "UTF8" in str(error):
            raise not_utf8(str(path), content, first - 1) from error
        moved = re.sub(r"Row #(\d+)", lambda found: f"Row #{int(found[1]) + before}", str(error))
        raise pa.ArrowInvalid(moved) from error
    return table


def _joint(known: Any, found: Any) -> Any:
    """The type that holds both; text where nothing else does. Stamps with a zone stay text, as they were written."""
    import pyarrow as pa

    if pa.types.is_timestamp(found) and found.tz is not None:
        found = pa.string()
    if known is None or known == found or pa.types.is_null(known):
        return found
    if pa.types.is_null(found):
        return known
    numbers, dates = {pa.int64(), pa.float64()}, (pa.date32(), pa.timestamp("s"), pa.timestamp("ns"))
    if {known, found} == numbers:
        return pa.float64()
    if known in dates and found in dates:
        return max(known, found, key=dates.index)
    return pa.string()


def _are_integers(cells: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(cells, _PLAIN_INTEGERS)).as_py())


def _header(path: FilePath, suffix: str) -> tuple[bytes, str]:
    """The first row of a text file with its end, and what separates its fields."""
    with _unpacked(path, suffix) as stream:
        header = _row(stream)
    return header if header.endswith(b"\n") else header + b"\n", delimiter_of(header, suffix)


def _chunks(path: FilePath, suffix: str) -> Iterator[tuple[int, bytes]]:
    """Whole rows of a text file after the header, so many bytes at a time, each piece with its first line."""
    with _unpacked(path, suffix) as stream:
        line = 1 + _row(stream).count(b"\n")
        rest = b""
        while piece := stream.read(CHUNK):
            content = rest + piece
            end = _last_row_end(content)
            rest = content[end:]
            if end:
                yield line, content[:end]
                line += content.count(b"\n", 0, end)
        if rest.strip():
            yield line, rest


def _row(stream: IO[bytes]) -> bytes:
    """One row; a line break inside of quotes belongs to its cell."""
    row = stream.readline()
    while row.count(b'"') % 2 and (more := stream.readline()):
        row += more
    return row


def _last_row_end(content: bytes) -> int:
    """Where the last whole row ends: after the last line break with an even number of quotes before it."""
    end = content.rfind(b"\n") + 1
    quotes = content.count(b'"', 0, end)
    while end and quotes % 2:
        earlier = content.rfind(b"\n", 0, end - 1) + 1
        quotes -= content.count(b'"', earlier, end)
        end = earlier
    return end


@contextmanager
def _unpacked(path: FilePath, suffix: str) -> Iterator[IO[bytes]]:
    if suffix.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            files = [
                part for part in archive.infolist() if not part.is_dir() and not part.filename.startswith("__MACOSX")
            ]
            if len(files) != 1:
                raise InvalidTable(f"{path} holds {len(files)} files; expected one, the table, so unpack it.")
            if files[0].flag_bits & 1:
                raise InvalidTable(f"{path} is encrypted; unpack it.")
            with archive.open(files[0]) as part:
                yield io.BufferedReader(part)  # type: ignore[type-var]
        return
    opener: Any = {".gz": gzip.open, ".xz": lzma.open}.get(suffix[-3:], open)
    with opener(path, "rb") as stream:
        yield stream


@contextmanager
def _named_errors(path: FilePath, suffix: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split())
        raise InvalidTable(
            f"{path} cannot be read as {suffix}: {reason} It may be truncated or of another format; write it again."
        ) from error
