"""How fast two trajectories part or meet, at worst: a comparison system for the distance of each component."""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from denots.theory.gru_cell import Cell, gates_on
from denots.theory.interval import Interval

PIECES = 16  # of the range of the update gate
ROUNDS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """`|δh_i|' ≤ max_p (rows[p] |δh|)_i + (inputs |δx|)_i`: entries on the diagonal bound J_ii from above, others |J_ij|.

    rows: [P, H, H], one matrix for each end of each piece of the range of the update gate.
    inputs: [H, C], bounds of |∂h'/∂x|.
    """

    rows: Tensor
    inputs: Tensor


def compare(cell: Cell, drive: Interval, state: Interval, weight: Tensor) -> Comparison:
    """The comparison system over a box of drives and a box of states; `weight` [3H, C] is the input map.

    With s = ±h seen by the gates, J = -diag(d) + (1 - z) E and E = ±(A W_n + B W_r - K W_z), where A = (1 - n²) r,
    B = (1 - n²) v r (1 - r), and K = (n + h) z for the anti-phase field, (n - h) z for the synchronous one. For
    a given range of E, J is linear in z, so that the ends of each piece of z decide.
    """
    gates = gates_on(cell, drive, state)
    slack = gates.n.peak(lambda n: 1 - n * n, 0.0)
    a = slack * gates.r
    b = slack * gates.v * gates.r.peak(lambda r: r * (1 - r), 0.5)
    pull = gates.n + state if cell.mirrored else gates.n - state
    fixed = _rows(a, cell.candidate) + _rows(b, cell.reset)
    by_reset, by_update, by_candidate = weight.double().chunk(3)
    rows = []
    for z in _pieces(gates.z):
        k = pull * z
        bracket = fixed - _rows(k, cell.update)
        bracket = -bracket if cell.mirrored else bracket
        for end in (z.low, z.high):
            rows.append(_majorant(bracket, end, end if cell.mirrored else 1 - end))
    k = pull * gates.z
    seen = _rows(b, by_reset) + _rows(slack, by_candidate) - _rows(k, by_update)
    return Comparison(torch.stack(rows), (1 - gates.z.low)[:, None] * seen.magnitude)


def _rows(factor: Interval, weight: Tensor) -> Interval:
    """A range for each row, times a matrix."""
    return factor[:, None] * Interval.point(weight)


def _majorant(bracket: Interval, z: Tensor, damping: Tensor) -> Tensor:
    """`-damping + (1 - z) bracket` at its largest on the diagonal, in size elsewhere."""
    keep = (1 - z)[:, None]
    return torch.where(
        torch.eye(len(z), dtype=torch.bool), keep * bracket.high - damping[:, None], keep * bracket.magnitude
    )


def _pieces(z: Interval) -> list[Interval]:
    """The range of the gate in pieces, narrow at its low end."""
    shares = (torch.arange(PIECES + 1, dtype=torch.float64) / PIECES).square()
    ends = [z.low + share * (z.high - z.low) for share in shares]
    return [Interval(*pair) for pair in pairwise(ends)]


@dataclass(frozen=True, slots=True, eq=False)
class Contraction:
    """`max_i |δh_i| / scale_i` grows at most like exp(rate t); it shrinks where the rate is negative."""

    rate: float
    scale: Tensor


def contraction(system: Comparison) -> Contraction:
    """The scale of a weighted maximum norm and its logarithmic norm, which is as small as weights can make it.

    For one matrix the best weights are its Perron vector and the rate is its eigenvalue; with several rows to choose from, the
    worst are chosen in turn. Whatever the scale, the rate that is told is one: the largest of (M d)_i / d_i.
    """
    worst = system.rows[0]
    best: Contraction | None = None
    for _ in range(ROUNDS):
        scale = _perron(worst)
        growth = system.rows @ scale / scale
        found = Contraction(float(growth.max()), scale)
        if best is not None and found.rate >= best.rate - 1e-12:
            break
        best = found
        worst = system.rows[growth.argmax(dim=0), torch.arange(len(scale))]
    assert best is not None
    return best


def _perron(matrix: Tensor) -> Tensor:
    """The positive eigenvector of the largest eigenvalue; entries are kept away from zero."""
    shifted = matrix + 1e-9
    values, vectors = torch.linalg.eig(shifted)
    vector = vectors[:, values.real.argmax()].real.abs()
    return (vector / vector.max()).clamp_min(1e-6)


def growth_over(rate: float, time: float) -> float:
    """(e^{rate t} - 1) / rate: what a constant push of one adds up to."""
    grown = torch.tensor(rate * time, dtype=torch.float64)
    return time if rate == 0 else float(torch.expm1(grown)) / rate


def push_of_inputs(system: Comparison, found: Contraction, noise: Tensor) -> float:
    """How fast noise of these sizes in the channels parts trajectories, in the norm of the contraction."""
    return float((system.inputs @ noise / found.scale).max())
