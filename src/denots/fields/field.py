"""What a vector field is: the slope of the state, given the signal and the state."""

import abc
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn
from torch.nn.functional import linear


@dataclass(frozen=True, eq=False)
class Kernel:
    """The fused kernel of a field: its name (`kernels.fields` lists them) and the weights that it takes.

    Where the field has no input map, or no outer layer, those weights are None.
    """

    name: str
    weight_hh: Tensor
    bias_hh: Tensor
    weight_ih: Tensor | None = None
    bias_ih: Tensor | None = None
    weight_out: Tensor | None = None
    bias_out: Tensor | None = None


class VectorField(nn.Module, abc.ABC):
    """dh/dt from the time, the signal and the state of each series.

    A field is pure: it neither counts its calls nor remembers a path. To add one, set `input_size` and
    `state_size` and write `forward`: `solve` takes it at once, with the reference loop. One that reads the
    signal through an affine map alone is an `AffineInputField`, and can be listed in `FIELDS`.
    """

    reads: ClassVar[Literal["value", "derivative"]] = "value"
    input_size: int
    state_size: int

    def __init_subclass__(cls, **options: Any) -> None:
        """A kernel is not inherited: what a subclass computes may be something else."""
        super().__init_subclass__(**options)
        if "kernel" not in vars(cls):
            cls.kernel = VectorField.kernel  # type: ignore[method-assign]

    def kernel(self) -> Kernel | None:
        """The fused kernel that computes exactly this field, or None where there is none."""
        return None

    def add_linear(self, suffix: str, rows: int, columns: int) -> None:
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
