"""DeNOTS with given weights for answers at any time: its field is integrated from row to row, each interval by itself."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from denots import kernels
from denots.inference.curve import Curve
from denots.inference.row_intake import RowIntake, Rows
from denots.inference.row_reader import RowReader
from denots.inference.running_denots_config import RunningDeNOTSConfig
from denots.inference.solve import FieldKernel, solve
from denots.shapes import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RunningDeNOTS(RowReader):
    """What `backbones.RunningDeNOTS` does once it is trained; it is served where `solve.unsolved` says nothing against it."""

    options: RunningDeNOTSConfig
    field: FieldKernel

    @classmethod
    def restore(cls, options: RunningDeNOTSConfig, channels: int, weights: Mapping[str, FloatArray]) -> "RunningDeNOTS":
        field = FieldKernel.restore(options.field, weights, weights["field.weight_ih"], weights["field.bias_ih"])
        reading = RowIntake.restore(weights, channels, dtype=field.weight_hh.dtype)
        return cls(weights, reading, options, field)

    @property
    def states(self) -> int:
        return self.field.weight_hh.shape[1]

    def told(self, state: FloatArray, row: FloatArray) -> FloatArray:
        return np.concatenate([state, row], axis=-1)

    def after_rows(self, rows: Rows, start: FloatArray) -> FloatArray:
        times, begin, end = rows.clock * self._pace, rows.offsets[:-1], rows.offsets[1:]
        first = start + self._from_first(rows.values[begin])
        return self._solved(rows.values, times, begin, end, first, times[rows.table])

    def moved(
        self, state: FloatArray, rows: tuple[FloatArray, FloatArray], clocks: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        (before, after), (then, now) = rows, clocks
        fresh = np.isnan(then)
        state = np.where(fresh[:, None], state + self._from_first(after), state)
        times = np.stack([np.where(fresh, now, then), now], axis=1).ravel() * self._pace
        values = np.stack([np.where(fresh[:, None], after, before), after], axis=1).reshape(-1, after.shape[1])
        begin = 2 * np.arange(len(state))
        return self._solved(values, times, begin, begin + 2, state, times[1::2, None])[:, 0]

    @property
    def _pace(self) -> float:
        return float(self.weights["pace"])

    def _from_first(self, row: FloatArray) -> FloatArray:
        return kernels.linear_rows(row, self.weights["from_first.weight"], self.weights["from_first.bias"])

    def _solved(
        self, values: FloatArray, times: FloatArray, begin: IntArray, end: IntArray, state: FloatArray, at: FloatArray
    ) -> FloatArray:
        """States at times [n, K] along a path that leads from row to row with no slope at either."""
        curve = Curve(
            times=times,
            values=values,
            slopes=np.zeros_like(values),
            begin=begin,
            end=end,
            t0=times[begin],
            t1=times[end - 1],
            present=np.ones((len(begin), values.shape[1]), dtype=bool),
        )
        found = solve(
            self.field,
            curve,
            state,
            queries=at,
            method=self.options.method,
            tolerance=self.options.solving(coarse=False)["rtol"],
            max_steps=self.options.max_steps,
            land_on_knots=True,
        )
        return found.states
