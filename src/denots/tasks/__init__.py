"""What can be asked of series. A new task is one file and one line here, or an entry point `denots.tasks`."""

from typing import Any

import numpy as np
import numpy.typing as npt

from denots.data.series import SeriesSet
from denots.errors import InvalidTarget
from denots.registry import Registry
from denots.tasks.classification import Classification
from denots.tasks.forecast import Forecast
from denots.tasks.regression import Regression
from denots.tasks.row_classification import RowClassification
from denots.tasks.row_regression import RowRegression
from denots.tasks.rows import RowTask, known_rows
from denots.tasks.scores import Bin, Comparison, Held, Judge, Score, Scores
from denots.tasks.task import Part, Task

TASKS: Registry[type[Task]] = Registry(
    "task",
    {task.name: task for task in (Classification, Regression, Forecast, RowClassification, RowRegression)},
)


def suggest_task(target: npt.NDArray[Any] | None) -> tuple[type[Task], str]:
    """The first task that a target asks for, and the reason in words."""
    for task in TASKS.values():
        reason = task.suits(target)
        if reason is not None:
            return task, reason
    if target is not None and target.ndim == 2:
        raise InvalidTarget(
            "several targets are learnt as numbers, and one of these has only two different values, as classes do; fit a "
            "model for each, or say that they are numbers: task regression."
        )
    raise InvalidTarget("no task suits this target; name one of " + ", ".join(TASKS) + ".")


def suggest_row_task(series: SeriesSet) -> tuple[type[RowTask], str]:
    """The task that a row target asks for, and the reason in words."""
    labels = known_rows(series)
    whole = labels.astype(np.int64) if (labels == np.round(labels)).all() else labels
    reason = Classification.suits(whole)
    if reason is not None:
        return RowClassification, reason
    return RowRegression, str(Regression.suits(whole))


__all__ = [
    "TASKS",
    "Bin",
    "Classification",
    "Comparison",
    "Forecast",
    "Held",
    "Judge",
    "Part",
    "Regression",
    "RowClassification",
    "RowRegression",
    "RowTask",
    "Score",
    "Scores",
    "Task",
    "suggest_row_task",
    "suggest_task",
]
