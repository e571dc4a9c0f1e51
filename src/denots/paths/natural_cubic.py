"""Natural cubic splines with per-channel holes."""

import torch

from denots.data.series import SeriesSet
from denots.paths.fit import fit_curve
from denots.paths.path import Path


class NaturalCubic:
    """The smoothest curve through the observed values of each channel.

    Twice continuously differentiable between the first and the last observation of a channel,
    zero second derivative at both; held outside them. It looks ahead: the value between two
    observations depends on later ones. Use `CausalHermite` where that is not allowed.
    """

    @staticmethod
    def fit(series: SeriesSet, dtype: torch.dtype | None = None) -> Path:
        return fit_curve(series, "natural-cubic", dtype)
