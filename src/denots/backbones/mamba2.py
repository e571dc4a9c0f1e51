"""Mamba-2: layers of selective state spaces over the rows."""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import linear

from denots.backbones.discrete import DiscreteBackbone, DiscreteConfig
from denots.backbones.positions import Positions, Scale, waves
from denots.backbones.rows import Rows, Timeline
from denots.backbones.state_space import Mixer
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.options import Range, tunable


@dataclass(frozen=True)
class Mamba2Config(DiscreteConfig):
    """positions: encode the "time" stamp, or the "index" of the row, as was published.
    residual: normalise before each layer and add its output to its input; without it layers form a
        plain chain, as was published, in which gradients fade.
    """

    layers: int = tunable(1, Range(1, 3))
    positions: Scale = "time"
    residual: bool = True


class Mamba2(DiscreteBackbone):
    """Output at the last row, or at a row without observations at each query, plus the static features."""

    Config = Mamba2Config

    def __init__(self, config: Mamba2Config, channels: int, static_size: int = 0) -> None:
        super().__init__(config, channels, static_size)
        if config.state_size % 4:
            raise InvalidOption(f"state_size must be a multiple of 4; got {config.state_size}.")
        self.positions = Positions(config.positions)
        self.read = nn.Linear(self.input_size, config.state_size)
        self.mixers = nn.ModuleList(Mixer(config.state_size) for _ in range(config.layers))
        count = config.layers if config.residual else 0
        self.norms = nn.ModuleList(nn.RMSNorm(config.state_size, eps=1e-5) for _ in range(count))

    @property
    def reads_time(self) -> bool:
        return super().reads_time or self.positions.scale == "time"

    def calibrate(self, train: SeriesSet) -> None:
        super().calibrate(train)
        self.positions.calibrate(train, self.intake.time_scale.item())

    def encode(self, rows: Rows, at: Tensor | None) -> Tensor:
        line = Timeline.of(rows, at)
        weight = self.fold_embedding(rows, self.read.weight, self.read.bias).weight
        x = linear(self.packed_inputs_of(rows, line), weight, self.read.bias)
        x = x + waves(self.positions(line)[line.real], self.state_size).to(x.dtype)
        for i, mixer in enumerate(self.mixers):
            places = line.packed_answers if i == len(self.mixers) - 1 else None
            mixed = mixer(self.norms[i](x) if self.norms else x, line.offsets, places)
            x = mixed if not self.norms else mixed + (x if places is None else x.index_select(0, places))
        return x.unflatten(0, line.answers.shape) + self.static_state(rows)[:, None]
