"""Make a forecasting exercise out of complete series: hide some rows and ask for them."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from denots.data.series import SeriesSet
from denots.errors import InvalidSeries
from denots.shapes import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """What a forecaster sees, when it is asked, and what it should have said.

    Series with fewer questions than others are filled up with their last time and the answer NaN.
    """

    visible: SeriesSet
    at: FloatArray  # [n, K]
    answers: FloatArray  # [n, K, C]
    beyond: npt.NDArray[np.bool_]  # [n, K]: later than every visible row

    @property
    def target(self) -> FloatArray:
        """What the forecast readout learns from [n, K, C + 1]: the answers, then 1 where a question lies beyond."""
        return np.concatenate([self.answers, self.beyond[..., None]], axis=2)


def hide_for_forecasting(series: SeriesSet) -> Hidden:
    """Hide the second half of each series, and every second row of the first half.

    The hidden rows of the first half are to be interpolated, the second half is to be
    extrapolated. Series that keep no observed value are left out, with a warning.
    """
    position = np.arange(len(series.times)) - np.repeat(series.offsets[:-1], series.lengths)
    half = np.repeat(np.maximum(series.lengths // 2, 1), series.lengths)
    shown = (position < half) & (position % 2 == 0)
    seen = np.add.reduceat(shown & ~np.isnan(series.values).all(axis=1), series.offsets[:-1]) > 0
    if not seen.all():
        if not seen.any():
            raise InvalidSeries("no series keeps an observed value when half of it is hidden; give longer series.")
        warnings.warn(
            f"{(~seen).sum()} series have no observed value in the rows that stay visible; they are left out.",
            stacklevel=2,
        )
        return hide_for_forecasting(series.select(seen))
    kept = np.add.reduceat(shown, series.offsets[:-1])
    visible = replace(
        series,
        times=series.times[shown],
        values=series.values[shown],
        offsets=np.concatenate([[0], np.cumsum(kept)]).astype(np.int64),
        row_target=None,
    )
    count = series.lengths - kept
    asked = np.arange(max(int(count.max()), 1)) < count[:, None]
    at = np.repeat(series.ends[:, None], asked.shape[1], axis=1)
    answers = np.full((*asked.shape, len(series.channels)), np.nan)
    beyond = np.zeros(asked.shape, dtype=bool)
    at[asked], answers[asked], beyond[asked] = series.times[~shown], series.values[~shown], (position >= half)[~shown]
    return Hidden(visible, at, answers, beyond)


def reveal(visible: SeriesSet, at: FloatArray, answers: FloatArray) -> SeriesSet:
    """The series before anything was hidden, but for rows in which nothing was observed."""
    asked = ~np.isnan(answers).all(axis=2)
    owner = np.concatenate([visible.owner(), np.nonzero(asked)[0]])
    times = np.concatenate([visible.times, at[asked]])
    order = np.lexsort((times, owner))
    return replace(
        visible,
        times=times[order],
        values=np.concatenate([visible.values, answers[asked]])[order],
        offsets=np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(visible)))]).astype(np.int64),
    )
