"""Statistics of each series, by rank among those of training."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from denots import kernels
from denots.data.series import SeriesSet
from denots.data.summary import summarise
from denots.shapes import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """What `features.NormalScores` learnt, and the columns that follow from it."""

    edges: FloatArray  # [levels, columns], one column after the other in memory
    holes: BoolArray  # [columns]

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "Ranks":
        return cls(np.asfortranarray(state["edges"], dtype=np.float64), state["holes"])

    def transform(self, X: FloatArray) -> FloatArray:
        return self._scores(X, np.flatnonzero(self.holes))

    def keep_holes(self, X: FloatArray) -> FloatArray:
        """Scores of the columns alone; what is missing stays so."""
        scores = self._scores(X, np.empty(0, np.int64))
        scores[np.isnan(X)] = np.nan
        return scores

    def _scores(self, X: FloatArray, holes: IntArray) -> FloatArray:
        outer = 0.5 / len(self.edges)
        levels = np.linspace(outer, 1 - outer, len(self.edges))
        return kernels.normal_scores(np.asarray(X, dtype=np.float64), self.edges.T, levels, holes)


@dataclass(frozen=True, slots=True, eq=False)
class RankedSummary:
    ranks: Ranks

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "RankedSummary":
        return cls(Ranks.restore(state))

    def transform(self, X: SeriesSet) -> FloatArray:
        return self.ranks.transform(summarise(X))
