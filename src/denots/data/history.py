"""The observed values of one channel, and what can be told of them up to any time."""

from dataclasses import dataclass

import numpy as np

from denots.data.series import SeriesSet
from denots.shapes import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The observed values of one channel; series i owns `offsets[i]:offsets[i + 1]`.

    Everything is computed element by element, so that a series has the same history in any company.
    """

    times: FloatArray
    values: FloatArray
    offsets: IntArray

    @classmethod
    def of(cls, series: SeriesSet, channel: int) -> "History":
        column = series.values[:, channel].astype(np.float64)
        seen = ~np.isnan(column)
        offsets = np.concatenate([[0], np.cumsum(seen)])[series.offsets]
        return cls(series.times[seen], column[seen], offsets)

    def latest(self, owner: IntArray, time: FloatArray) -> IntArray:
        """The position of the last observation at or before a time; the one before the first where there is none."""
        low, high = self.offsets[owner], self.offsets[owner + 1]
        while (searching := low < high).any():
            middle = (low + high) // 2
            later = searching.copy()
            later[searching] = self.times[middle[searching]] <= time[searching]
            low, high = np.where(later, middle + 1, low), np.where(searching & ~later, middle, high)
        return low - 1

    def known(self, owner: IntArray, position: IntArray) -> np.ndarray:
        """Whether a position belongs to the series."""
        return (position >= self.offsets[owner]) & (position < self.offsets[owner + 1])

    def at(self, owner: IntArray, position: IntArray) -> tuple[FloatArray, FloatArray]:
        """Time and value at a position, NaN where the series has none there."""
        known = self.known(owner, position)
        if not len(self.times):
            return np.full(len(owner), np.nan), np.full(len(owner), np.nan)
        inside = np.where(known, position, 0)
        return np.where(known, self.times[inside], np.nan), np.where(known, self.values[inside], np.nan)

    def decayed(self, amounts: FloatArray, memories: FloatArray) -> FloatArray:
        """At each observation, the sum [N, M] of all amounts up to it, each faded by exp(-age / memory)."""
        total = np.repeat(amounts[:, None], len(memories), axis=1)
        first, lengths = self.offsets[:-1], np.diff(self.offsets)
        for k in range(1, int(lengths.max(initial=0))):
            rows = first[lengths > k] + k
            gap = self.times[rows] - self.times[rows - 1]
            total[rows] += total[rows - 1] * np.exp(-gap[:, None] / memories)
        return total
