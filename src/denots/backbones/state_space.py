"""The mixer of Mamba-2: a selective state space, whose steps along the rows are a fused kernel."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear, softplus

from denots.backbones import native_layer


class Mixer(nn.Module):
    """`s' = exp(dt A) s + dt x b`, `y = c s + D x` for each head, where dt, x, b and c depend on the row.

    Parameters are named and shaped as in public implementations, so that weights can be copied.
    """

    def __init__(self, size: int, *, state: int = 16, conv: int = 4, expand: int = 2, head: int = 8) -> None:
        super().__init__()
        inner = expand * size
        self.inner, self.state, self.head, self.heads = inner, state, head, inner // head
        self.in_proj = nn.Linear(size, 2 * inner + 2 * state + self.heads, bias=False)
        mixed = inner + 2 * state
        self.conv1d = nn.Conv1d(mixed, mixed, conv, groups=mixed, padding=conv - 1)
        step = torch.empty(self.heads).uniform_(math.log(1e-3), math.log(1e-1)).exp()
        self.dt_bias = nn.Parameter(step + torch.log(-torch.expm1(-step)))  # softplus gives the step back
        self.A_log = nn.Parameter(torch.empty(self.heads).uniform_(1, 16).log())
        self.D = nn.Parameter(torch.ones(self.heads))
        self.norm = nn.RMSNorm(inner, eps=1e-5)
        self.out_proj = nn.Linear(inner, size, bias=False)

    def forward(
        self, rows: Float[Tensor, "N H"], offsets: Int[Tensor, " n_plus_1"], places: Int[Tensor, " K"] | None = None
    ) -> Float[Tensor, "N H"] | Float[Tensor, "K H"]:
        """Outputs at every row of series that lie end to end, or at the given rows only."""
        to_mix, to_step = self.in_proj.weight.split([len(self.in_proj.weight) - self.heads, self.heads])
        assert self.conv1d.bias is not None
        step = softplus(linear(rows, to_step, self.dt_bias))
        found = native_layer.run(
            "state_space",
            self.inner,
            {"offsets": offsets, "epsilon": self.norm.eps},
            projected=linear(rows, to_mix),
            step=step,
            decay=(-self.A_log.exp() * step).exp(),
            kernel=self.conv1d.weight[:, 0],
            kernel_bias=self.conv1d.bias,
            skip=self.D,
            norm=self.norm.weight,
        )
        return self.out_proj(found if places is None else found.index_select(0, places))
