"""Predict values of a series between and beyond its observations."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch

from denots.data.hide import hide_for_forecasting
from denots.data.series import SeriesSet
from denots.errors import InvalidSeries
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.inputs import as_series_set


class DeNOTSForecaster(SeriesEstimator):
    """Answer "what is the value of each channel at time t?" for any t; options as in `SeriesEstimator`.

    In training the second half of each series and every second row of its first half are hidden
    and have to be told. Beyond the last observation the signal is held and the state evolves on.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from complete series; no target is needed, `y` is ignored."""
        hidden = hide_for_forecasting(as_series_set(X))
        if np.isnan(hidden.answers).all():
            raise InvalidSeries(
                "nothing is left to ask for when half of each series is hidden; give series of at least two rows."
            )
        return self._train(
            hidden.visible,
            torch.from_numpy(hidden.target),
            task="forecast",
            outputs=len(hidden.visible.channels),
            at=torch.from_numpy(hidden.at),
        )

    def predict(self, X: Any, times: Any) -> Any:
        """Values at the given times, from all observations in X.

        Args:
            times: one array of times for all series, which gives an array [n, K, C]; or one array
                per series, which gives a list of arrays [K_i, C]. Times are on the clock of the
                series and must not lie before its first observation.
        """
        series = self._read(X)
        if isinstance(times, Sequence) and len(times) and np.ndim(times[0]) == 1:
            return self._predict_each(series, [np.asarray(t, dtype=np.float64) for t in times])
        shared = np.asarray(times, dtype=np.float64)
        if shared.ndim not in (1, 2) or (shared.ndim == 2 and len(shared) != len(series)):
            raise InvalidSeries(
                f"times have shape {shared.shape}; expected (K,) for all series, ({len(series)}, K), or a list of arrays."
            )
        return self._answers(series, np.broadcast_to(shared, (len(series), shared.shape[-1])))

    def score(self, X: Any, y: Any = None) -> float:
        """R2 over all rows hidden as in training."""
        hidden = hide_for_forecasting(self._read(X))
        outputs = self._run(hidden.visible, torch.from_numpy(hidden.at)).outputs
        return float(self.model_.readout.metric(outputs, torch.from_numpy(hidden.target)))

    def _predict_each(self, series: SeriesSet, times: list[np.ndarray]) -> list[np.ndarray]:
        if len(times) != len(series):
            raise InvalidSeries(f"{len(times)} arrays of query times for {len(series)} series; give one each.")
        longest = max(max(map(len, times)), 1)
        last = series.ends
        table = np.stack([np.concatenate([t, np.full(longest - len(t), last[i])]) for i, t in enumerate(times)])
        answers = self._answers(series, table)
        return [answers[i, : len(t)] for i, t in enumerate(times)]

    def _answers(self, series: SeriesSet, at: np.ndarray) -> np.ndarray:
        first = series.times[series.offsets[:-1]]
        bad = np.argwhere(~(at >= first[:, None]) | np.isinf(at))
        if len(bad):
            i, k = bad[0]
            raise InvalidSeries(
                f"series {series.id(i)!r}: query time {at[i, k]} must be finite and not before its first observation at {first[i]}."
            )
        outputs = self._run(series, torch.from_numpy(np.array(at))).outputs
        return self.model_.readout.answer(outputs).numpy()

    def _backbone_options(self, depth: float) -> dict[str, Any]:
        return {**super()._backbone_options(depth), "time_differences": False}
