"""Accept series in the forms that people have them in."""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denots.data.arrays import read_numbers
from denots.data.reading import Reading
from denots.data.reject import leave_out, reject
from denots.data.series import Series, SeriesSet
from denots.errors import InvalidSeries, InvalidTarget, Rejected
from denots.registry import listed
from denots.shapes import FloatArray

if TYPE_CHECKING:
    from denots.data.schema import TableSchema


class Item(NamedTuple):
    """One series of a list; without times, an array whose orientation is not known yet."""

    times: Any
    values: Any
    channels: tuple[str, ...] | None = None


def as_series_set(X: Any, schema: "TableSchema | None" = None, width: int | None = None) -> SeriesSet:
    """The series of X, all of them; see `scan_series` for the forms that X may have."""
    return scan_series(X, schema, width).check()


def scan_series(X: Any, schema: "TableSchema | None" = None, width: int | None = None) -> Reading:
    """Read a SeriesSet; a table; an array (n, channels, time) or (n, time); or a list with one item a series.

    An item is a Series; a pair of times [L] and values [L, C]; a DataFrame with one column per channel and
    the times as its index; or an array of one channel, sampled at 0, 1, 2, ... A two-dimensional array
    without times does not say which of its axes is time. Where the items differ in length, the axis that
    varies is time; else the axis of `width` entries is that of the channels; else the list is refused.
    Items that cannot be read are left out and reported under their position in the list.

    Args:
        schema: how a table is read, learnt from the one that a model was fitted on.
        width: the number of channels that a fitted model knows.
    """
    if isinstance(X, SeriesSet):
        return Reading(X, (), X.ids)
    if is_table(X):
        if schema is None:
            raise InvalidSeries(
                "a table says which series a row belongs to only when told: give SeriesSet.from_frame(table, id=..., time=...)."
            )
        return schema.scan(X)
    if _is_sparse(X):
        raise InvalidSeries("X is a sparse matrix, and sparse input is not supported; give X.toarray().")
    if hasattr(X, "__array__") and not isinstance(X, np.ndarray):
        X = np.asarray(X)
    if isinstance(X, np.ndarray) and X.dtype != object:
        return _scan_array(X)
    if not isinstance(X, Sequence | np.ndarray) or isinstance(X, str):
        one = "one Series is no set, and a slice of a set such as X[:1] is; else " if isinstance(X, Series) else ""
        raise InvalidSeries(
            f"cannot read series from {type(X).__name__}; {one}give a SeriesSet (for a table: SeriesSet.from_frame), "
            "an array (n, channels, time), or a list of (times, values) pairs or DataFrames."
        )
    if not len(X):
        raise InvalidSeries("the set is empty; give at least one series.")
    return _scan_list(X, width)


def read_target(y: Any) -> npt.NDArray[Any]:
    """Answers as an array: a single column is flattened with a warning, objects of one kind become that kind."""
    from sklearn.exceptions import DataConversionWarning

    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:
        warnings.warn(
            f"A column-vector y was passed when a 1d array was expected; its shape {target.shape} is read as "
            f"({len(target)},).",
            DataConversionWarning,
            stacklevel=4,
        )
        target = target[:, 0]
    if target.dtype.kind != "O" or target.ndim != 1:
        return target
    kinds = sorted({type(value).__name__ for value in target})
    plain = np.array(target.tolist()) if len(kinds) == 1 else target
    if plain.dtype.kind not in "biufU" or plain.ndim != 1:
        raise InvalidTarget(
            f"Unknown label type: the target holds {' and '.join(kinds)}; make it all numbers or all text."
        )
    return plain


def row_length(X: Any) -> int | None:
    """How many columns a table of numbers without times has, one univariate series a row; None for anything else."""
    if isinstance(X, list) and X and all(isinstance(row, list) and row and not np.ndim(row[0]) for row in X):
        lengths = {len(row) for row in X}
        return lengths.pop() if len(lengths) == 1 else None
    if isinstance(X, SeriesSet | Sequence) or is_table(X) or not hasattr(X, "__array__"):
        return None
    shape = np.asarray(X).shape
    return shape[1] if len(shape) == 2 else None


