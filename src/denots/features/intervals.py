"""Quantiles of a series over halves, quarters and smaller parts of it, for trees."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from denots.data.series import SeriesSet
from denots.features.drive import Drive
from denots.shapes import FloatArray

FEWEST, MOST = 16, 1024  # looks at a series
HALVINGS = 5
POINTS = 4  # for each quantile


class Intervals(TransformerMixin, BaseEstimator):
    """Values, steps, steps of steps and strengths of waves, read at even times and sorted within parts of the series.

    Parts are the series, its halves, quarters and so on, and those halfway between two of them. A part of m looks
    gives about m / 4 quantiles; every other one is told as its distance from the mean of the part.
    """

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: SeriesSet, y: Any = None) -> Self:
        self.drive_ = Drive.fit(X)
        self.looks_ = int(np.clip(np.quantile(X.lengths, 0.9), FEWEST, MOST))
        return self

    def transform(self, X: SeriesSet) -> FloatArray:
        """One row a series; it depends on that series alone."""
        check_is_fitted(self)
        views = _views(self._look(X))
        return np.concatenate([part for view in views for part in _quantiles(view)], axis=1, dtype=np.float32)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        check_is_fitted(self)
        still = np.zeros((1, len(self.drive_.scale.centre), self.looks_), np.float32)
        size = sum(part.shape[1] for view in _views(still) for part in _quantiles(view))
        return np.array([f"interval{k}" for k in range(size)], dtype=object)

    def state(self) -> dict[str, np.ndarray]:
        """Everything that `fit` learnt, as arrays."""
        check_is_fitted(self)
        return {**self.drive_.state(), "looks": np.array(self.looks_)}

    def restore(self, state: Mapping[str, np.ndarray]) -> Self:
        self.drive_, self.looks_ = Drive.restore(state), int(state["looks"])
        if not FEWEST <= self.looks_ <= MOST:
            raise ValueError(f"a series is looked at {FEWEST} to {MOST} times, not {self.looks_}")
        return self

    def _look(self, series: SeriesSet) -> FloatArray:
        """Values at even times from the first knot to the last [n, C, looks]."""
        path = self.drive_.path(series, "linear")
        first, last = path.times[path.begin], path.times[path.end - 1]
        shares = torch.linspace(0, 1, self.looks_, dtype=torch.float64)
        return torch.stack([path.value(first + (last - first) * share) for share in shares], dim=2).numpy()


def _views(values: FloatArray) -> Iterator[FloatArray]:
    yield values
    yield np.diff(values, axis=2)
    yield np.diff(values, 2, axis=2)
    yield np.abs(np.fft.rfft(values, axis=2)).astype(np.float32)


def _quantiles(view: FloatArray) -> Iterator[FloatArray]:
    n, _, looks = view.shape
    for first, last in _parts(looks):
        part = view[:, :, first:last]
        size = last - first
        place = np.linspace(0, size - 1, 1 + (size - 1) // POINTS) if size > POINTS else np.array([(size - 1) / 2])
        low = place.astype(np.int64)
        high = np.minimum(low + 1, size - 1)
        ordered = np.sort(part, axis=2)
        found = ordered[:, :, low] + (ordered[:, :, high] - ordered[:, :, low]) * (place - low).astype(np.float32)
        if len(place) > 1:
            found[:, :, 1::2] -= part.mean(axis=2, keepdims=True)
        yield found.reshape(n, -1)


def _parts(looks: int) -> Iterator[tuple[int, int]]:
    for halving in range(HALVINGS + 1):
        count = 2**halving
        if looks < count:
            return
        edges = np.linspace(0, looks, count + 1).astype(np.int64)
        yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        shift = (edges[1] - edges[0]) // 2
        if halving and shift:
            yield from zip((edges[:-2] + shift).tolist(), (edges[1:-1] + shift).tolist(), strict=True)
