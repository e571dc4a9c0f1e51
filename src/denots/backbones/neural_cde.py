"""Neural CDE: a natural cubic spline through the observations drives the state (Kidger et al., 2020)."""

from dataclasses import dataclass, replace

from denots.backbones.controlled import Controlled, ControlledConfig
from denots.data.series import SeriesSet
from denots.data.transforms import positions
from denots.shapes import FloatArray


@dataclass(frozen=True)
class NeuralCDEConfig(ControlledConfig):
    """See `ControlledConfig`; there is nothing to add."""


class NeuralCDE(Controlled):
    """`dh = F(h) dX`, X the spline through the channels and the time, `h0` linear in its first point.

    Where a channel begins late or ends early it is held exactly (published: bent a little there).
    """

    Config = NeuralCDEConfig

    def curve_size(self, channels: int) -> int:
        return channels

    def knots(self, observed: SeriesSet) -> tuple[SeriesSet, FloatArray]:
        if self.config.clock == "time":
            return observed, observed.times
        index = positions(observed)
        return replace(observed, times=index, start=index[observed.offsets[:-1]]), observed.times