def check_row_length(X: Any, expected: int, channels: int, model: str) -> None:
    """Refuse rows of one array that are shorter or longer than those that a model was fitted on."""
    found = row_length(X)
    if found is not None and expected not in (found, channels):
        raise InvalidSeries(
            f"X has {found} features, but {model} is expecting {expected} features as input: rows of one array have one "
            "length. Series of any length are an array (n, channels, time), or a list."
        )


def _is_sparse(X: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")  # a matrix of a library that nobody imported cannot exist
    return sparse is not None and bool(sparse.issparse(X))


def _scan_array(X: Any) -> Reading:
    if X.ndim not in (2, 3):
        raise InvalidSeries(
            f"an array of series has shape (n, channels, time) or (n, time); this one has {X.shape}. Reshape your data: "
            "X.reshape(1, -1) is one series."
        )
    if not X.shape[-1]:
        raise InvalidSeries(f"X has 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    cube = X[:, None, :] if X.ndim == 2 else X
    grid = np.arange(cube.shape[2], dtype=np.float64)
    return _scan_items({k: Item(grid, table.T) for k, table in enumerate(cube)}, {})


def _scan_list(X: Any, width: int | None) -> Reading:
    items: dict[int, Item] = {}
    bad: dict[str | int, str] = {}
    for position, given in enumerate(X):
        try:
            items[position] = _item(given, position)
        except InvalidSeries as error:
            bad[position] = str(error)
    if not items:
        reject(InvalidSeries, bad)
    return _scan_items(_oriented(items, width), bad)


def _scan_items(items: dict[int, Item], bad: dict[str | int, str]) -> Reading:
    """The series of a list without those in `bad`, and without what turns out to be wrong with others."""
    channels = next((item.channels for item in items.values() if item.channels is not None), None)

    def read(left_out: set[str | int]) -> SeriesSet:
        kept = {k: item for k, item in items.items() if k not in left_out}
        if channels is not None:
            kept = _with_columns(kept, channels)
        return SeriesSet.from_arrays(
            [item.times for item in kept.values()],
            [item.values for item in kept.values()],
            ids=list(kept),
            channels=channels,
        )

    series, rejected = leave_out(read, len(items))
    every = [*(Rejected(name, reason, InvalidSeries) for name, reason in bad.items()), *rejected]
    every.sort(key=lambda one: int(one.id))
    return Reading(series, tuple(every), np.arange(len(items) + len(bad)))


def _item(given: Any, position: int) -> Item:
    if isinstance(given, Series):
        if given.static is not None:
            raise InvalidSeries(
                f"item {position} of the list is a Series with static features, whose names a list does not keep; give a SeriesSet, "
                "of which a slice, a list of positions or a Boolean mask is one, too."
            )
        return Item(given.times, given.values)
    if is_table(given):
        return _frame_item(given, position)
    if isinstance(given, tuple | list) and len(given) == 2 and np.ndim(given[0]) == 1 and _is_pair(*given):
        return Item(*given)
    if isinstance(given, tuple):
        raise InvalidSeries(
            f"item {position} of the list is a tuple of {len(given)}; expected a pair of times [L] and values [L, C]."
        )
    table = read_numbers(given, f"values of item {position} of the list")
    if table.ndim not in (1, 2):
        raise InvalidSeries(
            f"item {position} of the list has shape {table.shape}; expected a pair (times, values), a DataFrame or an array."
        )
    return Item(np.arange(len(table), dtype=np.float64) if table.ndim == 1 else None, table)


def _is_pair(times: Any, values: Any) -> bool:
    return np.ndim(values) in (1, 2) and len(times) == len(values)


def _frame_item(frame: Any, position: int) -> Item:
    """A DataFrame with one column per channel, the times as its index."""
    place = f"item {position} of the list"
    index = getattr(frame, "index", None)
    if index is None:
        raise InvalidSeries(f"{place} is a table without an index, which would hold the times; give (times, values).")
    if index.dtype.kind in "mM" or hasattr(index, "tz"):
        raise InvalidSeries(
            f"{place} has dates or durations as its index, such as {index[0]}, and no unit to count time in; give numbers, for "
            "example frame.set_index((frame.index - frame.index[0]) / pandas.Timedelta('1h'))."
        )
    times = read_numbers(index.to_numpy(), f"times (the index) of {place}", np.dtype(np.float64))
    values = [read_numbers(frame.iloc[:, c].to_numpy(), f"column {name!r} of {place}") for c, name in enumerate(frame)]
    if not values:
        raise InvalidSeries(f"{place} is a table without columns; give one per channel.")
    return Item(times, np.stack(values, axis=1), tuple(map(str, frame.columns)))


def _oriented(items: dict[int, Item], width: int | None) -> dict[int, Item]:
    """Arrays without times as (time, channels), if their shapes say which axis is which."""
    shapes = [item.values.shape for item in items.values() if item.times is None]
    if not shapes:
        return items
    varies = [len({shape[axis] for shape in shapes}) > 1 for axis in (0, 1)]
    fits = [all(shape[1 - axis] == width for shape in shapes) for axis in (0, 1)]
    if varies[0] != varies[1]:
        time = varies.index(True)
    elif fits[0] != fits[1]:
        time = fits.index(True)
    else:
        a, b = shapes[0]
        raise InvalidSeries(
            f"the list holds arrays such as one of shape ({a}, {b}) without times, which can be read in two ways: "
            f"{a} channels at {b} times, or {b} channels at {a} times. Say which: give pairs (times, values) with values "
            "of shape (time, channels), DataFrames with a column per channel, or one array (n, channels, time)."
        )
    return {k: item if item.times is not None else _sampled(item.values, time) for k, item in items.items()}


def _sampled(table: FloatArray, time: int) -> Item:
    rows = table if time == 0 else table.T
    return Item(np.arange(len(rows), dtype=np.float64), rows)


def _with_columns(items: dict[int, Item], channels: tuple[str, ...]) -> dict[int, Item]:
    """Tables with their columns in one order; those with other columns are rejected."""
    odd: dict[str | int, str] = {
        k: f"item {k} of the list has the columns {listed(item.channels or ())}, but another one has {listed(channels)}; "
        "all series of a set share their channels."
        for k, item in items.items()
        if sorted(item.channels or channels) != sorted(channels)
    }
    if odd:
        reject(InvalidSeries, odd)
    order = {k: [(item.channels or channels).index(name) for name in channels] for k, item in items.items()}
    return {
        k: item if item.channels is None else Item(item.times, item.values[:, order[k]]) for k, item in items.items()
    }


def is_table(given: Any) -> bool:
    return hasattr(given, "columns") and hasattr(given, "shape")


def column_names(table: Any) -> set[str]:
    """Of a pandas, polars or Arrow table, whose `columns` are arrays."""
    return set(map(str, getattr(table, "column_names", table.columns)))


def match_columns(series: SeriesSet, channels: tuple[str, ...], static_names: tuple[str, ...]) -> SeriesSet:
    """The same series with channels and static features in the order a fitted model expects.

    Columns are recognised by name; a missing or unexpected one is an error.
    """
    for kind, found, expected in (
        ("channels", series.channels, channels),
        ("static features", series.static_names, static_names),
    ):
        missing, extra = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
        if missing or extra:
            parts = ([f"lacks {listed(missing)}"] if missing else []) + (
                [f"has unknown {listed(extra)}"] if extra else []
            )
            raise InvalidSeries(
                f"the model was fitted with {kind} {listed(expected) or 'none'}; this set {' and '.join(parts)}. "
                "Give the same columns as in training (NaN where nothing was observed)."
            )
    if series.channels == channels and series.static_names == static_names:
        return series
    columns = [series.channels.index(name) for name in channels]
    static_columns = [series.static_names.index(name) for name in static_names]
    return replace(
        series,
        values=series.values[:, columns],
        channels=channels,
        static=None if series.static is None else series.static[:, static_columns],
        static_names=static_names,
    )
