"""Changes to observations that models ask for before they read them."""

from dataclasses import dataclass, replace

import numpy as np

from denots.data.series import SeriesSet
from denots.shapes import BoolArray, FloatArray


def scale_clock(series: SeriesSet, factor: float) -> SeriesSet:
    """Times counted from each series' start, multiplied by `factor`; every start becomes zero."""
    elapsed = (series.times - np.repeat(series.start, series.lengths)) * factor
    return replace(series, times=elapsed, start=np.zeros(len(series)))


def append_time_differences(series: SeriesSet) -> SeriesSet:
    """One more channel: the time since the observation before, zero at the first one."""
    since = np.diff(series.times, prepend=0.0)
    since[series.offsets[:-1]] = 0.0
    return _widen(series, since[:, None], ["since previous"])


def append_times(series: SeriesSet) -> SeriesSet:
    """One more channel: the time itself."""
    return _widen(series, series.times[:, None], ["time"])


def append_presence(series: SeriesSet) -> SeriesSet:
    """One more channel for each: 1 where a value was observed, 0 where it is missing."""
    return _widen(series, ~np.isnan(series.values), [f"{name} observed" for name in series.channels])


def append_counts(series: SeriesSet) -> SeriesSet:
    """One more channel for each: how many of its values were observed up to and with this row."""
    total = np.cumsum(~np.isnan(series.values), axis=0)
    before = np.concatenate([np.zeros_like(total[:1]), total])[series.offsets[:-1]]
    counts = total - np.repeat(before, series.lengths, axis=0)
    return _widen(series, counts.astype(np.float64), [f"{name} observed so far" for name in series.channels])


def append_ages(series: SeriesSet, channels: int) -> SeriesSet:
    """One more channel for each of the first: the time since it was observed before this row, or since the start."""
    rows = np.arange(len(series.times))[:, None]
    seen = ~np.isnan(series.values[:, :channels])
    latest = np.maximum.accumulate(np.where(seen, rows, -1), axis=0)
    before = np.concatenate([np.full_like(latest[:1], -1), latest[:-1]])
    owner = series.owner()
    known = before >= series.offsets[owner][:, None]
    since = np.where(known, series.times[np.maximum(before, 0)], series.start[owner][:, None])
    names = [f"{name} since observed" for name in series.channels[:channels]]
    return _widen(series, series.times[:, None] - since, names)


def thinned_copies(series: SeriesSet, copies: int, share: float, seed: int) -> SeriesSet:
    """The series, and after them so many copies of all, each without a random share of its rows.

    A copy that would keep fewer than two rows, or no observed value, keeps all.
    """
    rng = np.random.default_rng(seed)
    rows = np.tile(np.arange(len(series.times)), 1 + copies)
    owner = (np.arange(1 + copies)[:, None] * len(series) + series.owner()).ravel()
    kept = rng.random(len(rows)) >= share
    seen = ~np.isnan(series.values[rows]).all(axis=1)
    poor = (np.bincount(owner, kept) < 2) | (np.bincount(owner, kept & seen) < 1)
    poor[: len(series)] = True
    kept |= poor[owner]
    chosen = np.tile(np.arange(len(series)), 1 + copies)
    return replace(
        series,
        times=series.times[rows[kept]],
        values=series.values[rows[kept]],
        offsets=np.concatenate([[0], np.cumsum(np.bincount(owner[kept]))]).astype(np.int64),
        start=series.start[chosen],
        ids=np.arange(len(chosen)),
        static=None if series.static is None else series.static[chosen],
        target=None if series.target is None else series.target[chosen],
    )


def positions(series: SeriesSet) -> FloatArray:
    """The index of each row in its own series, as a time."""
    return (np.arange(len(series.times)) - np.repeat(series.offsets[:-1], series.lengths)).astype(np.float64)


def fill_with_zeros(series: SeriesSet) -> SeriesSet:
    """Zero for every missing value."""
    return replace(series, values=np.nan_to_num(series.values))


def fill_with_neighbours(series: SeriesSet) -> SeriesSet:
    """The last observed value for every missing one, the first one before that; never observed stays NaN."""
    rows = np.arange(len(series.times))[:, None]
    seen = ~np.isnan(series.values)
    before = np.maximum.accumulate(np.where(seen, rows, -1), axis=0)
    after = np.minimum.accumulate(np.where(seen, rows, len(rows))[::-1], axis=0)[::-1]
    owner = series.owner()
    first, end = series.offsets[owner][:, None], series.offsets[owner + 1][:, None]
    source = np.where(before >= first, before, np.where(after < end, after, rows))
    return replace(series, values=np.take_along_axis(series.values, source, axis=0))


def _widen(series: SeriesSet, columns: FloatArray | BoolArray, names: list[str]) -> SeriesSet:
    known = set(series.channels)
    for i, name in enumerate(names):
        while name in known:
            name += "'"
        names[i] = name
        known.add(name)
    values = np.concatenate([series.values, columns.astype(series.values.dtype)], axis=1)
    return replace(series, values=values, channels=(*series.channels, *names))


def fill_forward(series: SeriesSet) -> SeriesSet:
    """The last observed value for every missing one; what was not seen before stays NaN."""
    rows = np.arange(len(series.times))[:, None]
    before = np.maximum.accumulate(np.where(np.isnan(series.values), -1, rows), axis=0)
    first = np.repeat(series.offsets[:-1], series.lengths)[:, None]
    source = np.where(before >= first, before, rows)
    return replace(series, values=np.take_along_axis(series.values, source, axis=0))


def spreads(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of what was observed of each column; zeros where nothing was, or where it never varies."""
    seen = ~np.isnan(table)
    count = np.maximum(seen.sum(axis=0), 1)
    centre = np.where(seen, table, 0.0).sum(axis=0, dtype=np.float64) / count
    spread = np.sqrt((np.where(seen, table - centre, 0.0) ** 2).sum(axis=0, dtype=np.float64) / count)
    return centre, np.where(spread > 1e-9 * np.abs(centre), spread, 0.0)


UNVARIED = np.inf  # the scale of a column that never varied: whatever it holds later is told as zero


@dataclass(frozen=True, slots=True, eq=False)
class Standardiser:
    """Centre and scale of each column, learnt once from the observed values of a training split."""

    centre: FloatArray
    scale: FloatArray

    @classmethod
    def fit(cls, table: FloatArray) -> "Standardiser":
        centre, spread = spreads(table)
        return cls(centre, np.where(spread > 0, spread, UNVARIED))

    def apply(self, table: FloatArray) -> FloatArray:
        return ((table - self.centre) / self.scale).astype(table.dtype, copy=False)
