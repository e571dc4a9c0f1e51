"""Turn a table of any size into a sharded set, in bounded memory.

The rows of a table are dealt out to shards by the hash of their id, in table order: no sort of the whole is needed,
because each shard, which fits into memory, is then read like a table of its own. So cleaning and errors are those of
every table, and rows keep their places in messages.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from denots.data.categories import learn_categories
from denots.data.column import LINE, ROW, Columns
from denots.data.missing import as_numbers, emptied, odd_words
from denots.data.reading import Reading
from denots.data.reject import joint_error
from denots.data.schema import TableSchema
from denots.data.series import SeriesSet
from denots.data.shards import (
    ShardedSet,
    id_hashes,
    is_replaceable,
    is_sharded,
    shard_name,
    write_shard,
    write_shards_manifest,
)
from denots.data.statistics import Statistics
from denots.data.table_file import as_pandas, read_table
from denots.data.table_stream import TableStream, open_stream
from denots.data.targets_table import add_targets
from denots.errors import DenotsError, InvalidOption, InvalidTable, Rejected
from denots.folders import written_whole
from denots.registry import lookup
from denots.shapes import IntArray

if TYPE_CHECKING:
    import pandas as pd

BYTES = 32 * 2**20  # of a table file for each shard, where nobody says how many there are to be
MOST_WORDS = 100_000  # different texts of a column that are kept in mind
_PLACE = "__place__"


def shard_table(
    table: Path, schema: TableSchema, folder: Path, *, shards: int | None = None, targets: Path | None = None
) -> ShardedSet:
    """Read a table file, or a folder of Parquet files, into a folder of shards.

    Args:
        shards: how many; a shard has to fit into memory several times over. None is one for each 32 MiB of the file.
        targets: a second table (id, target), which has to fit into memory.
    """
    if is_sharded(table):
        raise InvalidOption(
            f"{table} is a set of shards already, which `denots fit` and `denots predict` read as it is."
        )
    count = _bytes(table) // BYTES + 1 if shards is None else shards
    if count < 1:
        raise InvalidOption(f"a set has at least one shard; got {count}.")
    stream = open_stream(table, id=schema.id, texts=schema.texts)
    schema = _with_form(schema, stream)
    told = None if targets is None else read_table(targets, id=schema.id)
    with written_whole(folder, replaceable=is_replaceable) as draft:
        dealt = _deal(stream, schema, draft, count)
        schema = _with_contents(schema, dealt)
        writer = _Writer(draft)
        for file in dealt.files:
            if file is None:
                continue
            frame, own = _with_numbers(_frame(file, stream), schema, dealt), schema
            file.unlink()
            if told is not None:
                frame, own = add_targets(frame, told, schema)
            writer.add(own, frame)
        writer.finish()
    return ShardedSet.open(folder)


@dataclass(slots=True)
class _Dealt:
    """Rows of a table in one file for each shard, and what only the whole table tells of its columns of text.

    words: of columns that have categories, or name channels.
    texts: how many cells are numbers, words, and spellings of a missing cell.
    """

    files: list[Path | None]
    words: dict[str, dict[str, bool]]
    texts: dict[str, IntArray]


def _deal(stream: TableStream, schema: TableSchema, draft: Path, count: int) -> _Dealt:
    """Write each row to the file of its shard, with its place in the table."""
    import pyarrow as pa

    texts = {field.name for field in stream.schema if _is_text(field.type)}
    watched = texts & {*schema.static, *(schema.channels or ())} | {schema.variable} & set(stream.schema.names)
    exact = {schema.id, schema.time, schema.start, schema.variable, *schema.targets}
    dealt = _Dealt(
        files=[None] * count,
        words={name: {} for name in stream.schema.names if name in watched},
        texts={name: np.zeros(3, np.int64) for name in sorted(texts - exact)},
    )
    form = stream.schema.append(pa.field(_PLACE, pa.int64()))
    options, before = pa.ipc.IpcWriteOptions(compression="lz4"), 0
    with ExitStack() as stack:
        writers: dict[int, Any] = {}
        for batch in stream.batches():
            for name, words in dealt.words.items():
                _note(batch.column(name), name, words)
            for name, counts in dealt.texts.items():
                counts += _count_cells(batch.column(name).to_pandas(), schema.na)
            places = pa.array(np.arange(before, before + len(batch)))
            before += len(batch)
            batch = batch.append_column(form.field(_PLACE), places)
            owner = _owners(batch.column(schema.id), count)
            batch = batch.take(np.argsort(owner, kind="stable"))
            ends = np.cumsum(np.bincount(owner, minlength=count))
            for k in np.unique(owner).tolist():
                if k not in writers:
                    dealt.files[k] = draft / f"{k}.arrow"
                    writers[k] = stack.enter_context(pa.ipc.new_stream(dealt.files[k], form, options=options))
                first = ends[k - 1] if k else 0
                writers[k].write_table(batch.slice(first, ends[k] - first))
    return dealt


def _owners(ids: Any, count: int) -> IntArray:
    """The shard of each row; rows without an id go to the first, which refuses them."""
    import pyarrow as pa

    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    if pa.types.is_dictionary(ids.type):
        ids = ids.cast(ids.type.value_type)
    coded = ids.dictionary_encode()
    names = coded.dictionary if pa.types.is_integer(ids.type) else coded.dictionary.cast(pa.string())
    owners = (id_hashes(names.to_numpy(zero_copy_only=False)) % np.uint64(count)).astype(np.int64)
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.where(codes < 0, 0, np.append(owners, 0)[codes]), dtype=np.int64)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _count_cells(column: "pd.Series[Any]", na: tuple[str, ...]) -> IntArray:
    """How many cells are numbers, other words, and spellings of a missing cell."""
    left = emptied(column, na)
    odd, hits = int(odd_words(left).sum()), int(left.isna().sum() - column.isna().sum())
    return np.array([int(as_numbers(left).notna().sum()), odd, hits], dtype=np.int64)


def _note(cells: Any, name: str, words: dict[str, bool]) -> None:
    words.update(dict.fromkeys((str(word) for word in cells.unique().to_pylist() if word is not None), True))
    if len(words) > MOST_WORDS:
        raise InvalidTable(
            f"column {name!r} holds more than {MOST_WORDS} different texts, such as {next(iter(words))!r}; it has neither "
            "categories nor the names of channels, so leave it out."
        )


def _with_form(schema: TableSchema, stream: TableStream) -> TableSchema:
    """The schema, with the columns of a long table if that is what the names of the columns say."""
    names = dict.fromkeys(stream.schema.names, True)
    for name in (schema.id, schema.time):
        lookup(names, name, "id column" if name == schema.id else "time column")
    rest = set(names) - set(schema.columns())
    implied = schema.variable is None and schema.value is None and rest == {"variable", "value"}
    if implied and not schema.picked and not rest & set(schema.channels or ()):
        return replace(schema, variable="variable", value="value")
    return schema


def _with_contents(schema: TableSchema, dealt: _Dealt) -> TableSchema:
    """The schema, with channels and categories of the whole table, which no single shard need have."""
    import pandas as pd

    if schema.variable is not None and schema.variable in dealt.words:
        found = dealt.words[schema.variable]
        for name in (schema.channels or ()) if schema.picked else ():
            lookup(found, name, "channel")
        schema = replace(schema, channels=schema.channels or tuple(sorted(found)))
    categories: dict[str, tuple[str, ...]] = {}
    for name, words in dealt.words.items():
        if name != schema.variable and words:
            column = pd.DataFrame({name: list(words)})
            categories |= learn_categories(Columns(column, schema.na), [name])
    return replace(schema, categories=categories)


def _frame(file: Path, stream: TableStream) -> "pd.DataFrame":
    """The rows of one shard, each labelled by its line or its row in the whole table."""
    import pandas as pd
    import pyarrow as pa

    with pa.ipc.open_stream(file) as reader:
        frame = as_pandas(reader.read_all())
    places = frame.pop(_PLACE).to_numpy()
    first = 1 if stream.first_line is None else stream.first_line
    frame.index = pd.Index(places + first, name=ROW if stream.first_line is None else LINE)
    return frame


def _with_numbers(frame: "pd.DataFrame", schema: TableSchema, dealt: _Dealt) -> "pd.DataFrame":
    """Columns of text that the whole table shows to be numbers, as numbers where this part of it has no other words."""
    for name, (numbers, odd, hits) in dealt.texts.items():
        left = emptied(frame[name], schema.na)
        if odd <= numbers and (odd or hits) and not odd_words(left).any():
            frame[name] = as_numbers(left)
    return frame


class _Writer:
    """Shards as they are written, and everything that is wrong with any of them."""

    def __init__(self, draft: Path) -> None:
        self.draft = draft
        self.shards: list[Mapping[str, Any]] = []
        self.rejected: list[Rejected] = []
        self.ids = 0
        self.first: SeriesSet | None = None
        self.statistics: Statistics | None = None
        self.dtypes: dict[str, str] = {}

    def add(self, schema: TableSchema, frame: "pd.DataFrame") -> None:
        """Read one shard and write what can be read; the rest is told at the end."""
        total = frame[schema.id].nunique()
        self.ids += total
        try:
            reading = schema.scan(frame, target=schema.target)
        except DenotsError as error:
            if len(error.rejected) < total:  # not the fault of its series
                raise
            self.rejected += error.rejected
            return
        self.rejected += reading.rejected
        series = reading.series
        entry = write_shard(series, self.draft / shard_name(len(self.shards)))
        self.shards.append(entry)
        own = Statistics.of(series)
        self.statistics = own if self.statistics is None else self.statistics.merged(own)
        self.first = self.first or series
        for name in entry["files"]:
            part = name.removesuffix(".npy")
            found = getattr(series, part).dtype
            known = self.dtypes.get(part)
            self.dtypes[part] = (found if known is None else np.result_type(found, np.dtype(known))).str

    def finish(self) -> None:
        """Refuse the table if series of it cannot be read; else say what was written."""
        if self.first is None or self.statistics is None:
            raise joint_error(self.rejected)
        Reading(self.first, tuple(self.rejected), np.arange(self.ids)).check()
        write_shards_manifest(self.draft, self.first, self.shards, self.statistics, self.dtypes)


def _bytes(path: Path) -> int:
    files = path.rglob("*.parquet") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
