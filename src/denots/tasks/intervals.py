"""Intervals around numbers, as arrays and as columns of a table."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.shapes import FloatArray
from denots.tasks.scores import Held


def around(answers: FloatArray, limits: FloatArray) -> FloatArray:
    """The lower and the upper end along a last axis; both infinite where there is no answer."""
    unknown = np.isnan(answers)
    low, high = np.where(unknown, -np.inf, answers - limits), np.where(unknown, np.inf, answers + limits)
    return np.stack([low, high], axis=-1)


def bounds(
    columns: Callable[[FloatArray], dict[str, npt.NDArray[Any]]], region: FloatArray
) -> dict[str, npt.NDArray[Any]]:
    """Both ends of each column, side by side."""
    low, high = columns(region[..., 0]), columns(region[..., 1])
    return {f"{end}_{name}": part[name] for name in low for end, part in (("low", low), ("high", high))}


def held_between(region: FloatArray, truth: FloatArray, *, each: bool = False) -> Held:
    """Which truths lie between the ends, and how far these are apart, summed over all but the first axis.

    each: keep the second axis, too, and so tell of each number by itself.
    """
    axes, known = tuple(range(2 if each else 1, truth.ndim)), ~np.isnan(truth)
    low, high = region[..., 0], region[..., 1]
    inside = known & (low <= truth) & (truth <= high)
    width = np.where(known, high - low, 0.0)
    return Held(known.sum(axis=axes).astype(np.float64), inside.sum(axis=axes).astype(np.float64), width.sum(axis=axes))
