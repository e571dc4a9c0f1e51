"""Any model, asked about series that are cut at the moment in question: it cannot look ahead, for nothing is there."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from denots.data.cut import cut
from denots.data.running import Moments, rows_until
from denots.data.series import SeriesSet
from denots.inference.questions import Questions
from denots.inference.told import Model, Told
from denots.shapes import FloatArray

AT_ONCE = 500_000  # rows of cut series that are kept together


@dataclass(frozen=True, slots=True, eq=False)
class CutAnswers:
    """A model of cut series; `base` is said of a moment before which nothing was observed."""

    model: Model
    base: FloatArray

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told:
        asked = Questions.at(series.ends[:, None] if at is None else at)
        told = np.tile(self.base, (len(asked.moments.times), 1))
        solved = np.ones(len(told), dtype=bool)
        for some, moments, lot in _lots(series, asked.moments):
            known, seen = cut(some, moments)
            if known is not None:
                found = self.model.outputs(known)
                told[lot][seen], solved[lot][seen] = found.outputs.astype(np.float64), found.ok
        told[~solved] = np.nan
        outputs = asked.spread(told)
        ok = np.asarray(~np.isnan(outputs).any(axis=(1, 2)))
        return Told(outputs[:, 0] if at is None else outputs, ok)


def _lots(series: SeriesSet, moments: Moments) -> Iterator[tuple[SeriesSet, Moments, slice]]:
    """Moments whose cut series are kept together, with the series that they belong to."""
    lot = np.cumsum(rows_until(series, moments)) // AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(lot)) + 1).tolist(), len(lot)]
    owner = np.repeat(np.arange(len(series)), np.diff(moments.offsets))
    for a, b in pairwise(edges):
        own = np.arange(owner[a], owner[b - 1] + 1)
        offsets = np.clip(moments.offsets[own[0] : own[-1] + 2], a, b) - a
        yield series.select(own), Moments(moments.times[a:b], offsets), slice(a, b)
