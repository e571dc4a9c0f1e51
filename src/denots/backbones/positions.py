"""Where a row stands, for models that do not count by themselves."""

from typing import Literal

import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from denots.backbones.rows import Timeline
from denots.data.series import SeriesSet

Scale = Literal["time", "index"]
BASE = 10_000.0


class Positions(nn.Module):
    """Positions by the time stamp or by the step number.

    Time is counted in mean gaps between the rows of the training split: on a regular grid that
    starts with the clock both scales are the same.
    """

    gap: Tensor

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        self.scale: Scale = scale
        self.register_buffer("gap", torch.ones((), dtype=torch.float64))

    def calibrate(self, train: SeriesSet, time_scale: float) -> None:
        steps = int((train.lengths - 1).sum())
        total = float((train.ends - train.times[train.offsets[:-1]]).sum())
        self.gap.fill_(total / steps / time_scale if steps else 1.0)

    def forward(self, line: Timeline) -> Float64[Tensor, "B T"]:
        if self.scale == "time":
            return line.times / self.gap
        return torch.arange(line.times.shape[1], dtype=torch.float64).expand_as(line.times)


def angles(positions: Float64[Tensor, "*B"], size: int) -> Float64[Tensor, "*B half"]:
    """Angles of `size / 2` frequencies, from one radian per position down to almost 1 / 10 000."""
    pairs = torch.arange(0, size, 2, dtype=torch.float64)
    return positions[..., None] * BASE ** (-pairs / size)


def waves(positions: Float64[Tensor, "*B"], size: int) -> Float64[Tensor, "*B H"]:
    """Sine and cosine in turn, the encoding of Transformers (of time stamps: Transformer Hawkes)."""
    turn = angles(positions, size)
    return torch.stack([turn.sin(), turn.cos()], dim=-1).flatten(-2)[..., :size]


def rotate(x: Float[Tensor, "*B H"], turn: Float64[Tensor, "*C half"]) -> Float[Tensor, "*B H"]:
    """Turn each pair of neighbouring features by its angle."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    unit = torch.view_as_complex(torch.stack([turn.cos(), turn.sin()], dim=-1).to(x.dtype))
    return torch.view_as_real(pairs * unit).flatten(-2)
