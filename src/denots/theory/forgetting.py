"""Forgetting: what is left at the end of a small change of the state before, measured and bounded."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from denots.theory.logarithmic_norm import logarithmic_norm


def influence(jacobians: Float[Tensor, "*B K H H"], step: Float[Tensor, "*B"]) -> Float[Tensor, "*B K1 H H"]:
    """∂h(T)/∂h(t_k) at K + 1 even times, the last of which is the end, from the Jacobians half-way between them.

    The variational equation Φ' = J Φ, with J constant on each step (second order): products of exp(J step).
    """
    steps = torch.linalg.matrix_exp(jacobians * step[..., None, None, None])
    left = [torch.eye(steps.shape[-1], dtype=steps.dtype).expand(*steps.shape[:-3], -1, -1)]
    for k in reversed(range(steps.shape[-3])):
        left.append(left[-1] @ steps[..., k, :, :])
    return torch.stack(left[::-1], dim=-3)


def influence_bounds(
    jacobians: Float[Tensor, "*B K H H"], step: Float[Tensor, "*B"]
) -> tuple[Float[Tensor, "*B K1"], Float[Tensor, "*B K1"]]:
    """exp(-∫ μ(-J)) ≤ least, and greatest singular value of ∂h(T)/∂h(t) ≤ exp(∫ μ(J))."""
    least = -(logarithmic_norm(-jacobians) * step[..., None])
    greatest = logarithmic_norm(jacobians) * step[..., None]
    low, high = (_from_end(rates).exp() for rates in (least, greatest))
    return low, high


def _from_end(rates: Tensor) -> Tensor:
    """Sums from each time to the end; zero at the end."""
    return torch.nn.functional.pad(rates.flip(-1).cumsum(-1).flip(-1), (0, 1))


def half_life(lags: Float[Tensor, " K"], sizes: Float[Tensor, " K"]) -> float:
    """The lag from which on the influence stays below one half; infinite where it does not.

    Args:
        lags: times before the end, rising from 0.
        sizes: of the influence at these lags.
    """
    above = (sizes >= 0.5).nonzero().flatten()
    if not len(above):
        return 0.0
    last = int(above[-1])
    return math.inf if last == len(lags) - 1 else float(lags[last + 1])


def half_life_bound(rate: float) -> float:
    """ln 2 / λ in the norm in which the field contracts at the rate λ; infinite where it does not contract."""
    return math.log(2) / rate if rate > 0 else math.inf
