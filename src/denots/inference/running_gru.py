"""A GRU with given weights for answers at any time: one step for each row, and one more up to a question."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from denots import kernels
from denots.inference.row_intake import RowIntake, Rows
from denots.inference.row_reader import RowReader
from denots.shapes import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RunningGRU(RowReader):
    """NumPy computes a number alike wherever it stands, which torch does not at the end of an array."""

    @classmethod
    def restore(cls, channels: int, weights: Mapping[str, FloatArray]) -> "RunningGRU":
        return cls(weights, RowIntake.restore(weights, channels, dtype=weights["cell.weight_hh_l0"].dtype))

    @property
    def states(self) -> int:
        return self.weights["cell.weight_hh_l0"].shape[1]

    def after_rows(self, rows: Rows, start: FloatArray) -> FloatArray:
        lengths = np.diff(rows.offsets)
        order = np.argsort(-lengths, kind="stable")
        begin, lengths = rows.offsets[:-1][order], lengths[order]
        states = np.zeros((len(rows), lengths[0], self.states), self.reading.dtype)
        h = start[order]
        for place in range(lengths[0]):  # series that have ended leave
            going = int((lengths > place).sum())
            h = self._step(rows.values[begin[:going] + place], h[:going])
            states[order[:going], place] = h
        return states

    def moved(
        self, state: FloatArray, rows: tuple[FloatArray, FloatArray], clocks: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        return self._step(rows[1], state)

    def _step(self, x: FloatArray, h: FloatArray) -> FloatArray:
        """The state of torch's GRU after one row, each series by itself."""
        read = self._product(x, "ih")
        kept = self._product(h, "hh")
        size = h.shape[1]
        reset, new = slice(size), slice(2 * size, 3 * size)
        z = _sigmoid(read[:, size : 2 * size] + kept[:, size : 2 * size])
        return (1 - z) * np.tanh(read[:, new] + _sigmoid(read[:, reset] + kept[:, reset]) * kept[:, new]) + z * h

    def _product(self, x: FloatArray, part: str) -> FloatArray:
        return kernels.linear_rows(x, self.weights[f"cell.weight_{part}_l0"], self.weights[f"cell.bias_{part}_l0"])


def _sigmoid(x: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-np.maximum(x, -80)))
