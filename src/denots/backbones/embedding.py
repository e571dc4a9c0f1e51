"""Affine embedding of channels, ready to be folded into whatever reads them.

Interpolation is linear in the data and reproduces constants, so an affine map per channel may
as well be applied after it: W · spline(a x + b) = (W a) · spline(x) + W b. Splines then depend
on raw data only and are fitted once, and inflated channels cost no more than plain ones.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor, nn

from denots.data.series import SeriesSet
from denots.ode.input_map import InputMap
from denots.rowwise import linear_rows


@dataclass(frozen=True, slots=True, eq=False)
class ChannelMoments:
    """How often each channel of each series was observed, and the sums of values and squares."""

    count: Float64[Tensor, "n C"]
    total: Float64[Tensor, "n C"]
    square: Float64[Tensor, "n C"]

    @classmethod
    def of(cls, series: SeriesSet) -> "ChannelMoments":
        seen = ~np.isnan(series.values)
        values = np.where(seen, series.values, 0.0)
        sums = (np.add.reduceat(table, series.offsets[:-1], dtype=np.float64) for table in (seen, values, values**2))
        return cls(*(torch.from_numpy(table) for table in sums))

    def select(self, rows: Tensor) -> "ChannelMoments":
        return ChannelMoments(self.count[rows], self.total[rows], self.square[rows])


class ChannelEmbedding(nn.Module):
    """Optional batch normalisation over observed values, then optional inflation to `width` features.

    Both are affine per channel: `coefficients` returns the factor and the offset of each of the
    `channels * width` embedded features.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, channels: int, width: int = 1, batch_norm: bool = False) -> None:
        super().__init__()
        self.channels, self.width = channels, width
        self.momentum, self.epsilon = 0.1, 1e-5
        self.gain = nn.Parameter(torch.ones(channels)) if batch_norm else None
        self.shift = nn.Parameter(torch.zeros(channels)) if batch_norm else None
        if batch_norm:
            self.register_buffer("running_mean", torch.zeros(channels))
            self.register_buffer("running_var", torch.ones(channels))
        inflates = width > 1
        self.weight = nn.Parameter(torch.empty(channels, width).uniform_(-1, 1)) if inflates else None
        self.bias = nn.Parameter(torch.empty(channels, width).uniform_(-1, 1)) if inflates else None

    @property
    def is_identity(self) -> bool:
        """Whether features are the channels themselves, so that there is nothing to fold."""
        return self.gain is None and self.weight is None

    def coefficients(self, moments: ChannelMoments) -> tuple[Float[Tensor, "C E"], Float[Tensor, "C E"]]:
        """Factor and offset of every embedded feature; in training from the statistics of this batch."""
        reference = self.weight if self.weight is not None else self.gain
        factor = torch.ones(self.channels, 1) if reference is None else reference.new_ones(self.channels, 1)
        offset = torch.zeros_like(factor)
        if self.gain is not None and self.shift is not None:
            mean, variance = self._statistics(moments)
            factor = (self.gain / (variance + self.epsilon).sqrt())[:, None]
            offset = self.shift[:, None] - mean[:, None] * factor
        if self.weight is not None and self.bias is not None:
            factor, offset = self.weight * factor, self.weight * offset + self.bias
        return factor, offset

    def _statistics(self, moments: ChannelMoments) -> tuple[Tensor, Tensor]:
        """Batch mean and variance in training, running ones otherwise and for channels hardly seen."""
        if not self.training:
            return self.running_mean, self.running_var
        count = moments.count.sum(dim=0)
        enough = count > 1
        mean = moments.total.sum(dim=0) / count.clamp_min(1)
        variance = (moments.square.sum(dim=0) / count.clamp_min(1) - mean.square()).clamp_min(0)
        unbiased = variance * count / (count - 1).clamp_min(1)
        with torch.no_grad():
            for running, fresh in ((self.running_mean, mean), (self.running_var, unbiased)):
                running.copy_(torch.where(enough, running.lerp(fresh.to(running.dtype), self.momentum), running))
        dtype = self.running_mean.dtype
        return (
            torch.where(enough, mean.to(dtype), self.running_mean),
            torch.where(enough, variance.to(dtype), self.running_var),
        )


def fold(
    weight: Float[Tensor, "G CE"],
    bias: Float[Tensor, " G"],
    factor: Float[Tensor, "C E"],
    offset: Float[Tensor, "C E"],
    present: Bool[Tensor, "n C"],
) -> InputMap:
    """The map from raw channels that equals `weight · embedded + bias`.

    A channel that a series never observed is zero after embedding too, so its offset must not
    count: that is why each series has its own bias.
    """
    split = weight.reshape(len(weight), *factor.shape)
    offsets = torch.einsum("gce,ce->gc", split, offset)
    return InputMap(
        weight=torch.einsum("gce,ce->gc", split, factor),
        bias=linear_rows(present.to(weight.dtype), offsets, bias),
    )


def fold_presence(
    weight: Float[Tensor, "G CE"],
    bias: Float[Tensor, " G"],
    factor: Float[Tensor, "C E"],
    offset: Float[Tensor, "C E"],
    n: int,
) -> InputMap:
    """The same for signals whose missing values are zero after the embedding.

    They have twice the channels: values with zeros in the holes, then 1 where one was observed.
    """
    split = weight.reshape(len(weight), *factor.shape)
    parts = [torch.einsum("gce,ce->gc", split, part) for part in (factor, offset)]
    return InputMap(weight=torch.cat(parts, dim=1), bias=bias.expand(n, -1))
