"""The native extension, behind ordinary functions of arrays and tensors."""

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from denots import _native
from denots.errors import NativeUnavailable
from denots.shapes import FloatArray, IntArray

_SPLINES = {"natural_cubic": 0, "causal_hermite": 1, "linear": 2}
_TARGETS = ("baseline", "avx2", "avx512")
_PROBLEMS = {torch.float32: _native.Problem32, torch.float64: _native.Problem64}


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


def target() -> str:
    """The CPU target that the solver runs on; the environment variable DENOTS_TARGET forces one."""
    try:
        return _native.target()
    except ValueError as error:
        raise NativeUnavailable(str(error)) from None


def targets() -> list[str]:
    """All CPU targets that can run here, the plainest first."""
    return [name for i, name in enumerate(_TARGETS) if _native.supported(i)]


def problem(dtype: torch.dtype, **arguments: Any) -> Any:
    """Everything a solve reads, as one native object that holds on to its arrays.

    Tensors are detached and made contiguous; sequences of numbers become float64 tables; a
    bias without a series axis serves all series.
    """
    target()
    arrays = {name: _array(value) for name, value in arguments.items()}
    if arrays["bias"].ndim == 1:
        arrays["bias"] = arrays["bias"][None]
    return _PROBLEMS[dtype](**arrays)


def _array(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().contiguous()
    return np.array(value, dtype=np.float64) if isinstance(value, (list, tuple)) else value
