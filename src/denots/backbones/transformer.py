"""What TempFormer and RoFormer share: an encoder that is asked by a learnt vector."""

import abc
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from denots.backbones import native_layer
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
    def place(self, tokens: Float[Tensor, "N H"], positions: Float64[Tensor, " N"]) -> Float[Tensor, "N H"]:
        """Tell tokens where they stand, before the first layer."""

    def turn(self, positions: Float64[Tensor, " N"]) -> Float64[Tensor, "N 1 half"] | None:
        """Angles by which queries and keys are rotated in every layer."""
        return None

    def encode(self, rows: Rows, at: Tensor | None) -> Tensor:
        line = Timeline.of(rows)
        merged = line if at is None else Timeline.of(rows, at)
        positions = self.positions(merged)
        there, here = positions.gather(1, merged.row_places)[line.real], positions.gather(1, merged.answers)
        weight = self.fold_embedding(rows, self.read.weight, self.read.bias).weight
        read = linear(self.packed_inputs_of(rows, line), weight, self.read.bias)
        tokens = Tokens(self.place(read, there), rows.offsets, self.turn(there))
        count = here.shape[1]
        asked = (self.question + self.static_state(rows))[:, None].expand(-1, count, -1).flatten(0, 1)
        if at is None:
            here = torch.zeros_like(here)
        else:
            asked = self.place(asked, here.flatten())
        questions = Tokens(asked, count * torch.arange(len(rows) + 1), self.turn(here.flatten()))
        for layer in self.layers[:-1]:
            questions, tokens = attend(layer, questions, tokens), attend(layer, tokens, tokens)
        return attend(self.layers[-1], questions, tokens).rows.unflatten(0, (len(rows), count))


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Tokens of all series end to end, and the angles by which they are rotated, if they are."""

    rows: Float[Tensor, "N H"]
    offsets: Int[Tensor, " n_plus_1"]
    turn: Float64[Tensor, "N 1 half"] | None


def attend(layer: nn.Module, x: Tokens, tokens: Tokens) -> Tokens:
    """What an encoder layer makes of `x` when each attends to the tokens of its own series."""
    assert isinstance(layer, nn.TransformerEncoderLayer)
    own = layer.self_attn
    weights = zip(own.in_proj_weight.chunk(3), own.in_proj_bias.chunk(3), (x, tokens, tokens), strict=True)
    queries, keys, values = (linear(source.rows, weight, bias) for weight, bias, source in weights)
    if x.turn is not None and tokens.turn is not None:
        queries = rotate(queries.unflatten(-1, (own.num_heads, -1)), x.turn).flatten(-2)
        keys = rotate(keys.unflatten(-1, (own.num_heads, -1)), tokens.turn).flatten(-2)
    found = native_layer.run(
        "attention",
        own.embed_dim,
        {
            "offsets": tokens.offsets,
            "asked": x.offsets,
            "heads": own.num_heads,
            **_dropped(own.dropout if layer.training else 0.0),
        },
        queries=queries,
        keys=keys,
        values=values,
    )
    rows = layer.norm1(x.rows + layer.dropout1(own.out_proj(found)))
    hidden = native_layer.run(
        "feed_forward",
        own.embed_dim,
        _dropped(layer.dropout.p if layer.training else 0.0),
        x=rows,
        inner=layer.linear1.weight,
        inner_bias=layer.linear1.bias,
        outer=layer.linear2.weight,
    )
    return replace(x, rows=layer.norm2(rows + layer.dropout2(hidden + layer.linear2.bias)))


def _dropped(share: float) -> dict[str, int]:
    """How many of 65536 numbers a kernel drops, and the seed that tells which, drawn only where there are any."""
    return {"dropped": round(65536 * share), "seed": int(torch.randint(2**31, ())) if share else 0}


def _width_like_denots(config: TransformerConfig, inputs: int) -> int:
    size = config.state_size
    denots = 3 * size * (inputs + size) + 6 * size
    around = size * inputs + 2 * size  # the map from the inputs, and the question
    fixed = 4 * size * size + 9 * size  # attention, both norms, the bias of the second map
    wanted = (denots - around - config.layers * fixed) / (config.layers * (2 * size + 1))
    return max(round(wanted), size // 4)
