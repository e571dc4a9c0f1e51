"""Which task a target asks for, and the estimator that answers it."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denots.errors import InvalidOption

if TYPE_CHECKING:
    from denots.estimators.estimator import SeriesEstimator

TASKS = ("auto", "classification", "regression", "forecast")
MOST_CLASSES = 20  # whole numbers with more distinct values are taken as a quantity


class Choice(NamedTuple):
    task: str
    reason: str


def choose_task(task: str, target: npt.NDArray[Any] | None, column: str | None) -> Choice:
    """The named task, or with `auto` the one that the target suggests, with the reason in words."""
    if target is None:
        if task in ("classification", "regression"):
            raise InvalidOption(f"--task {task} needs a target: name its column with --target.")
        return Choice("forecast", "there is no target" if task == "auto" else "as asked")
    if task != "auto":
        return Choice(task, "as asked")
    distinct = len(np.unique(target))
    if target.dtype.kind == "b":
        return Choice("classification", f"{column!r} is true or false")
    if target.dtype.kind not in "iuf":
        return Choice("classification", f"{column!r} holds text, {distinct} classes")
    if target.dtype.kind in "iu" and distinct <= MOST_CLASSES:
        return Choice("classification", f"{column!r} holds whole numbers, only {distinct} different ones")
    if target.dtype.kind in "iu":
        return Choice("regression", f"{column!r} holds whole numbers, {distinct} different ones")
    return Choice("regression", f"{column!r} holds decimal numbers")


def make_estimator(task: str, *, balanced: bool, **options: Any) -> "SeriesEstimator":
    """An estimator for the task; only a classifier knows classes to balance."""
    from denots.estimators import DeNOTSClassifier, DeNOTSForecaster, DeNOTSRegressor

    if task == "classification":
        return DeNOTSClassifier(class_weight="balanced" if balanced else None, **options)
    if balanced:
        raise InvalidOption(f"--balanced weighs classes, and {task} has none; leave it out.")
    return DeNOTSRegressor(**options) if task == "regression" else DeNOTSForecaster(**options)


def trivial_answer(task: str, target: npt.NDArray[Any] | None) -> list[float]:
    """What one would answer without looking at any series: class shares, or the mean."""
    if target is None or task == "forecast":
        return []
    if task == "regression":
        return [float(target.mean())]
    counts = np.unique(target, return_counts=True)[1]
    return (counts / counts.sum()).tolist()
