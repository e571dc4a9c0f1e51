"""Tell a number for every row of a series, such as how soon something will happen."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from denots.shapes import FloatArray
from denots.tasks.regression import Regression
from denots.tasks.rows import RowTask
from denots.tasks.scale import Scale


@dataclass(frozen=True)
class RowRegression(RowTask):
    """Mean squared error and R2 over rows; `Regression` says the rest."""

    of: Regression

    name = "row-regression"
    baseline = "mean of rows"
    learns = "numbers"
    fewest = 2
    kind = Regression

    @classmethod
    def question(cls, labels: list[FloatArray]) -> Regression:
        return Regression(Scale.unit(1), (float(np.mean(labels[0])),))

    def encode(self, labels: FloatArray) -> FloatArray:
        return labels

    def flat_target(self, target: Tensor) -> Tensor:
        return target[:, None]
