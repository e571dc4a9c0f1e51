"""What causal backbones read row by row: values held since they were seen, which were seen now, how long ago, and the time
since the row before.
"""

import abc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor, nn

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.intake import Intake
from denots.backbones.running import Memory, Running
from denots.data.series import SeriesSet, ragged_rows
from denots.data.transforms import fill_forward
from denots.rowwise import linear_rows
from denots.shapes import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RunningRows:
    """Rows as they are read; `clock` is the time since the start of their series, in the unit of the model."""

    times: Float64[Tensor, " N"]
    clock: Float64[Tensor, " N"]
    values: Float[Tensor, "N D"]
    seen: Bool[Tensor, "N C"]
    offsets: Int[Tensor, " n_plus_1"]
    static: Float[Tensor, "n S"]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def select(self, rows: Int[Tensor, " B"]) -> "RunningRows":
        packed, offsets = ragged_rows(self.offsets.numpy(), rows.numpy())
        picked = torch.from_numpy(packed)
        return RunningRows(
            self.times[picked],
            self.clock[picked],
            self.values[picked],
            self.seen[picked],
            torch.from_numpy(offsets),
            self.static[rows],
        )

    @property
    def table(self) -> Int[Tensor, "B T"]:
        """The row at each place of each series; behind its end, the last one."""
        lengths = self.offsets.diff()[:, None]
        place = torch.arange(int(lengths.max())).expand(len(self), -1)
        return self.offsets[:-1, None] + torch.minimum(place, lengths - 1)

    def latest(self, at: Float64[Tensor, "B K"]) -> Int[Tensor, "B K"]:
        """The position, in its series, of the last row up to each time; -1 before the first one."""
        lengths = self.offsets.diff()[:, None]
        place = torch.arange(int(lengths.max())).expand(len(self), -1)
        times = self.times[self.table].where(place < lengths, torch.inf)
        return torch.searchsorted(times, at.contiguous(), right=True) - 1


