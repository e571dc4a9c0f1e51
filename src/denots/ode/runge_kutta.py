"""One step of a Runge-Kutta method, for every row with its own time and size."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from denots.tableaus import Tableau

Slope = Callable[[Tensor, Tensor], Tensor]  # (t [B], h [B, H]) -> dh/dt [B, H]


def step(
    table: Tableau, slope: Slope, t: Tensor, dt: Tensor, h: Tensor, k_first: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """One step of every row from its own time with its own size: the new state and all stage slopes."""
    width = dt.to(h.dtype)[:, None]
    slopes = [k_first]
    for node, weights in zip(table.nodes[1:], table.stages[1:], strict=True):
        slopes.append(slope(t + node * dt, h + width * combine(weights, slopes)))
    return h + width * combine(table.weights, slopes), slopes


def combine(weights: Sequence[float], slopes: Sequence[Tensor]) -> Tensor:
    terms = [weight * k for weight, k in zip(weights, slopes, strict=False) if weight != 0.0]
    return sum(terms[1:], start=terms[0])


def interpolate(table: Tableau, h: Tensor, dt: Tensor, slopes: Sequence[Tensor], theta: Tensor) -> Tensor:
    """The state at fraction `theta` of the step, one fraction for each row."""
    powers = torch.stack([theta ** (p + 1) for p in range(len(table.dense[0]))], dim=1)
    weights = powers @ theta.new_tensor(table.dense).T
    return h + (dt[:, None] * weights).to(h.dtype).mul(1.0).unsqueeze(2).mul(torch.stack(list(slopes), dim=1)).sum(1)
