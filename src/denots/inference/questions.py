"""Questions at times, each asked once: parts are filled up with the last one of each series."""

from typing import NamedTuple

import numpy as np

from denots.data.running import Moments
from denots.shapes import BoolArray, FloatArray


class Questions(NamedTuple):
    """What is asked of each series, without repetitions, and which of the given times that is."""

    moments: Moments
    fresh: BoolArray  # [n, K]

    @classmethod
    def at(cls, times: FloatArray, wanted: BoolArray | None = None) -> "Questions":
        """The times [n, K] that are not those before them; or those that are wanted."""
        fresh = np.ones(times.shape, dtype=bool)
        fresh[:, 1:] = times[:, 1:] != times[:, :-1]
        chosen = fresh if wanted is None else wanted
        offsets = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))]).astype(np.int64)
        return cls(Moments(times[chosen], offsets), chosen)

    def spread(self, answers: FloatArray) -> FloatArray:
        """Answers [questions, outputs] as [n, K, outputs], repeated where questions are."""
        place = np.cumsum(self.fresh.ravel()).reshape(self.fresh.shape) - 1
        return answers[place]
