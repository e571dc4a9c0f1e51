"""Targets as they are given, checked."""

from typing import Any

import numpy as np

from denots.data.series import SeriesSet
from denots.errors import InvalidTarget


def read_target(series: SeriesSet, y: Any) -> np.ndarray:
    """`y`, or else the target inside the set; one entry a series, none missing."""
    target = series.target if y is None else np.asarray(y)
    if target is None:
        raise InvalidTarget(
            "this estimator requires y to be passed, but the target y is None; give y, or a SeriesSet with a target."
        )
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if len(target) != len(series):
        raise InvalidTarget(f"{len(target)} targets for {len(series)} series; give one each.")
    if target.dtype.kind == "O":
        kinds = sorted({type(value).__name__ for value in target.flat})
        if len(kinds) > 1:
            raise InvalidTarget(f"targets mix {' and '.join(kinds)}; make them all numbers or all text.")
        target = np.array(target.tolist())
    if target.dtype.kind == "f":
        bad = np.argwhere(~np.isfinite(target.reshape(len(target), -1)))
        if len(bad):
            row = int(bad[0, 0])
            raise InvalidTarget(
                f"the target of series {series.id(row)!r} is {target[row]}; every series needs a finite target, so leave it out of fit."
            )
    return target


def as_classes(target: np.ndarray) -> np.ndarray:
    """The target of a classification: text, Booleans or whole numbers, one column."""
    if target.ndim != 1:
        raise InvalidTarget(f"classes have shape {target.shape}; expected one class for each series.")
    if target.dtype.kind == "f" and (target != np.round(target)).any():
        raise InvalidTarget(
            f"Unknown label type: continuous. The first target, {target[0]}, is no class; use a regressor for numbers."
        )
    return target


def as_numbers(target: np.ndarray) -> np.ndarray:
    """The target of a regression as a table [n, outputs] of floats."""
    if target.dtype.kind not in "fiub":
        raise InvalidTarget(
            f"a regression target must be numbers; the first one is {target[0].item()!r}. Use a classifier for classes."
        )
    return target.astype(np.float64).reshape(len(target), -1)
