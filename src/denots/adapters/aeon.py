"""The classifier and the regressor as estimators of aeon."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from denots import estimators
from denots.data.series import SeriesSet
from denots.errors import MissingExtra
from denots.systems import System

try:
    from aeon.classification import BaseClassifier
    from aeon.regression import BaseRegressor
except ImportError as error:
    raise MissingExtra("this adapter needs aeon, which is not installed; run `pip install 'denots[aeon]'`.") from error

TAGS = {
    "X_inner_type": "np-list",
    "capability:multivariate": True,
    "capability:unequal_length": True,
    "capability:missing_values": True,
}
# What aeon's checks fit: closed forms that take a moment.
QUICK: list[dict[str, Any]] = [
    {"system": "timed-oscillators", "options": {"oscillators": 64}, "random_state": 0},
    {"system": "summary", "random_state": 0},
]


class SeriesClassifier(BaseClassifier):
    """`denots.SeriesClassifier` for collections of aeon: ragged, with holes, of one or many channels.

    aeon has no times, so series are sampled at 0, 1, 2, ... A series that cannot be answered is an error.
    The fitted estimator is `model_`; arguments are its own.
    """

    _tags = TAGS

    def __init__(
        self,
        system: str | System = "auto",
        options: Mapping[str, Any] | None = None,
        validation_fraction: float = 0.15,
        class_weight: str | Mapping[Any, float] | None = None,
        random_state: Any = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.system = system
        self.options = options
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.random_state = random_state
        self.checkpoint_dir = checkpoint_dir
        self.verbose = verbose
        super().__init__()

    def _fit(self, X: Sequence[np.ndarray], y: np.ndarray) -> "SeriesClassifier":
        self.model_ = estimators.SeriesClassifier(**self.get_params(deep=False)).fit(sampled(X), y)
        return self

    def _predict(self, X: Sequence[np.ndarray]) -> np.ndarray:
        return self.model_.predict(sampled(X), strict=True)

    def _predict_proba(self, X: Sequence[np.ndarray]) -> np.ndarray:
        return self.model_.predict_proba(sampled(X), strict=True)

    @classmethod
    def _get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        return QUICK


class SeriesRegressor(BaseRegressor):
    """`denots.SeriesRegressor` for collections of aeon; see `SeriesClassifier`."""

    _tags = TAGS

    def __init__(
        self,
        system: str | System = "auto",
        options: Mapping[str, Any] | None = None,
        validation_fraction: float = 0.15,
        random_state: Any = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.system = system
        self.options = options
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.checkpoint_dir = checkpoint_dir
        self.verbose = verbose
        super().__init__()

    def _fit(self, X: Sequence[np.ndarray], y: np.ndarray) -> "SeriesRegressor":
        self.model_ = estimators.SeriesRegressor(**self.get_params(deep=False)).fit(sampled(X), y)
        return self

    def _predict(self, X: Sequence[np.ndarray]) -> np.ndarray:
        return self.model_.predict(sampled(X), strict=True)

    @classmethod
    def _get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        return QUICK


def sampled(X: Sequence[np.ndarray]) -> SeriesSet:
    """Arrays (channels, time) as series that are sampled at 0, 1, 2, ..."""
    return SeriesSet.from_arrays([np.arange(table.shape[1], dtype=np.float64) for table in X], [table.T for table in X])
