"""Changes to observations that models ask for before they read them."""

from dataclasses import dataclass, replace

import numpy as np

from denots.data.series import SeriesSet
from denots.shapes import FloatArray


def scale_clock(series: SeriesSet, factor: float) -> SeriesSet:
    """Times counted from each series' start, multiplied by `factor`; every start becomes zero."""
    elapsed = (series.times - np.repeat(series.start, series.lengths)) * factor
    return replace(series, times=elapsed, start=np.zeros(len(series)))


def append_time_differences(series: SeriesSet) -> SeriesSet:
    """One more channel: the time since the observation before, zero at the first one."""
    since = np.diff(series.times, prepend=0.0)
    since[series.offsets[:-1]] = 0.0
    name = "since previous"
    while name in series.channels:
        name += "'"
    column = since[:, None].astype(series.values.dtype)
    return replace(series, values=np.concatenate([series.values, column], axis=1), channels=(*series.channels, name))


@dataclass(frozen=True, slots=True, eq=False)
class Standardiser:
    """Centre and scale of each column, learnt once from the observed values of a training split.

    A column that never varies keeps the scale one, one that was never observed the centre zero.
    """

    centre: FloatArray
    scale: FloatArray

    @classmethod
    def fit(cls, table: FloatArray) -> "Standardiser":
        seen = ~np.isnan(table)
        count = np.maximum(seen.sum(axis=0), 1)
        centre = np.where(seen, table, 0.0).sum(axis=0, dtype=np.float64) / count
        spread = np.sqrt((np.where(seen, table - centre, 0.0) ** 2).sum(axis=0, dtype=np.float64) / count)
        tiny = spread <= 1e-9 * np.maximum(np.abs(centre), 1e-300)
        return cls(centre, np.where(tiny | (spread == 0), 1.0, spread))

    def apply(self, table: FloatArray) -> FloatArray:
        return ((table - self.centre) / self.scale).astype(table.dtype, copy=False)
