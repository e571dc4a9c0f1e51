"""The history of a series up to any moment as one row of numbers, for models that read tables.

Sums run along each series from its first row, so what is told of a moment has the same bits whatever comes later and
whichever series stand beside it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denots.data.series import SeriesSet, ragged_rows
from denots.shapes import FloatArray, IntArray

OF_MOMENT = ("time", "rows", "since row")
OF_CHANNEL = ("last", "since last", "step", "count", "mean", "spread", "lowest", "highest", "trend")
RECENT = ("count", "mean", "lowest", "highest")
MOST_RECENT = 16  # rows of a window, the latest, in which the lowest and the highest value are looked for
CELLS = 2_000_000  # rows times channels that are worked on at a time


class Moments(NamedTuple):
    """Times at which series are looked at; series i has `times[offsets[i]:offsets[i + 1]]`."""

    times: FloatArray
    offsets: IntArray

    def select(self, chosen: IntArray) -> "Moments":
        rows, offsets = ragged_rows(self.offsets, chosen)
        return Moments(self.times[rows], offsets)


def rows_until(series: SeriesSet, moments: Moments) -> IntArray:
    """How many rows each series has up to and at each moment."""
    found = np.empty(len(moments.times), dtype=np.int64)
    for a, b, c, d in zip(*_ends(series.offsets), *_ends(moments.offsets), strict=True):
        found[c:d] = np.searchsorted(series.times[a:b], moments.times[c:d], side="right")
    return found


def median_gap(series: SeriesSet) -> float:
    """The median time from a row to the next one of its series; 1 where no series has two rows."""
    gaps = np.delete(np.diff(series.times), series.offsets[1:-1] - 1)
    return float(np.median(gaps)) if len(gaps) else 1.0


def running_summary(series: SeriesSet, moments: Moments, windows: tuple[float, ...]) -> FloatArray:
    """One row of float32 a moment: `OF_MOMENT`, static features, `OF_CHANNEL` of each channel, `RECENT` for each window.

    Only rows up to the moment count. `step` is the latest value less the one before, `trend` the slope of the
    least-squares line, and a window holds what was seen less than so much time ago. NaN where nothing is defined.
    """
    width = len(OF_MOMENT) + len(series.static_names)
    width += len(series.channels) * (len(OF_CHANNEL) + len(RECENT) * len(windows))
    table = np.empty((len(moments.times), width), dtype=np.float32)
    for chosen in _blocks(series, moments):
        rows, _ = ragged_rows(moments.offsets, chosen)
        table[rows] = _summary(series.select(chosen), moments.select(chosen), windows)
    return table


def _summary(series: SeriesSet, moments: Moments, windows: tuple[float, ...]) -> FloatArray:
    padded = series.padded()
    clock = padded.times - series.start[:, None]
    real = np.arange(int(np.diff(moments.offsets).max())) < np.diff(moments.offsets)[:, None]
    now = np.zeros(real.shape)
    now[real] = moments.times - np.repeat(series.start, np.diff(moments.offsets))
    until = np.zeros(real.shape, dtype=np.int64)
    until[real] = rows_until(series, moments)
    view = _View(clock, padded.values.astype(np.float64), now, until)
    columns = [*view.of_channel()]
    for window in windows:
        begin = np.zeros(real.shape, dtype=np.int64)
        begin[real] = rows_until(series, Moments(moments.times - window, moments.offsets))
        columns += view.recent(begin)
    told = [now, until, now - view.at_latest(clock[..., None])[..., 0]]
    if series.static is not None:
        told += [np.broadcast_to(column[:, None], now.shape) for column in series.static.T]
    of_channels = np.stack(columns, axis=3).reshape(*now.shape, -1)
    return np.concatenate([np.stack(told, axis=2), of_channels], axis=2)[real]


class _View:
    """Rows of some series in a rectangle, and at each moment how many of them are past."""

    def __init__(self, clock: FloatArray, values: FloatArray, now: FloatArray, until: IntArray) -> None:
        self.clock, self.values, self.now, self.until = clock, values, now, until
        self.seen = ~np.isnan(values)
        self.sums = {"count": self._sum(np.ones_like(clock)), "x": self._sum(self.filled)}

    @property
    def filled(self) -> FloatArray:
        return np.where(self.seen, self.values, 0.0)

    def of_channel(self) -> Iterator[FloatArray]:
        """`OF_CHANNEL`, each as an array (series, moments, channels)."""
        place = np.where(self.seen, np.arange(self.seen.shape[1])[:, None], -1)
        latest = np.maximum.accumulate(place, axis=1)
        before = np.concatenate([np.full_like(latest[:, :1], -1), latest[:, :-1]], axis=1)
        last = self.at_latest(latest, nothing=-1)
        value = self._pick(self.values, last)
        yield value
        yield self.now[..., None] - self._pick(np.broadcast_to(self.clock[..., None], self.values.shape), last)
        yield value - self._pick(self.values, np.where(last < 0, -1, self._pick(before, last, -1)))
        count, x = (self._until(self.sums[name], self.until) for name in ("count", "x"))
        yield count
        t = np.broadcast_to(np.nan_to_num(self.clock)[..., None], self.values.shape)
        xx, tt, tx, t = (
            self._until(self._sum(part), self.until) for part in (self.filled**2, t**2, t * self.filled, t)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            mean, middle = x / count, t / count
            yield mean
            yield np.sqrt(np.maximum(xx / count - mean**2, 0.0))
            yield self.at_latest(np.fmin.accumulate(self.values, axis=1))
            yield self.at_latest(np.fmax.accumulate(self.values, axis=1))
            moment = tt - count * middle**2
            yield np.where(moment > 1e-9 * tt, (tx - count * middle * mean) / moment, np.nan)

    def recent(self, begin: IntArray) -> Iterator[FloatArray]:
        """`RECENT`, of the rows after the first `begin` ones."""
        count, total = (
            self._until(self.sums[name], self.until) - self._until(self.sums[name], begin) for name in ("count", "x")
        )
        yield count
        with np.errstate(invalid="ignore", divide="ignore"):
            yield np.where(count > 0, total / count, np.nan)
        lowest, highest = np.full(count.shape, np.nan), np.full(count.shape, np.nan)
        for back in range(1, min(MOST_RECENT, int((self.until - begin).max(initial=0))) + 1):
            row = self.until - back
            value = np.take_along_axis(self.values, np.maximum(row, 0)[..., None], axis=1)
            value = np.where((row >= begin)[..., None], value, np.nan)
            lowest, highest = np.fmin(lowest, value), np.fmax(highest, value)
        yield lowest
        yield highest

    def at_latest(self, table: npt.NDArray[Any], nothing: float = np.nan) -> npt.NDArray[Any]:
        """What stands in the latest row at each moment."""
        found = np.take_along_axis(table, np.maximum(self.until - 1, 0)[..., None], axis=1)
        return np.where(self.until[..., None] > 0, found, nothing).astype(table.dtype)

    def _sum(self, table: FloatArray) -> FloatArray:
        """Sums over the first 0, 1, 2 ... rows, of what stands where a value was seen."""
        seen = np.where(self.seen, table if table.ndim == 3 else table[..., None], 0.0)
        return np.concatenate([np.zeros_like(seen[:, :1]), np.cumsum(seen, axis=1)], axis=1)

    @staticmethod
    def _until(sums: FloatArray, rows: IntArray) -> FloatArray:
        return np.take_along_axis(sums, rows[..., None], axis=1)

    @staticmethod
    def _pick(table: npt.NDArray[Any], row: IntArray, nothing: float = np.nan) -> npt.NDArray[Any]:
        """What stands in the row that each channel names; -1 names none."""
        return np.where(row >= 0, np.take_along_axis(table, np.maximum(row, 0), axis=1), nothing).astype(table.dtype)


def _blocks(series: SeriesSet, moments: Moments) -> Iterator[IntArray]:
    """Series of similar length, so that little is padded."""
    size = np.maximum(series.lengths, np.diff(moments.offsets))
    asked = np.flatnonzero(np.diff(moments.offsets))
    order = asked[np.argsort(size[asked], kind="stable")]
    while len(order):
        # In ascending order, the last of a block is its longest.
        fits = np.arange(1, len(order) + 1) * size[order] * len(series.channels) <= CELLS
        taken = max(1, int(fits.sum()))
        yield order[:taken]
        order = order[taken:]


def _ends(offsets: IntArray) -> tuple[list[int], list[int]]:
    return offsets[:-1].tolist(), offsets[1:].tolist()
