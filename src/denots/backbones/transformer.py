"""What TempFormer and RoFormer share: an encoder that is asked by a learnt vector."""

import abc
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor, nn
from torch.nn.functional import gelu, linear, scaled_dot_product_attention

from denots.backbones.discrete import DiscreteBackbone, DiscreteConfig
from denots.backbones.positions import Positions, Scale, rotate
from denots.backbones.rows import Rows, Timeline
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.options import Range, tunable

HEADS = 8


@dataclass(frozen=True)
class TransformerConfig(DiscreteConfig):
    """feed_forward: width between the two maps of a layer (the paper: 2048); None takes what brings
    the parameters close to those of DeNOTS with the same channels, at least a quarter of the state.
    """

    layers: int = tunable(1, Range(1, 3))
    feed_forward: int | None = None


class Transformer(DiscreteBackbone):
    """Layers of `nn.TransformerEncoderLayer` (post-norm, GELU, dropout 0.1) over rows and one learnt vector.

    The vector stands for the whole series, or at each query; static features are added to it.
    Everything attends to the rows and nothing to that vector, so an answer does not depend on
    what else is asked, and the last layer is computed for answers only.
    """

    def __init__(self, config: TransformerConfig, channels: int, static_size: int, scale: Scale) -> None:
        super().__init__(config, channels, static_size)
        size = config.state_size
        if size % (2 * HEADS):
            raise InvalidOption(f"state_size must be a multiple of {2 * HEADS} for {HEADS} heads; got {size}.")
        width = _width_like_denots(config, self.input_size) if config.feed_forward is None else config.feed_forward
        if width < 1:
            raise InvalidOption(f"feed_forward must be at least 1; got {width}.")
        self.positions = Positions(scale)
        self.read = nn.Linear(self.input_size, size)
        self.question = nn.Parameter(torch.randn(size))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(size, HEADS, width, activation="gelu", batch_first=True)
            for _ in range(config.layers)
        )

    @property
    def reads_time(self) -> bool:
        return super().reads_time or self.positions.scale == "time"

    def calibrate(self, train: SeriesSet) -> None:
        super().calibrate(train)
        self.positions.calibrate(train, self.intake.time_scale.item())

    @abc.abstractmethod
    def place(self, tokens: Float[Tensor, "B T H"], positions: Float64[Tensor, "B T"]) -> Float[Tensor, "B T H"]:
        """Tell tokens where they stand, before the first layer."""

    def turn(self, positions: Float64[Tensor, "B T"]) -> Float64[Tensor, "B 1 T half"] | None:
        """Angles by which queries and keys are rotated in every layer."""
        return None

    def encode(self, rows: Rows, at: Tensor | None) -> Tensor:
        line = Timeline.of(rows)
        merged = line if at is None else Timeline.of(rows, at)
        positions = self.positions(merged)
        there, here = positions.gather(1, merged.row_places), positions.gather(1, merged.answers)
        weight = self.fold_embedding(rows, self.read.weight, self.read.bias).weight
        tokens = self.place(linear(self.inputs_of(rows, line), weight, self.read.bias), there)
        asked = (self.question + self.static_state(rows))[:, None].expand(-1, here.shape[1], -1)
        if at is None:
            here = torch.zeros_like(here)
        else:
            asked = self.place(asked, here)
        mask, count = line.real[:, None, None, :], asked.shape[1]
        turn, turn_both = self.turn(there), self.turn(torch.cat([here, there], dim=1))
        for layer in self.layers[:-1]:
            both = attend(layer, torch.cat([asked, tokens], dim=1), tokens, mask, turn_both, turn)
            asked, tokens = both[:, :count], both[:, count:]
        return attend(self.layers[-1], asked, tokens, mask, self.turn(here), turn)


def attend(
    layer: nn.Module,
    x: Float[Tensor, "B Q H"],
    tokens: Float[Tensor, "B T H"],
    mask: Bool[Tensor, "B 1 1 T"],
    turn_x: Tensor | None = None,
    turn_tokens: Tensor | None = None,
) -> Float[Tensor, "B Q H"]:
    """What an encoder layer makes of `x` when it attends to `tokens`, both rotated if angles are given."""
    assert isinstance(layer, nn.TransformerEncoderLayer)
    own = layer.self_attn
    size = x.shape[-1]
    q = linear(x, own.in_proj_weight[:size], own.in_proj_bias[:size])
    k, v = linear(tokens, own.in_proj_weight[size:], own.in_proj_bias[size:]).chunk(2, dim=-1)
    q, k, v = (part.unflatten(-1, (own.num_heads, -1)).transpose(1, 2) for part in (q, k, v))
    if turn_x is not None and turn_tokens is not None:
        q, k = rotate(q, turn_x), rotate(k, turn_tokens)
    found = scaled_dot_product_attention(q, k, v, mask, dropout_p=own.dropout if layer.training else 0.0)
    x = layer.norm1(x + layer.dropout1(own.out_proj(found.transpose(1, 2).flatten(2))))
    return layer.norm2(x + layer.dropout2(layer.linear2(layer.dropout(gelu(layer.linear1(x))))))


def _width_like_denots(config: TransformerConfig, inputs: int) -> int:
    size = config.state_size
    denots = 3 * size * (inputs + size) + 6 * size
    around = size * inputs + 2 * size  # the map from the inputs, and the question
    fixed = 4 * size * size + 9 * size  # attention, both norms, the bias of the second map
    wanted = (denots - around - config.layers * fixed) / (config.layers * (2 * size + 1))
    return max(round(wanted), size // 4)
