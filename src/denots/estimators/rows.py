"""Tell something of every row of a series, or of any moment, from what was known then."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from denots.data.asked import as_rectangle, asked_times
from denots.data.inputs import as_series_set, is_table
from denots.data.reading import Reading, own_rows
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.per_series import read_weights
from denots.inference.streamed import Streamed
from denots.shapes import FloatArray
from denots.stream import Stream
from denots.stream.stream import Rules
from denots.systems import System
from denots.systems.system import Plain, PlainTask
from denots.tasks import TASKS, Part, RowTask, Task, suggest_row_task
from denots.training.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

AUTO = "auto"


class RowPredictor(SeriesEstimator):
    """Learn the row target of a set, and answer at any moment from the rows up to it alone.

    Only systems that cannot look ahead are taken: what they say of a moment has the same bits whatever comes later.
    Other arguments as in `SeriesEstimator`.

    Args:
        task: "row-classification", "row-regression", or "auto" by what the labels are.
        class_weight: of classes; "balanced" weighs every class alike, however rare it is.
    """

    task_: RowTask

    def __init__(
        self,
        system: str | System = "running-auto",
        *,
        task: str | type[RowTask] = AUTO,
        options: Mapping[str, Any] | None = None,
        validation_fraction: float = 0.15,
        class_weight: str | Mapping[Any, float] | None = None,
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
        self.class_weight = class_weight

    @property
    def task_type(self) -> type[RowTask]:  # type: ignore[override]
        if self.task == AUTO:
            return getattr(self, "task_type_", RowTask)
        found = TASKS.resolve(self.task)
        if not issubclass(found, RowTask):
            raise InvalidOption(f"{found.name} tells something of whole series; use another estimator, or a row task.")
        return found

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
        """Learn from a SeriesSet with a row target; `y` is ignored.

        Args:
            sample_weight: how much each series counts, or each row, in the order of `X.times`.
            groups: one for each series, as in `SeriesClassifier.fit`.
            validation: a SeriesSet with a row target to choose by, instead of a share of X; or a pair of it and its weights.
            callbacks: told about every epoch, such as `denots.training.loggers.CSVLog("logs")`.
        """
        series = as_series_set(X)
        self.task_type_ = suggest_row_task(series)[0] if self.task == AUTO else self.task_type
        given = {"sample_weight": sample_weight, "groups": groups, "validation": validation, "callbacks": callbacks}
        return self._fit(series, class_weight=self.class_weight, **given)

    def read(self, X: Any, *, known: bool = False) -> Reading:
        """As in `SeriesEstimator`, in float64."""
        return super().read(X, known=known).in_double()

    def _to_learn(self, X: Any, y: Any) -> Any:
        return as_series_set(X)

    def _weights(self, given: Any, series: SeriesSet) -> FloatArray | None:
        """A weight for each series [n], or for each of its rows [n, L]."""
        if given is None or len(given) != len(series.times):
            return super()._weights(given, series)
        each, real = read_weights(given, len(series.times)), series.padded().mask
        if each is None:
            return None
        table = np.zeros(real.shape)
        table[real] = each
        return table

    def _validation(self, task: Task, validation: Any, train: SeriesSet) -> Part:
        X, given = validation if isinstance(validation, tuple) else (validation, None)
        series = self._to_validate(X, train)
        weight = self._weights(given, series)
        return replace(task.pose(series), weight=None if weight is None else torch.from_numpy(weight))

    def predict(self, X: Any, at: Any = None, *, strict: bool = False) -> list[np.ndarray]:
        """The class or the number at each moment, one array a series; empty or None where there is no answer.

        Args:
            at: moments on the clock of the series, one array for all or one for each; by default all of its rows.
        """
        return [self.task_.columns(own)["prediction"] for own in self._told(X, at, strict)]

    def predict_proba(self, X: Any, at: Any = None, *, strict: bool = False) -> list[np.ndarray]:
        """The probability of each class at each moment [K, classes], one array a series."""
        if self.task_.learns != "classes":
            raise InvalidOption(f"{self.task_.name} has no classes; use predict.")
        return self._told(X, at, strict)

    def predict_table(
        self,
        X: Any,
        times: Any = None,
        *,
        questions: Any = None,
        every: float | None = None,
        strict: bool = False,
        coverage: float | None = None,
        groups: str | None = None,
    ) -> "pd.DataFrame":
        """Answers as a table: id, time, answer and status; a line for each row unless other moments are named.

        Args:
            times: the same moments for all series.
            questions: a table with the id and time columns of the fitted one, a line per question.
            every: moments so far apart, from the first row of each series to its last one. Where X is a table with
                dates, these and those of rows are dates, too.
        """
        from denots.data.questions import read_questions, row_questions, same_questions

        if coverage is not None or groups is not None:
            raise InvalidOption(f"{self.task_.name} has no sets or intervals; leave the coverage out.")
        if sum(given is not None for given in (times, questions, every)) > 1:
            raise InvalidOption("moments are named once: give times, a table of questions, or a step.")
        if every is not None and not every > 0:
            raise InvalidOption(f"moments lie a positive time apart; got {every}.")
        reading, schema = self.read(X), self.table_schema()
        if times is not None:
            told = same_questions(np.asarray(times, dtype=np.float64), schema, reading.ids)
        elif questions is not None:
            told = read_questions(questions, schema, X, reading.ids)
        else:
            told = row_questions(reading.series, schema, reading.ids, every, X if is_table(X) else None)
        at, owners, slots = as_rectangle(told, len(reading.ids))
        answers = self._answers(reading, at, strict=strict)
        columns = self.task_.columns(answers.values[owners, slots])
        return told.asked.assign(**columns, status=answers.status_of(at[owners, slots], owners))

    def stream(self, *, lag: float = 0.0, rows: int = 10_000, expire: float = math.inf) -> Stream:
        """A stream that takes rows as they come and answers at any time, with the bits of `predict`.

        Args:
            lag: how late a row may be, compared with the latest one of its series.
            rows: kept of a series, the latest ones.
            expire: a series is forgotten so long after its latest row.
        """
        check_is_fitted(self)
        fitted = self.fitted_
        model = Streamed(Plain(fitted), PlainTask(fitted.task), fitted.state(), fitted.carried)
        return Stream(model, self.channels_, self.static_names_, Rules(lag, rows, expire), self.table_schema())

    def score(self, X: Any, y: Any = None) -> float:
        """The metric of the task over all rows whose answer is known."""
        part = self.task_.pose(self.read(X).series)
        outputs = self._answers(part.series, None if part.at is None else part.at.numpy()).outputs
        return float(self.task_.metric(outputs, part.target))

    def _told(self, X: Any, at: Any, strict: bool) -> list[FloatArray]:
        reading = self.read(X)
        if at is None:
            table, lengths = own_rows(reading)
        else:
            table, given = asked_times(at, len(reading.ids))
            lengths = [table.shape[1]] * len(table) if given is None else given
        values = self._answers(reading, table, strict=strict).values
        return [values[row, :length] for row, length in enumerate(lengths)]
