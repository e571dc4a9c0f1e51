"""Straight lines between observations, and steps at them."""

import numpy as np
import torch

from denots.data.series import SeriesSet
from denots.paths.fit import fit_cubic
from denots.paths.path import Path, join_sides


class Linear:
    """Straight lines between the observed values of each channel."""

    @staticmethod
    def fit(series: SeriesSet, dtype: torch.dtype | None = None) -> Path:
        return fit_cubic(series, "linear", dtype)


class Rectilinear:
    """Each value holds until the next one is observed, then jumps: nothing is known early.

    Before a channel's first observation its first value is held.
    """

    @staticmethod
    def fit(series: SeriesSet, dtype: torch.dtype | None = None) -> Path:
        real = np.dtype(str(dtype or torch.get_default_dtype()).removeprefix("torch."))
        after = _latest_observed(series).astype(real)
        before = np.concatenate([after[:1], after[:-1]])
        before[series.offsets[:-1]] = after[series.offsets[:-1]]
        flat = np.zeros_like(after)
        return join_sides(series, (before, flat), (after, flat))


def _latest_observed(series: SeriesSet) -> np.ndarray:
    """Every channel filled forward, its leading hole filled backward, zero if never observed."""
    rows = np.arange(len(series.times))[:, None]
    seen = ~np.isnan(series.values)
    begin = np.repeat(series.offsets[:-1], series.lengths)[:, None]
    latest = np.maximum.accumulate(np.where(seen, rows, -1), axis=0)
    past_end = len(series.times)
    first = np.minimum.reduceat(np.where(seen, rows, past_end), series.offsets[:-1])
    source = np.where(latest >= begin, latest, np.repeat(first, series.lengths, axis=0))
    never = source == past_end
    filled = np.take_along_axis(series.values, np.where(never, 0, source), axis=0)
    return np.where(never, 0.0, filled)
