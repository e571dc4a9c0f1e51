"""Predict values of a series between and beyond its observations."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from denots.data.asked import as_rectangle, asked_times
from denots.data.inputs import as_series_set
from denots.data.reading import partly
from denots.errors import InvalidOption
from denots.estimators.estimator import SeriesEstimator
from denots.systems import System
from denots.tasks import Forecast
from denots.training.progress import Progress

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

    def fit(self, X: Any, y: Any = None, *, callbacks: Sequence[Progress] = ()) -> Self:
        """Learn from complete series; no target is needed, `y` is ignored.

        Args:
            callbacks: told about every epoch, such as `denots.training.loggers.CSVLog("logs")`.
        """
        return self._fit(as_series_set(X), callbacks=callbacks)

    def predict(self, X: Any, times: Any, *, strict: bool = False) -> Any:
        """Values at the given times, from all observations in X.

        A series without an answer is named in a warning and has NaN; with `strict` it is an error.

        Args:
            times: one array of times for all series, which gives an array [n, K, C]; or one array
                per series, which gives a list of arrays [K_i, C]. Times are on the clock of the
                series. Before its first observation there is no answer.
        """
        reading = self.read(X)
        at, lengths = asked_times(times, len(reading.ids))
        values = self._answers(reading, at, strict=strict).values
        return values if lengths is None else [values[row, :length] for row, length in enumerate(lengths)]

    def predict_interval(
        self, X: Any, times: Any, coverage: float = 0.9, *, groups: str | None = None, strict: bool = False
    ) -> Any:
        """Intervals that hold the truth for such a share of questions, each channel by itself; as in `predict`, with a
        last axis for the lower and the upper end.

        Questions between the observations and up to four spans beyond them are calibrated apart. What lies further ahead
        than anything held out has an infinite interval. `denots.estimators.conformal` says what is guaranteed.

        Args:
            groups: a static feature; the coverage then holds in each group of it (by quarters of a number with many values).
        """
        reading = self.read(X)
        at, lengths = asked_times(times, len(reading.ids))
        found = self._region(reading, self._answers(reading, at, strict=strict), coverage, groups, at)
        return found if lengths is None else [found[row, :length] for row, length in enumerate(lengths)]

    def predict_table(
        self,
        X: Any,
        times: Any = None,
        *,
        questions: Any = None,
        strict: bool = False,
        coverage: float | None = None,
        groups: str | None = None,
    ) -> "pd.DataFrame":
        """Answers as a table: id, time, one column per channel, and the status of the series.

        Args:
            times: one array of times for all series.
            questions: instead, a table with the id and time columns of the fitted one, a row per question;
                X is then a table, too, and dates are counted as in it.
            coverage, groups: as in `predict_interval`.
        """
        from denots.data.questions import read_questions, same_questions

        reading, schema = self.read(X), self.table_schema()
        if (times is None) == (questions is None):
            raise InvalidOption("a forecast needs times: give either times or a table of questions.")
        if questions is None:
            told = same_questions(np.asarray(times, dtype=np.float64), schema, reading.ids)
        else:
            told = read_questions(questions, schema, X, reading.ids)
        at, owners, slots = as_rectangle(told, len(reading.ids))
        answers = self._answers(reading, at, strict=strict)
        values = answers.values[owners, slots]
        columns = self.task_.columns(values)
        if coverage is not None:
            region = self._region(reading, answers, coverage, groups, at)[owners, slots]
            columns |= self.task_.region_columns(np.where(np.isnan(values)[..., None], np.nan, region))
        return told.asked.assign(**columns, status=answers.status_of(at[owners, slots], owners))

    def score(self, X: Any, y: Any = None) -> float:
        """R2 over all rows hidden as in training."""
        reading = self.read(X)
        part = self.task_.pose(reading.series)
        outputs = self._answers(partly(part.series, reading), None if part.at is None else part.at.numpy()).outputs
        return float(self.task_.metric(outputs, part.target))
