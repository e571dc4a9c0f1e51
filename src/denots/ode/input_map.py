"""The affine map through which a field meets the signal, with one bias per series."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import linear


@dataclass(frozen=True, eq=False)
class InputMap:
    """`u = weight x + bias[series]`; an embedding folded into a field differs per series only in the bias."""

    weight: Float[Tensor, "G C"]
    bias: Float[Tensor, "n G"]

    def __call__(self, x: Float[Tensor, "B C"], rows: Tensor) -> Float[Tensor, "B G"]:
        return linear(x, self.weight) + self.bias[rows]
