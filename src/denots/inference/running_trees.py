"""Boosted trees on the history of a series up to each moment."""

from dataclasses import dataclass

import numpy as np

from denots.data.running import Moments, running_summary
from denots.data.series import SeriesSet
from denots.inference.boosted_trees import BoostedTrees
from denots.inference.questions import Questions
from denots.inference.state import State
from denots.inference.told import Told
from denots.shapes import FloatArray, IntArray

WINDOWS = (6, 24)  # in median times from row to row
AT_ONCE = 100_000  # moments whose features are kept together


@dataclass(frozen=True, slots=True, eq=False)
class RunningTreeAnswers:
    """A forest, and how far back the recent past reaches."""

    forest: BoostedTrees
    windows: tuple[float, ...]

    @classmethod
    def restore(cls, state: State) -> "RunningTreeAnswers":
        text, windows = state.values["forest"], tuple(float(window) for window in state.values["windows"])
        if not isinstance(text, str) or len(windows) != len(WINDOWS) or not all(window > 0 for window in windows):
            raise ValueError("running trees need a forest as text and their windows")
        return cls(BoostedTrees.read(text), windows)

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told:
        asked = Questions.at(series.ends[:, None] if at is None else at)
        parts = [self._sums(series.select(some), asked.moments.select(some)) for some in _lots(asked.moments)]
        told = asked.spread(np.concatenate(parts))
        return Told(told[:, 0] if at is None else told, np.ones(len(series), dtype=bool))

    def _sums(self, series: SeriesSet, moments: Moments) -> FloatArray:
        return self.forest.sums(running_summary(series, moments, self.windows))


def _lots(moments: Moments) -> list[IntArray]:
    """Series whose moments are told of together."""
    lot = moments.offsets[:-1] // AT_ONCE
    return np.split(np.arange(len(lot)), np.flatnonzero(np.diff(lot)) + 1)
