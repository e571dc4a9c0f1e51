"""The matrix-valued field of a neural controlled differential equation."""

import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn
from torch.nn.functional import linear

from denots.fields.field import Kernel, VectorField


class ControlledField(VectorField):
    """`dh/dt = F(h) x'(t)` with `F(h) = tanh(W_out relu(W h + b) + b_out)`, a matrix [H, C].

    The state moves only while the signal does: a held signal, and a jump, leave it where it is.
    While nothing moves steps grow tenfold, so let a series start near its first observation: a step
    could pass over a movement that is short beside the wait for it. Row i C + c of the outer layer is the entry (i, c) of the matrix.
    """

    reads = "derivative"
    weight_hh: nn.Parameter
    bias_hh: nn.Parameter
    weight_out: nn.Parameter
    bias_out: nn.Parameter

    def __init__(self, input_size: int, state_size: int) -> None:
        super().__init__()
        self.input_size, self.state_size = input_size, state_size
        self.add_linear("hh", state_size, state_size)
        self.add_linear("out", state_size * input_size, state_size)

    def forward(
        self, t: Float64[Tensor, " B"], x: Float[Tensor, "B C"], h: Float[Tensor, "B H"]
    ) -> Float[Tensor, "B H"]:
        hidden = torch.relu(linear(h, self.weight_hh, self.bias_hh))
        matrix = torch.tanh(linear(hidden, self.weight_out, self.bias_out))
        return (matrix.view(-1, self.state_size, self.input_size) @ x[:, :, None]).squeeze(2)

    def kernel(self) -> Kernel:
        return Kernel("cde", self.weight_hh, self.bias_hh, weight_out=self.weight_out, bias_out=self.bias_out)
