"""What a vector field is: the slope of the state, given the signal and the state."""

import abc
import math
from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn
from torch.nn.functional import linear


class VectorField(nn.Module, abc.ABC):
    """dh/dt from the time, the signal and the state of each series.

    A field is pure: it neither counts its calls nor remembers a path. To add one, write
    `forward` and put one line into `FIELDS`; it runs on the reference backend at once.
    """

    reads: ClassVar[Literal["value", "derivative"]] = "value"
    input_size: int
    state_size: int

    def _add_linear(self, suffix: str, rows: int, columns: int) -> None:
        """Parameters `weight_suffix` and `bias_suffix`, initialised as in `torch.nn.Linear`."""
        bound = 1 / math.sqrt(columns)
        for name, shape in (("weight", (rows, columns)), ("bias", (rows,))):
            self.register_parameter(f"{name}_{suffix}", nn.Parameter(torch.empty(shape).uniform_(-bound, bound)))

    @abc.abstractmethod
    def forward(
        self, t: Float64[Tensor, " B"], x: Float[Tensor, "B C"], h: Float[Tensor, "B H"]
    ) -> Float[Tensor, "B H"]: ...


class AffineInputField(VectorField):
    """A field that meets the signal only through `u = weight_ih x + bias_ih`.

    An affine embedding in front of such a field can be folded into that map, one bias per
    series: `solve` takes the folded map as `input_map` and calls `slope` directly.
    """

    weight_ih: nn.Parameter
    bias_ih: nn.Parameter

    @abc.abstractmethod
    def slope(self, u: Float[Tensor, "B G"], h: Float[Tensor, "B H"]) -> Float[Tensor, "B H"]: ...

    def forward(
        self, t: Float64[Tensor, " B"], x: Float[Tensor, "B C"], h: Float[Tensor, "B H"]
    ) -> Float[Tensor, "B H"]:
        return self.slope(linear(x, self.weight_ih, self.bias_ih), h)
