"""What every model must beat: one that knows nothing, and one that knows the last values only."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.intake import Intake
from denots.data.series import SeriesSet
from denots.paths import Rectilinear
from denots.paths.path import Path


@dataclass(frozen=True)
class TrivialConfig:
    """Nothing to choose."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldInputs:
    """The latest values at every time, and static features."""

    path: Path
    static: Float[Tensor, "n S"]
    start: Float64[Tensor, " n"]

    def __len__(self) -> int:
        return len(self.path)

    def select(self, rows: Tensor) -> "HeldInputs":
        return HeldInputs(self.path.select(rows), self.static[rows], self.start[rows])


class LastValue(Backbone):
    """The latest observed value of each channel, and the static features: a linear model reads them out."""

    Config = TrivialConfig
    intake: Intake

    def __init__(self, config: TrivialConfig, channels: int, static_size: int = 0) -> None:
        super().__init__()
        self.config, self.state_size = config, channels + static_size
        self.intake = Intake(channels, static_size, time="none")

    @property
    def reads_time(self) -> bool:
        return False

    def calibrate(self, train: SeriesSet) -> None:
        self.intake.calibrate(train)

    def prepare(self, series: SeriesSet) -> HeldInputs:
        dtype = torch.get_default_dtype()
        path = Rectilinear.fit(self.intake.observations(series), dtype)
        return HeldInputs(path, self.intake.static(series, dtype), torch.from_numpy(series.start))

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Encoded:
        if not isinstance(inputs, HeldInputs):
            raise TypeError(f"{type(self).__name__} reads what its own prepare() returns, not {type(inputs).__name__}.")
        path = inputs.path
        times = path.t1[:, None] if at is None else (at - inputs.start[:, None]) / self.intake.time_scale
        values = torch.stack([path.value(column) for column in times.T], dim=1)
        static = inputs.static[:, None].expand(-1, values.shape[1], -1)
        return Encoded(torch.cat([values, static], dim=2), torch.ones(len(path), dtype=torch.bool))


class Constant(LastValue):
    """A state that is always zero: what is left is the mean of the target, or its most common class."""

    def __init__(self, config: TrivialConfig, channels: int, static_size: int = 0) -> None:
        super().__init__(config, channels, static_size)
        self.state_size = 1

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Encoded:
        known = super().forward(inputs, at)
        return Encoded(torch.zeros_like(known.states[..., :1]), known.ok)
