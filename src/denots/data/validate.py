"""What every SeriesSet fulfils, and the error for each way of not fulfilling it."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from denots.data.reject import reject
from denots.errors import EmptySeries, InvalidSeries, InvalidTarget
from denots.registry import listed
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    from denots.data.series import SeriesSet

SKIP = "of a table: skip_empty=True, --skip-empty"  # how series without observations are left out


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
        twice = sorted({name for name in series.channels if series.channels.count(name) > 1})
        raise InvalidSeries(f"channel names repeat: {listed(twice)}; make them unique.")
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
        words = "is empty; a series needs at least one observation, so leave it out."
        _reject(series, empty, "no rows", lambda k: f"series {series.id(k)!r} {words}")


def _check_times(series: "SeriesSet") -> None:
    bad = _first_of_each(series, np.flatnonzero(~np.isfinite(series.times)))
    if bad:
        _reject(
            series,
            bad,
            "infinite or missing times",
            lambda k: (
                f"series {series.id(k)!r}: times[{bad[k] - series.offsets[k]}] = {series.times[bad[k]]}; "
                "every observation needs a finite time, so drop or repair it."
            ),
        )
    step = np.diff(series.times)
    step[series.offsets[1:-1] - 1] = 1.0  # from one series to the next, time may go back
    bad = _first_of_each(series, np.flatnonzero(step <= 0))
    if bad:
        _reject(series, bad, "times that do not increase", lambda k: _unsorted(series, k, bad[k]))
    first = series.times[series.offsets[:-1]]
    lost = np.flatnonzero(~np.isfinite(series.start))
    if len(lost):
        words = "start must be finite."
        _reject(
            series,
            lost,
            "an infinite or missing start",
            lambda k: f"series {series.id(k)!r} starts at {series.start[k]}; {words}",
        )
    late = np.flatnonzero(~(series.start <= first))
    if len(late):
        _reject(
            series,
            late,
            "a start after the first observation",
            lambda k: (
                f"series {series.id(k)!r} starts at {series.start[k]}, after its first observation at {first[k]}; "
                "start must not be later."
            ),
        )


def _unsorted(series: "SeriesSet", k: int, row: int) -> str:
    before, after = series.times[row], series.times[row + 1]
    what = "Merge duplicate stamps first." if before == after else "Sort each series by time first."
    return (
        f"series {series.id(k)!r}: times must increase strictly, but times[{row - series.offsets[k]}] = {before} "
        f"is followed by {after}. {what}"
    )


def _check_values(series: "SeriesSet") -> None:
    infinite = np.isinf(series.values)
    bad = _first_of_each(series, np.flatnonzero(infinite.any(axis=1)))
    if bad:
        _reject(series, bad, "infinite values", lambda k: _infinite(series, k, bad[k], int(infinite[bad[k]].argmax())))
    observed = np.add.reduceat((~np.isnan(series.values)).any(axis=1), series.offsets[:-1])
    blank = np.flatnonzero(observed == 0)
    if len(blank):
        words = f"has no observed value in any channel; leave it out ({SKIP})."
        reasons = {series.id(k): f"series {series.id(k)!r} {words}" for k in blank}
        reject(EmptySeries, reasons, "no observed value")


def _infinite(series: "SeriesSet", k: int, row: int, channel: int) -> str:
    return (
        f"series {series.id(k)!r}: channel {series.channels[channel]!r} is {series.values[row, channel]} at time "
        f"{series.times[row]} (observation {row - series.offsets[k]}); values must be finite, or NaN where nothing was observed."
    )


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
        infinite = np.isinf(series.static)
        bad = np.flatnonzero(infinite.any(axis=1))
        if len(bad):
            _reject(
                series,
                bad,
                "infinite static features",
                lambda k: _infinite_static(series, k, int(infinite[k].argmax())),
            )
    if series.target is not None:
        if series.target.ndim not in (1, 2) or len(series.target) != n:
            raise InvalidTarget(f"target has shape {series.target.shape}; expected one row for each of the {n} series.")
        if series.target.dtype.kind == "O":
            raise InvalidTarget("target mixes types; make it all numbers or all text.")
        names, width = series.target_names, series.target[0].size
        if names and (len(names) != width or len(set(names)) != width):
            raise InvalidTarget(f"{listed(names)} cannot name {width} targets; give a name of its own to each.")
    if series.row_target is not None:
        _check_row_target(series, series.row_target)


def _check_row_target(series: "SeriesSet", labels: FloatArray) -> None:
    if labels.shape != series.times.shape or labels.dtype != np.float64:
        raise InvalidTarget(
            f"row_target is {labels.dtype} of shape {labels.shape}; expected float64 with one number for each of the "
            f"{len(series.times)} rows, NaN where the truth is not known."
        )
    bad = _first_of_each(series, np.flatnonzero(np.isinf(labels)))
    if bad:
        reasons = {
            series.id(
                k
            ): f"series {series.id(k)!r}: the row target at time {series.times[row]} is {labels[row]}; it must be "
            "finite, or NaN where the truth is not known."
            for k, row in bad.items()
        }
        reject(InvalidTarget, reasons, "infinite row targets")


def _infinite_static(series: "SeriesSet", k: int, s: int) -> str:
    assert series.static is not None
    return (
        f"series {series.id(k)!r}: static feature {series.static_names[s]!r} is {series.static[k, s]}; "
        "it must be finite or NaN."
    )


def _first_of_each(series: "SeriesSet", rows: IntArray) -> dict[int, int]:
    """The series that some packed rows belong to, each with the first of its rows."""
    owners, first = np.unique(np.searchsorted(series.offsets, rows, side="right") - 1, return_index=True)
    return dict(zip(owners.tolist(), rows[first].tolist(), strict=True))


def _reject(series: "SeriesSet", bad: Iterable[int], kind: str, reason: Callable[[int], str]) -> NoReturn:
    reject(InvalidSeries, {series.id(k): reason(int(k)) for k in bad}, kind)
