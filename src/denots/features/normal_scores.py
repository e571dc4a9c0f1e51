"""Columns of any shape as columns that a linear map can use: by rank, with holes filled and marked."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from denots.inference.ranked_summary import Ranks
from denots.shapes import FloatArray

QUANTILES = 200


class NormalScores(TransformerMixin, BaseEstimator):
    """Each column of a table by its rank among the training rows, as the normal quantile of that rank.

    A missing value is zero, the middle; a further column says where a column that had holes in training has one.
    """

    def fit(self, X: FloatArray, y: Any = None) -> Self:
        levels = np.linspace(0, 1, min(QUANTILES, max(2, len(X))))
        known = [column[np.isfinite(column)] for column in np.asarray(X, dtype=np.float64).T]
        # One column after the other in memory, as they are read.
        self.edges_ = np.stack([np.quantile(column, levels) if len(column) else levels for column in known]).T
        self.holes_ = np.array([len(column) < len(X) for column in known])
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        check_is_fitted(self)
        return Ranks(self.edges_, self.holes_).transform(X)

    def state(self) -> dict[str, np.ndarray]:
        check_is_fitted(self)
        return {"edges": np.ascontiguousarray(self.edges_), "holes": self.holes_}

    def restore(self, state: Mapping[str, np.ndarray]) -> Self:
        found = Ranks.restore(state)
        self.edges_, self.holes_ = found.edges, found.holes
        return self
