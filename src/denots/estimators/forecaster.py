"""Predict values of a series between and beyond its observations."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from denots.data.reading import Reading
from denots.errors import InvalidOption, InvalidSeries
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.inputs import as_series_set
from denots.shapes import FloatArray
from denots.systems import System
from denots.tasks import Forecast

if TYPE_CHECKING:
    import pandas as pd


class SeriesForecaster(SeriesEstimator):
    """Answer "what is the value of each channel at time t?" for any t, by any system; arguments as in `SeriesEstimator`.

    The default system learns how far the truth lies from the best simple forecast of each channel, from
    series that are cut at many times. All systems are judged alike: the second half of each series and
    every second row of its first half are hidden and have to be told.
    """

    task_type = Forecast
    task_: Forecast

    def __init__(
        self,
        system: str | System = "forecast",
        *,
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from complete series; no target is needed, `y` is ignored."""
        return self._fit(as_series_set(X))

    def predict(self, X: Any, times: Any, *, strict: bool = False) -> Any:
        """Values at the given times, from all observations in X.

        A series without an answer is named in a warning and has NaN; with `strict` it is an error.

        Args:
            times: one array of times for all series, which gives an array [n, K, C]; or one array
                per series, which gives a list of arrays [K_i, C]. Times are on the clock of the
                series. Before its first observation there is no answer.
        """
        reading = self._read(X)
        if isinstance(times, Sequence) and len(times) and np.ndim(times[0]) == 1:
            return self._predict_each(reading, [np.asarray(t, dtype=np.float64) for t in times], strict)
        shared = np.asarray(times, dtype=np.float64)
        n = len(reading.ids)
        if shared.ndim not in (1, 2) or (shared.ndim == 2 and len(shared) != n):
            raise InvalidSeries(
                f"times have shape {shared.shape}; expected (K,) for all series, ({n}, K), or a list of arrays."
            )
        return self._answers(reading, np.broadcast_to(shared, (n, shared.shape[-1])), strict=strict).values

    def predict_table(
        self, X: Any, times: Any = None, *, questions: Any = None, strict: bool = False
    ) -> "pd.DataFrame":
        """Answers as a table: id, time, one column per channel, and the status of the series.

        Args:
            times: one array of times for all series.
            questions: instead, a table with the id and time columns of the fitted one, a row per question;
                X is then a table, too, and dates are counted as in it.
        """
        from denots.data.questions import read_questions, same_questions

        reading, schema = self._read(X), self.table_schema()
        if (times is None) == (questions is None):
            raise InvalidOption("a forecast needs times: give either times or a table of questions.")
        if questions is None:
            told = same_questions(np.asarray(times, dtype=np.float64), schema, reading.ids)
        else:
            told = read_questions(questions, schema, X, reading.ids)
        at = np.full((len(reading.ids), max(max(map(len, told.times)), 1)), np.nan)
        for owner, own in zip(told.series, told.times, strict=True):
            at[owner, : len(own)] = own
        answers = self._answers(reading, at, strict=strict)
        values = np.full((len(told.asked), len(self.channels_)), np.nan)
        status = np.full(len(told.asked), "", dtype=object)
        for owner, own, rows in zip(told.series, told.times, told.rows, strict=True):
            values[rows], status[rows] = answers.values[owner, : len(own)], answers.status[owner]
        return told.asked.assign(**self.task_.columns(values), status=status)

    def score(self, X: Any, y: Any = None) -> float:
        """R2 over all rows hidden as in training."""
        part = self.task_.pose(self._read(X).series)
        outputs = self._answers(part.series, None if part.at is None else part.at.numpy()).outputs
        return float(self.task_.metric(outputs, part.target))

    def _predict_each(self, reading: Reading, times: list[FloatArray], strict: bool) -> list[np.ndarray]:
        n = len(reading.ids)
        if len(times) != n:
            raise InvalidSeries(f"{len(times)} arrays of query times for {n} series; give one each.")
        longest = max(max(map(len, times)), 1)
        table = np.full((n, longest), np.nan)  # NaN is no question
        for row, own in enumerate(times):
            if np.isnan(own).any():
                raise InvalidSeries(f"query time {int(np.isnan(own).argmax())} of series {row} is NaN; ask at numbers.")
            table[row, : len(own)] = own
        answers = self._answers(reading, table, strict=strict).values
        return [answers[row, : len(own)] for row, own in enumerate(times)]
