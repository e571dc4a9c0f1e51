"""A model beside the truth: its answers for series whose answers are known, a sample of them where there are many."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from denots.data.reading import Reading
from denots.errors import Rejected, SolverWarning, UnusualSeries
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.evaluation import judgeable
from denots.shapes import BoolArray, FloatArray, IntArray
from denots.tasks import Part, Scores, Task
from denots.tasks.scores import Comparison


@dataclass(frozen=True, eq=False)
class Judged:
    """What is known of answers for series that a model was judged on.

    outputs: for each series of the part, as `told` compares them with the truth.
    unusual: which of them are unlike the training data.
    given: series of the table.
    rejected: those that could not be read or judged, with the reason.
    """

    model: SeriesEstimator
    part: Part
    outputs: Tensor
    told: Comparison
    unusual: BoolArray
    scores: Scores
    given: int
    rejected: tuple[Rejected, ...]

    @classmethod
    def of(cls, model: SeriesEstimator, X: Any, by: Any = None, most: int = 5_000) -> "Judged":
        """Judge at most so many series of X, which has their targets where the task needs them.

        Args:
            by: one value a series, by which groups are judged, too; or the name of a static feature.
        """
        task = model.task_
        reading = judgeable(task, model.read(X, known=True))
        series = reading.series
        if len(series) > most:
            series = series.select(np.sort(np.random.default_rng(0).choice(len(series), most, replace=False)))
        if by is not None and not isinstance(by, str):
            by = _chosen(by, reading.ids, series.ids)
        remarks = dict(zip(series.ids.tolist(), model.ranges_.remarks(series), strict=True))
        with warnings.catch_warnings():
            for told_here in (UnusualSeries, SolverWarning):
                warnings.simplefilter("ignore", told_here)
            part = task.pose(series)
            answers = model._answers(part.series, None if part.at is None else part.at.double().numpy())
            scores = model.evaluate(Reading(series, (), series.ids), by=by)
        return cls(
            model,
            part,
            answers.outputs,
            task.compare(answers.outputs, part),
            np.array([bool(remarks[name]) for name in part.series.ids.tolist()]),
            scores,
            len(reading.ids),
            reading.rejected,
        )

    @property
    def task(self) -> Task:
        return self.model.task_

    @property
    def at(self) -> FloatArray | None:
        return None if self.part.at is None else self.part.at.double().numpy()

    def ranked(self) -> IntArray:
        """Series with an answer and nothing unusual about them, from the smallest error to the largest."""
        columns = self.task.rows(self.told)
        errors = np.abs(next(column for name, column in columns.items() if name.startswith("error")).astype(np.float64))
        rows = np.flatnonzero(np.isfinite(errors) & ~self.unusual)
        return rows[np.argsort(errors[rows], kind="stable")]


def _chosen(by: Any, ids: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> Any:
    """The values of the wanted series."""
    import pandas as pd

    column = pd.Series(np.asarray(by), index=ids.tolist(), name=getattr(by, "name", "by"))
    return column.loc[wanted.tolist()]
