"""Questions at times, each asked once: parts are filled up with the last one of each series."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from denots.data.running import Moments
from denots.shapes import BoolArray, FloatArray


class Questions(NamedTuple):
    """What is asked of each series, without repetitions, and which of the given times that is."""

    moments: Moments
    fresh: BoolArray  # [n, K]

    @classmethod
    def at(cls, times: Tensor, wanted: BoolArray | None = None) -> "Questions":
        """The times [n, K] that are not those before them; or those that are wanted."""
        table = times.double().numpy()
        fresh = np.ones(table.shape, dtype=bool)
        fresh[:, 1:] = table[:, 1:] != table[:, :-1]
        chosen = fresh if wanted is None else wanted
        offsets = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))]).astype(np.int64)
        return cls(Moments(table[chosen], offsets), chosen)

    def spread(self, answers: FloatArray) -> Tensor:
        """Answers [questions, outputs] as [n, K, outputs], repeated where questions are."""
        place = np.cumsum(self.fresh.ravel()).reshape(self.fresh.shape) - 1
        return torch.from_numpy(answers)[torch.from_numpy(place)]
