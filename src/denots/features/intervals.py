"""Quantiles of a series over halves, quarters and smaller parts of it, for trees."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from denots.data.series import SeriesSet
from denots.inference.drive import Drive
from denots.inference.intervals import FEWEST, MOST, MOST_IN_ALL, IntervalQuantiles
from denots.shapes import FloatArray


class Intervals(TransformerMixin, BaseEstimator):
    """Values, steps, steps of steps and strengths of waves, read at even times and sorted within parts of the series.

    Parts are the series, its halves, quarters and so on, and those halfway between two of them. A part of m looks
    gives about m / 4 quantiles; every other one is told as its distance from the mean of the part.
    """

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: SeriesSet, y: Any = None) -> Self:
        self.drive_ = Drive.fit(X)
        most = max(FEWEST, min(MOST, MOST_IN_ALL // (len(X) * X.values.shape[1])))
        self.looks_ = int(np.clip(np.quantile(X.lengths, 0.9), FEWEST, most))
        return self

    def transform(self, X: SeriesSet) -> FloatArray:
        """One row a series; it depends on that series alone."""
        check_is_fitted(self)
        return IntervalQuantiles(self.drive_, self.looks_).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        check_is_fitted(self)
        still = np.zeros((1, len(self.drive_.scale.centre), self.looks_), np.float32)
        size = IntervalQuantiles(self.drive_, self.looks_).quantiles(still).shape[1]
        return np.array([f"interval{k}" for k in range(size)], dtype=object)

    def state(self) -> dict[str, np.ndarray]:
        """Everything that `fit` learnt, as arrays."""
        check_is_fitted(self)
        return IntervalQuantiles(self.drive_, self.looks_).state()

    def restore(self, state: Mapping[str, np.ndarray]) -> Self:
        found = IntervalQuantiles.restore(state)
        self.drive_, self.looks_ = found.drive, found.looks
        return self
