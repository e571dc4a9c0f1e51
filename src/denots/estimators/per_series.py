"""What `fit` may be given beside each series: how much it counts, and to which group it belongs."""

from typing import Any

import numpy as np

from denots.errors import InvalidOption
from denots.shapes import FloatArray, IntArray


def read_weights(given: Any, n: int) -> FloatArray | None:
    """One weight a series, none negative; None where all count alike."""
    if given is None:
        return None
    try:
        weight = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"sample_weight is one number for each series; got {given!r:.60}.") from error
    _check_shape("sample_weight", weight, n)
    wrong = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(wrong):
        raise InvalidOption(
            f"sample_weight is {weight[wrong[0]]:g} at position {wrong[0]}; weights are finite and not negative."
        )
    if not weight.any():
        raise InvalidOption("sample_weight is zero for every series; at least one must count.")
    return None if (weight == weight[0]).all() else weight


def read_groups(given: Any, n: int) -> IntArray | None:
    """One number a series, the same for series of one group."""
    if given is None:
        return None
    groups = np.asarray(given)
    _check_shape("groups", groups, n)
    names, member = np.unique(groups.astype(str) if groups.dtype == object else groups, return_inverse=True)
    if len(names) < 2:
        raise InvalidOption(f"every series belongs to the group {names[0]!s}; a split needs at least two groups.")
    return np.asarray(member, dtype=np.int64)


def _check_shape(name: str, given: np.ndarray, n: int) -> None:
    if given.shape != (n,):
        raise InvalidOption(f"{name} has shape {given.shape}; give one for each of the {n} series.")
