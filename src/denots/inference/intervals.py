"""Quantiles of a series over halves, quarters and smaller parts of it, for trees."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from denots.data.series import SeriesSet
from denots.inference.drive import Drive
from denots.shapes import FloatArray

FEWEST, MOST = 16, 1024  # looks at a series
MOST_IN_ALL = 2**26  # looks at all channels of all training series, for each of which there are some eleven features
HALVINGS = 5
POINTS = 4  # for each quantile


@dataclass(frozen=True, slots=True, eq=False)
class IntervalQuantiles:
    """What `features.Intervals` learnt, and the features that follow from it."""

    drive: Drive
    looks: int

    def transform(self, X: SeriesSet) -> FloatArray:
        """One row a series; it depends on that series alone."""
        return self.quantiles(self._look(X))

    def quantiles(self, values: FloatArray) -> FloatArray:
        """Of values at even times [n, C, looks]."""
        return np.concatenate([part for view in _views(values) for part in _quantiles(view)], axis=1, dtype=np.float32)

    def state(self) -> dict[str, np.ndarray]:
        return {**self.drive.state(), "looks": np.array(self.looks)}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "IntervalQuantiles":
        looks = int(state["looks"])
        if not FEWEST <= looks <= MOST:
            raise ValueError(f"a series is looked at {FEWEST} to {MOST} times, not {looks}")
        return cls(Drive.restore(state), looks)

    def _look(self, series: SeriesSet) -> FloatArray:
        """Values at even times from the first knot to the last [n, C, looks]."""
        curve = self.drive.curve(series, "linear")
        first, last = curve.times[curve.begin][:, None], curve.times[curve.end - 1][:, None]
        values = curve.values_at(first + (last - first) * np.linspace(0, 1, self.looks))
        return np.ascontiguousarray(values.transpose(0, 2, 1))


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
