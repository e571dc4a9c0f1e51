"""GRU slopes without, with synchronous and with anti-phase negative feedback."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear

from denots.fields.field import AffineInputField, Kernel


class GRUField(AffineInputField):
    """Parameters named, shaped and initialised as in `torch.nn.GRUCell`, so weights can be copied."""

    weight_hh: nn.Parameter
    bias_hh: nn.Parameter

    def __init__(self, input_size: int, state_size: int) -> None:
        super().__init__()
        self.input_size, self.state_size = input_size, state_size
        bound = 1 / math.sqrt(state_size)
        for name, shape in (
            ("weight_ih", (3 * state_size, input_size)),
            ("weight_hh", (3 * state_size, state_size)),
            ("bias_ih", (3 * state_size,)),
            ("bias_hh", (3 * state_size,)),
        ):
            self.register_parameter(name, nn.Parameter(torch.empty(shape).uniform_(-bound, bound)))

    def gates(self, u: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """Update gate z and candidate n of the cell, from the drive and the state it is shown."""
        u_r, u_z, u_n = u.chunk(3, dim=1)
        v_r, v_z, v_n = linear(h, self.weight_hh, self.bias_hh).chunk(3, dim=1)
        z = torch.sigmoid(u_z + v_z)
        n = torch.tanh(u_n + torch.sigmoid(u_r + v_r) * v_n)
        return z, n

    def _kernel(self, name: str) -> Kernel:
        return Kernel(name, self.weight_hh, self.bias_hh, self.weight_ih, self.bias_ih)


class NoFeedbackGRU(GRUField):
    """`dh/dt = GRU(x, h) = (1 - z) n + z h`.

    The update gate feeds the state back positively: long horizons make it grow.
    """

    def slope(self, u: Float[Tensor, "B G"], h: Float[Tensor, "B H"]) -> Float[Tensor, "B H"]:
        z, n = self.gates(u, h)
        return n + z * (h - n)

    def kernel(self) -> Kernel:
        return self._kernel("gru-none")


class SyncFeedbackGRU(GRUField):
    """`dh/dt = GRU(x, h) - h = (1 - z) (n - h)`, the field of GRU-ODE.

    A state that starts in [-1, 1] stays there, but update and decay share one gate: what is
    not refreshed is forgotten.
    """

    def slope(self, u: Float[Tensor, "B G"], h: Float[Tensor, "B H"]) -> Float[Tensor, "B H"]:
        z, n = self.gates(u, h)
        return (1 - z) * (n - h)

    def kernel(self) -> Kernel:
        return self._kernel("gru-sync")


class AntiFeedbackGRU(GRUField):
    """`dh/dt = GRU(x, -h) = (1 - z) n - z h`, the field of DeNOTS.

    The gates see the mirrored state. The gate that lets a plain GRU keep its past becomes a
    learnt decay rate, so the field can choose between remembering and damping.
    """

    def slope(self, u: Float[Tensor, "B G"], h: Float[Tensor, "B H"]) -> Float[Tensor, "B H"]:
        z, n = self.gates(u, -h)
        return n - z * (n + h)

    def kernel(self) -> Kernel:
        return self._kernel("gru-anti")
