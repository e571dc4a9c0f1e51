"""The native extension, behind ordinary functions of arrays."""

from typing import Literal

import numpy as np
import torch

from denots import _native
from denots.shapes import FloatArray, IntArray

_SPLINES = {"natural_cubic": 0, "causal_hermite": 1, "linear": 2}


def fit_splines(
    kind: Literal["natural_cubic", "causal_hermite", "linear"],
    offsets: IntArray,
    times: FloatArray,
    observed: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Value, slope before and slope after each time stamp, each [N, C]; NaN in `observed` is a hole."""
    value, before, after = (np.empty_like(observed, order="C") for _ in range(3))
    _native.fit_splines(
        kind=_SPLINES[kind],
        offsets=np.ascontiguousarray(offsets),
        times=np.ascontiguousarray(times),
        observed=np.ascontiguousarray(observed),
        value=value,
        slope_before=before,
        slope_after=after,
        threads=torch.get_num_threads(),
    )
    return value, before, after
