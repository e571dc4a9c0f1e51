"""Lipschitz constants of a gated field in its state and in its input: from above in two ways, and from below."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import jacrev, vmap

from denots.fields.field import AffineInputField
from denots.theory.gru_cell import Cell, gates_on
from denots.theory.interval import Interval


class Constants(NamedTuple):
    """Of |g(x, h) - g(y, k)| ≤ in_input |x - y| + in_state |h - k|, in Euclidean norms."""

    in_input: float
    in_state: float


class Factors(NamedTuple):
    """What stands beside the weights in the Jacobian, for each component: see `jacobian_interval`."""

    damping: Interval  # d
    by_candidate: Interval  # (1 - z) (1 - n²) r
    by_reset: Interval  # (1 - z) (1 - n²) v r (1 - r)
    by_update: Interval  # (1 - z) z (n ± h)
    by_drive: Interval  # (1 - z) (1 - n²)


def factors(cell: Cell, drive: Interval, state: Interval) -> Factors:
    gates = gates_on(cell, drive, state)
    keep = gates.z.one_minus()
    slack = keep * gates.n.peak(lambda n: 1 - n * n, 0.0)
    pull = gates.n + state if cell.mirrored else gates.n - state
    return Factors(
        gates.z if cell.mirrored else keep,
        slack * gates.r,
        slack * gates.v * gates.r.peak(lambda r: r * (1 - r), 0.5),
        gates.z.peak(lambda z: z * (1 - z), 0.5) * pull,
        slack,
    )


def spectral_bound(cell: Cell, drive: Interval, state: Interval, weight: Tensor) -> Constants:
    """From spectral norms of the weights and the largest that each gate can be on the boxes:
    |J| ≤ max d + max (1-z)(1-n²) r |W_n| + max |(1-z)(1-n²) v r (1-r)| |W_r| + max |(1-z) z (n ± h)| |W_z|, alike for x.
    """
    found = factors(cell, drive, state)
    by_reset, by_update, by_candidate = weight.double().chunk(3)

    def size(factor: Interval, matrix: Tensor) -> Tensor:
        return factor.magnitude.max() * torch.linalg.matrix_norm(matrix, ord=2)

    of_state = (
        found.damping.magnitude.max()
        + size(found.by_candidate, cell.candidate)
        + size(found.by_reset, cell.reset)
        + size(found.by_update, cell.update)
    )
    of_input = size(found.by_drive, by_candidate) + size(found.by_reset, by_reset) + size(found.by_update, by_update)
    return Constants(float(of_input), float(of_state))


def jacobian_interval(cell: Cell, drive: Interval, state: Interval) -> Interval:
    """Entry by entry, J = -diag(d) + s [(1-z)(1-n²) r W_n + (1-z)(1-n²) v r (1-r) W_r - (1-z) z (n - s h) W_z], where s = -1 for
    the anti-phase field and 1 for the synchronous one.
    """
    found = factors(cell, drive, state)
    parts = (
        _rows(found.by_candidate, cell.candidate)
        + _rows(found.by_reset, cell.reset)
        - _rows(found.by_update, cell.update)
    )
    damping = Interval(torch.diag(found.damping.low), torch.diag(found.damping.high))
    return (-parts if cell.mirrored else parts) - damping


def interval_bound(cell: Cell, drive: Interval, state: Interval, weight: Tensor) -> Constants:
    """Spectral norms of the largest sizes of all entries of the Jacobians, where that is less than `spectral_bound`."""
    found = factors(cell, drive, state)
    by_reset, by_update, by_candidate = weight.double().chunk(3)
    of_input = _rows(found.by_drive, by_candidate) + _rows(found.by_reset, by_reset) - _rows(found.by_update, by_update)
    coarse = spectral_bound(cell, drive, state, weight)
    sizes = (
        float(torch.linalg.matrix_norm(found.magnitude, ord=2))
        for found in (of_input, jacobian_interval(cell, drive, state))
    )
    return Constants(*(min(pair) for pair in zip(sizes, coarse, strict=True)))


def _rows(factor: Interval, weight: Tensor) -> Interval:
    return factor[:, None] * Interval.point(weight)


def jacobians(
    field: AffineInputField, u: Float[Tensor, "P G"], h: Float[Tensor, "P H"]
) -> tuple[Float[Tensor, "P H G"], Float[Tensor, "P H H"]]:
    """∂h'/∂u and ∂h'/∂h at single points, by automatic differentiation."""
    with torch.no_grad():
        found = vmap(jacrev(lambda u, h: field.slope(u[None], h[None])[0], argnums=(0, 1)))(u, h)
    return found[0], found[1]


def power_iteration(matrix: Float[Tensor, "*B R C"], rounds: int = 30) -> Float[Tensor, "*B"]:
    """The largest singular value, from below: |A v| for a unit vector that AᵀA has turned so many times."""
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(matrix.shape[-1], generator=generator, dtype=matrix.dtype)
    v = start.expand(*matrix.shape[:-2], -1)[..., None]
    for _ in range(rounds):
        v = matrix.mT @ (matrix @ v)
        v = v / v.norm(dim=-2, keepdim=True).clamp_min(1e-300)
    return (matrix @ v).norm(dim=(-2, -1))


def lower_bound(field: AffineInputField, u: Float[Tensor, "P G"], h: Float[Tensor, "P H"]) -> Constants:
    """No constant is smaller than the largest singular value of a Jacobian anywhere, here at the given points."""
    of_drive, of_state = jacobians(field, u, h)
    of_input = of_drive @ field.weight_ih.detach()
    return Constants(*(float(power_iteration(found).max()) for found in (of_input, of_state)))
