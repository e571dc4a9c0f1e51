"""Read series from a pandas or polars table, wide (a column per channel) or long (a row per value)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denots.data.categories import encode, encoded_names, learn_categories, unknown_texts
from denots.data.column import Columns, describe, integers, is_integer, kind_of, numbers, place, show
from denots.data.duplicates import REFUSE
from denots.data.groups import Groups, one_per_series, read_groups
from denots.data.observations import new_times, read_long, read_wide, wide_channels
from denots.data.reading import Reading
from denots.data.reject import leave_out, reject
from denots.data.schema import TableSchema, names_of
from denots.data.series import SeriesSet
from denots.data.stamps import Stamps, elapsed, read_stamps
from denots.data.validate import SKIP
from denots.errors import EmptySeries, InvalidTable, InvalidTarget
from denots.registry import listed, lookup
from denots.shapes import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def read_frame(
    frame: "pd.DataFrame | pl.DataFrame",
    *,
    id: str,
    time: str,
    target: str | Sequence[str] | None = None,
    static: str | Sequence[str] = (),
    values: str | Sequence[str] | None = None,
    variable: str | None = None,
    value: str | None = None,
    channels: Sequence[str] | None = None,
    time_unit: str | None = None,
    start: str | None = None,
    sort: bool = False,
    duplicates: str = REFUSE,
    skip_empty: bool = False,
    na: str | Sequence[str] = (),
    time_format: str | None = None,
    row_target: str | None = None,
) -> SeriesSet:
    """Read one series per id, in order of first appearance; the set carries its `TableSchema`.

    A wide table has one row per id and time. Rows of different ids may interleave, but
    within an id the times must increase from row to row unless `sort` is given. A
    long table has one row per id, time and variable, in any order; pivoting it sorts it.
    Empty cells are unobserved values, Booleans count as 0 and 1. Columns that no argument
    names are channels only where neither `values` nor `channels` nor `variable` is given.

    Args:
        time: numbers, which are kept as they are; or dates (also as ISO 8601 text), which
            become the time since the start of their series and need a `time_unit`.
        target: a column that is constant within each id; numbers, text or Booleans. Several columns, all of numbers,
            are learnt together.
        static: columns that are constant within each id; empty means unknown. Text in them, and in channels
            that are named, becomes one column of zeros and ones for each category (`data/categories.py`).
        values: the channels to use, by name; other columns of a wide table, and rows of a long one
            about other variables, are passed over. Default: all.
        variable, value: the two columns of a long table. A table whose remaining columns
            are named exactly so is read as long; `values` alone then makes it wide. Channels
            are the variables sorted by name as text, so that two tables agree.
        channels: fixes the channels and their order, for tables that a fitted model will
            read. Other columns of a wide table are then left out; a long table may lack a
            variable, which is then never observed, but must not bring a new one.
        time_unit: "s", "min", "h" or "d" or a spelling of these; for numbers it changes nothing but is kept.
        start: a column, constant within each id, with the moment at which the series
            began; by default that is its first observation.
        sort: put the rows of each id in order of time.
        duplicates: what becomes of several values of a channel at one time: "error", "mean", "last" or "first" of
            those that are not missing.
        skip_empty: leave out series in which nothing was observed, with a warning that counts them.
        na: further spellings of a missing cell, such as "n/a" or "-999"; not in the columns of ids, times and variables.
        time_format: how dates are written, as for strptime, such as "%d.%m.%Y %H:%M"; default ISO 8601. Stamps
            with UTC offsets are read to one clock, whatever their offsets.
        row_target: a column of numbers, or of true and false, with what is to be told of each row; empty where nobody
            knows it. It is never a channel.
    """
    picked, fixed = names_of(values), names_of(channels)
    if picked is not None and fixed is not None:
        raise InvalidTable(
            "values=... picks channels and channels=... fixes them for a fitted model; give one of both."
        )
    schema = TableSchema(
        id=str(id),
        time=str(time),
        target=names_of(target),
        static=names_of(static) or (),
        channels=fixed if picked is None else picked,
        variable=variable,
        value=value,
        time_unit=time_unit,
        start=start,
        picked=picked is not None,
        sort=sort,
        duplicates=duplicates,
        skip_empty=skip_empty,
        na=names_of(na) or (),
        time_format=time_format,
        row_target=row_target,
    )
    return learn_frame(schema, frame)


def learn_frame(schema: TableSchema, frame: Any) -> SeriesSet:
    """Find out what the schema leaves open, and read; the set carries the completed schema."""
    columns = _columns(schema, frame)
    if schema.row_target is not None:
        columns.require(schema.row_target, "row target")
    _require_picked(_with_form(schema, columns), columns)
    return _scan(schema, columns, schema.target).check()


def scan_frame(schema: TableSchema, frame: Any, target: str | tuple[str, ...] | None) -> Reading:
    """Read what can be read; what the schema leaves open is found out and said by the schema of the set."""
    return _scan(schema, _columns(schema, frame), target)


def _columns(schema: TableSchema, frame: Any) -> Columns:
    names = (schema.id, schema.variable)
    return Columns(frame, schema.na, exact=(*names, schema.time, schema.start), labels=names)


def _scan(schema: TableSchema, columns: Columns, target: str | tuple[str, ...] | None) -> Reading:
    schema = _with_form(schema, columns)
    named = replace(schema, target=target or schema.target).columns()
    _require(named, columns, told=target is not None)
    schema = _with_contents(schema, columns, named)
    groups = read_groups(columns[schema.id], schema.id)

    def read(left_out: set[str | int]) -> SeriesSet:
        kept = ~np.isin(groups.codes, np.flatnonzero([name in left_out for name in groups.ids.tolist()]))
        return _read(schema, columns.keep(kept) if left_out else columns, names_of(target) or ())

    series, rejected = leave_out(read, len(groups.ids))
    channels = series.channels if schema.channels is None else schema.channels
    complete = replace(schema, channels=channels, time_unit=series.time_unit or None)
    texts = {
        (groups.ids[own].item(), name): text
        for name, categories in (schema.categories or {}).items()
        for own, text in unknown_texts(columns[name], categories, groups.codes).items()
    }
    return Reading(replace(series, schema=complete), rejected, groups.ids, texts)


def _with_form(schema: TableSchema, columns: Columns) -> TableSchema:
    """The schema, with the two columns of a long table if that is what the table is."""
    named = schema.columns()
    _require(named, columns, told=False)
    rest = set(columns.names) - set(named)
    if (schema.variable is None) != (schema.value is None):
        raise InvalidTable(
            "a long table needs the column that names the channel (variable=..., --variable) and the one that holds "
            "its value (value=..., --value); name both, or neither for a wide table."
        )
    implied = schema.variable is None and rest == {"variable", "value"}
    if implied and not schema.picked and not rest & set(schema.channels or ()):
        return replace(schema, variable="variable", value="value")
    return schema


def _with_contents(schema: TableSchema, columns: Columns, named: dict[str, str]) -> TableSchema:
    """The schema, with the channels of a wide table and the categories of its text and of static columns."""
    wide = schema.variable is None
    if wide:
        rest = [name for name in columns.names if name not in named]
        schema = replace(schema, channels=wide_channels(columns, rest, schema))
    if schema.categories is None:
        read = (*schema.static, *((schema.channels or ()) if wide else ()))
        schema = replace(schema, categories=learn_categories(columns, read))
    return schema


def _require(named: dict[str, str], columns: Columns, told: bool) -> None:
    """Every named column is there; the target only if it is to be read, for nobody knows it before predicting.

    A row target is read where it is there.
    """
    for name, role in named.items():
        if role not in ("target", "row target") or (told and role == "target"):
            columns.require(name, role)


def _require_picked(schema: TableSchema, columns: Columns) -> None:
    """Offer the nearest name for a picked channel that is not there."""
    if not schema.picked:
        return
    if not schema.channels:
        raise InvalidTable("no channel is picked; name at least one (values=..., --channels), or leave it out for all.")
    if schema.variable is not None:
        known = dict.fromkeys(columns[schema.variable].dropna().astype(str), True)
        for name in schema.channels:
            lookup(known, name, "channel")


def _read(schema: TableSchema, columns: Columns, targets: tuple[str, ...]) -> SeriesSet:
    columns = picked_rows(schema, columns)
    groups = read_groups(columns[schema.id], schema.id)
    stamps = read_stamps(columns[schema.time], schema.time, groups, schema.time_format)
    begin = None
    if schema.start is not None:
        begin = read_stamps(columns[schema.start], schema.start, groups, schema.time_format)
    read = read_wide if schema.variable is None else read_long
    found = read(columns, schema, groups, stamps)
    times, starts, unit = elapsed(stamps, begin, groups, found.rows, found.offsets, schema.time_unit)
    return SeriesSet(
        times=times,
        values=found.values,
        offsets=found.offsets,
        start=starts,
        ids=groups.ids,
        channels=found.channels,
        static=_read_static(columns, schema, groups) if schema.static else None,
        static_names=encoded_names(schema.static, schema.categories or {}),
        target=_read_targets(columns, targets, groups),
        target_names=targets if len(targets) > 1 else (),
        time_unit=unit,
        row_target=_read_row_target(columns, schema.row_target, groups, stamps),
    )


def picked_rows(schema: TableSchema, columns: Columns) -> Columns:
    """The rows that are read: all, or those of a long table that belong to picked channels."""
    if not schema.picked or schema.variable is None:
        return columns
    groups = read_groups(columns[schema.id], schema.id)
    kept = columns[schema.variable].astype(str).isin(schema.channels or ()).to_numpy()
    lost = np.flatnonzero(np.bincount(groups.codes[kept], minlength=len(groups.ids)) == 0)
    if len(lost):
        words = f"has no row for any of the channels {listed(schema.channels or ())}; leave it out ({SKIP})."
        reasons = {name: f"series {name!r} {words}" for name in groups.ids[lost].tolist()}
        reject(EmptySeries, reasons, "no row for any channel")
    return columns.keep(kept)


def _read_static(columns: Columns, schema: TableSchema, groups: Groups) -> FloatArray:
    table, known = [], schema.categories or {}
    for name in schema.static:
        column = columns[name]
        cells = encode(column, known[name]) if name in known else numbers(column, name, "static", groups)[:, None]
        one_per_series(column, name, groups, InvalidTable)
        table.append(cells[groups.first])
    return np.concatenate(table, axis=1)


def _read_row_target(columns: Columns, name: str | None, groups: Groups, stamps: Stamps) -> FloatArray | None:
    """What is to be told at each time of each series; rows of one time have to agree, as far as they say something."""
    if name is None or name not in columns.names:
        return None
    column = columns[name]
    labels = numbers(column, name, "row target", groups)
    order = np.lexsort((stamps.ticks, groups.codes))
    first = np.flatnonzero(new_times(groups.codes[order], stamps.ticks[order]))
    lowest, highest = (extreme.reduceat(labels[order], first) for extreme in (np.fmin, np.fmax))
    differs = np.flatnonzero(lowest < highest)
    if len(differs):
        groups.reject(
            InvalidTarget,
            f"several values of {name!r} at one time",
            order[first[differs]],
            lambda row: (
                f"series {groups.owner(row)!r} has several values in the row target {name!r} at time {stamps.show(row)}; "
                "keep one of them."
            ),
        )
    return highest


def _read_targets(columns: Columns, names: tuple[str, ...], groups: Groups) -> npt.NDArray[Any] | None:
    """One target as it is; several, which have to be numbers, side by side."""
    found = [_read_target(columns[name], name, groups) for name in names]
    if len(found) < 2:
        return found[0] if found else None
    for name, column in zip(names, found, strict=True):
        if column.dtype.kind not in "iuf":
            raise InvalidTarget(
                f"target column {name!r} holds {describe(columns[name])}; several targets are learnt together as numbers only, "
                "so fit a model of its own for each column of classes."
            )
    return np.stack(found, axis=1).astype(np.float64)


def _read_target(column: "pd.Series[Any]", name: str, groups: Groups) -> npt.NDArray[Any]:
    missing = np.flatnonzero(column.isna().to_numpy())
    if len(missing):
        groups.reject(
            InvalidTarget,
            f"no target in {name!r}",
            missing,
            lambda row: (
                f"series {groups.owner(row)!r} has no target in column {name!r} ({place(column, row)}); "
                "give it in every row of the series, or leave the series out."
            ),
        )
    kind = kind_of(column)
    if kind not in ("number", "bool", "text"):
        raise InvalidTarget(
            f"target column {name!r} holds {describe(column)}; a target is a number, a class as text, or true or false."
        )
    own = one_per_series(column, name, groups, InvalidTarget)
    if kind == "text":
        return own.to_numpy(dtype=object).astype(str)
    if kind == "bool":
        return own.to_numpy(dtype=bool)
    if is_integer(own):
        return integers(own)
    target = numbers(column, name, "target", groups)[groups.first]
    bad = np.flatnonzero(~np.isfinite(target))
    if len(bad):
        groups.reject(
            InvalidTarget,
            f"infinite target {name!r}",
            groups.first[bad],
            lambda row: f"series {groups.owner(row)!r}: target {name!r} is {show(column, row)}; it must be finite.",
        )
    return target
