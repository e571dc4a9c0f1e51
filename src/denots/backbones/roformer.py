"""RoFormer: a Transformer that rotates features by their position."""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float, Float64
from torch import Tensor

from denots.backbones.positions import angles, rotate
from denots.backbones.transformer import HEADS, Transformer, TransformerConfig


@dataclass(frozen=True)
class RoFormerConfig(TransformerConfig):
    """rotary: rotate queries and keys of the "attention" by the time stamp, so that it sees time
    differences; or the "embedding" of each row, once, by its index, as was published.
    """

    rotary: Literal["attention", "embedding"] = "attention"


class RoFormer(Transformer):
    """Features of each head are rotated in pairs. What stands for the whole series has the position zero."""

    Config = RoFormerConfig

    def __init__(self, config: RoFormerConfig, channels: int, static_size: int = 0) -> None:
        super().__init__(config, channels, static_size, "time" if config.rotary == "attention" else "index")
        self.rotary = config.rotary

    def place(self, tokens: Float[Tensor, "N H"], positions: Float64[Tensor, " N"]) -> Float[Tensor, "N H"]:
        if self.rotary == "attention":
            return tokens
        turn = angles(positions + 1, self.state_size // HEADS)[:, None]
        return rotate(tokens.unflatten(-1, (HEADS, -1)), turn).flatten(-2)

    def turn(self, positions: Float64[Tensor, " N"]) -> Float64[Tensor, "N 1 half"] | None:
        return angles(positions, self.state_size // HEADS)[:, None] if self.rotary == "attention" else None
