"""Arrays as people have them, made into packed rows: masks are holes, dates need a unit, bad series are named."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.data.reject import reject
from denots.data.stamps import SECONDS, unit_name
from denots.errors import InvalidSeries, InvalidTarget
from denots.shapes import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The rows of all series end to end."""

    times: FloatArray  # [N]
    values: FloatArray  # [N, C]
    offsets: IntArray  # [n + 1]
    start: FloatArray  # [n]: the first stamp of each


def pack(
    times: Sequence[npt.ArrayLike], values: Sequence[npt.ArrayLike], names: Sequence[str | int], unit: str
) -> Packed:
    """Times [L] and values [L, C] (or [L]) of each series; all that cannot be packed are named in one error."""
    stamps: list[FloatArray] = []
    tables: list[FloatArray] = []
    bad: dict[str | int, str] = {}
    for name, given_times, given_values in zip(names, times, values, strict=True):
        try:
            stamps.append(read_times(given_times, f"times of series {name!r}", unit))
            tables.append(_read_table(given_values, name))
            _check_lengths(name, stamps[-1], tables[-1])
        except InvalidSeries as error:
            bad[name] = str(error)
    if bad:
        reject(InvalidSeries, bad)
    _check_widths(names, [table.shape[1] for table in tables])
    offsets = np.concatenate([[0], np.cumsum([len(stamp) for stamp in stamps])]).astype(np.int64)
    packed = np.concatenate(stamps)
    first = packed[np.minimum(offsets[:-1], len(packed) - 1)] if len(packed) else np.zeros(len(tables))
    return Packed(packed, np.concatenate(tables), offsets, first)


def read_numbers(array: npt.ArrayLike, what: str, dtype: np.dtype[Any] | None = None) -> FloatArray:
    """As floats, NaN where a mask hides a value; float32 stays float32 unless a type is asked for."""
    raw: Any = np.asanyarray(array)
    if isinstance(array, list | tuple) and any(isinstance(part, np.ma.MaskedArray) for part in array):
        raw = np.ma.stack(array)  # as a plain list, masked parts would lose their masks
    if raw.dtype.kind == "c":
        raise InvalidSeries(
            f"{what} are complex numbers. Complex data not supported: give real and imaginary part as channels."
        )
    if raw.dtype.kind in "mM":
        kind = "dates" if raw.dtype.kind == "M" else "durations"
        raise InvalidSeries(
            f"{what} are {kind} ({raw.dtype}), and a number of nanoseconds is no sensible value; convert them to numbers, "
            "such as hours since a common start."
        )
    if raw.dtype.kind not in "fiub":
        try:
            raw = raw.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidSeries(
                f"{what} are not numbers ({error}); convert them first, with NaN for what is missing."
            ) from error
    if dtype is None:
        dtype = raw.dtype if raw.dtype == np.float32 else np.dtype(np.float64)
    if isinstance(raw, np.ma.MaskedArray):
        raw = np.where(raw.mask, np.nan, raw.data.astype(dtype))
    return np.asarray(raw, dtype=dtype)


def unpad(
    values: npt.ArrayLike, times: npt.ArrayLike | None
) -> tuple[list[npt.NDArray[Any]], list[npt.NDArray[np.floating[Any]]]]:
    """Times [L] and values [L, C] of each series of an array (n, channels, time), without what pads it at the end.

    times: of all series (time,), or of each (n, time); 0, 1, 2 ... where there are none.
    """
    array = read_numbers(values, "values")
    if array.ndim != 3:
        raise InvalidSeries(f"from_numpy takes an array (series, channels, time); this one has shape {array.shape}.")
    n, _, length = array.shape
    grid = np.arange(length, dtype=np.float64) if times is None else np.asanyarray(times)
    if grid.shape not in {(length,), (n, length)}:
        raise InvalidSeries(
            f"times have shape {grid.shape}; expected ({length},) or ({n}, {length}) to match values of shape {array.shape}."
        )
    each = np.broadcast_to(grid, (n, length), subok=True)
    ends = _ends(each, array)
    return (
        [row[:end] for row, end in zip(each, ends, strict=True)],
        [table[:, :end].T for table, end in zip(array, ends, strict=True)],
    )


