"""The model that is asked and the one series that the question is about."""

from typing import Any

from denots.data.reject import joint_error
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.estimators.estimator import SeriesEstimator
from denots.registry import listed, lookup


def check_model(model: SeriesEstimator) -> None:
    """Refuse what has no single answer a series."""
    if not isinstance(model, SeriesEstimator):
        raise InvalidOption(
            f"{type(model).__name__} is no estimator of denots; give a fitted one, or denots.load(folder)."
        )
    if model.task_type.causal:
        raise InvalidOption(
            "a model of rows has an answer for each moment, not one to explain; explain a model of series."
        )
    if model.task_type.asks_times:
        raise InvalidOption(
            "a forecast has an answer for each time and channel, not one to explain; explain a classifier or a regressor."
        )


def one_series(model: SeriesEstimator, X: Any, id: Any = None) -> SeriesSet:
    """The series of this id as the model reads it; where X holds a single one, it needs no id."""
    check_model(model)
    reading = model.read(X)
    names = {str(name): name for name in reading.ids.tolist()}
    if id is None and len(names) > 1:
        raise InvalidOption(f"there are {len(names)} series; name one by its id: {listed(names)}.")
    name = lookup(names, str(reading.ids[0] if id is None else id), "series")
    bad = [rejected for rejected in reading.rejected if rejected.id == name]
    if bad:
        raise joint_error(bad)
    return reading.series.select([reading.series.ids.tolist().index(name)])
