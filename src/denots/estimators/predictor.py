"""Answer any task, one of your own too."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from denots.data.inputs import as_series_set
from denots.estimators.estimator import SeriesEstimator
from denots.systems import System
from denots.tasks import TASKS, Task
from denots.training.progress import Progress


class SeriesPredictor(SeriesEstimator):
    """Answer a task for each series, by any system; arguments as in `SeriesEstimator`.

    Args:
        task: a name in `denots.tasks.TASKS`, or a Task of your own.
    """

    def __init__(
        self,
        system: str | System = "denots",
        *,
        task: str | type[Task] = "classification",
        options: Mapping[str, Any] | None = None,
        validation_fraction: float = 0.15,
        random_state: Any = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            system,
            options=options,
            validation_fraction=validation_fraction,
            random_state=random_state,
            checkpoint_dir=checkpoint_dir,
            verbose=verbose,
        )
        self.task = task

    @property
    def task_type(self) -> type[Task]:  # type: ignore[override]
        return TASKS.resolve(self.task)

    def fit(self, X: Any, y: Any = None, *, callbacks: Sequence[Progress] = ()) -> Self:
        """Learn from series and their target, if the task has one; callbacks are told about every epoch."""
        series = self._to_learn(X, y) if self.task_type.needs_target else as_series_set(X)
        return self._fit(series, callbacks=callbacks)

    def predict(self, X: Any, *, strict: bool = False) -> np.ndarray:
        """What the task answers for each series; NaN where there is no answer."""
        return self._answers(X, strict=strict).values
