"""Straight lines between observations, and steps at them."""

import torch

from denots.data.series import SeriesSet
from denots.paths.fit import fit_curve
from denots.paths.path import Path


class Linear:
    """Straight lines between the observed values of each channel."""

    @staticmethod
    def fit(series: SeriesSet, dtype: torch.dtype | None = None) -> Path:
        return fit_curve(series, "linear", dtype)


class Rectilinear:
    """Each value holds until the next one is observed, then jumps: nothing is known early.

    Before a channel's first observation its first value is held.
    """

    @staticmethod
    def fit(series: SeriesSet, dtype: torch.dtype | None = None) -> Path:
        return fit_curve(series, "rectilinear", dtype)
