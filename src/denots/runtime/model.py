"""A model that predicts, as it was loaded."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from denots.data.asked import asked_times
from denots.data.inputs import check_row_length, match_columns, scan_series
from denots.data.ranges import Ranges
from denots.data.reading import Reading, own_rows
from denots.data.schema import TableSchema
from denots.errors import InvalidOption
from denots.inference.answering import Outcome, ask, tell_of_failures, tell_of_unusual
from denots.inference.answers import ClassAnswers, NumberAnswers, RowAnswers, TaskAnswers
from denots.inference.carried import Carried
from denots.inference.state import State
from denots.inference.streamed import Streamed
from denots.inference.told import Model
from denots.registry import listed
from denots.shapes import FloatArray
from denots.stream.stream import Rules, Stream


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RuntimeModel:
    """The answers of a saved model.

    task: what it answers. channels, static_names: what it reads, in that order.
    schema: how tables are read, which takes pandas.
    expected: how many features a row of one array has, where the model was fitted on such rows.
    state: what the system is made of, which tells it from others.
    """

    task: TaskAnswers
    fitted: Model
    channels: tuple[str, ...]
    static_names: tuple[str, ...]
    ranges: Ranges
    schema: TableSchema
    expected: int
    state: State

    def __repr__(self) -> str:
        return f"RuntimeModel({self.task}, channels {listed(self.channels)})"

    @property
    def classes(self) -> np.ndarray:
        """The classes in ascending order; an error where numbers are told."""
        return self._classes.classes

    def predict(self, X: Any, at: Any = None, *, strict: bool = False) -> Any:
        """The most probable class or the number for each series, as `predict` of the estimator that was saved.

        A series without an answer is named in a warning and has None or NaN; with `strict` it is an error.

        Args:
            X: a SeriesSet, an array (n, channels, time), or a list with a pair of times [L] and values [L, C] a series.
            at: of a model of rows, moments on the clock of the series, one array for all or one for each; by default all of
                its rows. There is then one array a series.
        """
        answers = self._answers(X, at, strict)
        if isinstance(self.task, RowAnswers):
            return [self.task.columns(own)["prediction"] for own in answers]
        if isinstance(self.task, ClassAnswers):
            return self.task.best(answers)
        return answers[:, 0] if isinstance(self.task, NumberAnswers) and self.task.flat else answers

    def predict_proba(self, X: Any, at: Any = None, *, strict: bool = False) -> Any:
        """The probability of each class (columns as in `classes`); of a model of rows, one array a series."""
        self.classes  # noqa: B018
        return self._answers(X, at, strict)

    def stream(self, *, lag: float = 0.0, rows: int = 10_000, expire: float = math.inf) -> Stream:
        """A stream that takes rows as they come and answers at any time, with the bits of `predict`; of a model of rows.

        Args:
            lag: how late a row may be, compared with the latest one of its series.
            rows: kept of a series, the latest ones.
            expire: a series is forgotten so long after its latest row.
        """
        if not isinstance(self.task, RowAnswers):
            raise InvalidOption("the model answers once a series and cannot be asked row by row; use predict.")
        model = Streamed(self.fitted, self.task, self.state, Carried.of(self.fitted))
        return Stream(model, self.channels, self.static_names, Rules(lag, rows, expire), self.schema)

    @property
    def _classes(self) -> ClassAnswers:
        of = self.task.of if isinstance(self.task, RowAnswers) else self.task
        if not isinstance(of, ClassAnswers):
            raise InvalidOption("the model tells numbers and has no classes; use predict.")
        return of

    def _answers(self, X: Any, at: Any, strict: bool) -> Any:
        reading = self._read(X)
        if not isinstance(self.task, RowAnswers):
            if at is not None:
                raise InvalidOption("the model answers once a series; leave the times out.")
            return self.task.answer(self._ask(reading, None, strict).outputs)
        if at is None:
            table, lengths = own_rows(reading)
        else:
            table, given = asked_times(at, len(reading.ids))
            lengths = [table.shape[1]] * len(table) if given is None else given
        values = self.task.answer(self._ask(reading, table, strict).outputs)
        return [values[row, :length] for row, length in enumerate(lengths)]

    def _ask(self, reading: Reading, at: FloatArray | None, strict: bool) -> Outcome:
        found = ask(self.fitted, self.ranges, reading, at)
        tell_of_failures(found.ids, found.status, found.failed, strict)
        tell_of_unusual(found.ids, found.status)
        return found

    def _read(self, X: Any) -> Reading:
        check_row_length(X, self.expected, len(self.channels), "the model")
        reading = X if isinstance(X, Reading) else scan_series(X, self.schema, len(self.channels))
        series = match_columns(reading.series, self.channels, self.static_names)
        own = replace(reading, series=series.without_row_target())
        return own.in_double() if isinstance(self.task, RowAnswers) else own
