"""What all discrete models share: rows in, embedding folded into their first matrix."""

import abc
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.embedding import ChannelEmbedding, fold_presence
from denots.backbones.intake import Intake
from denots.backbones.options import MOST_LAYERS, check_options
from denots.backbones.rows import Holes, Rows, Timeline
from denots.data.series import SeriesSet
from denots.ode.input_map import InputMap
from denots.options import Choice, tunable
from denots.rowwise import linear_rows


@dataclass(frozen=True)
class DiscreteConfig:
    """The choices of every discrete model; they mean what they mean for `DeNOTSConfig`.

    holes: missing values are "bridge"d (the last value, or the first one before it), or are "zero"
        after the embedding.
    """

    state_size: int = tunable(32, Choice((16, 32, 64)))
    normalise: Literal["fixed", "batch"] = "fixed"
    inflate: int = 1
    time_differences: bool = True
    presence: bool = False
    holes: Holes = "bridge"


class DiscreteBackbone(Backbone):
    """A model of the sequence of rows; a class adds `encode`."""

    def __init__(self, config: DiscreteConfig, channels: int, static_size: int) -> None:
        super().__init__()
        check_options(config, most={"layers": MOST_LAYERS})
        self.config, self.state_size, self.holes = config, config.state_size, config.holes
        self.intake = Intake(
            channels, static_size, time="differences" if config.time_differences else "none", presence=config.presence
        )
        self.embedding = ChannelEmbedding(self.intake.read, config.inflate, config.normalise == "batch")
        self.input_size = self.intake.read * config.inflate
        self.from_static = nn.Linear(static_size, config.state_size) if static_size else None

    @property
    def reads_time(self) -> bool:
        return self.intake.time != "none"

    def calibrate(self, train: SeriesSet) -> None:
        self.intake.calibrate(train)

    def prepare(self, series: SeriesSet) -> Rows:
        return Rows.of(series, self.intake, self.holes, next(self.parameters()).dtype)

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Encoded:
        if not isinstance(inputs, Rows):
            raise TypeError(f"{type(self).__name__} reads what its own prepare() returns, not {type(inputs).__name__}.")
        if at is not None:
            at = (at - inputs.start[:, None]) / self.intake.time_scale
        states = self.encode(inputs, at)
        return Encoded(states, states.isfinite().flatten(1).all(dim=1))

    @abc.abstractmethod
    def encode(self, rows: Rows, at: Float64[Tensor, "B K"] | None) -> Float[Tensor, "B K H"]:
        """States at the queries, on the clock of the rows; without any, at the last row."""

    def fold_embedding(self, rows: Rows, weight: Tensor, bias: Tensor) -> InputMap:
        """The map that takes what `inputs_of` returns to `weight · embedded + bias`."""
        factor, offset = self.embedding.coefficients(rows.moments)
        return fold_presence(weight, bias, factor, offset, len(rows))

    def inputs_of(self, rows: Rows, line: Timeline) -> Float[Tensor, "B T CC"]:
        """Values at each place, then where they are known; a query is a row that observed nothing."""
        values, known = rows.values[line.row], rows.known[line.row]
        if line.asked.any():
            asked, observed, intake = line.asked[..., None], self.intake.observed, self.intake
            if self.holes == "zero":
                values[..., :observed].masked_fill_(asked, 0.0)
                known[..., :observed].masked_fill_(asked, False)
            absent = (-intake.centre / intake.scale).to(values.dtype)
            if intake.presence:
                there = slice(observed, 2 * observed)
                values[..., there] = torch.where(asked, absent[there], values[..., there])
            if intake.time == "differences":
                since = line.times.diff(dim=1, prepend=line.times[:, :1])
                values[..., -1] = ((since - intake.centre[-1]) / intake.scale[-1]).to(values.dtype)
        return torch.cat([values, known.to(values.dtype)], dim=-1)

    def packed_inputs_of(self, rows: Rows, line: Timeline) -> Float[Tensor, "N CC"]:
        """The same at the real places only, those of all series end to end."""
        if line.asked.any():
            return self.inputs_of(rows, line)[line.real]
        return torch.cat([rows.values, rows.known.to(rows.values.dtype)], dim=-1)

    def static_state(self, rows: Rows) -> Float[Tensor, "B H"]:
        """What the static features say; zero where there are none."""
        if self.from_static is None:
            return rows.values.new_zeros(len(rows), self.state_size)
        return linear_rows(rows.static, self.from_static.weight, self.from_static.bias)