def _ends(times: npt.NDArray[Any], values: FloatArray) -> IntArray:
    """Where each series ends: before the NaN that pads its times. A value beyond that has no time."""
    if times.dtype.kind != "f" or not times.size:
        return np.full(len(times), times.shape[1], dtype=np.int64)
    ends = times.shape[1] - np.isnan(times)[:, ::-1].argmin(axis=1)
    beyond = (np.arange(times.shape[1]) >= ends[:, None])[:, None, :] & ~np.isnan(values)
    if beyond.any():
        row, channel, column = np.argwhere(beyond)[0].tolist()
        raise InvalidSeries(
            f"series {row} has the value {values[row, channel, column]} in channel {channel} at position {column}, where its "
            "time is NaN; give it a time, or make it NaN where the series is over."
        )
    return ends


def read_times(times: npt.ArrayLike, what: str, unit: str) -> FloatArray:
    """Numbers as they are; dates as the time since the first one and durations, both only in a unit that was named."""
    raw = np.asarray(times)
    if raw.dtype.kind not in "mM":
        return read_numbers(times, what, np.dtype(np.float64))
    if not unit:
        kind = "dates" if raw.dtype.kind == "M" else "durations"
        raise InvalidSeries(
            f"{what} are {kind} such as {raw.flat[0] if raw.size else raw.dtype}; say in which unit time is counted: "
            f"time_unit={' or '.join(map(repr, SECONDS))}."
        )
    since = raw - raw.flat[0] if raw.dtype.kind == "M" and raw.size else raw
    tick = np.timedelta64(1, "ns")
    return np.where(np.isnat(since), np.nan, since / tick) / (SECONDS[unit_name(unit)] * 1e9)


def read_ids(ids: Sequence[Any] | npt.NDArray[Any] | None, n: int) -> npt.NDArray[Any]:
    if ids is None:
        return np.arange(n)
    names = np.asarray(ids)
    if len(names) != n:
        raise InvalidSeries(f"{len(names)} ids for {n} series; give one id per series.")
    return names if names.dtype.kind in "iu" else names.astype(str)


def read_starts(start: npt.ArrayLike, n: int) -> FloatArray:
    starts = read_numbers(start, "start times", np.dtype(np.float64))
    if starts.shape not in {(), (n,)}:
        raise InvalidSeries(f"start has shape {starts.shape}; give one number, or one for each of the {n} series.")
    return np.broadcast_to(starts, n).copy()


def read_static(static: npt.ArrayLike) -> FloatArray:
    table = read_numbers(static, "static features")
    return table[:, None] if table.ndim == 1 else table


def read_row_target(
    labels: Sequence[npt.ArrayLike], offsets: npt.NDArray[np.int64], names: Sequence[str | int]
) -> FloatArray:
    """One number for each row of each series, packed."""
    if len(labels) != len(names):
        raise InvalidTarget(f"{len(labels)} arrays of row targets for {len(names)} series; give one each.")
    found = [
        read_numbers(own, f"row targets of series {name!r}", np.dtype(np.float64))
        for own, name in zip(labels, names, strict=True)
    ]
    for own, name, rows in zip(found, names, np.diff(offsets).tolist(), strict=True):
        if own.shape != (rows,):
            raise InvalidTarget(
                f"row targets of series {name!r} have shape {own.shape}; give one for each of its {rows} rows."
            )
    return np.concatenate(found)


def _read_table(values: npt.ArrayLike, name: str | int) -> FloatArray:
    table = read_numbers(values, f"values of series {name!r}")
    if table.ndim == 1:
        return table[:, None]
    if table.ndim != 2:
        raise InvalidSeries(f"values of series {name!r} have shape {table.shape}; expected (L, C) or (L,).")
    return table


def _check_lengths(name: str | int, stamp: FloatArray, table: FloatArray) -> None:
    if stamp.ndim != 1 or len(stamp) != len(table):
        raise InvalidSeries(
            f"series {name!r} has times of shape {stamp.shape} and values of shape {table.shape}; expected (L,) and (L, C)."
        )


def _check_widths(names: Sequence[str | int], widths: list[int]) -> None:
    """All series have the number of channels that most have; of two that are as common, the one seen first."""
    usual = max(dict.fromkeys(widths), key=widths.count)
    model = names[widths.index(usual)]
    words = "all series of a set share their channels (use NaN for what was not observed)."
    odd = {
        name: f"series {name!r} has {width} channels but series {model!r} has {usual}; {words}"
        for name, width in zip(names, widths, strict=True)
        if width != usual
    }
    if odd:
        reject(InvalidSeries, odd)
