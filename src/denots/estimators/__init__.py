"""Estimators with scikit-learn manners."""

from denots.estimators.classifier import SeriesClassifier
from denots.estimators.denots import DeNOTSClassifier, DeNOTSForecaster, DeNOTSRegressor
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.folder import load_estimator
from denots.estimators.forecaster import SeriesForecaster
from denots.estimators.predictor import SeriesPredictor
from denots.estimators.regressor import SeriesRegressor
from denots.estimators.rows import RowPredictor
from denots.tasks import TASKS, RowTask, Task


def estimator_for(task: type[Task], **arguments: object) -> SeriesEstimator:
    """The estimator that answers a task, by any system."""
    for kind in (SeriesClassifier, SeriesRegressor, SeriesForecaster):
        if kind.task_type is task:
            return kind(**arguments)  # type: ignore[arg-type]
    if issubclass(task, RowTask):
        return RowPredictor(task=TASKS.name_of(task), **arguments)  # type: ignore[arg-type]
    return SeriesPredictor(task=TASKS.name_of(task), **arguments)  # type: ignore[arg-type]


__all__ = [
    "DeNOTSClassifier",
    "DeNOTSForecaster",
    "DeNOTSRegressor",
    "RowPredictor",
    "SeriesClassifier",
    "SeriesEstimator",
    "SeriesForecaster",
    "SeriesPredictor",
    "SeriesRegressor",
    "estimator_for",
    "load_estimator",
]
