"""Features of each series and a linear map on top."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from denots import kernels
from denots.data.blocks import in_blocks
from denots.data.series import SeriesSet
from denots.inference.told import Told, joined
from denots.shapes import FloatArray

TOGETHER = 512  # series whose features are in memory at once


class Features(Protocol):
    """Rows of numbers, one a series, that depend on it alone."""

    def transform(self, X: SeriesSet) -> FloatArray: ...


class Scores(Protocol):
    """Columns by rank."""

    def transform(self, X: FloatArray) -> FloatArray: ...


@dataclass(frozen=True, slots=True, eq=False)
class LinearAnswers:
    """Features, static features by rank, a linear map of both, and what brings it to the scale of the task's outputs."""

    features: Features
    static: Scores | None
    weight: FloatArray
    bias: FloatArray
    factor: float
    shift: FloatArray

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told:
        return joined([self._told(block) for block in in_blocks(series, TOGETHER)])

    @np.errstate(over="ignore", invalid="ignore")
    def _told(self, series: SeriesSet) -> Told:
        found, first = self.bias, 0
        for table in tables_of(self.features, self.static, series):
            last = first + table.shape[1]
            own = np.ascontiguousarray(table, dtype=self.weight.dtype)
            found, first = kernels.linear_rows(own, self.weight[:, first:last], found), last
        told = found.astype(np.float64) * self.factor + self.shift
        return Told(told, np.asarray(np.isfinite(told).all(axis=1)))


def table_of(features: Features, static: Scores | None, series: SeriesSet) -> FloatArray:
    """Features of each series, and its static ones by rank."""
    first, *others = tables_of(features, static, series)
    return np.concatenate([first, *others], axis=1) if others else first


def tables_of(features: Features, static: Scores | None, series: SeriesSet) -> list[FloatArray]:
    """The parts of `table_of`, which nobody has to copy who goes through one after the other."""
    found = [np.asarray(features.transform(series))]
    return found if static is None or series.static is None else [*found, static.transform(series.static)]
