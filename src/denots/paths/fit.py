"""Fit curves natively, from packed rows, for all series and channels in one call."""

from typing import Protocol, runtime_checkable

import numpy as np
import torch

from denots.data.series import SeriesSet
from denots.inference.curve import CURVES
from denots.paths.path import Path, path_of


@runtime_checkable
class Interpolation(Protocol):
    """A way of turning observations into a path."""

    @staticmethod
    def fit(series: SeriesSet, dtype: torch.dtype | None = None) -> Path: ...


def fit_curve(series: SeriesSet, kind: str, dtype: torch.dtype | None) -> Path:
    """A curve of `CURVES`; values are rounded to `dtype` (default: torch's default type) first."""
    real = np.dtype(str(dtype or torch.get_default_dtype()).removeprefix("torch."))
    return path_of(CURVES[kind](series, dtype=real))
