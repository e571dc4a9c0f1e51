"""Predict numbers from whole series."""

from typing import Any, Self

import numpy as np
import torch
from sklearn.base import RegressorMixin

from denots.errors import InvalidTarget
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.inputs import as_series_set
from denots.estimators.targets import as_numbers, read_target


class DeNOTSRegressor(RegressorMixin, SeriesEstimator):
    """Predict one or several numbers for each series; options as in `SeriesEstimator`.

    Targets are standardised for training and answered in their own unit.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from series and their numbers; `y` may be left out if X is a SeriesSet with a target."""
        series = as_series_set(X)
        given = read_target(series, y)
        target = as_numbers(given)
        flat = np.flatnonzero(np.ptp(target, axis=0) == 0)
        if len(flat):
            raise InvalidTarget(
                f"the regression target is {target[0, flat[0]]} for all {len(target)} series; there is nothing to learn from a constant."
            )
        self.output_ndim_ = given.ndim
        return self._train(series, torch.from_numpy(target), task="regression", outputs=target.shape[1])

    def predict(self, X: Any) -> np.ndarray:
        """Numbers [n] (or [n, outputs]); NaN for a series that cannot be solved."""
        answers = self.model_answers(self._read(X))
        return answers[:, 0] if self.output_ndim_ == 1 else answers

    def model_answers(self, series: Any) -> np.ndarray:
        return self.model_.readout.answer(self._run(series).outputs).numpy()

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R2 of the predictions."""
        series = self._read(X)
        return float(super().score(series, read_target(series, y), sample_weight))
