"""The classifier and the regressor as estimators of sktime."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from denots import estimators
from denots.data.series import SeriesSet
from denots.errors import MissingExtra
from denots.systems import System

try:
    from sktime.classification.base import BaseClassifier
    from sktime.regression.base import BaseRegressor
except ImportError as error:
    raise MissingExtra(
        "this adapter needs sktime, which is not installed; run `pip install 'denots[sktime]'`."
    ) from error

TAGS = {
    "X_inner_mtype": "pd-multiindex",
    "capability:multivariate": True,
    "capability:unequal_length": True,
    "capability:missing_values": True,
    "capability:random_state": True,
    "property:randomness": "derandomized",
}
CLASSIFIER_TAGS = {**TAGS, "capability:predict_proba": True}
# What sktime's checks fit: closed forms that take a moment.
QUICK: list[dict[str, Any]] = [
    {"system": "timed-oscillators", "options": {"oscillators": 64}, "random_state": 0},
    {"system": "oscillators", "options": {"oscillators": 32}, "random_state": 0},
]


class SeriesClassifier(BaseClassifier):
    """`denots.SeriesClassifier` for panels of sktime: ragged, with holes, of one or many channels.

    Times are those of the index. A series that cannot be answered is an error. The fitted estimator is `model_`;
    arguments are its own and

    Args:
        time_unit: in which dates are counted, from the first one of each series; "s", "min", "h" or "d".

    Examples
    --------
    >>> from denots.adapters.sktime import SeriesClassifier
    >>> from sktime.datasets import load_unit_test
    >>> X, y = load_unit_test(split="train")
    >>> SeriesClassifier("oscillators", random_state=0).fit(X, y).predict(X).shape
    (20,)
    """

    _tags = CLASSIFIER_TAGS

    def __init__(
        self,
        system: str | System = "auto",
        options: Mapping[str, Any] | None = None,
        validation_fraction: float = 0.15,
        class_weight: str | Mapping[Any, float] | None = None,
        time_unit: str = "d",
        random_state: Any = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.system = system
        self.options = options
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.time_unit = time_unit
        self.random_state = random_state
        self.checkpoint_dir = checkpoint_dir
        self.verbose = verbose
        super().__init__()

    def _fit(self, X: pd.DataFrame, y: np.ndarray) -> "SeriesClassifier":
        params = self.get_params(deep=False)
        unit = params.pop("time_unit")
        self.model_ = estimators.SeriesClassifier(**params).fit(as_indexed(X, unit), y)
        return self

    def _predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.model_.predict(as_indexed(X, self.time_unit), strict=True)

    def _predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self.model_.predict_proba(as_indexed(X, self.time_unit), strict=True)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        return QUICK


class SeriesRegressor(BaseRegressor):
    """`denots.SeriesRegressor` for panels of sktime; see `SeriesClassifier`.

    Examples
    --------
    >>> from denots.adapters.sktime import SeriesRegressor
    >>> from sktime.datasets import load_unit_test
    >>> X, y = load_unit_test(split="train")
    >>> SeriesRegressor("oscillators", random_state=0).fit(X, y.astype(float)).predict(X).shape
    (20,)
    """

    _tags = TAGS

    def __init__(
        self,
        system: str | System = "auto",
        options: Mapping[str, Any] | None = None,
        validation_fraction: float = 0.15,
        time_unit: str = "d",
        random_state: Any = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.system = system
        self.options = options
        self.validation_fraction = validation_fraction
        self.time_unit = time_unit
        self.random_state = random_state
        self.checkpoint_dir = checkpoint_dir
        self.verbose = verbose
        super().__init__()

    def _fit(self, X: pd.DataFrame, y: np.ndarray) -> "SeriesRegressor":
        params = self.get_params(deep=False)
        unit = params.pop("time_unit")
        self.model_ = estimators.SeriesRegressor(**params).fit(as_indexed(X, unit), y)
        return self

    def _predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.model_.predict(as_indexed(X, self.time_unit), strict=True)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        return QUICK


def as_indexed(panel: pd.DataFrame, unit: str) -> SeriesSet:
    """The series of a panel at the times of its index; dates count from the first one of their series."""
    codes, instances = pd.factorize(panel.index.get_level_values(0))
    times = _times(panel.index.get_level_values(-1))
    values = panel.to_numpy(dtype=np.float64)
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return SeriesSet.from_arrays(
        [times[own] for own in rows],
        [values[own] for own in rows],
        ids=[name if isinstance(name, str | int) else str(name) for name in instances.tolist()],
        channels=[str(name) for name in panel.columns],
        time_unit=unit if times.dtype.kind in "mM" else "",
    )


def _times(index: pd.Index) -> np.ndarray:
    """Times as numpy has them: periods begin where they begin, time zones become UTC."""
    if isinstance(index, pd.PeriodIndex):
        index = index.to_timestamp()
    if isinstance(index, pd.DatetimeIndex) and index.tz is not None:
        index = index.tz_convert("UTC").tz_localize(None)
    return index.to_numpy()
