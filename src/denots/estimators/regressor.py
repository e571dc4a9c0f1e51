"""Predict numbers from whole series."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from denots.data.inputs import row_length
from denots.estimators.estimator import SeriesEstimator
from denots.tasks import Regression
from denots.training.progress import Progress


class SeriesRegressor(RegressorMixin, SeriesEstimator):
    """Predict one or several numbers for each series, by any system; arguments as in `SeriesEstimator`.

    Targets are standardised for training and answered in their own unit.
    """

    task_type = Regression
    task_: Regression

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        validation: Any = None,
        callbacks: Sequence[Progress] = (),
    ) -> Self:
        """Learn from series and their numbers; `y` may be left out if X is a SeriesSet with a target.

        Args:
            y: one number a series, or an array or DataFrame with a column for each of several targets.
            sample_weight: how much each series counts; not all systems can weigh, and those that cannot say so.
            groups: a label for each series, such as a hospital; no fold or validation split parts a group.
            validation: series to choose by instead of a share of X: a pair (X, y), or a SeriesSet with a target.
            callbacks: told about every epoch, such as `denots.training.loggers.CSVLog("logs")`.
        """
        given = {"sample_weight": sample_weight, "groups": groups, "validation": validation, "callbacks": callbacks}
        self._fit(self._to_learn(X, y), **given)
        self.n_features_in_ = row_length(X) or self.n_features_in_
        return self

    def predict(self, X: Any, *, strict: bool = False) -> np.ndarray:
        """Numbers [n] (or [n, outputs]).

        A series without an answer is named in a warning and has NaN; with `strict` it is an error.
        """
        answers = self._answers(X, strict=strict).values
        return answers[:, 0] if self.task_.flat else answers

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, groups: str | None = None, strict: bool = False
    ) -> np.ndarray:
        """Intervals [n, 2] (or [n, outputs, 2]) that hold the truth for such a share of series, each output by itself.

        A series without an answer has an infinite one. `denots.estimators.conformal` says what is guaranteed.

        Args:
            groups: a static feature; the coverage then holds in each group of it (by quarters of a number with many values).
        """
        reading = self.read(X)
        found = self._region(reading, self._answers(reading, strict=strict), coverage, groups)
        return found[:, 0] if self.task_.flat else found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R2 of the predictions; a series without one is given the mean of the training data."""
        from sklearn.metrics import r2_score

        series = self.read_known(X, y)
        answers = self._answers(series).values
        told = np.where(np.isnan(answers), self.task_.mean, answers)
        return float(r2_score(self.task_.pose(series).target.numpy(), told, sample_weight=sample_weight))
