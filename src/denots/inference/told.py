"""What a model says of series, as arrays."""

from typing import NamedTuple, Protocol

import numpy as np

from denots.data.series import SeriesSet
from denots.shapes import BoolArray, FloatArray, IntArray


class Told(NamedTuple):
    """Raw outputs of a task for each series [n, outputs], or at each query time [n, K, outputs]; NaN where not `ok`.

    evaluations: field calls where an ODE was solved.
    """

    outputs: FloatArray
    ok: BoolArray
    evaluations: IntArray | None = None


class Model(Protocol):
    """Anything that answers for series; the same in any company, to the last bit."""

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told: ...


def joined(parts: list[Told]) -> Told:
    """What was told of some series after the other."""
    outputs, ok, evaluations = zip(*parts, strict=True)
    counted = [each for each in evaluations if each is not None]
    return Told(np.concatenate(outputs), np.concatenate(ok), np.concatenate(counted) if counted else None)
