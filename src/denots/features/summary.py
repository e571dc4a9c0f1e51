"""What clinicians and tree people use: statistics of each channel, of the whole series and of its last quarter."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from denots.data.series import SeriesSet
from denots.data.summary import STATISTICS, summarise
from denots.shapes import FloatArray


class Summary(TransformerMixin, BaseEstimator):
    """One row of statistics a series: `denots.data.summary` names them; NaN where one is not defined."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: SeriesSet, y: Any = None) -> Self:
        self.channels_, self.static_names_ = X.channels, X.static_names
        return self

    def transform(self, X: SeriesSet) -> FloatArray:
        check_is_fitted(self)
        return summarise(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        check_is_fitted(self)
        each = [f"{channel}: {statistic}" for channel in self.channels_ for statistic in STATISTICS]
        return np.array(["length", "span", *self.static_names_, *each], dtype=object)

    def state(self) -> dict[str, np.ndarray]:
        """Nothing is learnt but names."""
        return {}

    def restore(self, state: Mapping[str, np.ndarray]) -> Self:
        self.channels_, self.static_names_ = (), ()
        return self
