"""Weigh what several models say of series that they have not seen, and bring it to the scale of probabilities."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from denots.shapes import FloatArray

PRIOR = 3.0  # series that equal weights are worth

Loss = Callable[[Tensor], Tensor]


def calibrate(outputs: Tensor, loss: Loss) -> tuple[float, FloatArray]:
    """A factor and one shift for each output that bring outputs of unknown scale to the least loss."""
    outputs = outputs.double()
    size, width = outputs.shape
    shrink = PRIOR / size

    def judge(numbers: FloatArray) -> tuple[float, FloatArray]:
        free = torch.from_numpy(numbers).requires_grad_()
        total = loss(outputs * free[0].exp() + free[1:]) + 0.1 * shrink * ((free[1:] ** 2).sum() + 0.1 * free[0] ** 2)
        total.backward()
        return total.item(), np.asarray(free.grad)

    found = minimize(judge, np.zeros(1 + width), jac=True, method="L-BFGS-B", bounds=[(-5, 5)] + [(None, None)] * width)
    return float(np.exp(found.x[0])), found.x[1:]


def weigh(members: Sequence[Tensor], loss: Loss) -> FloatArray:
    """Weights, none of them negative, under which the sum of outputs has the least loss.

    Equal weights are what a few series would have said, so that a handful of them cannot overrule it.
    """
    stacked = torch.stack([member.double() for member in members])
    equal = torch.full((len(members),), 1 / len(members), dtype=torch.float64)
    shrink = PRIOR / stacked.shape[1]

    def judge(numbers: FloatArray) -> tuple[float, FloatArray]:
        weights = torch.from_numpy(numbers).requires_grad_()
        total = loss(torch.einsum("m,mnk->nk", weights, stacked)) + shrink * ((weights - equal) ** 2).sum()
        total.backward()
        return total.item(), np.asarray(weights.grad)

    found = minimize(judge, equal.numpy(), jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(members))
    return np.asarray(found.x)
