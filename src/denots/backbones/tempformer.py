"""TempFormer: a Transformer that adds an encoding of time to each row."""

from dataclasses import dataclass

from jaxtyping import Float, Float64
from torch import Tensor

from denots.backbones.positions import Scale, waves
from denots.backbones.transformer import Transformer, TransformerConfig


@dataclass(frozen=True)
class TempFormerConfig(TransformerConfig):
    """positions: encode the "time" stamp, or the "index" of the row, as was published."""

    positions: Scale = "time"


class TempFormer(Transformer):
    """Sines and cosines of the position are added to rows and queries."""

    Config = TempFormerConfig

    def __init__(self, config: TempFormerConfig, channels: int, static_size: int = 0) -> None:
        super().__init__(config, channels, static_size, config.positions)

    def place(self, tokens: Float[Tensor, "N H"], positions: Float64[Tensor, " N"]) -> Float[Tensor, "N H"]:
        return tokens + waves(positions, self.state_size).to(tokens.dtype)
