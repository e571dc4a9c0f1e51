"""DeNOTS for answers at any time: its field is integrated from row to row, each interval by itself."""

import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from denots.backbones.options import check_options
from denots.backbones.running_rows import RowReader, RunningRows
from denots.data.running import median_gap
from denots.data.series import SeriesSet
from denots.fields import FIELDS
from denots.inference import running_denots
from denots.inference.running_denots_config import RunningDeNOTSConfig
from denots.inference.solve import unsolved
from denots.ode.solve import solve
from denots.paths.path import Path
from denots.rowwise import linear_rows


class RunningDeNOTS(RowReader):
    """States of `dh/dt = field(x(t), h)` along a path that leads from row to row with no slope at either.

    Such a path owes nothing to rows that come later, and neither do steps that land on every row and begin anew there.
    The head reads the row beside the state, which it has had little time to move.
    """

    Config = RunningDeNOTSConfig
    pace: Tensor

    def __init__(self, config: RunningDeNOTSConfig, channels: int, static_size: int = 0) -> None:
        check_options(config)
        self.config = config
        super().__init__(channels, static_size, config.state_size)
        self.state_size = self.states + self.intake.read
        self.register_buffer("pace", torch.ones((), dtype=torch.float64))

    def add_core(self) -> None:
        self.field = FIELDS.find(self.config.field)(self.intake.read, self.states)
        self.from_first = nn.Linear(self.intake.read, self.states)

    def calibrate(self, train: SeriesSet) -> None:
        super().calibrate(train)
        self.pace.fill_(self.config.depth * self.intake.time_scale.item() / median_gap(train))

    def encoder(self) -> running_denots.RunningDeNOTS | None:
        if unsolved(self.config, self.config.field, self.states):
            return None
        return running_denots.RunningDeNOTS.restore(self.config, self.intake.observed, self.arrays())

    def told(self, state: Float[Tensor, "*B H"], row: Float[Tensor, "*B D"]) -> Float[Tensor, "*B S"]:
        return torch.cat([state, row], dim=-1)

    def after_rows(self, inputs: RunningRows, start: Float[Tensor, "B H"]) -> Float[Tensor, "B T H"]:
        times, begin, end = inputs.clock * self.pace, inputs.offsets[:-1], inputs.offsets[1:]
        first = start + linear_rows(inputs.values[begin], self.from_first.weight, self.from_first.bias)
        return self._solved(inputs.values, times, begin, end, first, times[inputs.table])

    def moved(
        self,
        state: Float[Tensor, "Q H"],
        rows: tuple[Float[Tensor, "Q D"], Float[Tensor, "Q D"]],
        clocks: tuple[Float64[Tensor, " Q"], Float64[Tensor, " Q"]],
    ) -> Float[Tensor, "Q H"]:
        (before, after), (then, now) = rows, clocks
        times = torch.stack([then, now], dim=1).flatten() * self.pace
        values = torch.stack([before, after], dim=1).flatten(0, 1)
        begin = 2 * torch.arange(len(state))
        return self._solved(values, times, begin, begin + 2, state, times[1::2, None])[:, 0]

    def _solved(
        self, values: Tensor, times: Tensor, begin: Tensor, end: Tensor, state: Tensor, at: Tensor
    ) -> Float[Tensor, "B K H"]:
        path = Path(
            times=times,
            values=values,
            slopes=torch.zeros_like(values),
            begin=begin,
            end=end,
            t0=times[begin],
            t1=times[end - 1],
            present=torch.ones(len(begin), values.shape[1], dtype=torch.bool),
        )
        found = solve(self.field, path, state, at=at, land_on_knots=True, **self.config.solving(self.coarse))
        return found.states
