"""What every backbone does to observations before it reads them."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from denots.data.series import SeriesSet
from denots.data.transforms import UNVARIED, Standardiser, append_presence
from denots.inference import intake
from denots.inference.intake import TimeChannel, Widening


class Intake(nn.Module):
    """Count time in median spans, add channels for time and presence, standardise once.

    Everything is learnt from the training split and saved with the weights. `marks` is how presence
    is told: by ones and zeros, or as counts that grow. `ages` tells when each channel was seen before.
    """

    time_scale: Tensor
    centre: Tensor
    scale: Tensor
    static_centre: Tensor
    static_scale: Tensor

    def __init__(
        self,
        channels: int,
        static_size: int,
        *,
        time: TimeChannel,
        presence: bool = False,
        marks: Widening = append_presence,
        ages: bool = False,
    ) -> None:
        super().__init__()
        self.time, self.presence, self.marks, self.ages = time, presence, marks, ages
        self.observed = channels
        self.read = channels * (1 + presence + ages) + (time != "none")
        for name, value in (
            ("time_scale", torch.ones(())),
            ("centre", torch.zeros(self.read)),
            ("scale", torch.ones(self.read)),
            ("static_centre", torch.zeros(static_size)),
            ("static_scale", torch.ones(static_size)),
        ):
            self.register_buffer(name, value.double())

    def calibrate(self, train: SeriesSet) -> None:
        span = float(np.median(train.spans))
        self.time_scale.fill_(span if span > 0 else 1.0)
        channels = Standardiser.fit(self.known().widened(train).values)
        if self.ages:  # of a channel that was never seen they are but the clock
            ages = channels.scale[-self.observed - (self.time != "none") :][: self.observed]
            ages[np.isnan(train.values).all(axis=0)] = UNVARIED
        self.centre.copy_(torch.from_numpy(channels.centre))
        self.scale.copy_(torch.from_numpy(channels.scale))
        if train.static is not None:
            static = Standardiser.fit(train.static)
            self.static_centre.copy_(torch.from_numpy(static.centre))
            self.static_scale.copy_(torch.from_numpy(static.scale))

    def observations(self, series: SeriesSet) -> SeriesSet:
        """The series as the model sees it, in float64: on its own clock, widened and standardised."""
        return self.known().observations(series)

    def static(self, series: SeriesSet, dtype: torch.dtype) -> Float[Tensor, "n S"]:
        """Standardised static features; an unknown one takes the training mean."""
        return torch.from_numpy(self.known().static(series)).to(dtype)

    def known(self) -> intake.Intake:
        """The same with what was learnt, for whom arrays are enough."""
        return intake.Intake(
            self.observed,
            self.time,
            self.marks if self.presence else None,
            self.ages,
            self.time_scale.item(),
            self.centre.numpy(),
            self.scale.numpy(),
            self.static_centre.numpy(),
            self.static_scale.numpy(),
        )
