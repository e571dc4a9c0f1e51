"""Cubic Hermite curves with backward differences."""

import torch

from denots.data.series import SeriesSet
from denots.paths.fit import fit_curve
from denots.paths.path import Path


class CausalHermite:
    """Once differentiable, and between two observations only they and the one before matter.

    The slope at an observation is that of the step which led to it, so later data never
    change the curve up to the latest observation.
    """

    @staticmethod
    def fit(series: SeriesSet, dtype: torch.dtype | None = None) -> Path:
        return fit_curve(series, "causal-hermite", dtype)
