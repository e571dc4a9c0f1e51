"""Two-layer slopes with tanh or ReLU between the layers."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear

from denots.fields.field import AffineInputField, Kernel


class _MLPField(AffineInputField):
    """Input, state and output maps, initialised as in `torch.nn.Linear`."""

    weight_hh: nn.Parameter
    bias_hh: nn.Parameter
    weight_out: nn.Parameter
    bias_out: nn.Parameter

    def __init__(self, input_size: int, state_size: int) -> None:
        super().__init__()
        self.input_size, self.state_size = input_size, state_size
        for suffix, fan_in in (("ih", input_size), ("hh", state_size), ("out", state_size)):
            self.add_linear(suffix, state_size, fan_in)

    def _hidden(self, u: Tensor, h: Tensor) -> Tensor:
        return u + linear(h, self.weight_hh, self.bias_hh)

    def _out(self, hidden: Tensor) -> Tensor:
        return linear(hidden, self.weight_out, self.bias_out)

    def _kernel(self, name: str) -> Kernel:
        return Kernel(name, self.weight_hh, self.bias_hh, self.weight_ih, self.bias_ih, self.weight_out, self.bias_out)


class TanhField(_MLPField):
    """`dh/dt = tanh(W tanh(u + V h + c) + b)`: bounded slope, state free to grow linearly."""

    def slope(self, u: Float[Tensor, "B G"], h: Float[Tensor, "B H"]) -> Float[Tensor, "B H"]:
        return torch.tanh(self._out(torch.tanh(self._hidden(u, h))))

    def kernel(self) -> Kernel:
        return self._kernel("mlp-tanh")


class ReLUField(_MLPField):
    """`dh/dt = W relu(u + V h + c) + b`: nothing bounds it, and at large depth it can blow up."""

    def slope(self, u: Float[Tensor, "B G"], h: Float[Tensor, "B H"]) -> Float[Tensor, "B H"]:
        return self._out(torch.relu(self._hidden(u, h)))

    def kernel(self) -> Kernel:
        return self._kernel("mlp-relu")
