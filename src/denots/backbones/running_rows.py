"""Causal backbones that read row by row, as they are trained; `inference.row_reader` has what they predict."""

import abc
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor, nn

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.intake import Intake
from denots.data.series import SeriesSet, ragged_rows
from denots.inference.row_intake import RowIntake
from denots.rowwise import linear_rows


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


class RowReader(Backbone):
    """A state that is kept at rows, and continued on trial up to a question, as to a row that saw nothing.

    No answer depends on later rows or on other questions; that of its encoder to the last bit, and in any batch.
    """

    causal = True

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
        """States after one more row, from those after the one before."""

    def told(self, state: Float[Tensor, "*B H"], row: Float[Tensor, "*B D"]) -> Float[Tensor, "*B S"]:
        """What a head reads of a state and of the row that led to it."""
        return state

    @property
    def reads_time(self) -> bool:
        return True

    def calibrate(self, train: SeriesSet) -> None:
        self.intake.calibrate(train)

    def prepare(self, series: SeriesSet) -> RunningRows:
        rows = self._reading().read(series)
        tables = (rows.times, rows.clock, rows.values, rows.seen, rows.offsets, rows.static)
        return RunningRows(*map(torch.from_numpy, tables))

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
                before, seen = inputs.values[last], inputs.seen[last]
                after = torch.from_numpy(self._reading().unseen(before.numpy(), seen.numpy(), since.numpy()))
                clock = inputs.clock[last]
                on = self.moved(state[later], (before, after), (clock, clock + since))
                state, x = state.index_put((later,), on), x.index_put((later,), after)
        asked = self.told(state, x)
        return Encoded(asked, asked.isfinite().flatten(1).all(dim=1))

    def _reading(self) -> RowIntake:
        return RowIntake(self.intake.known(), next(self.parameters()).detach().numpy().dtype)

    def _start(self, static: Float[Tensor, "B S"]) -> Float[Tensor, "B H"]:
        if self.from_static is None:
            return static.new_zeros(len(static), self.states)
        return linear_rows(static, self.from_static.weight, self.from_static.bias)
