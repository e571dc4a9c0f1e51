"""A series as one row of numbers, for models that read tables."""

import numpy as np

from denots.data.series import SeriesSet
from denots.shapes import FloatArray, IntArray

WHOLE = (
    "count",
    "mean",
    "spread",
    "lowest",
    "highest",
    "first",
    "last",
    "last time",
    "trend",
    "roughness",
    "longest gap",
)
LATE = 0.75  # of a series; what is after it counts once more
STATISTICS = (*WHOLE, "since last", *(f"late {name}" for name in WHOLE))


def summarise(series: SeriesSet) -> FloatArray:
    """Length, span and static features, then `STATISTICS` of each channel; NaN where one is not defined.

    `trend` is the slope of the least-squares line, `roughness` the mean absolute difference of
    consecutive observed values, `since last` the time from the last observed value to the end of the series.
    Times count from the start of the series, and `late` ones are those in its last quarter.
    """
    times = series.times - np.repeat(series.start, series.lengths)
    of_series = np.repeat(np.arange(len(series)), series.lengths)
    parts = [series.lengths[:, None].astype(np.float64), series.spans[:, None]]
    if series.static is not None:
        parts.append(series.static.astype(np.float64))
    late = times >= LATE * np.repeat(series.spans, series.lengths)
    for column in series.values.T.astype(np.float64):
        seen = ~np.isnan(column)
        whole, end = (
            _statistics(len(series), of_series[rows], times[rows], column[rows]) for rows in (seen, seen & late)
        )
        parts += [whole, (series.spans - whole[:, WHOLE.index("last time")])[:, None], end]
    return np.concatenate(parts, axis=1)


def _statistics(n: int, owner: IntArray, t: FloatArray, x: FloatArray) -> FloatArray:
    """One row of statistics per series; `owner` ascends."""
    count = np.bincount(owner, minlength=n)
    present = count > 0
    first = np.concatenate([[0], np.cumsum(count)])[:-1][present]
    table = np.full((n, len(WHOLE)), np.nan)
    table[:, 0] = count

    def total(values: FloatArray) -> FloatArray:
        return np.add.reduceat(values, first) if len(first) else np.zeros(0)

    size = count[present]
    mean, middle = total(x) / size, total(t) / size
    dx, dt = x - np.repeat(mean, size), t - np.repeat(middle, size)
    moment = total(dt * dt)
    steps = np.abs(np.diff(x, prepend=0.0))
    gaps = np.diff(t, prepend=0.0)
    steps[first] = gaps[first] = 0.0
    last = first + size - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = (
            mean,
            np.sqrt(total(dx * dx) / size),
            np.minimum.reduceat(x, first) if len(first) else mean,
            np.maximum.reduceat(x, first) if len(first) else mean,
            x[first],
            x[last],
            t[last],
            np.where(moment > 0, total(dx * dt) / moment, np.nan),
            np.where(size > 1, total(steps) / (size - 1), np.nan),
            np.maximum.reduceat(gaps, first) if len(first) else mean,
        )
    table[present, 1:] = np.stack(columns, axis=1)
    return table
