"""Columns of any shape as columns that a linear map can use: by rank, with holes filled and marked."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from denots.shapes import FloatArray

QUANTILES = 200


class NormalScores(TransformerMixin, BaseEstimator):
    """Each column of a table by its rank among the training rows, as the normal quantile of that rank.

    A missing value is zero, the middle; a further column says where a column that had holes in training has one.
    """

    def fit(self, X: FloatArray, y: Any = None) -> Self:
        levels = np.linspace(0, 1, min(QUANTILES, max(2, len(X))))
        known = [column[np.isfinite(column)] for column in np.asarray(X, dtype=np.float64).T]
        self.edges_ = np.stack([np.quantile(column, levels) if len(column) else levels for column in known], axis=1)
        self.holes_ = np.array([len(column) < len(X) for column in known])
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        check_is_fitted(self)
        table = np.asarray(X, dtype=np.float64)
        outer = 0.5 / len(self.edges_)
        levels = np.linspace(outer, 1 - outer, len(self.edges_))
        columns, known = np.array(table.T, order="C"), np.isfinite(table)
        for column, edges in zip(columns, self.edges_.T, strict=True):
            # Ties share the middle of their ranks: from the left and from the right.
            column[:] = (np.interp(column, edges, levels) - np.interp(-column, -edges[::-1], -levels[::-1])) / 2
        scores = np.where(known, ndtri(columns).T, 0.0)
        return np.concatenate([scores, ~known[:, self.holes_]], axis=1, dtype=np.float32)

    def state(self) -> dict[str, np.ndarray]:
        check_is_fitted(self)
        return {"edges": self.edges_, "holes": self.holes_}

    def restore(self, state: Mapping[str, np.ndarray]) -> Self:
        self.edges_, self.holes_ = state["edges"], state["holes"]
        return self
