"""A slope that follows from the state alone."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import linear

from denots.fields.field import Kernel
from denots.fields.mlp import ReLUField


class AutonomousField(ReLUField):
    """`dh/dt = W relu(V h + c) + b`: no signal drives it, the state moves by itself.

    It is a ReLU field whose input map is zero and is neither learnt nor saved: whatever runs that
    field, runs this one, on a path with one channel that nobody reads.
    """

    def __init__(self, state_size: int) -> None:
        super().__init__(1, state_size)
        for name in ("weight_ih", "bias_ih"):
            shape = getattr(self, name).shape
            delattr(self, name)
            self.register_buffer(name, torch.zeros(shape), persistent=False)

    def slope(self, u: Float[Tensor, "... G"], h: Float[Tensor, "B H"]) -> Float[Tensor, "B H"]:
        return linear(torch.relu(linear(h, self.weight_hh, self.bias_hh)), self.weight_out, self.bias_out)

    def kernel(self) -> Kernel:
        return ReLUField.kernel(self)
