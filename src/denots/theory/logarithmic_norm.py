"""The logarithmic norm: how fast a linear system x' = A x can grow at once, in a given norm.

μ(A) = lim (|I + εA| - 1) / ε. Solutions obey |x(t)| ≤ exp(∫ μ) |x(0)| and |x(t)| ≥ exp(-∫ μ(-A)) |x(0)|. Unlike
a norm it may be negative, and it asks for no scalar a and b: it is the feedback condition of the paper for vectors and biases.
"""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from denots.theory.interval import Interval

Order = Literal[1, 2, "inf"]


def logarithmic_norm(matrix: Float[Tensor, "*B H H"], order: Order = 2) -> Float[Tensor, "*B"]:
    """μ_2 is the largest eigenvalue of (A + Aᵀ)/2, μ_∞ = max_i (A_ii + Σ_j≠i |A_ij|), μ_1 the same of Aᵀ."""
    if order == 2:
        return torch.linalg.eigvalsh((matrix + matrix.mT) / 2)[..., -1]
    by_rows = matrix if order == "inf" else matrix.mT
    diagonal = by_rows.diagonal(dim1=-2, dim2=-1)
    return (diagonal + by_rows.abs().sum(dim=-1) - diagonal.abs()).amax(dim=-1)


def largest_logarithmic_norm(matrix: Interval) -> float:
    """A bound of μ_2 over all matrices of an interval: that of the middle, plus the norm of the symmetric radius."""
    middle, radius = (matrix.low + matrix.high) / 2, (matrix.high - matrix.low) / 2
    return float(logarithmic_norm(middle[None])[0] + torch.linalg.matrix_norm((radius + radius.mT) / 2, ord=2))