class RowReader(Backbone, Running):
    """A state that is kept at rows, and continued on trial up to a question, as to a row that saw nothing.

    No answer depends on later rows or on other questions. Where no gradient is asked for, this holds to the last bit and
    in any batch.
    """

    causal = True
    squashes: ClassVar[bool] = False  # whether rows are read by their logarithm, with their sign

    def __init__(self, channels: int, static_size: int, states: int) -> None:
        super().__init__()
        self.states = states  # of the core; `state_size` is what a head reads
        self.intake = Intake(channels, static_size, time="differences", presence=True, ages=True)
        self.add_core()
        self.from_static = nn.Linear(static_size, states) if static_size else None

    @abc.abstractmethod
    def add_core(self) -> None:
        """Make the weights that lead from row to row."""

    @abc.abstractmethod
    def after_rows(self, inputs: RunningRows, start: Float[Tensor, "B H"]) -> Float[Tensor, "B T H"]:
        """States after each row; behind the end of a series anything."""

    @abc.abstractmethod
    def moved(
        self,
        state: Float[Tensor, "Q H"],
        rows: tuple[Float[Tensor, "Q D"], Float[Tensor, "Q D"]],
        clocks: tuple[Float64[Tensor, " Q"], Float64[Tensor, " Q"]],
    ) -> Float[Tensor, "Q H"]:
        """States after one more row, from those after the one before; NaN is the clock before the first."""

    def told(self, state: Float[Tensor, "*B H"], row: Float[Tensor, "*B D"]) -> Float[Tensor, "*B S"]:
        """What a head reads of a state and of the row that led to it."""
        return state

    @property
    def reads_time(self) -> bool:
        return True

    def calibrate(self, train: SeriesSet) -> None:
        self.intake.calibrate(train)

    def prepare(self, series: SeriesSet) -> RunningRows:
        observed, channels = self.intake.observations(series), self.intake.observed
        dtype = next(self.parameters()).dtype
        return RunningRows(
            times=torch.from_numpy(series.times),
            clock=torch.from_numpy(observed.times),
            values=torch.from_numpy(self._squashed(np.nan_to_num(fill_forward(observed).values))).to(dtype),
            seen=torch.from_numpy(~np.isnan(series.values[:, :channels])),
            offsets=torch.from_numpy(series.offsets),
            static=self.intake.static(series, dtype),
        )

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Encoded:
        if not isinstance(inputs, RunningRows):
            raise TypeError(f"{type(self).__name__} reads what its own prepare() returns, not {type(inputs).__name__}.")
        start = self._start(inputs.static)
        known = torch.cat([start[:, None], self.after_rows(inputs, start)], dim=1)
        lengths = inputs.offsets.diff()[:, None]
        latest = lengths - 1 if at is None else inputs.latest(at)
        row = inputs.offsets[:-1, None] + latest.clamp_min(0)
        state = known.gather(1, (latest + 1)[..., None].expand(-1, -1, self.states))
        x = inputs.values[row].masked_fill((latest < 0)[..., None], 0.0)
        if at is not None:
            later = (at > inputs.times[row]) & (latest >= 0)
            if later.any():
                last, since = row[later], (at - inputs.times[row])[later] / self.intake.time_scale
                before = inputs.values[last]
                after = torch.from_numpy(self._unseen(before.numpy(), inputs.seen[last].numpy(), since.numpy()))
                clock = inputs.clock[last]
                on = self.moved(state[later], (before, after), (clock, clock + since))
                state, x = state.index_put((later,), on), x.index_put((later,), after)
        asked = self.told(state, x)
        return Encoded(asked, asked.isfinite().flatten(1).all(dim=1))

    @torch.no_grad()
    def begin(self, start: Float64[np.ndarray, " B"], static: Float64[np.ndarray, "B S"]) -> Memory:
        """state: of the model. row, seen: as it read the latest row, and which channels were seen there. time, clock: of that
        row, and since the start in time units; NaN before the first one. seen_at: when each channel was seen, on that clock.
        """
        n, channels, dtype = len(start), self.intake.observed, next(self.parameters()).dtype
        return {
            "state": self._start(self.intake.static_rows(static, dtype)).numpy(),
            "row": torch.zeros(n, self.intake.read, dtype=dtype).numpy(),
            "seen": np.zeros((n, channels), dtype=bool),
            "seen_at": np.zeros((n, channels)),
            "start": start,
            "time": np.full(n, np.nan),
            "clock": np.full(n, np.nan),
        }

    def step(self, memory: Memory, times: Float64[np.ndarray, " B"], values: Float64[np.ndarray, "B C"]) -> Memory:
        intake, channels = self.intake, self.intake.observed
        clock = (times - memory["start"]) * (1.0 / intake.time_scale.item())
        since = np.where(np.isnan(memory["clock"]), 0.0, clock - memory["clock"])
        seen = ~np.isnan(values)
        table = np.concatenate([values, seen, clock[:, None] - memory["seen_at"], since[:, None]], axis=1)
        with np.errstate(over="ignore"):
            read = np.nan_to_num((table - intake.centre.numpy()) / intake.scale.numpy())
            read = self._squashed(read).astype(memory["row"].dtype)
        read[:, :channels] = np.where(seen, read[:, :channels], memory["row"][:, :channels])
        return {
            "state": self._moved(memory["state"], (memory["row"], read), (memory["clock"], clock)),
            "row": read,
            "seen": seen,
            "seen_at": np.where(seen, clock[:, None], memory["seen_at"]),
            "start": memory["start"],
            "time": times,
            "clock": clock,
        }

    @torch.no_grad()
    def read(self, memory: Memory, at: Float64[np.ndarray, " B"]) -> Float[np.ndarray, "B S"]:
        later = at > memory["time"]
        states, rows = memory["state"], memory["row"]
        if later.any():
            states, rows = states.copy(), rows.copy()
            since = (at - memory["time"])[later] / self.intake.time_scale.item()
            clock, before = memory["clock"][later], rows[later]
            rows[later] = self._unseen(before, memory["seen"][later], since)
            states[later] = self._moved(states[later], (before, rows[later]), (clock, clock + since))
        return self.told(torch.from_numpy(states), torch.from_numpy(rows)).numpy()

    @torch.no_grad()
    def _moved(
        self, state: np.ndarray, rows: tuple[np.ndarray, np.ndarray], clocks: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:
        before, after = (torch.from_numpy(row) for row in rows)
        then, now = (torch.from_numpy(clock) for clock in clocks)
        return self.moved(torch.from_numpy(state), (before, after), (then, now)).numpy()

    def _start(self, static: Float[Tensor, "B S"]) -> Float[Tensor, "B H"]:
        if self.from_static is None:
            return static.new_zeros(len(static), self.states)
        return linear_rows(static, self.from_static.weight, self.from_static.bias)

    def _unseen(
        self, row: Float[np.ndarray, "Q D"], seen: Bool[np.ndarray, "Q C"], since: Float64[np.ndarray, " Q"]
    ) -> Float[np.ndarray, "Q D"]:
        """What a row that sees nothing would read, so long after the given ones."""
        x, channels = row.copy(), self.intake.observed
        centre, scale = self.intake.centre.numpy(), self.intake.scale.numpy()
        ages, presence = slice(2 * channels, 3 * channels), slice(channels, 2 * channels)
        age = np.where(seen, 0.0, self._released(x[:, ages]) * scale[ages] + centre[ages]) + since[:, None]
        x[:, presence] = self._squashed(-centre[presence] / scale[presence])
        x[:, ages] = self._squashed((age - centre[ages]) / scale[ages])
        x[:, -1] = self._squashed((since - centre[-1]) / scale[-1])
        return x

    def _squashed(self, x: FloatArray) -> FloatArray:
        return np.sign(x) * np.log1p(np.abs(x)) if self.squashes else x

    def _released(self, x: FloatArray) -> FloatArray:
        return np.sign(x) * np.expm1(np.abs(x.astype(np.float64))) if self.squashes else x
