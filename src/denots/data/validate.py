"""What every SeriesSet fulfils, and the error for each way of not fulfilling it."""

from typing import TYPE_CHECKING

import numpy as np

from denots.errors import InvalidSeries, InvalidTarget

if TYPE_CHECKING:
    from denots.data.series import SeriesSet


def check_series_set(series: "SeriesSet") -> None:
    _check_shapes(series)
    _check_times(series)
    _check_values(series)
    _check_sides(series)


def _check_shapes(series: "SeriesSet") -> None:
    n = len(series.offsets) - 1
    if n < 1:
        raise InvalidSeries("the set is empty; give at least one series.")
    if series.times.ndim != 1 or series.values.ndim != 2 or len(series.times) != len(series.values):
        raise InvalidSeries(
            f"times have shape {series.times.shape} and values {series.values.shape}; expected (N,) and (N, C)."
        )
    if series.times.dtype != np.float64 or series.values.dtype not in (np.float32, np.float64):
        raise InvalidSeries(
            f"times are {series.times.dtype} and values {series.values.dtype}; expected float64, and float32 or float64."
        )
    offsets = series.offsets
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or offsets[0] != 0 or offsets[-1] != len(series.times):
        raise InvalidSeries(
            f"offsets must be whole numbers that run from 0 to {len(series.times)}, the number of rows."
        )
    if len(series.channels) != series.values.shape[1]:
        raise InvalidSeries(
            f"{len(series.channels)} channel names for {series.values.shape[1]} channels; give one each."
        )
    if len(set(series.channels)) != len(series.channels):
        raise InvalidSeries(f"channel names repeat: {', '.join(series.channels)}; make them unique.")
    if not series.channels:
        raise InvalidSeries("the set has no channel; give at least one column of values.")
    if len(series.ids) != n or len(series.start) != n:
        raise InvalidSeries(f"{len(series.ids)} ids and {len(series.start)} start times for {n} series; give one each.")
    names, counts = np.unique(series.ids, return_counts=True)
    if len(names) != n and counts.max() > 1:
        raise InvalidSeries(
            f"id {names[counts.argmax()].item()!r} stands for {counts.max()} series; ids must be unique."
        )
    empty = np.flatnonzero(np.diff(series.offsets) < 1)
    if len(empty):
        raise InvalidSeries(
            f"series {series.id(empty[0])!r} is empty; a series needs at least one observation, so leave it out."
        )


def _check_times(series: "SeriesSet") -> None:
    bad = np.flatnonzero(~np.isfinite(series.times))
    if len(bad):
        name, row = _place(series, bad[0])
        raise InvalidSeries(
            f"series {name!r}: times[{row}] = {series.times[bad[0]]}; every observation needs a finite time, so drop or repair it."
        )
    step = np.diff(series.times)
    step[series.offsets[1:-1] - 1] = 1.0  # from one series to the next, time may go back
    bad = np.flatnonzero(step <= 0)
    if len(bad):
        name, row = _place(series, bad[0])
        before, after = series.times[bad[0]], series.times[bad[0] + 1]
        what = "Merge duplicate stamps first." if before == after else "Sort each series by time first."
        raise InvalidSeries(
            f"series {name!r}: times must increase strictly, but times[{row}] = {before} is followed by {after}. {what}"
        )
    first = series.times[series.offsets[:-1]]
    lost = np.flatnonzero(~np.isfinite(series.start))
    if len(lost):
        raise InvalidSeries(f"series {series.id(lost[0])!r} starts at {series.start[lost[0]]}; start must be finite.")
    late = np.flatnonzero(~(series.start <= first))
    if len(late):
        k = late[0]
        raise InvalidSeries(
            f"series {series.id(k)!r} starts at {series.start[k]}, after its first observation at {first[k]}; start must not be later."
        )


def _check_values(series: "SeriesSet") -> None:
    bad = np.argwhere(np.isinf(series.values))
    if len(bad):
        name, row = _place(series, bad[0, 0])
        value, channel = series.values[bad[0, 0], bad[0, 1]], series.channels[bad[0, 1]]
        raise InvalidSeries(
            f"series {name!r}: channel {channel!r} is {value} at time {series.times[bad[0, 0]]} (observation {row}); "
            "values must be finite, or NaN where nothing was observed."
        )
    observed = np.add.reduceat((~np.isnan(series.values)).any(axis=1), series.offsets[:-1])
    blank = np.flatnonzero(observed == 0)
    if len(blank):
        raise InvalidSeries(f"series {series.id(blank[0])!r} has no observed value in any channel; leave it out.")


def _check_sides(series: "SeriesSet") -> None:
    n = len(series.offsets) - 1
    if series.static is None and series.static_names:
        raise InvalidSeries(f"static names {', '.join(series.static_names)} but no static features; give both or none.")
    if series.static is not None:
        if series.static.dtype not in (np.float32, np.float64):
            raise InvalidSeries(f"static features are {series.static.dtype}; expected float32 or float64.")
        if series.static.ndim != 2 or series.static.shape != (n, len(series.static_names)):
            raise InvalidSeries(
                f"static features have shape {series.static.shape}; expected ({n}, {len(series.static_names)})."
            )
        bad = np.argwhere(np.isinf(series.static))
        if len(bad):
            k, s = bad[0]
            raise InvalidSeries(
                f"series {series.id(k)!r}: static feature {series.static_names[s]!r} is {series.static[k, s]}; it must be finite or NaN."
            )
    if series.target is not None:
        if series.target.ndim not in (1, 2) or len(series.target) != n:
            raise InvalidTarget(f"target has shape {series.target.shape}; expected one row for each of the {n} series.")
        if series.target.dtype.kind == "O":
            raise InvalidTarget("target mixes types; make it all numbers or all text.")


def _place(series: "SeriesSet", observation: int) -> tuple[object, int]:
    k = int(np.searchsorted(series.offsets, observation, side="right")) - 1
    return series.id(k), int(observation - series.offsets[k])
