"""Fit curves natively, from packed rows, for all series and channels in one call."""

from typing import Literal, Protocol, runtime_checkable

import numpy as np
import torch

from denots import kernels
from denots.data.series import SeriesSet
from denots.paths.path import Path, join_sides

Kind = Literal["natural_cubic", "causal_hermite", "linear"]


@runtime_checkable
class Interpolation(Protocol):
    """A way of turning observations into a path."""

    @staticmethod
    def fit(series: SeriesSet, dtype: torch.dtype | None = None) -> Path: ...


def fit_cubic(series: SeriesSet, kind: Kind, dtype: torch.dtype | None) -> Path:
    """Round values to `dtype` (default: torch's default type), fit those in double precision, round the slopes."""
    real = np.dtype(str(dtype or torch.get_default_dtype()).removeprefix("torch."))
    value, before, after = kernels.fit_splines(
        kind, series.offsets, series.times, series.values.astype(real, copy=False)
    )
    return join_sides(series, (value, before), (value, after))
