"""What can be asked of series. A new task is one file and one line here, or an entry point `denots.tasks`."""

from typing import Any

import numpy.typing as npt

from denots.errors import InvalidTarget
from denots.registry import Registry
from denots.tasks.classification import Classification
from denots.tasks.forecast import Forecast
from denots.tasks.regression import Regression
from denots.tasks.scores import Bin, Comparison, Held, Judge, Score, Scores
from denots.tasks.task import Part, Task

TASKS: Registry[type[Task]] = Registry(
    "task", {"classification": Classification, "regression": Regression, "forecast": Forecast}
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
    "Score",
    "Scores",
    "Task",
    "suggest_task",
]
