"""What causal models read row by row: values held since they were seen, which were seen now, how long ago, and the time
since the row before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from denots.data.series import SeriesSet
from denots.data.transforms import UNVARIED, fill_forward
from denots.inference.intake import Intake
from denots.shapes import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows as they are read; `clock` is the time since the start of their series, in the unit of the model."""

    times: FloatArray  # [N] float64
    clock: FloatArray  # [N] float64
    values: FloatArray  # [N, D]
    seen: BoolArray  # [N, C]
    offsets: IntArray  # [n + 1]
    static: FloatArray  # [n, S]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def table(self) -> IntArray:
        """The row at each place of each series [n, T]; behind its end, the last one."""
        lengths = np.diff(self.offsets)[:, None]
        return self.offsets[:-1, None] + np.minimum(np.arange(lengths.max()), lengths - 1)

    def latest(self, at: FloatArray) -> IntArray:
        """The position, in its series, of the last row up to each time [n, K]; -1 before the first one."""
        found = np.empty(at.shape, np.int64)
        for own, (begin, end) in enumerate(pairwise(self.offsets.tolist())):
            found[own] = np.searchsorted(self.times[begin:end], at[own], side="right") - 1
        return found


@dataclass(frozen=True, slots=True, eq=False)
class RowIntake:
    """How rows are read, all of a series at once or one after the other, with the same bits: by their logarithm, with
    their sign, so that what was rare in training does not drown the rest where it is common.
    """

    intake: Intake
    dtype: np.dtype[np.floating]

    @classmethod
    def restore(cls, weights: Mapping[str, FloatArray], channels: int, *, dtype: np.dtype[np.floating]) -> "RowIntake":
        """What stands among the weights of a backbone."""
        intake = Intake.restore(weights, channels, time="differences", presence=True, ages=True)
        return cls(intake, dtype)

    @property
    def width(self) -> int:
        return len(self.intake.centre)

    def read(self, series: SeriesSet) -> Rows:
        observed = self.intake.observations(series)
        return Rows(
            times=series.times,
            clock=observed.times,
            values=self._rounded(fill_forward(observed).values),
            seen=~np.isnan(series.values[:, : self.intake.channels]),
            offsets=series.offsets,
            static=self.intake.static(series).astype(self.dtype),
        )

    def static(self, table: FloatArray) -> FloatArray:
        """Static features [B, S] as they are read."""
        return self.intake.static_rows(table).astype(self.dtype)

    def next_row(self, before: FloatArray, values: FloatArray, ages: FloatArray, since: FloatArray) -> FloatArray:
        """One more row [B, D] of each series.

        Args:
            before: the row before, as it was read.
            values: what is observed now [B, C].
            ages: how long ago each channel was seen before [B, C].
            since: the time since the row before [B].
        """
        seen, channels = ~np.isnan(values), self.intake.channels
        table = np.concatenate([values, seen, ages, since[:, None]], axis=1)
        read = self._rounded((table - self.intake.centre) / self.intake.scale)
        read[:, :channels] = np.where(seen, read[:, :channels], before[:, :channels])
        return read

    def unseen(self, row: FloatArray, seen: BoolArray, since: FloatArray) -> FloatArray:
        """What a row that sees nothing would read, so long after the given ones."""
        x, channels = row.copy(), self.intake.channels
        centre, scale = self.intake.centre, self.intake.scale
        ages, presence = slice(2 * channels, 3 * channels), slice(channels, 2 * channels)
        told = np.where(scale[ages] < UNVARIED, scale[ages], 0.0)
        age = np.where(seen, 0.0, _released(x[:, ages]) * told + centre[ages]) + since[:, None]
        x[:, presence] = _squashed(-centre[presence] / scale[presence])
        x[:, ages] = _squashed((age - centre[ages]) / scale[ages])
        x[:, -1] = _squashed((since - centre[-1]) / scale[-1])
        return x

    @np.errstate(over="ignore")  # what does not fit into the type is infinite, and its state is no number
    def _rounded(self, x: FloatArray) -> FloatArray:
        return _squashed(np.nan_to_num(x)).astype(self.dtype)


def _squashed(x: FloatArray) -> FloatArray:
    return np.sign(x) * np.log1p(np.abs(x))


def _released(x: FloatArray) -> FloatArray:
    return np.sign(x) * np.expm1(np.abs(x.astype(np.float64)))
