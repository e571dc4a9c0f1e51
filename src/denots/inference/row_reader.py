"""A state that is kept at rows, and continued on trial up to a question, as to a row that saw nothing."""

import abc
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from denots import kernels
from denots.data.series import SeriesSet
from denots.inference.network import Encoded
from denots.inference.row_intake import RowIntake, Rows
from denots.inference.running import Memory, Running
from denots.shapes import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RowReader(Running, abc.ABC):
    """What `backbones.RowReader` does once it is trained; weights have the names that they have there.

    No answer depends on later rows, on other questions or on other series, to the last bit.
    """

    weights: Mapping[str, FloatArray]
    reading: RowIntake

    @property
    @abc.abstractmethod
    def states(self) -> int:
        """The size of the state that is kept."""

    @abc.abstractmethod
    def after_rows(self, rows: Rows, start: FloatArray) -> FloatArray:
        """States [n, T, H] after each row, from those before the first; behind the end of a series anything."""

    @abc.abstractmethod
    def moved(
        self, state: FloatArray, rows: tuple[FloatArray, FloatArray], clocks: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        """States [Q, H] after one more row [Q, D], from those after the one before; NaN is the clock before the first."""

    def told(self, state: FloatArray, row: FloatArray) -> FloatArray:
        """What a head reads of a state and of the row that led to it."""
        return state

    @np.errstate(over="ignore", invalid="ignore")
    def encode(self, series: SeriesSet, at: FloatArray | None = None) -> Encoded:
        rows = self.reading.read(series)
        start = self._start(rows.static)
        known = np.concatenate([start[:, None], self.after_rows(rows, start)], axis=1)
        latest = np.diff(rows.offsets)[:, None] - 1 if at is None else rows.latest(at)
        row = rows.offsets[:-1, None] + np.maximum(latest, 0)
        state = np.take_along_axis(known, (latest + 1)[..., None], axis=1)
        x = rows.values[row]
        x[latest < 0] = 0.0
        if at is not None:
            later = (at > rows.times[row]) & (latest >= 0)
            if later.any():
                last, since = row[later], (at - rows.times[row])[later] / self.reading.intake.time_scale
                before, clock = rows.values[last], rows.clock[last]
                x[later] = self.reading.unseen(before, rows.seen[last], since)
                state[later] = self.moved(state[later], (before, x[later]), (clock, clock + since))
        asked = self.told(state, x)
        return Encoded(asked, np.asarray(np.isfinite(asked).all(axis=(1, 2))))

    def begin(self, start: FloatArray, static: FloatArray) -> Memory:
        """state: of the model. row, seen: as it read the latest row, and which channels were seen there. time, clock: of that
        row, and since the start in time units; NaN before the first one. seen_at: when each channel was seen, on that clock.
        """
        n, channels = len(start), self.reading.intake.channels
        return {
            "state": self._start(self.reading.static(static)),
            "row": np.zeros((n, self.reading.width), self.reading.dtype),
            "seen": np.zeros((n, channels), dtype=bool),
            "seen_at": np.zeros((n, channels)),
            "start": start,
            "time": np.full(n, np.nan),
            "clock": np.full(n, np.nan),
        }

    @np.errstate(over="ignore", invalid="ignore")
    def step(self, memory: Memory, times: FloatArray, values: FloatArray) -> Memory:
        clock = (times - memory["start"]) * (1.0 / self.reading.intake.time_scale)
        since = np.where(np.isnan(memory["clock"]), 0.0, clock - memory["clock"])
        read = self.reading.next_row(memory["row"], values, clock[:, None] - memory["seen_at"], since)
        seen = ~np.isnan(values)
        return {
            "state": self.moved(memory["state"], (memory["row"], read), (memory["clock"], clock)),
            "row": read,
            "seen": seen,
            "seen_at": np.where(seen, clock[:, None], memory["seen_at"]),
            "start": memory["start"],
            "time": times,
            "clock": clock,
        }

    @np.errstate(over="ignore", invalid="ignore")
    def read(self, memory: Memory, at: FloatArray) -> FloatArray:
        later = at > memory["time"]
        states, rows = memory["state"], memory["row"]
        if later.any():
            states, rows = states.copy(), rows.copy()
            since = (at - memory["time"])[later] / self.reading.intake.time_scale
            clock, before = memory["clock"][later], rows[later]
            rows[later] = self.reading.unseen(before, memory["seen"][later], since)
            states[later] = self.moved(states[later], (before, rows[later]), (clock, clock + since))
        return self.told(states, rows)

    def _start(self, static: FloatArray) -> FloatArray:
        weight = self.weights.get("from_static.weight")
        if weight is None:
            return np.zeros((len(static), self.states), self.reading.dtype)
        return kernels.linear_rows(static, weight, self.weights["from_static.bias"])
