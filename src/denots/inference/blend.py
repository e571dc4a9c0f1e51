"""What several models say, as one answer."""

from collections.abc import Sequence

import numpy as np

from denots.inference.told import Told
from denots.shapes import FloatArray


def average(told: Sequence[Told]) -> Told:
    """The mean of all, summed one after the other."""
    total = told[0].outputs.astype(np.float64)
    for each in told[1:]:
        total = total + each.outputs.astype(np.float64)
    return Told(total / len(told), np.logical_and.reduce([each.ok for each in told]))


def blend(shape: tuple[int, ...], base: FloatArray, weights: FloatArray, told: Sequence[Told]) -> Told:
    """A weighted sum above what is said without having seen a series, for so many series or moments of each."""
    total, ok = np.broadcast_to(base, (*shape, len(base))).copy(), np.ones(shape[0], dtype=bool)
    for weight, each in zip(weights.tolist(), told, strict=True):
        total, ok = total + weight * each.outputs.astype(np.float64), ok & each.ok
    return Told(total, ok)
