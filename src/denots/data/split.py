"""Seeded random splits, plain, stratified by class, or grouped."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.errors import InvalidOption
from denots.shapes import IntArray


def split_rows(
    n: int,
    fractions: Sequence[float],
    *,
    seed: int,
    labels: npt.NDArray[Any] | None = None,
    groups: npt.NDArray[Any] | None = None,
) -> list[IntArray]:
    """Row numbers of each part, in ascending order. Shares must sum to one; no part may be empty."""
    if not fractions or min(fractions) <= 0 or abs(sum(fractions) - 1.0) > 1e-9:
        raise InvalidOption(f"fractions {tuple(fractions)} must be positive and sum to 1.")
    if labels is not None and groups is not None:
        raise InvalidOption("a split is either stratified or grouped, not both.")
    for what, given in (("labels", labels), ("groups", groups)):
        if given is not None and given.shape != (n,):
            raise InvalidOption(f"{what} have shape {given.shape}; give one for each of the {n} series.")
    rng = np.random.default_rng(seed)
    part = np.empty(n, dtype=np.int64)
    if groups is not None:
        names, member = np.unique(groups, return_inverse=True)
        part = _deal(len(names), fractions, rng)[member]
    elif labels is not None:
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            part[rows] = _deal(len(rows), fractions, rng)
    else:
        part = _deal(n, fractions, rng)
    parts = [np.flatnonzero(part == k) for k in range(len(fractions))]
    for share, rows in zip(fractions, parts, strict=True):
        if not len(rows):
            raise InvalidOption(
                f"a share of {share} of {n} series leaves a part empty; give more series or larger shares."
            )
    return parts


def deal_folds(
    n: int, count: int, *, seed: int, labels: npt.NDArray[Any] | None = None, groups: npt.NDArray[Any] | None = None
) -> list[IntArray]:
    """Row numbers of `count` parts of about equal size, ascending; rows of a class are dealt out one by one.

    Rows of one group stay together; there are no more parts than groups.
    """
    if groups is not None:
        return _deal_groups(min(count, len(np.unique(groups))), seed, labels, groups)
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    return [np.sort(order[k::count]) for k in range(count)]


def _deal_groups(count: int, seed: int, labels: npt.NDArray[Any] | None, groups: npt.NDArray[Any]) -> list[IntArray]:
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    if labels is None:
        dealer = GroupKFold(count, shuffle=True, random_state=seed)
    else:
        count = min(count, int(np.unique(labels, return_counts=True)[1].min()))
        dealer = StratifiedGroupKFold(max(count, 2), shuffle=True, random_state=seed)
    return [held for _, held in dealer.split(np.zeros(len(groups)), labels, groups)]


def _deal(n: int, fractions: Sequence[float], rng: np.random.Generator) -> IntArray:
    """The part that each of n items falls into; part sizes are the rounded cumulative shares."""
    limits = np.round(np.cumsum(fractions) * n).astype(np.int64)
    part = np.empty(n, dtype=np.int64)
    part[rng.permutation(n)] = np.searchsorted(limits, np.arange(n), side="right")
    return np.minimum(part, len(fractions) - 1)
